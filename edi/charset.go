package edi

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Charset is what the bytes of a text mean. Below 0x80 they are ASCII in all of
// them, so that delimiters are found before the set is known.
type Charset struct {
	Name  string
	ASCII bool       // has no bytes ≥ 0x80; High is what they most likely are
	UTF8  bool       // UTF-8; with High, only where a value is that
	High  *[128]rune // of 0x80…0xFF otherwise; utf8.RuneError where nothing is defined
}

// Detect is the name of the character set of senders who mix: each value is
// UTF-8 where its bytes are that, and Windows-1252 elsewhere.
const Detect = "DETECT"

// namedCharsets are those that a setting may name, by IANA's names.
// QUIRK: ISO 8859-1 text with bytes 0x80…0x9F is Windows-1252, not C1 controls.
var namedCharsets = func() map[string]Charset {
	m := make(map[string]Charset)
	for _, c := range [...]Charset{
		{Name: "US-ASCII", ASCII: true, High: windows},
		{Name: "UTF-8", UTF8: true},
		{Name: Detect, UTF8: true, High: windows},
		{Name: "WINDOWS-1250", High: highOf(charmap.Windows1250)},
		{Name: "WINDOWS-1251", High: highOf(charmap.Windows1251)},
		{Name: "WINDOWS-1252", High: windows},
		{Name: "ISO-8859-1", High: windows},
		{Name: "ISO-8859-2", High: highOf(charmap.ISO8859_2)},
		{Name: "ISO-8859-3", High: highOf(charmap.ISO8859_3)},
		{Name: "ISO-8859-4", High: highOf(charmap.ISO8859_4)},
		{Name: "ISO-8859-5", High: highOf(charmap.ISO8859_5)},
		{Name: "ISO-8859-6", High: highOf(charmap.ISO8859_6)},
		{Name: "ISO-8859-7", High: highOf(charmap.ISO8859_7)},
		{Name: "ISO-8859-8", High: highOf(charmap.ISO8859_8)},
		{Name: "ISO-8859-9", High: highOf(charmap.ISO8859_9)},
		{Name: "ISO-8859-15", High: highOf(charmap.ISO8859_15)},
		{Name: "IBM850", High: highOf(charmap.CodePage850)},
	} {
		m[c.Name] = c
	}
	return m
}()

// NamedCharset gives the character set that IANA, or a setting, calls name.
func NamedCharset(name string) (Charset, bool) {
	c, ok := namedCharsets[strings.ToUpper(name)]
	return c, ok
}

// CharsetNames are the names that NamedCharset knows, sorted.
func CharsetNames() []string {
	names := make([]string, 0, len(namedCharsets))
	for n := range namedCharsets {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// windows is Windows-1252, with the C1 controls where it defines nothing.
var windows = func() *[128]rune {
	t := highOf(charmap.Windows1252)
	for i, r := range t {
		if r == utf8.RuneError {
			t[i] = rune(0x80 + i)
		}
	}
	return t
}()

func highOf(m *charmap.Charmap) *[128]rune {
	var t [128]rune
	for i := range t {
		t[i] = m.DecodeByte(byte(0x80 + i))
	}
	return &t
}

// IsWindows reports whether bytes 0x80…0x9F are read as Windows-1252 has them,
// though the set may be declared as one that has controls there.
func (c Charset) IsWindows() bool { return c.High == windows }

// Decode gives b as valid UTF-8.
func (c Charset) Decode(b []byte) string {
	i := 0
	for i < len(b) && b[i] < 0x80 {
		i++
	}
	switch {
	case i == len(b):
		return string(b)
	case c.UTF8 && (c.High == nil || utf8.Valid(b)):
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	var s strings.Builder
	s.Grow(len(b) + len(b)/2)
	s.Write(b[:i])
	for _, x := range b[i:] {
		if x < 0x80 {
			s.WriteByte(x)
		} else {
			s.WriteRune(c.High[x-0x80])
		}
	}
	return s.String()
}

// Append appends r as the set writes it, or a question mark where it has no such
// character.
func (c Charset) Append(b []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		return append(b, byte(r))
	case c.UTF8:
		return utf8.AppendRune(b, r)
	case c.ASCII || r == utf8.RuneError:
		return append(b, '?')
	}
	for i, known := range c.High {
		if known == r {
			return append(b, byte(0x80+i))
		}
	}
	return append(b, '?')
}
