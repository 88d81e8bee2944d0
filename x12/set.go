package x12

import (
	"math"
	"strconv"

	"github.com/edigw/edigw/edi"
)

func (s *scan) st(seg *edi.Segment) {
	s.endMessage(seg)
	at := seg.Location(0, 0)
	if s.TooLong(seg) || s.Full(at) {
		return
	}
	if s.Group < 0 {
		s.Report(-1, edi.SeverityError, "gs-missing", "022", at, "a transaction set stands outside any group: GS is missing, or GE came too early")
	}
	m := edi.Message{Reference: s.Kept(trim(seg.Get(2, 1))), Type: s.messageType(seg)}
	i, first := s.OpenMessage(seg, m)
	if t := m.Type.Type; len(t) != 3 || !capital(t[0]) || !capital(t[1]) || !capital(t[2]) {
		s.Report(i, edi.SeverityError, "st-incomplete", "6", seg.Location(1, 1), "%q (ST01) is no transaction set identifier of three digits", edi.Clip([]byte(t)))
	}
	switch {
	case m.Reference == "":
		s.Report(i, edi.SeverityError, "st-incomplete", "7", seg.Location(2, 1), "ST has no control number (ST02)")
	case len(m.Reference) < 4 || len(m.Reference) > 9:
		s.Report(i, edi.SeverityWarning, "st-control-number-length", "7", seg.Location(2, 1), "control number %q (ST02) has not four to nine characters", edi.Clip([]byte(m.Reference)))
	}
	if first >= 0 && !s.reader.UnreliableMessageReferences {
		s.Report(i, edi.SeverityError, "message-reference-duplicate", "23", seg.Location(2, 1),
			"control number %s (ST02) was used by transaction set %d of the interchange already, in the same group", edi.Clip([]byte(m.Reference)), first+1)
	}
	if s.Group >= 0 {
		s.functional(i, seg)
	}
}

// functional notes a transaction set in a group of another kind.
func (s *scan) functional(i int, seg *edi.Segment) {
	group, t := s.IC.Groups[s.Group].FunctionalID, s.IC.Messages[i].Type.Type
	if want, ok := functionalIDs[t]; ok && want != group {
		s.Report(i, edi.SeverityWarning, "functional-id-mismatch", "", seg.Location(1, 1),
			"transaction set %s belongs into a group %s (GS01), this one is %s", t, want, edi.Clip([]byte(group)))
	}
}

// functionalIDs are the GS01 of the transaction sets that are met most here.
var functionalIDs = map[string]string{
	"810": "IN", "856": "SH", "850": "PO", "855": "PR", "860": "PC", "820": "RA", "846": "IB", "830": "PS", "862": "SS",
	"997": "FA", "999": "FA", "824": "AG", "861": "RC", "867": "PT", "832": "SC", "940": "OW", "945": "SW", "204": "SM", "214": "QM", "210": "IM",
}

// kind is what the last ST said and meant.
type kind struct {
	group          int
	id, convention string // ST01 and ST03 as sent
	of             *edi.MessageType
}

// messageType gives ST01, ST03 and GS08 as one value for all sets that name the
// same: release 005010 and association code X222A1 of 005010X222A1.
func (s *scan) messageType(seg *edi.Segment) *edi.MessageType {
	if k := &s.kind; k.of != nil && k.group == s.Group && string(seg.RawElement(1)) == k.id && string(seg.RawElement(3)) == k.convention {
		return k.of
	}
	version, agency := "", ""
	if s.Group >= 0 {
		version, agency = s.IC.Groups[s.Group].Version, s.IC.Groups[s.Group].Agency
	}
	convention := trim(seg.Get(3, 1))
	s.kind = kind{group: s.Group, id: string(seg.RawElement(1)), convention: string(seg.RawElement(3))}
	name := string(seg.RawElement(1)) + "\x00" + convention + "\x00" + version + "\x00" + agency
	if s.kind.of = s.types[name]; s.kind.of != nil {
		return s.kind.of
	}
	if len(s.types) >= MaxTypes {
		s.Stop("too-many-types", "024", seg.Location(1, 0), "more than %d kinds of transaction set", MaxTypes)
	} else if s.types == nil {
		s.types = make(map[string]*edi.MessageType)
	}
	t := &edi.MessageType{Type: trim(seg.Get(1, 1)), Release: version, Agency: agency, Convention: convention}
	if len(version) > 6 {
		t.Release, t.AssociationCode = version[:6], version[6:]
	}
	if convention != "" { // ST03 is the one that counts where both are sent
		t.AssociationCode = convention
		if len(convention) > 6 && convention[:6] == t.Release {
			t.AssociationCode = convention[6:]
		}
	}
	s.types[name], s.kind.of = t, t
	return t
}

func (s *scan) se(seg *edi.Segment) error {
	if s.Open < 0 {
		if s.Group >= 0 {
			s.Report(edi.OfGroup(s.Group), edi.SeverityError, "st-missing", "", seg.Location(0, 0), "SE ends a transaction set that no ST began")
		} else {
			s.Report(-1, edi.SeverityError, "st-missing", "022", seg.Location(0, 0), "SE ends a transaction set that no ST began")
		}
		s.orphans = false
		return nil
	}
	i := s.Message()
	segments := s.Lex.Segments[s.Open : s.Next+1]
	s.Measure(segments)
	report := func(severity edi.Severity, code, standard string, e int, text string, args ...any) {
		s.Report(i, severity, code, standard, seg.Location(e, 1), text, args...)
	}
	s.count(seg, 1, len(segments), "se-count-mismatch", "4", "SE01", "segments", "the transaction set", report)
	controlNumbers(seg, 2, s.IC.Messages[i].Reference, "se-reference-mismatch", "3", "SE02", "ST02", report)
	s.characters(i, segments)
	body := &edi.Body{Segments: segments}
	s.Judge(i, body)
	return s.Deliver(i, body)
}

// endMessage ends a transaction set in which another header or trailer turned up.
func (s *scan) endMessage(seg *edi.Segment) {
	if s.Open >= 0 {
		seg.Number = int32(s.IC.Segments)
		s.seMissing(seg.Location(0, 0))
	}
}

// seMissing ends the open transaction set, whose last segment stands before at.
func (s *scan) seMissing(at edi.Location) {
	segments := s.Lex.Segments[s.Open:s.Next]
	s.Measure(segments)
	i := s.Message()
	s.characters(i, segments)
	m := &s.IC.Messages[i]
	at = edi.Location{Offset: at.Offset, Segment: len(segments) + 1, Tag: "SE"}
	s.Report(i, edi.SeverityError, "se-missing", "2", at, "transaction set %s that begins at byte %d has no trailer SE", edi.Clip([]byte(m.Reference)), m.Offset)
	s.CutMessage()
}

// reporting is how count and controlNumbers say what is wrong with element e.
type reporting func(severity edi.Severity, code, standard string, e int, text string, args ...any)

// count compares a control count with what was counted. Leading zeros are fine.
func (s *scan) count(seg *edi.Segment, e, counted int, code, standard, name, what, where string, report reporting) {
	text := trim(seg.Get(e, 1))
	switch n, err := strconv.ParseInt(text, 10, 64); {
	case text == "":
		report(edi.SeverityError, code, standard, e, "%s is missing; %s has %d %s", name, where, counted, what)
	case !edi.Digits(text) || err != nil || n > math.MaxInt32:
		report(edi.SeverityError, code, standard, e, "%s is %q, which is no count; %s has %d %s", name, edi.Clip([]byte(text)), where, counted, what)
	case int(n) != counted:
		report(edi.SeverityError, code, standard, e, "%s says %d %s, but %s has %d", name, n, what, where, counted)
	case text[0] == '0' && n > 0 && s.reader.RefuseLeadingZeros:
		report(edi.SeverityError, "leading-zeros", standard, e, "%s is %q: zeros stand before the count"+edi.NotAllowed, name, edi.Clip([]byte(text)))
	case text[0] == '0' && n > 0 && s.Once("leading-zeros"):
		report(edi.SeverityNote, "leading-zeros", "", e, "%s is %q: zeros stand before the count", name, edi.Clip([]byte(text)))
	}
}

// controlNumbers compares a trailer's control number with its header's.
// QUIRK: trailers without the header's leading zeros are common, and clear.
func controlNumbers(seg *edi.Segment, e int, header, code, standard, name, headerName string, report reporting) {
	text := trim(seg.Get(e, 1))
	switch {
	case text == header:
	case text == "":
		report(edi.SeverityError, code, standard, e, "%s is missing; %s is %q", name, headerName, edi.Clip([]byte(header)))
	case edi.Digits(text) && edi.Digits(header) && number(text) == number(header) && len(text) < 19 && len(header) < 19:
		report(edi.SeverityWarning, code, "", e, "%s is %s and %s is %s: the same number with other leading zeros", name, text, headerName, header)
	default:
		report(edi.SeverityError, code, standard, e, "%s is %q, but %s is %q", name, edi.Clip([]byte(text)), headerName, edi.Clip([]byte(header)))
	}
}

// number reads digits; what is longer than 18 of them is no number of ours.
func number(s string) int {
	n := 0
	for i := 0; i < len(s) && i < 18; i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}
