package edifact

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// charset is what the bytes of an interchange mean.
type charset struct {
	edi.Charset
	assumed bool // the setting's, not the sender's
}

// levels are the character sets of 0001, ISO 9735-1 annex A, by IANA's names.
// UNOX is ISO 2022: without its escape sequences it is ASCII.
var levels = map[string]string{
	"UNOA": "US-ASCII", "UNOB": "US-ASCII", "UNOC": "ISO-8859-1", "UNOD": "ISO-8859-2", "UNOE": "ISO-8859-5", "UNOF": "ISO-8859-7",
	"UNOG": "ISO-8859-3", "UNOH": "ISO-8859-4", "UNOI": "ISO-8859-6", "UNOJ": "ISO-8859-8", "UNOK": "ISO-8859-9", "UNOL": "ISO-8859-15",
	"UNOW": "UTF-8", "UNOX": "US-ASCII", "UNOY": "UTF-8",
}

// encodings are those of 0133. EBCDIC, UCS-2, UCS-4 and UTF-16 are not read: 4,
// 5, 6 and 8. 2, ASCII of eight bits, says no more than 0001 does.
var encodings = map[string]string{"1": "US-ASCII", "3": "IBM850", "4": "", "5": "", "6": "", "7": "UTF-8", "8": ""}

// KnownCharset reports whether name may stand in Tolerance.Charset and
// DefaultCharset: a level of 0001 or one of edi.CharsetNames.
func KnownCharset(name string) bool {
	_, ok := namedCharset(strings.ToUpper(name))
	return ok
}

func namedCharset(name string) (charset, bool) {
	if level, ok := levels[name]; ok {
		c, _ := edi.NamedCharset(level)
		c.Name = name
		return charset{Charset: c}, true
	}
	c, ok := edi.NamedCharset(name)
	return charset{Charset: c}, ok
}

// charset settles what is in force for 0001 and 0133. known is false where
// neither the sender nor the settings name one that we know; ASCII holds then.
func (r Reader) charset(id, encoding string) (c charset, known bool) {
	if c, ok := namedCharset(strings.ToUpper(r.Charset)); ok {
		return c, true
	}
	if name, ok := encodings[encoding]; ok {
		if c, ok := namedCharset(name); ok {
			return c, true
		}
		c, _ = namedCharset("US-ASCII")
		return c, false
	}
	if _, ok := levels[id]; ok {
		if c, known = namedCharset(id); !c.ASCII {
			return c, true
		}
	}
	if d, ok := namedCharset(strings.ToUpper(r.DefaultCharset)); ok {
		d.assumed = true
		return d, true
	}
	if !known {
		c, _ = namedCharset("US-ASCII")
	}
	return c, known
}

// digested is what ContentDigest decodes with: nothing where the text is UTF-8.
func (c charset) digested() func([]byte) string {
	if c.UTF8 && c.High == nil {
		return nil
	}
	return c.Decode
}
