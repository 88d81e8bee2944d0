package entity

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxParameters bounds the parameters of one field.
const maxParameters = 50

// Value is a field that has a word and parameters: Content-Type,
// Content-Disposition (RFC 2045 §5.1, RFC 2183 §2).
type Value struct {
	Word       string            // in lower case: multipart/signed, attachment
	Parameters map[string]string // names in lower case
	// Doubt says what in it two readers may read in two ways, "" for nothing: a parameter
	// with two values, of which the first counts here, or one whose quotation marks are
	// not closed or have text behind them.
	Doubt string
}

// Get gives a parameter; "" if there is none.
func (v Value) Get(name string) string { return v.Parameters[name] }

// ParseValue reads whatever it is given: what cannot be understood is left out.
//
// QUIRK: mime.ParseMediaType refuses what partners send: values without quotation
// marks that hold = or blanks (boundary=----=_Part_1, name=my file.edi), empty
// parameters, the whole value in quotation marks, doubled ones around a value. All
// of it is read here. Of a parameter that stands twice the first counts.
func ParseValue(s string) Value {
	s = strings.TrimSpace(s)
	// QUIRK: "multipart/report; boundary=\"x\"" as one quoted string.
	if inner, ok := wrapped(s); ok {
		s = inner
	}
	word, rest, _ := strings.Cut(s, ";")
	v := Value{Word: strings.ToLower(strings.TrimSpace(word)), Parameters: map[string]string{}}
	// A comment (RFC 2045 §5.1), or more behind a blank, is not part of it.
	if i := strings.IndexFunc(v.Word, func(r rune) bool { return r == '(' || unicode.IsSpace(r) }); i > 0 {
		v.Word = v.Word[:i]
	}
	extended := map[string]string{}
	for n := 0; rest != "" && n < maxParameters; n++ {
		var name, value, doubt string
		name, value, rest, doubt = parameter(rest)
		v.doubt(doubt)
		if name == "" {
			continue
		}
		if base, _, more := strings.Cut(name, "*"); base == "" {
			continue
		} else if more {
			if _, twice := extended[name]; !twice {
				extended[name] = value
			}
			continue
		}
		if first, twice := v.Parameters[name]; !twice {
			v.Parameters[name] = value
		} else if first != value {
			v.doubt("its parameter " + name + " stands twice, with two values")
		}
	}
	v.extend(extended)
	return v
}

// doubt keeps the first one.
func (v *Value) doubt(text string) {
	if v.Doubt == "" {
		v.Doubt = text
	}
}

// wrapped gives the inside of a value that stands in quotation marks as a whole.
func wrapped(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	if value, rest, closed := quoted(s); rest == "" && closed {
		return strings.TrimSpace(value), true
	}
	return "", false
}

// parameter cuts one parameter off.
func parameter(s string) (name, value, rest, doubt string) {
	s = strings.TrimLeft(s, " \t")
	i := strings.IndexAny(s, "=;")
	if i < 0 {
		return "", "", "", ""
	}
	if s[i] == ';' { // empty, or a word without a value
		return "", "", s[i+1:], ""
	}
	name = strings.ToLower(strings.TrimSpace(s[:i]))
	s = strings.TrimLeft(s[i+1:], " \t")
	// QUIRK: doubled quotation marks around a file name.
	if strings.HasPrefix(s, `""`) && len(s) > 2 && s[2] != ';' {
		if inner, after, ok := strings.Cut(s[2:], `""`); ok {
			_, after, _ = strings.Cut(after, ";")
			return name, inner, after, ""
		}
	}
	if strings.HasPrefix(s, `"`) {
		value, rest, closed := quoted(s)
		behind, rest, _ := strings.Cut(rest, ";")
		switch {
		case !closed:
			doubt = "a parameter has no closing quote"
		case strings.TrimSpace(behind) != "":
			doubt = "text follows the closing quote of a parameter"
		}
		return name, value, rest, doubt
	}
	value, rest, _ = strings.Cut(s, ";")
	return name, strings.TrimSpace(value), rest, ""
}

// quoted reads a quoted-string at the beginning of s; one that is not closed goes
// to the end.
//
// QUIRK: a backslash before anything but a quotation mark or a backslash is one:
// file names of Windows come with their paths.
func quoted(s string) (value, rest string, closed bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", false
}

// extend puts values together that RFC 2231 §3 and §4 split and encode: name*,
// name*0, name*1*. They win over the plain parameter beside them (RFC 6266 §4.3).
func (v Value) extend(extended map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(extended)) {
		name, _, _ := strings.Cut(key, "*")
		if whole, ok := extended[name+"*"]; ok {
			v.Parameters[name] = decodeExtended(whole)
			continue
		}
		if !strings.HasPrefix(key, name+"*0") {
			continue
		}
		var b strings.Builder
		charset := ""
		for i := 0; i < maxParameters; i++ {
			n := name + "*" + strconv.Itoa(i)
			if plain, ok := extended[n]; ok {
				b.WriteString(plain)
				continue
			}
			part, ok := extended[n+"*"]
			if !ok {
				break
			}
			if i == 0 {
				charset, part = charsetOf(part)
			}
			b.WriteString(percentDecoded(part))
		}
		v.Parameters[name] = toUTF8(charset, b.String())
	}
}

// decodeExtended reads charset'language'percent-encoded, RFC 2231 §4.
func decodeExtended(s string) string {
	charset, text := charsetOf(s)
	return toUTF8(charset, percentDecoded(text))
}

func charsetOf(s string) (charset, text string) {
	charset, rest, ok := strings.Cut(s, "'")
	if !ok {
		return "", s
	}
	if _, text, ok = strings.Cut(rest, "'"); !ok {
		return "", s
	}
	return charset, text
}

func percentDecoded(s string) string {
	if text, err := url.PathUnescape(s); err == nil {
		return text
	}
	return s // not encoded, then
}
