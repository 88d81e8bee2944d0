package edifact

import (
	"bytes"

	"github.com/edigw/edigw/edi"
)

// forgive notes what a partner's settings let pass, on message i or, if i is -1,
// on the interchange; where they do not, it is an error.
func (s *scan) forgive(i int, refuse bool, code, standard string, at edi.Location, text string, args ...any) {
	if refuse {
		s.report(i, edi.SeverityError, code, standard, at, text+"; the partner's settings do not allow that", args...)
		return
	}
	s.report(i, edi.SeverityNote, code, standard, at, text, args...)
}

// byteOrderMark is U+FEFF in UTF-8.
var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// maxLead bounds how far back a byte order mark is looked for.
const maxLead = 64

// lead looks at what stands before the interchange and belongs to nothing.
func (s *scan) lead(p *edi.Payload) error {
	n := min(maxLead, s.ic.Offset)
	b, err := p.Slice(s.ic.Offset-n, n)
	if err != nil {
		return err
	}
	for len(b) > 0 && edi.Blank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	if bytes.HasSuffix(b, byteOrderMark) {
		at := edi.Location{Offset: s.ic.Offset - n + int64(len(b)-len(byteOrderMark))}
		s.forgive(-1, s.reader.RefuseByteOrderMark, "byte-order-mark", "21", at, "a byte order mark (EF BB BF) stands before the interchange")
	}
	return nil
}

// gaps tells of what stands between segments and is none.
func (s *scan) gaps() {
	if s.stopped {
		return
	}
	if s.lex.Empties > 0 {
		s.report(-1, edi.SeverityNote, "empty-segment", "", edi.Location{Offset: s.lex.Stray},
			"%d segment terminators have no segment before them", s.lex.Empties)
	}
	if s.lex.Gaps > 0 {
		s.forgive(-1, s.reader.RefuseBlankLines, "blanks-between-segments", "21", edi.Location{Offset: s.lex.Gap},
			"blanks or empty lines stand before %d segments", s.lex.Gaps)
	}
}

// padded looks for identifiers of UNB that blanks fill up. ISO 9735-1 §9 has
// them suppressed.
func (s *scan) padded(unb *edi.Segment) {
	for _, at := range [...]place{{2, 1}, {2, 2}, {3, 1}, {3, 2}, {5, 1}} {
		if v := unb.Get(at[0], at[1]); v != trim(v) {
			s.forgive(-1, s.reader.RefuseUnpadded, "padded-identifier", "12", unb.Location(at[0], at[1]),
				"%s is filled up with blanks, which do not count", ElementName("UNB", at[0], at[1]))
			return
		}
	}
}
