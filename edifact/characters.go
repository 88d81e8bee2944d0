package edifact

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// characters checks the bytes of segments against the character set in force:
// those of message i, or of the envelope if i is -1. It costs nothing where the
// lexer saw no byte that needs a look.
func (s *scan) characters(i int, segments []edi.Segment) {
	if s.Seen&edi.ClassControl != 0 {
		s.controls(i, segments)
	}
	if s.Seen&edi.ClassHigh != 0 {
		s.high(i, segments)
	}
	if s.Seen&edi.ClassLower != 0 && s.charset.Name == "UNOA" && !s.Said("outside-level-a") {
		s.lower(segments)
	}
	if s.Released && !s.Said("release-unneeded") {
		s.releases(segments)
	}
	s.Released = false
	if !s.Said("line-break") {
		s.lineBreak(segments)
	}
}

// lineBreak warns of the first line end that stands inside a segment. It is kept as
// it is: a text of several lines is as likely as one that was wrapped.
func (s *scan) lineBreak(segments []edi.Segment) {
	seg, k, found := (&edi.Body{Segments: segments}).LineBreak()
	if found && s.Once("line-break") {
		s.Report(-1, edi.SeverityWarning, "line-break", "21", seg.LocationIn(k),
			"a line break stands inside segment %s; if the file was wrapped to a width on its way, its data are damaged", edi.Clip(seg.RawTag()))
	}
}

// invalid refuses byte k of a segment.
func (s *scan) invalid(i int, seg edi.Segment, k int, text string, args ...any) {
	at := seg.LocationIn(k)
	s.Add(i, &edi.Error{Code: "character-invalid", Standard: "21", Severity: edi.SeverityError, Text: fmt.Sprintf(text, args...),
		Location: at, Composite: seg.Components(at.Element) > 1})
}

// controls refuses NUL, which no database text can hold, and the code extension
// of UNOX; other control characters pass with a warning.
func (s *scan) controls(i int, segments []edi.Segment) {
	for _, seg := range segments {
		raw := seg.Raw()
		for k, b := range raw {
			switch {
			case b >= 0x20 && b != 0x7F || b == '\r' || b == '\n' || s.delimiter(b):
			case b == 0:
				s.invalid(i, seg, k, "a NUL byte stands in the text")
				return
			case b == 0x1B && s.charset.Name == "UNOX":
				s.Report(-1, edi.SeverityError, "code-extension-unsupported", "2", seg.LocationIn(k),
					"UNOX with an escape sequence (ISO 2022) is not read")
				return
			case s.Once("control-character"):
				s.Report(-1, edi.SeverityWarning, "control-character", "21", seg.LocationIn(k), "control character 0x%02X stands in the text", b)
			}
		}
	}
}

func (s *scan) delimiter(b byte) bool {
	d := &s.IC.Delimiters
	return b != 0 && (b == d.Component || b == d.Element || b == d.Terminator || b == d.Release || b == d.Repetition)
}

// high checks bytes ≥ 0x80.
func (s *scan) high(i int, segments []edi.Segment) {
	raw := (&edi.Body{Segments: segments}).Raw()
	if nextHigh(raw, 0) == len(raw) {
		return
	}
	multibyte := !s.charset.UTF8 && utf8.Valid(raw)
	if s.charset.UTF8 && s.charset.High != nil {
		s.detected(segments)
		return
	}
	if s.charset.UTF8 && utf8.Valid(raw) {
		return
	}
	for _, seg := range segments {
		raw := seg.Raw()
		for k := nextHigh(raw, 0); k < len(raw); k = nextHigh(raw, k+1) {
			at := func() edi.Location { return seg.LocationIn(k) }
			switch c := s.charset; {
			case c.UTF8:
				r, n := utf8.DecodeRune(raw[k:])
				if r != utf8.RuneError || n > 1 {
					k += n - 1
					continue
				}
				s.invalid(i, seg, k, "byte 0x%02X is no UTF-8, which %s (0001) declares", raw[k], s.IC.SyntaxID)
				return
			case c.ASCII:
				s.invalid(i, seg, k, "byte 0x%02X is outside %s (0001), which is ASCII", raw[k], s.IC.SyntaxID)
				return
			case c.High[raw[k]-0x80] == utf8.RuneError:
				s.invalid(i, seg, k, "byte 0x%02X means nothing in %s", raw[k], c.Name)
				return
			case c.assumed && s.Once("charset-assumed"):
				s.Report(-1, edi.SeverityWarning, "charset-assumed", "", at(), "%s (0001) has no bytes such as 0x%02X; read as %s by the partner's settings", s.IC.SyntaxID, raw[k], c.Name)
			case multibyte && s.Once("looks-like-utf-8"):
				s.Report(-1, edi.SeverityWarning, "looks-like-utf-8", "", at(), "the text is read as %s but looks like UTF-8; the partner's charset may have to be set", c.Name)
			case c.IsWindows() && c.Name != "WINDOWS-1252" && raw[k] < 0xA0 && s.Once("windows-1252"):
				s.Report(-1, edi.SeverityWarning, "windows-1252", "21", at(), "byte 0x%02X is a control character in ISO 8859-1; read as Windows-1252", raw[k])
			}
		}
	}
}

// detected notes which of its two sets a text of edi.Detect was read in first.
func (s *scan) detected(segments []edi.Segment) {
	for _, seg := range segments {
		raw := seg.Raw()
		if k := nextHigh(raw, 0); k < len(raw) && s.Once("charset-detected") {
			set := "UTF-8"
			if !utf8.Valid(raw) {
				set = "Windows-1252"
			}
			s.Report(-1, edi.SeverityNote, "charset-detected", "", seg.LocationIn(k), "byte 0x%02X is read as %s, which the partner's settings leave to the text", raw[k], set)
		}
	}
}

// nextHigh is the index of the first byte ≥ 0x80 from k on, or len(b).
func nextHigh(b []byte, k int) int {
	for ; k+8 <= len(b); k += 8 {
		if binary.LittleEndian.Uint64(b[k:])&0x8080808080808080 != 0 {
			break
		}
	}
	for ; k < len(b) && b[k] < 0x80; k++ {
	}
	return min(k, len(b))
}

// lower notes the first character of an interchange outside level A. The text
// stays as it is.
// QUIRK: most senders who declare UNOA send lower case.
func (s *scan) lower(segments []edi.Segment) {
	for _, seg := range segments {
		for k, b := range seg.Raw() {
			if b > ' ' && b < 0x7F && !edi.LevelA(b) && !s.delimiter(b) && s.Once("outside-level-a") {
				s.Report(-1, edi.SeverityWarning, "outside-level-a", "21", seg.LocationIn(k),
					"%q is outside character set level A, which UNOA declares; the text is kept as it is", b)
				return
			}
		}
	}
}

// releases notes the first release character that stands before a character
// which needs none.
// QUIRK: some release every character that is not a letter; the character counts.
func (s *scan) releases(segments []edi.Segment) {
	for _, seg := range segments {
		if !seg.Released() {
			continue
		}
		raw := seg.Raw()
		for k := 0; ; k += 2 {
			j := bytes.IndexByte(raw[min(k, len(raw)):], s.IC.Delimiters.Release)
			if j < 0 {
				break
			}
			if k += j; k+1 < len(raw) && !s.delimiter(raw[k+1]) && s.Once("release-unneeded") {
				s.Report(-1, edi.SeverityWarning, "release-unneeded", "", seg.LocationIn(k), "%q needs no release character", raw[k+1])
				return
			}
		}
	}
}
