package edifact

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// charset is what the bytes of an interchange mean.
type charset struct {
	name    string
	ascii   bool       // has no bytes ≥ 0x80
	utf8    bool       // UTF-8
	high    *[128]rune // of 0x80…0xFF otherwise; utf8.RuneError where nothing is defined
	assumed bool       // the setting's, not the sender's
}

// The character sets of 0001, ISO 9735-1 annex A, and those of IANA's names that
// senders use instead of what they declare.
// QUIRK: UNOC text with bytes 0x80…0x9F is Windows-1252, not C1 controls.
var charsets = map[string]charset{
	"UNOA": {name: "UNOA", ascii: true, high: windows},
	"UNOB": {name: "UNOB", ascii: true, high: windows},
	"UNOC": {name: "UNOC", high: windows},
	"UNOD": {name: "UNOD", high: highOf(charmap.ISO8859_2)},
	"UNOE": {name: "UNOE", high: highOf(charmap.ISO8859_5)},
	"UNOF": {name: "UNOF", high: highOf(charmap.ISO8859_7)},
	"UNOG": {name: "UNOG", high: highOf(charmap.ISO8859_3)},
	"UNOH": {name: "UNOH", high: highOf(charmap.ISO8859_4)},
	"UNOI": {name: "UNOI", high: highOf(charmap.ISO8859_6)},
	"UNOJ": {name: "UNOJ", high: highOf(charmap.ISO8859_8)},
	"UNOK": {name: "UNOK", high: highOf(charmap.ISO8859_9)},
	"UNOL": {name: "UNOL", high: highOf(charmap.ISO8859_15)},
	"UNOW": {name: "UNOW", utf8: true},
	"UNOX": {name: "UNOX", ascii: true, high: windows},
	"UNOY": {name: "UNOY", utf8: true},

	"US-ASCII":     {name: "US-ASCII", ascii: true, high: windows},
	"UTF-8":        {name: "UTF-8", utf8: true},
	"WINDOWS-1252": {name: "WINDOWS-1252", high: windows},
	"WINDOWS-1250": {name: "WINDOWS-1250", high: highOf(charmap.Windows1250)},
	"ISO-8859-1":   {name: "ISO-8859-1", high: windows},
	"ISO-8859-2":   {name: "ISO-8859-2", high: highOf(charmap.ISO8859_2)},
	"ISO-8859-5":   {name: "ISO-8859-5", high: highOf(charmap.ISO8859_5)},
	"ISO-8859-7":   {name: "ISO-8859-7", high: highOf(charmap.ISO8859_7)},
	"ISO-8859-9":   {name: "ISO-8859-9", high: highOf(charmap.ISO8859_9)},
	"ISO-8859-15":  {name: "ISO-8859-15", high: highOf(charmap.ISO8859_15)},
	"IBM850":       {name: "IBM850", high: highOf(charmap.CodePage850)},
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

// KnownCharset reports whether name may stand in Reader.Charset and
// Reader.DefaultCharset.
func KnownCharset(name string) bool {
	_, ok := charsets[strings.ToUpper(name)]
	return ok
}

// charset settles what is in force for 0001 and 0133. known is false where
// neither the sender nor the settings name one that we know; ASCII holds then.
func (r Reader) charset(id, encoding string) (c charset, known bool) {
	if c, ok := charsets[strings.ToUpper(r.Charset)]; ok {
		return c, true
	}
	switch encoding { // 0133
	case "1":
		return charsets["US-ASCII"], true
	case "3":
		return charsets["IBM850"], true
	case "7":
		return charsets["UTF-8"], true
	case "4", "5", "6", "8": // EBCDIC, UCS-2, UCS-4, UTF-16
		return charsets["US-ASCII"], false
	}
	c, known = charsets[id]
	if known && !c.ascii {
		return c, true
	}
	if d, ok := charsets[strings.ToUpper(r.DefaultCharset)]; ok {
		d.assumed = true
		return d, true
	}
	if !known {
		c = charsets["US-ASCII"]
	}
	return c, known
}

// decode gives b as valid UTF-8.
func (c charset) decode(b []byte) string {
	i := 0
	for i < len(b) && b[i] < 0x80 {
		i++
	}
	switch {
	case i == len(b):
		return string(b)
	case c.utf8:
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	var s strings.Builder
	s.Grow(len(b) + len(b)/2)
	s.Write(b[:i])
	for _, x := range b[i:] {
		if x < 0x80 {
			s.WriteByte(x)
		} else {
			s.WriteRune(c.high[x-0x80])
		}
	}
	return s.String()
}

// digested is what ContentDigest decodes with: nothing where the text is UTF-8.
func (c charset) digested() func([]byte) string {
	if c.utf8 {
		return nil
	}
	return c.decode
}
