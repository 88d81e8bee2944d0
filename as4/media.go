package as4

import (
	"errors"
	"strings"
)

// mediaType is the value of a Content-Type field: RFC 2045 §5.1.
type mediaType struct {
	name   string // type/subtype, lower case
	params map[string]string
}

// parseMediaType reads a media type as partners write it. What mime.ParseMediaType
// refuses and the wild sends is taken: values with / or = that are not quoted,
// blanks around =, parameters without a value, a semicolon at the end, names in
// any case, folded lines. A parameter that stands twice with two values is refused,
// since the two sides might each believe another.
func parseMediaType(s string) (mediaType, error) {
	name, rest, _ := strings.Cut(s, ";")
	m := mediaType{name: strings.ToLower(strings.Trim(name, linearSpace)), params: map[string]string{}}
	if kind, sub, ok := strings.Cut(m.name, "/"); !ok || kind == "" || sub == "" || strings.ContainsAny(m.name, linearSpace+`"=,`) {
		return m, errors.New("it is not a media type like application/soap+xml")
	}
	for rest != "" {
		var param string
		param, rest = cutParameter(rest)
		key, value, given := strings.Cut(param, "=")
		key = strings.ToLower(strings.Trim(key, linearSpace))
		if !given || key == "" {
			continue
		}
		value, err := parameterValue(strings.Trim(value, linearSpace))
		if err != nil {
			return m, err
		}
		if before, twice := m.params[key]; twice && before != value {
			return m, errors.New("its parameter " + key + " stands twice, with two values")
		}
		m.params[key] = value
	}
	return m, nil
}

const linearSpace = " \t\r\n"

// cutParameter gives what stands before the next semicolon outside quotes.
func cutParameter(s string) (param, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ';' && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// parameterValue takes the quotes off: RFC 2045 §5.1, RFC 5322 §3.2.4.
func parameterValue(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case '"':
			if i != len(s)-1 {
				return "", errors.New("text follows the closing quote of a parameter")
			}
			return b.String(), nil
		case '\r', '\n': // a folded line
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("a parameter has no closing quote")
}
