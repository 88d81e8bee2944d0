package wssec

import (
	"strings"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
)

// Envelope is a SOAP envelope as it was read. Every element that counts stands
// in it once; Read refuses an envelope that has two of one. Nothing in it is to be
// believed before Verify.
type Envelope struct {
	SOAP      string         // namespace of the envelope: SOAP12, or SOAP11, which AS4 profile §2.1 does not have
	Root      *etree.Element // S12:Envelope
	Header    *etree.Element // S12:Header; an empty element if there is none
	Body      *etree.Element // S12:Body
	Messaging *etree.Element // eb:Messaging; nil if there is none, as in a bare SOAP Fault
	Security  *etree.Element // wsse:Security; nil if there is none

	ids    map[string]*etree.Element
	proved *proved // by Authenticate
}

// Read reads the SOAP part of a message: bounded by infoset.Header, no DTD, no
// processing instruction (SOAP 1.2 part 1 §5), UTF-8. Every error is a *Fault of
// reason Malformed.
//
// It refuses what signature wrapping needs (McIntosh and Austel 2005): a second
// Header, Body, eb:Messaging or wsse:Security anywhere in the document, and a value
// that identifies two elements, whatever the attribute is called.
func Read(text []byte) (*Envelope, error) {
	doc, err := infoset.Parse(text, infoset.Header)
	if err != nil {
		return nil, &Fault{Reason: Malformed, Detail: "the SOAP part cannot be read: " + err.Error()}
	}
	e := &Envelope{Root: doc.Root(), ids: map[string]*etree.Element{}}
	e.SOAP = infoset.NameOf(e.Root).Space
	if e.Root.Tag != "Envelope" || e.SOAP != SOAP12 && e.SOAP != SOAP11 {
		return nil, malformed("the root element is %s, %s is expected (SOAP 1.2)", infoset.NameOf(e.Root), infoset.Name{Space: SOAP12, Local: "Envelope"})
	}
	if err := e.places(); err != nil {
		return nil, err
	}
	return e, e.walk(e.Root, false)
}

// places finds the elements that count where they have to stand: SOAP 1.2 part 1
// §5.1 has an optional Header, then a Body, and nothing else.
func (e *Envelope) places() error {
	for _, child := range e.Root.ChildElements() {
		switch {
		case infoset.Is(child, e.soap("Header")) && e.Header == nil && e.Body == nil:
			e.Header = child
		case infoset.Is(child, e.soap("Body")) && e.Body == nil:
			e.Body = child
		default:
			return malformed("the envelope holds %s where a Header and then a Body are expected, each once", infoset.NameOf(child))
		}
	}
	if e.Body == nil {
		return malformed("the envelope has no Body")
	}
	if e.Header == nil { // it is optional, and a bare Fault has none
		e.Header = etree.NewElement("Header")
		return nil
	}
	var err error
	if e.Messaging, err = infoset.Child(e.Header, messaging); err != nil {
		return malformed("%v", err)
	}
	// A receiver that is one node has one Security header; several are for several
	// actors (WSS 1.1 §5), which AS4 does not have.
	if e.Security, err = infoset.Child(e.Header, wsse("Security")); err != nil {
		return malformed("%v", err)
	}
	return nil
}

// walk notes what identifies each element, and that no element which counts hides
// in another place, copied within a receipt apart.
func (e *Envelope) walk(at *etree.Element, copied bool) error {
	for i := range at.Attr {
		a := &at.Attr[i]
		if !identifies(a) {
			continue
		}
		if other := e.ids[a.Value]; other != nil && other != at {
			return malformed("the id %q stands at %s and at %s: an id names one element", a.Value, other.FullTag(), at.FullTag())
		}
		e.ids[a.Value] = at
	}
	for _, child := range at.ChildElements() {
		if !copied && e.misplaced(child) {
			return malformed("%s stands within %s: it has one place in the envelope", infoset.NameOf(child), at.FullTag())
		}
		// QUIRK: a receipt may hold a copy of what it is for, with all its elements.
		if infoset.Is(child, infoset.Name{Space: EBMS3, Local: "Receipt"}) {
			copied = true
		}
		if err := e.walk(child, copied); err != nil {
			return err
		}
	}
	return nil
}

// identifies tells an attribute that some program takes for an identifier: wsu:Id,
// xml:id, the Id of XML signature and encryption, and their spellings.
func identifies(a *etree.Attr) bool {
	_, declaration := prefixOf(a)
	return !declaration && strings.EqualFold(a.Key, "id")
}

func prefixOf(a *etree.Attr) (string, bool) {
	if a.Space == "xmlns" {
		return a.Key, true
	}
	return "", a.Space == "" && a.Key == "xmlns"
}

// soap is a name of the envelope's own SOAP version.
func (e *Envelope) soap(local string) infoset.Name { return infoset.Name{Space: e.SOAP, Local: local} }

func (e *Envelope) misplaced(at *etree.Element) bool {
	switch at.Tag { // a namespace is looked up for these alone
	case "Envelope", "Header", "Body", "Security", "Messaging":
	default:
		return false
	}
	switch infoset.NameOf(at) {
	case e.soap("Envelope"), e.soap("Header"), e.soap("Body"), wsse("Security"), messaging:
		return at != e.Header && at != e.Body && at != e.Security && at != e.Messaging
	}
	return false
}
