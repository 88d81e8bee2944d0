package x12

import (
	"fmt"

	"github.com/edigw/edigw/edi"
)

// service handles a segment of the interchange's or a group's envelope, and
// reports whether it is one.
func (s *scan) service(seg *edi.Segment, tag string) (known bool, err error) {
	switch tag {
	case "ISA", "GS", "ST", "SE", "GE", "IEA":
		if s.Open >= 0 && !s.Fits() { // the set may end here
			return true, nil
		}
	}
	switch tag {
	case "ISA":
		s.Content.AddWithout(seg, isaOmissions...)
		if err := s.isa(seg); err != nil {
			return true, err
		}
	case "GS":
		s.Content.AddWithout(seg, gsOmissions...)
		s.gs(seg)
	case "ST":
		s.Content.Add(seg, s.High())
		s.st(seg)
	case "SE":
		s.Content.Add(seg, s.High())
		return true, s.se(seg)
	case "GE":
		s.Content.Add(seg, false)
		s.ge(seg)
	case "IEA":
		s.Content.Add(seg, false)
		s.iea(seg)
	case "TA1", "ISB", "ISE", "ISX":
		if s.Open >= 0 || s.Group >= 0 || len(s.IC.Groups) > 0 {
			return false, nil
		}
		s.Content.Add(seg, s.High())
		s.services(seg, tag)
	default:
		return false, nil
	}
	s.orphans = false
	if tag != "ST" && s.Open < 0 {
		s.characters(-1, s.Lex.Segments[s.Next:s.Next+1])
	}
	return true, nil
}

// What ContentDigest leaves out: when the text was prepared, and with which
// delimiters it is written.
var (
	isaOmissions = []edi.Omission{{Element: 9}, {Element: 10}, {Element: 11}, {Element: 16}}
	gsOmissions  = []edi.Omission{{Element: 4}, {Element: 5}}
)

// isa reports what Split has let pass. The error is ours: the payload could not be read.
func (s *scan) isa(seg *edi.Segment) error {
	ic := s.IC
	if s.Open >= 0 || ic.Segments > 1 {
		s.Report(-1, edi.SeverityError, "isa-repeated", "022", seg.Location(0, 0), "a second ISA stands in the interchange")
		return nil
	}
	head, err := s.Payload.Slice(ic.Offset, min(MaxHeader, ic.Length))
	if err != nil {
		return err
	}
	h, _, _, _ := s.reader.anyISA(head) // Split has refused a wrong one
	at := func(e int) edi.Location {
		return edi.Location{Offset: ic.Offset + int64(h.at[e]), Segment: 1, Tag: "ISA", Element: e}
	}
	if !h.fixed {
		for e := 1; e < 16; e++ {
			if len(h.element[e]) != isaWidths[e] {
				s.Forgive(-1, edi.SeverityWarning, s.reader.RefuseUnpadded, "isa-width", "022", at(e),
					"ISA%02d has %d characters, not the fixed %d (X12.5); the elements were told apart by the element separator", e, len(h.element[e]), isaWidths[e])
				break
			}
		}
	}
	if h.blank {
		s.Report(-1, edi.SeverityWarning, "terminator-blank", "004", at(16), "blanks stand between ISA16 and the segment terminator %q", ic.Delimiters.Terminator)
	}
	s.isaValues(&h, at)
	return nil
}

// isaValues checks the values of ISA that do not identify the interchange.
func (s *scan) isaValues(h *isa, at func(int) edi.Location) {
	ic := s.IC
	version := ic.SyntaxVersion
	switch {
	case !controlVersion(version):
		s.Report(-1, edi.SeverityError, "isa-version-unsupported", "017", at(12), "control version %q (ISA12) is none of 00200 to 00801", edi.Clip([]byte(version)))
	case version >= "00402" && ic.Delimiters.Repetition == 0:
		s.Report(-1, edi.SeverityWarning, "repetition-separator-unusable", "026", at(11),
			"%q (ISA11) cannot be a repetition separator, which control version %s has there; no element is read as repeated", h.value(11), version)
	}
	if v := h.value(13); !edi.Digits(v) || len(v) > 9 {
		s.Report(-1, edi.SeverityError, "isa-control-number-invalid", "018", at(13), "control number %q (ISA13) is not nine digits", edi.Clip([]byte(v)))
	} else if len(v) < 9 {
		s.Report(-1, edi.SeverityWarning, "isa-control-number-short", "018", at(13), "control number %s (ISA13) has less than nine digits; it is read as %s", v, ic.ControlReference)
	}
	if ic.Date == "" {
		s.Add(-1, &edi.Error{Code: codeDate, Standard: "014", Severity: edi.SeverityWarning, Location: at(9), Value: h.value(9), // for TA102
			Text: fmt.Sprintf("%q (ISA09) is no date YYMMDD", edi.Clip(h.element[9]))})
	}
	if !clock(ic.Time) {
		s.Report(-1, edi.SeverityWarning, "isa-time-invalid", "015", at(10), "%q (ISA10) is no time HHMM", edi.Clip(h.element[10]))
	}
	switch h.value(14) {
	case "0", "1":
	default:
		s.Report(-1, edi.SeverityWarning, "isa-acknowledgement-request-invalid", "019", at(14), "%q (ISA14) is neither 0 nor 1; no TA1 is taken to be asked for", h.value(14))
	}
	switch h.value(15) {
	case "P", "T":
	case "I":
		s.Report(-1, edi.SeverityError, "isa-usage-unsupported", "020", at(15), "the interchange is marked as information (ISA15 = I), neither production nor test; it is not processed")
	default:
		s.Report(-1, edi.SeverityError, "isa-usage-invalid", "020", at(15), "%q (ISA15) is neither P for production nor T for test", h.value(15))
	}
	for _, q := range [...]struct {
		element  int
		standard string
	}{{5, "005"}, {7, "007"}} {
		if len(h.value(q.element)) != 2 {
			s.Report(-1, edi.SeverityWarning, "isa-qualifier-invalid", q.standard, at(q.element), "%q (ISA%02d) is no qualifier of two characters", h.value(q.element), q.element)
		}
	}
}

// controlVersion reports whether v is an ISA12 that there is, or may yet be.
func controlVersion(v string) bool {
	return len(v) == 5 && edi.Digits(v) && v >= "00200" && v <= "00899"
}

// clock reports whether v is HHMM, HHMMSS or HHMMSSD(D).
func clock(v string) bool {
	if !edi.Digits(v) || len(v) != 4 && len(v) != 6 && len(v) != 7 && len(v) != 8 {
		return false
	}
	return v[:2] < "24" && v[2:4] < "60" && (len(v) < 6 || v[4:6] < "61")
}

// codeDate is the warning that ISA09 is no date, with ISA09 as its value.
const codeDate = "isa-date-invalid"

// codeTA1 is the note that a TA1 stands in the interchange.
const codeTA1 = "ta1-received"

// services reads what may stand between ISA and the first GS: acknowledgements of
// our interchanges (TA1), requests to a network (ISB, ISE, before 00402), and the
// syntax extension (ISX, from 00704 on).
func (s *scan) services(seg *edi.Segment, tag string) {
	switch tag {
	case "TA1":
		s.answers++
		s.Report(-1, edi.SeverityNote, codeTA1, "", seg.Location(0, 0), "it acknowledges our interchange %s: %s, note %s",
			edi.Clip(seg.RawElement(1)), edi.Clip(seg.RawElement(4)), edi.Clip(seg.RawElement(5)))
	case "ISX":
		if seg.Get(1, 1) != "" {
			s.Report(-1, edi.SeverityError, "isx-unsupported", "022", seg.Location(1, 1), "ISX names a release character, which is not read; send without one")
		}
	default:
		s.Report(-1, edi.SeverityNote, "network-request", "", seg.Location(0, 0), "%s asks something of a network; it has no effect here", tag)
	}
}

func (s *scan) iea(seg *edi.Segment) {
	s.endMessage(seg)
	at := seg.Location(0, 0)
	s.endGroup(at)
	if s.IC.Complete {
		s.Report(-1, edi.SeverityError, "iea-repeated", "022", at, "a second IEA stands in the interchange")
		return
	}
	s.IC.Complete = true
	n := len(s.IC.Groups)
	report := func(severity edi.Severity, code, standard string, e int, text string, args ...any) {
		s.Report(-1, severity, code, standard, seg.Location(e, 1), text, args...)
	}
	if n == 0 && s.answers == 0 {
		report(edi.SeverityError, "interchange-empty", "024", 0, "the interchange holds no group and no TA1")
	}
	// QUIRK: an interchange of TA1 alone has no group, and some count the TA1.
	if n == 0 && s.answers > 0 && trim(seg.Get(1, 1)) == "1" {
		report(edi.SeverityNote, "iea-count-mismatch", "", 1, "IEA01 counts the TA1, which is no group")
	} else {
		s.count(seg, 1, n, "iea-count-mismatch", "021", "IEA01", "groups", "the interchange", report)
	}
	controlNumbers(seg, 2, s.IC.ControlReference, "iea-reference-mismatch", "001", "IEA02", "ISA13", report)
}
