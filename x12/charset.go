package x12

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// decoder gives bytes as valid UTF-8.
type decoder func([]byte) string

// decoder is what the reader decodes values with, and its name. X12 has no
// character set in its envelope: the basic and extended sets are ASCII, and what
// stands above it is agreed on.
// QUIRK: both UTF-8 and Windows-1252 arrive, from one sender even.
func (r Reader) decoder() decoder {
	switch strings.ToUpper(r.Charset) {
	case "UTF-8":
		return decodeUTF8
	case "ISO-8859-1", "WINDOWS-1252":
		return decodeWindows
	}
	return decodeEither
}

// KnownCharset reports whether name may stand in Reader.Charset.
func KnownCharset(name string) bool {
	switch strings.ToUpper(name) {
	case "UTF-8", "ISO-8859-1", "WINDOWS-1252":
		return true
	}
	return false
}

func decodeUTF8(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

func decodeEither(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return decodeWindows(b)
}

// decodeWindows reads Windows-1252, with the C1 controls where it defines nothing.
func decodeWindows(b []byte) string {
	var s strings.Builder
	s.Grow(len(b) + len(b)/2)
	for _, x := range b {
		switch {
		case x < utf8.RuneSelf:
			s.WriteByte(x)
		case windows[x-0x80] == utf8.RuneError:
			s.WriteRune(rune(x))
		default:
			s.WriteRune(windows[x-0x80])
		}
	}
	return s.String()
}

var windows = func() (t [128]rune) {
	for i := range t {
		t[i] = charmap.Windows1252.DecodeByte(byte(0x80 + i))
	}
	return t
}()

// decodeHeader reads an element of ISA.
func decodeHeader(b []byte) string { return decodeEither(b) }
