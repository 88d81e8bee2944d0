package edifact

import (
	"math"
	"strconv"

	"github.com/edigw/edigw/edi"
)

// service handles the segment UN followed by kind, and reports whether it is one
// of the envelope: UNS and UGH are ordinary ones.
func (s *scan) service(seg *edi.Segment, kind byte) (known bool, err error) {
	if s.Open >= 0 && !s.Fits() { // the message may end here
		return true, nil
	}
	switch kind {
	case 'B', 'G':
		s.Content.AddWithout(seg, omissions[kind]...)
	case 'H', 'T', 'E', 'Z', 'O':
		s.Content.Add(seg, s.High())
	case 'P':
		if s.parcel == nil {
			s.Content.Add(seg, s.High())
		}
	default:
		return false, nil
	}
	if kind != 'T' && kind != 'H' && kind != 'O' && s.Open < 0 {
		s.characters(-1, s.Lex.Segments[s.Next:s.Next+1])
	}
	switch kind {
	case 'B':
		err = s.unb(seg)
	case 'G':
		s.ung(seg)
	case 'H':
		s.unh(seg)
	case 'T':
		err = s.unt(seg)
	case 'E':
		s.une(seg)
	case 'Z':
		s.unz(seg)
	case 'O':
		err = s.uno(seg)
	case 'P':
		err = s.unp(seg)
	}
	if kind != 'T' {
		s.orphans = false
	}
	return true, err
}

// omissions are what ContentDigest leaves out: when the text was prepared, and
// how it is encoded.
var omissions = map[byte][]edi.Omission{
	'B': {{Element: 1, Component: 1}, {Element: 1, Component: 4}, {Element: 4}},
	'G': {{Element: 4}},
}

// unb reports what Split has let pass. The error is ours: the payload could not be read.
func (s *scan) unb(seg *edi.Segment) error {
	ic := s.IC
	if s.Open >= 0 || ic.Segments > 1 {
		s.Report(-1, edi.SeverityError, "segment-outside-message", "33", seg.Location(0, 0), "a second UNB stands in the interchange")
		return nil
	}
	if v := ic.SyntaxVersion; v != "1" && v != "2" && v != "3" && v != "4" {
		s.Report(-1, edi.SeverityError, "syntax-version-unsupported", "2", seg.Location(1, 2), "syntax version %q (0002) is not 1, 2, 3 or 4", v)
	}
	if _, known := s.reader.charset(ic.SyntaxID, ic.Encoding); !known {
		switch ic.Encoding {
		case "4", "5", "6", "8":
			code := "2"
			if ic.SyntaxVersion == "4" { // its 0085 has one for the character set alone
				code = "46"
			}
			s.Report(-1, edi.SeverityError, "encoding-unsupported", code, seg.Location(1, 4), "character encoding %s (0133) is not read", ic.Encoding)
		default:
			s.Report(-1, edi.SeverityWarning, "syntax-identifier-unknown", "2", seg.Location(1, 1),
				"syntax identifier %q (0001) is unknown; the text is read as ASCII unless the partner's charset is set", ic.SyntaxID)
		}
	}
	s.moment(-1, seg, ic.Date, "unb-date-invalid", "unb-date-length")
	s.padded(seg)
	if len([]rune(ic.ControlReference)) > 14 {
		s.Report(-1, edi.SeverityWarning, "unb-too-long", "39", seg.Location(5, 1), "the control reference (0020) is longer than 14 characters")
	}
	for i, p := range [...]edi.Party{ic.Sender, ic.Recipient} {
		if len([]rune(p.ID)) > 35 {
			s.Report(-1, edi.SeverityWarning, "unb-too-long", "39", seg.Location(2+i, 1), "an interchange partner's identifier is longer than 35 characters")
		}
	}
	return s.repetition()
}

// moment reports a date of S004 that is none, or is of another version's length; date
// is what it was read as.
func (s *scan) moment(i int, seg *edi.Segment, date, invalid, length string) {
	sent, want := trim(seg.Get(4, 1)), digitsOf0017(s.IC.SyntaxVersion)
	code := "39"
	if len(sent) < want {
		code = "40"
	}
	switch {
	case date == "":
		s.Report(i, edi.SeverityWarning, invalid, "12", seg.Location(4, 1), "date of preparation %q (0017) is no date", edi.Clip([]byte(sent)))
	case len(sent) != want:
		s.Report(i, edi.SeverityWarning, length, code, seg.Location(4, 1),
			"date of preparation %s (0017) has %d digits, in syntax version %s it has %d", sent, len(sent), s.IC.SyntaxVersion, want)
	}
}

// repetition refuses an interchange whose UNA names a repetition separator that is none:
// what was cut with it, or not, cannot be known.
func (s *scan) repetition() error {
	if !s.IC.Delimiters.Explicit || s.IC.Delimiters.Repetition != 0 {
		return nil
	}
	una, err := s.Payload.Slice(s.IC.Offset, min(unaLength, s.IC.Length))
	if err != nil {
		return err
	}
	d, _, _ := readUNA(una) // Split has refused a wrong one
	if _, sound := settleRepetition(d, s.IC.SyntaxVersion); !sound {
		s.Report(-1, edi.SeverityError, "una-invalid", "20", edi.Location{Offset: s.IC.Offset, Segment: 1, Tag: "UNA"},
			"%q cannot be the repetition separator, as UNA has it: it is another service character, the decimal mark, a line end, a letter or a digit; send *, or a blank for none", d.Repetition)
	}
	return nil
}

// padded looks for identifiers of UNB that blanks fill up. ISO 9735-1 §9 has
// them suppressed.
func (s *scan) padded(unb *edi.Segment) {
	for _, at := range [...]place{{2, 1}, {2, 2}, {3, 1}, {3, 2}, {5, 1}} {
		if v := unb.Get(at[0], at[1]); v != trim(v) {
			s.Forgive(-1, edi.SeverityNote, s.reader.RefuseUnpadded, "padded-identifier", "12", unb.Location(at[0], at[1]),
				"%s is filled up with blanks, which do not count", ElementName("UNB", at[0], at[1]))
			return
		}
	}
}

func (s *scan) ung(seg *edi.Segment) {
	s.endMessage(seg)
	at := seg.Location(0, 0)
	s.endGroup(at)
	if s.loose {
		s.mixed(at)
	}
	if s.TooLong(seg) {
		return
	}
	if len(s.IC.Groups) >= MaxGroups {
		s.Stop("too-many-groups", "18", at, "more than %d groups", MaxGroups)
		return
	}
	g := edi.Group{
		FunctionalID: trim(seg.Get(1, 1)), Sender: party(*seg, 2), Recipient: party(*seg, 3),
		Reference: trim(seg.Get(5, 1)), Agency: seg.Get(6, 1), Version: seg.Get(7, 1), Offset: seg.Offset(),
	}
	if r := seg.Get(7, 2); r != "" {
		g.Version += ":" + r
	}
	g.Date, g.Time = moment(*seg, 4)
	known := s.NewGroup(g)
	if g.Reference == "" {
		s.Report(edi.OfGroup(s.Group), edi.SeverityError, "group-reference-missing", "13", seg.Location(5, 1), "UNG has no group reference (0048)")
	} else if known {
		s.Report(edi.OfGroup(s.Group), edi.SeverityError, "group-reference-duplicate", "26", seg.Location(5, 1), "group reference %q (0048) occurs twice", g.Reference)
	}
	if len(seg.RawElement(4)) > 0 || s.IC.SyntaxVersion < "4" { // conditional in version 4
		s.moment(edi.OfGroup(s.Group), seg, g.Date, "ung-date-invalid", "ung-date-length")
	}
}

func (s *scan) une(seg *edi.Segment) {
	s.endMessage(seg)
	at := seg.Location(0, 0)
	if s.Group < 0 {
		s.Report(-1, edi.SeverityError, "ung-missing", "13", at, "UNE ends a group that no UNG began")
		return
	}
	g, i := &s.IC.Groups[s.Group], edi.OfGroup(s.Group)
	s.Group = -1
	if g.Messages == 0 {
		s.Report(i, edi.SeverityError, "group-empty", "32", at, "group %q holds no message", g.Reference)
	}
	s.count(i, seg, 1, g.Messages, "une-count-mismatch", "UNE 0060", "messages", "the group")
	s.reference(i, seg, 2, g.Reference, "une-reference-mismatch", "UNE 0048", "UNG")
}

func (s *scan) unz(seg *edi.Segment) {
	s.endMessage(seg)
	at := seg.Location(0, 0)
	s.endGroup(at)
	s.IC.Complete = true
	n, what := len(s.IC.Messages), "messages"
	if len(s.IC.Groups) > 0 {
		n, what = len(s.IC.Groups), "groups"
	}
	if len(s.IC.Messages) == 0 {
		s.Report(-1, edi.SeverityError, "interchange-empty", "32", at, "the interchange holds no message")
	}
	s.count(-1, seg, 1, n, "unz-count-mismatch", "UNZ 0036", what, "the interchange")
	s.reference(-1, seg, 2, s.IC.ControlReference, "unz-reference-mismatch", "UNZ 0020", "UNB")
}

func (s *scan) unh(seg *edi.Segment) {
	s.endMessage(seg)
	at := seg.Location(0, 0)
	if s.Group < 0 {
		s.loose = true
		if len(s.IC.Groups) > 0 {
			s.mixed(at)
		}
	}
	if s.TooLong(seg) || s.Full(at) {
		return
	}
	m := edi.Message{Reference: s.Kept(trim(seg.Get(1, 1))), Type: s.messageType(seg)}
	i := s.begin(seg, m)
	if m.Type.Type == "" {
		s.Report(i, edi.SeverityError, "unh-incomplete", "13", seg.Location(2, 1), "UNH has no message type (0065)")
	}
	if m.Reference == "" {
		s.Report(i, edi.SeverityError, "unh-incomplete", "13", seg.Location(1, 1), "UNH has no message reference (0062)")
	}
}

// begin opens the message or package m, whose header is seg, and gives its index.
func (s *scan) begin(seg *edi.Segment, m edi.Message) int {
	i, first := s.OpenMessage(seg, m)
	if s.Group >= 0 {
		if g := &s.IC.Groups[s.Group]; g.Messages > 1 && s.IC.Messages[i-1].Type.Type != m.Type.Type {
			s.Report(edi.OfGroup(s.Group), edi.SeverityWarning, "group-mixed-types", "31", seg.Location(2, 1), "group %q holds more than one message type", g.Reference)
		}
	}
	if first >= 0 && !s.reader.UnreliableMessageReferences {
		s.Report(i, edi.SeverityError, "message-reference-duplicate", "26", seg.Location(1, 1),
			"reference %q (0062, 0800) was used by message %d of the interchange already", m.Reference, first+1)
	}
	return i
}

// messageType gives S009 as one value for all messages that name the same.
func (s *scan) messageType(seg *edi.Segment) *edi.MessageType {
	raw := seg.RawElement(2)
	if known := s.types[string(raw)]; known != nil {
		return known
	}
	if len(s.types) >= MaxTypes {
		s.Stop("too-many-types", "18", seg.Location(2, 0), "more than %d message types", MaxTypes)
	} else if s.types == nil {
		s.types = make(map[string]*edi.MessageType)
	}
	t := &edi.MessageType{Type: seg.Get(2, 1), Version: seg.Get(2, 2), Release: seg.Get(2, 3), Agency: seg.Get(2, 4), AssociationCode: seg.Get(2, 5)}
	s.types[string(raw)] = t
	return t
}

func (s *scan) unt(seg *edi.Segment) error {
	if s.Open < 0 {
		s.Report(-1, edi.SeverityError, "unh-missing", "13", seg.Location(0, 0), "UNT ends a message that no UNH began")
		s.orphans = false
		return nil
	}
	i := s.Message()
	segments := s.Lex.Segments[s.Open : s.Next+1]
	s.Measure(segments)
	s.count(i, seg, 1, len(segments), "unt-count-mismatch", "UNT 0074", "segments", "the message")
	s.reference(i, seg, 2, s.IC.Messages[i].Reference, "unt-reference-mismatch", "UNT 0062", "UNH")
	s.characters(i, segments)
	body := edi.Body{Segments: segments}
	s.Judge(i, &body)
	return s.Deliver(i, &body)
}

// endMessage ends a message in which another header or trailer turned up.
func (s *scan) endMessage(seg *edi.Segment) {
	if s.Open >= 0 {
		seg.Number = int32(s.IC.Segments)
		s.untMissing(seg.Location(0, 0))
	}
}

// untMissing ends the open message, whose last segment stands before at. What was
// sent of it ends there for certain, so the messages beside it are not at fault; a
// package has no such bound.
func (s *scan) untMissing(at edi.Location) {
	segments := s.Lex.Segments[s.Open:s.Next]
	s.Measure(segments)
	i := s.Message()
	s.characters(i, segments)
	m := &s.IC.Messages[i]
	if s.parcel != nil {
		s.parcel = nil
		s.Report(-1, edi.SeverityError, "unp-missing", "13", at, "package %q that begins at byte %d has no trailer UNP", edi.Clip([]byte(m.Reference)), m.Offset)
	} else {
		at = edi.Location{Offset: at.Offset, Segment: len(segments) + 1, Tag: "UNT"}
		s.Report(i, edi.SeverityError, "unt-missing", "13", at, "message %q that begins at byte %d has no trailer UNT", edi.Clip([]byte(m.Reference)), m.Offset)
	}
	s.CutMessage()
}

func (s *scan) endGroup(at edi.Location) {
	if s.Group >= 0 {
		s.uneMissing(at)
	}
}

func (s *scan) uneMissing(at edi.Location) {
	g := &s.IC.Groups[s.Group]
	at = edi.Location{Offset: at.Offset, Segment: at.Segment, Tag: "UNE"}
	s.Report(edi.OfGroup(s.Group), edi.SeverityError, "une-missing", "13", at, "group %q that begins at byte %d has no trailer UNE", g.Reference, g.Offset)
	s.Group = -1
}

func (s *scan) mixed(at edi.Location) {
	if s.Once("mixed") {
		s.Report(-1, edi.SeverityError, "groups-and-messages-mixed", "30", at, "messages stand both in groups and outside")
	}
}

// count compares a control count with what was counted. Leading zeros are fine.
func (s *scan) count(i int, seg *edi.Segment, e, counted int, code, name, what, where string) {
	text := trim(seg.Get(e, 1))
	switch n, err := strconv.ParseInt(text, 10, 64); {
	case text == "":
		s.Report(i, edi.SeverityError, code, "13", seg.Location(e, 1), "%s is missing; %s has %d %s", name, where, counted, what)
	case !edi.Digits(text) || err != nil || n > math.MaxInt32:
		s.Report(i, edi.SeverityError, code, "37", seg.Location(e, 1), "%s is %q, which is no count; %s has %d %s", name, edi.Clip([]byte(text)), where, counted, what)
	case int(n) != counted:
		s.Report(i, edi.SeverityError, code, "29", seg.Location(e, 1), "%s says %d %s, but %s has %d", name, n, what, where, counted)
	case text[0] == '0' && n > 0 && (s.reader.RefuseLeadingZeros || s.Once("leading-zeros")):
		s.Forgive(i, edi.SeverityNote, s.reader.RefuseLeadingZeros, "leading-zeros", "12", seg.Location(e, 1), "%s is %q: zeros stand before the count", name, edi.Clip([]byte(text)))
	}
}

// reference compares a trailer's reference with its header's, as text.
func (s *scan) reference(i int, seg *edi.Segment, e int, header, code, name, tag string) {
	text := trim(seg.Get(e, 1))
	switch {
	case text == "" && header != "":
		s.Report(i, edi.SeverityError, code, "13", seg.Location(e, 1), "%s is missing; %s has %q", name, tag, header)
	case text != header:
		s.Report(i, edi.SeverityError, code, "28", seg.Location(e, 1), "%s is %q, but %s has %q", name, edi.Clip([]byte(text)), tag, edi.Clip([]byte(header)))
	}
}
