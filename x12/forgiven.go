package x12

import (
	"bytes"

	"github.com/edigw/edigw/edi"
)

// byteOrderMark is U+FEFF in UTF-8.
var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// maxLead bounds how far back a byte order mark is looked for.
const maxLead = 64

// lead looks at what stands before the interchange and belongs to nothing.
func (s *scan) lead() error {
	n := min(maxLead, s.ic.Offset)
	b, err := s.p.Slice(s.ic.Offset-n, n)
	if err != nil {
		return err
	}
	for len(b) > 0 && edi.Blank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	if bytes.HasSuffix(b, byteOrderMark) {
		at := edi.Location{Offset: s.ic.Offset - n + int64(len(b)-len(byteOrderMark))}
		s.forgive(edi.SeverityNote, s.reader.RefuseByteOrderMark, "byte-order-mark", "022", at, "a byte order mark (EF BB BF) stands before the interchange")
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
		s.forgive(edi.SeverityNote, s.reader.RefuseBlankLines, "blanks-between-segments", "022", edi.Location{Offset: s.lex.Gap},
			"blanks or empty lines stand before %d segments", s.lex.Gaps)
	}
}
