package x12

import (
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// characters checks the bytes of segments: those of transaction set i, or of the
// envelope if i is -1. It costs nothing where the lexer saw no byte that needs a
// look and no line break stands in the text.
func (s *scan) characters(i int, segments []edi.Segment) {
	if len(segments) == 0 {
		return
	}
	_, _, breaks := (&edi.Body{Segments: segments}).LineBreak()
	if s.Seen&(edi.ClassControl|edi.ClassHigh) == 0 && !breaks {
		return
	}
	for _, seg := range segments {
		if seg.Is("BIN") || seg.Is("BDS") { // what they carry is no text
			continue
		}
		if s.segmentCharacters(i, seg) {
			return
		}
	}
}

// segmentCharacters checks one segment, and reports whether it refused the text.
func (s *scan) segmentCharacters(i int, seg edi.Segment) (refused bool) {
	raw := seg.Raw()
	at := func(k int) edi.Location { return seg.LocationAt(seg.Offset() + int64(k)) }
	high := false
	for k, b := range raw {
		switch {
		case b >= 0x80:
			high = high || !s.delimiter(b)
		case b >= 0x20 && b != 0x7F || s.delimiter(b):
		case b == 0:
			s.Report(i, edi.SeverityError, "character-invalid", "6", at(k), "a NUL byte stands in the text")
			return true
		case b == '\r' || b == '\n':
			if s.Once("line-break") {
				s.Report(-1, edi.SeverityWarning, "line-break", "", at(k),
					"a line break stands inside segment %s; if the file was wrapped to a width on its way, its data are damaged", edi.Clip(seg.RawTag()))
			}
		case s.Once("control-character"):
			s.Report(-1, edi.SeverityWarning, "control-character", "", at(k), "control character 0x%02X stands in the text", b)
		}
	}
	return high && s.high(i, raw, at)
}

// high checks the bytes ≥ 0x80 of a segment, and reports whether they refused it.
func (s *scan) high(i int, raw []byte, at func(int) edi.Location) (refused bool) {
	c := s.charset
	if c.UTF8 && utf8.Valid(raw) {
		return false
	}
	for k := 0; k < len(raw); {
		r, n := utf8.DecodeRune(raw[k:])
		switch {
		case raw[k] < utf8.RuneSelf || s.delimiter(raw[k]), c.UTF8 && (r != utf8.RuneError || n > 1):
		case c.UTF8 && c.High == nil:
			s.Report(i, edi.SeverityError, "character-invalid", "6", at(k), "byte 0x%02X is no UTF-8, which the partner's settings name", raw[k])
			return true
		case c.ASCII || !c.UTF8 && c.High[raw[k]-0x80] == utf8.RuneError:
			s.Report(i, edi.SeverityError, "character-invalid", "6", at(k), "byte 0x%02X means nothing in %s, which the partner's settings name", raw[k], c.Name)
			return true
		case s.assumed && s.Once("charset-assumed"):
			s.Report(-1, edi.SeverityWarning, "charset-assumed", "", at(k), "byte 0x%02X is no UTF-8; such values are read as Windows-1252 unless the partner's charset is set", raw[k])
			return false
		}
		if !c.UTF8 {
			n = 1
		}
		k += n
	}
	return false
}

func (s *scan) delimiter(b byte) bool {
	d := &s.IC.Delimiters
	return b != 0 && (b == d.Component || b == d.Element || b == d.Terminator || b == d.Repetition)
}
