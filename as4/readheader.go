package as4

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
)

// What a header may hold of one kind, and how long a value may be.
const (
	maxValue      = 1000 // characters
	maxProperties = 100
)

// header reads the one message unit of eb:Messaging: a user message or a signal.
// Each error is an *Error; known is what of the message could be told before it.
type header struct {
	user   *UserMessage
	signal *SignalMessage
	// named is the MessageId, also where the header is at fault: an error refers to it.
	named string
	// from and to are the parties of a user message, with id and type, also where the
	// header is at fault: whoever is known is answered as agreed, and finds it in the
	// journal.
	from, to Party
}

// readHeader reads eb:Messaging. It never gives nil: what could be read stands in
// it beside the error.
func readHeader(messaging *etree.Element) (*header, error) {
	h := &header{}
	users, signals := infoset.Children(messaging, eb("UserMessage")), infoset.Children(messaging, eb("SignalMessage"))
	switch {
	case len(users)+len(signals) == 0:
		return h, faulty(InvalidHeader, "eb:Messaging holds neither a UserMessage nor a SignalMessage")
	case len(users)+len(signals) > 1:
		// Core §5.2.4 allows a signal beside a user message; AS4 profile §2.1 does not.
		return h, faulty(ValueInconsistent, "eb:Messaging holds %d user messages and %d signals; send each in an envelope of its own", len(users), len(signals))
	case len(users) == 1:
		h.named = idWithin(users[0])
		h.from, h.to = partiesWithin(users[0])
		u, err := readUserMessage(users[0])
		h.user = u
		return h, err
	}
	h.named = idWithin(signals[0])
	s, err := readSignal(signals[0])
	h.signal = s
	return h, err
}

// idWithin gives the MessageId of a unit for what refers to it, "" if there is none
// that can be told.
func idWithin(unit *etree.Element) string {
	r := reader{}
	id := r.messageID(r.only(r.only(unit, "MessageInfo"), "MessageId"))
	if r.err != nil {
		return ""
	}
	return id
}

// partiesWithin gives who sends a user message to whom, as far as that can be told.
func partiesWithin(unit *etree.Element) (from, to Party) {
	r := reader{}
	parties := r.only(unit, "PartyInfo")
	name := func(side string) Party {
		id := r.only(r.only(parties, side), "PartyId")
		return Party{ID: r.value(id), Type: r.attribute(id, "type")}
	}
	if from, to = name("From"), name("To"); r.err != nil {
		return Party{}, Party{}
	}
	return from, to
}

// reader reads elements until the first fault.
type reader struct{ err *Error }

func (r *reader) fail(code, format string, args ...any) {
	if r.err == nil {
		r.err = faulty(code, format, args...)
	}
}

// done is the fault as an error; nil if there is none.
func (r *reader) done() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// only gives the one child of a name; it is a fault if there is none, or another.
func (r *reader) only(of *etree.Element, name string) *etree.Element {
	if of == nil || r.err != nil {
		return nil
	}
	e, err := infoset.Only(of, eb(name))
	if err != nil {
		r.fail(InvalidHeader, "eb:%s has %d elements eb:%s, and has to have one", of.Tag, len(infoset.Children(of, eb(name))), name)
	}
	return e
}

// optional gives the one child of a name; nil if there is none.
func (r *reader) optional(of *etree.Element, name string) *etree.Element {
	if of == nil || r.err != nil || len(infoset.Children(of, eb(name))) == 0 {
		return nil
	}
	return r.only(of, name)
}

// text gives the value of an element, without the blanks that a pretty-printer
// leaves around it.
func (r *reader) text(e *etree.Element) string {
	if e == nil || r.err != nil {
		return ""
	}
	s, err := infoset.Text(e)
	if err != nil {
		r.fail(InvalidHeader, "eb:%s holds elements where its value is expected", e.Tag)
		return ""
	}
	return r.bounded("eb:"+e.Tag, strings.Trim(s, linearSpace))
}

func (r *reader) bounded(what, s string) string {
	if utf8.RuneCountInString(s) > maxValue {
		r.fail(InvalidHeader, "%s is longer than %d characters", what, maxValue)
		return ""
	}
	return s
}

// value is text that may not be empty.
func (r *reader) value(e *etree.Element) string {
	s := r.text(e)
	if e != nil && s == "" {
		r.fail(InvalidHeader, "eb:%s is empty", e.Tag)
	}
	return s
}

// attribute gives an attribute without a namespace, "" if there is none.
func (r *reader) attribute(e *etree.Element, name string) string {
	if e == nil || r.err != nil {
		return ""
	}
	s, _ := infoset.Attr(e, attribute(name))
	return r.bounded(name+" of eb:"+e.Tag, strings.Trim(s, linearSpace))
}

// known refuses elements of ebMS's namespace that have no place here: whoever sent
// them counts on their being read. Those of other namespaces extend the header.
func (r *reader) known(of *etree.Element, names ...string) {
	if of == nil || r.err != nil {
		return
	}
next:
	for _, child := range of.ChildElements() {
		n := infoset.NameOf(child)
		if n.Space != nsEBMS {
			continue
		}
		for _, name := range names {
			if n.Local == name {
				continue next
			}
		}
		r.fail(InvalidHeader, "eb:%s has no place in eb:%s", n.Local, of.Tag)
		return
	}
}

// messageID reads a MessageId: RFC 2822 §3.6.4 without the angle brackets. Its
// inner form is not held against that, since ids of every form are on the way; it
// has to be one printable word.
func (r *reader) messageID(e *etree.Element) string {
	id := r.value(e)
	if strings.ContainsFunc(id, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }) {
		r.fail(InvalidHeader, "eb:%s has blanks or characters that cannot be printed in it", e.Tag)
		return ""
	}
	return id
}

func (r *reader) messageInfo(of *etree.Element) (m MessageInfo) {
	info := r.only(of, "MessageInfo")
	r.known(info, "Timestamp", "MessageId", "RefToMessageId")
	m.MessageID = r.messageID(r.only(info, "MessageId"))
	m.Timestamp = r.timestamp(r.only(info, "Timestamp"))
	if ref := r.optional(info, "RefToMessageId"); ref != nil {
		m.RefToMessageID = r.messageID(ref)
	}
	return m
}

// timestamp reads an xs:dateTime. QUIRK: core §5.2.2.1 has it in UTC and the Z may
// be missing; senders also give other zones and more digits than anybody has.
func (r *reader) timestamp(e *etree.Element) time.Time {
	s := r.value(e)
	if r.err != nil {
		return time.Time{}
	}
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05"} { // fractions are read behind seconds
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	r.fail(InvalidHeader, "eb:Timestamp is not a time like 2026-11-29T10:15:00.000Z: %.40q", s)
	return time.Time{}
}

func (r *reader) party(of *etree.Element, name string) (p Party) {
	e := r.only(of, name)
	r.known(e, "PartyId", "Role")
	if e == nil || r.err != nil {
		return p
	}
	ids := infoset.Children(e, eb("PartyId"))
	switch {
	case len(ids) == 0:
		r.fail(InvalidHeader, "eb:%s has no eb:PartyId", name)
		return p
	case len(ids) > 1: // core allows several names of one party, eDelivery one
		r.fail(ValueInconsistent, "eb:%s has %d eb:PartyId; send one", name, len(ids))
		return p
	}
	p.ID, p.Type = r.value(ids[0]), r.attribute(ids[0], "type")
	p.Role = r.value(r.only(e, "Role"))
	return p
}

func readUserMessage(e *etree.Element) (*UserMessage, error) {
	r := &reader{}
	u := &UserMessage{MPC: DefaultMPC}
	r.known(e, "MessageInfo", "PartyInfo", "CollaborationInfo", "MessageProperties", "PayloadInfo")
	if mpc := r.attribute(e, "mpc"); mpc != "" {
		u.MPC = mpc
	}
	u.MessageInfo = r.messageInfo(e)
	parties := r.only(e, "PartyInfo")
	r.known(parties, "From", "To")
	u.From, u.To = r.party(parties, "From"), r.party(parties, "To")
	info := r.only(e, "CollaborationInfo")
	r.known(info, "AgreementRef", "Service", "Action", "ConversationId")
	c := &u.Collaboration
	if ref := r.optional(info, "AgreementRef"); ref != nil {
		c.Agreement = Agreement{r.text(ref), r.attribute(ref, "type"), r.attribute(ref, "pmode")}
	}
	service := r.only(info, "Service")
	c.Service, c.ServiceType = r.value(service), r.attribute(service, "type")
	c.Action = r.value(r.only(info, "Action"))
	c.ConversationID = r.text(r.only(info, "ConversationId")) // may be empty: ENTSOG and others
	if properties := r.optional(e, "MessageProperties"); properties != nil {
		u.Properties = r.properties(properties)
	}
	r.payload(u, r.optional(e, "PayloadInfo"))
	return u, r.done()
}

func (r *reader) properties(of *etree.Element) (list []Property) {
	r.known(of, "Property")
	for _, e := range infoset.Children(of, eb("Property")) {
		p := Property{Name: r.attribute(e, "name"), Type: r.attribute(e, "type"), Value: r.text(e)}
		if p.Name == "" {
			r.fail(InvalidHeader, "an eb:Property of eb:%s has no name", of.Tag)
		}
		if list = append(list, p); len(list) > maxProperties {
			r.fail(InvalidHeader, "eb:%s has more than %d properties", of.Tag, maxProperties)
		}
		if r.err != nil {
			return nil
		}
	}
	return list
}

func (r *reader) payload(u *UserMessage, of *etree.Element) {
	if of == nil || r.err != nil {
		return
	}
	r.known(of, "PartInfo")
	parts := infoset.Children(of, eb("PartInfo"))
	if len(parts) > maxParts {
		r.fail(ProcessingModeMismatch, "eb:PayloadInfo has %d parts, of which there may be at most %d", len(parts), maxParts)
		return
	}
	for _, e := range parts {
		u.Parts = append(u.Parts, r.partInfo(e))
		if r.err != nil {
			return
		}
	}
}

func (r *reader) partInfo(e *etree.Element) (p PartInfo) {
	r.known(e, "Schema", "Schemas", "Description", "PartProperties") // QUIRK: AS4.NET writes a list of schemas, which is in no schema
	p.Href = r.attribute(e, "href")
	switch {
	case r.err != nil:
	case p.Href == "" || strings.HasPrefix(p.Href, "#"): // core §5.2.2.12: a payload in the Body
		r.fail(ExternalPayloadError, "a PartInfo has no href to a part of the message; send payloads as parts, not in the SOAP Body")
	case !hasScheme(p.Href, "cid"):
		r.fail(ExternalPayloadError, "the href %.80q is not of the form cid:…; payloads are not fetched from elsewhere", p.Href)
	}
	if properties := r.optional(e, "PartProperties"); properties != nil {
		p.Properties = r.properties(properties)
	}
	for i, property := range p.Properties {
		// QUIRK: properties of any other name stand twice in messages of the wild.
		if slices.Contains(ourProperties, property.Name) && slices.ContainsFunc(p.Properties[:i], func(o Property) bool { return o.Name == property.Name }) {
			r.fail(ValueInconsistent, "%s has the property %s twice", p.Href, property.Name)
		}
		switch property.Name {
		case mimeTypeProperty:
			p.MimeType = property.Value
			if _, err := mediaType(property.Value); err != nil {
				r.fail(ValueInconsistent, "the property MimeType of %s is %.40q: %v", p.Href, property.Value, err)
			}
		case characterSetProperty:
			p.CharacterSet = property.Value
			if !encName.MatchString(property.Value) {
				r.fail(ValueInconsistent, "the property CharacterSet of %s is %.40q, which is not the name of a character set (XML 1.0 §4.3.3)", p.Href, property.Value)
			}
		case compressionTypeProperty:
			p.CompressionType = property.Value
			if property.Value != GZIP {
				r.fail(ValueInconsistent, "the property CompressionType of %s is %.40q; there is only %s", p.Href, property.Value, GZIP)
			}
		}
	}
	if p.CompressionType != "" && p.MimeType == "" { // AS4 profile §3.1
		r.fail(ValueInconsistent, "%s has a CompressionType without a MimeType, which says what the payload is when decompressed", p.Href)
	}
	return p
}

// ourProperties are those that say how a part is read.
var ourProperties = []string{mimeTypeProperty, characterSetProperty, compressionTypeProperty}

// encName is XML 1.0 §4.3.3, by which AS4 profile §3.1 has CharacterSet.
var encName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*$`)

func hasScheme(uri, scheme string) bool {
	return len(uri) > len(scheme) && strings.EqualFold(uri[:len(scheme)], scheme) && uri[len(scheme)] == ':'
}

func readSignal(e *etree.Element) (*SignalMessage, error) {
	r := &reader{}
	s := &SignalMessage{}
	s.MessageInfo = r.messageInfo(e)
	pull, receipt, errs := r.optional(e, "PullRequest"), r.optional(e, "Receipt"), infoset.Children(e, eb("Error"))
	kinds := 0
	for _, there := range []bool{pull != nil, receipt != nil, len(errs) > 0} {
		if there {
			kinds++
		}
	}
	switch {
	case r.err != nil:
	case kinds != 1:
		r.fail(InvalidHeader, "eb:SignalMessage has to be a PullRequest, a Receipt, or one or more Errors")
	case pull != nil:
		mpc := r.attribute(pull, "mpc")
		if mpc == "" {
			mpc = DefaultMPC
		}
		s.Pull = &mpc
	case receipt != nil:
		s.Receipt = r.receipt(receipt)
	}
	for _, e := range errs {
		s.Errors = append(s.Errors, r.errorSignal(e))
	}
	return s, r.done()
}

func (r *reader) errorSignal(e *etree.Element) ErrorSignal {
	s := ErrorSignal{Code: r.attribute(e, "errorCode"), Severity: strings.ToLower(r.attribute(e, "severity")), Category: r.attribute(e, "category"),
		Origin: r.attribute(e, "origin"), Short: r.attribute(e, "shortDescription"), RefToMessage: r.attribute(e, "refToMessageInError")}
	if s.Code == "" || s.Severity != "failure" && s.Severity != "warning" {
		r.fail(InvalidHeader, "an eb:Error has no errorCode, or a severity that is neither failure nor warning")
	}
	// Texts are for people: one that cannot be read is no reason to refuse the rest.
	for name, into := range map[string]*string{"Description": &s.Description, "ErrorDetail": &s.Detail} {
		if child := r.optional(e, name); child != nil {
			quiet := reader{}
			*into = quiet.text(child)
		}
	}
	return s
}
