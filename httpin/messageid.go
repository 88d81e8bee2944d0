package httpin

import (
	"fmt"
	"net/http"
	"strings"
)

// longestID is the longest message id that is taken, in characters.
const longestID = 255

// messageID is the id the sender gave its message, "" if it gave none:
// Idempotency-Key, or EDI-Message-Id for those who cannot set the other. Given
// both, they have to agree.
func messageID(header http.Header) (string, error) {
	id := ""
	for _, name := range []string{"Idempotency-Key", "EDI-Message-Id"} {
		for _, value := range header.Values(name) {
			v, err := parseMessageID(value)
			if err != nil {
				return "", &refusal{problem: "invalid-message-id", detail: fmt.Sprintf("%s: %s.", name, err)}
			}
			if id != "" && v != id {
				return "", &refusal{problem: "invalid-message-id", detail: name + " says another id than was said before it: one message has one id."}
			}
			id = v
		}
	}
	return id, nil
}

// parseMessageID reads an id as a structured-field string (RFC 9651 §4.2.5),
// whose parameters mean nothing here, or, without quotes, as it stands.
//
// QUIRK: draft-ietf-httpapi-idempotency-key-header-07 §2.1 asks for the quotes;
// hardly anyone sends them. The same id with and without them is one id.
func parseMessageID(value string) (string, error) {
	value = strings.Trim(value, " \t")
	if strings.HasPrefix(value, `"`) {
		inner, rest, ok := quoted(value)
		if !ok || rest != "" && !strings.HasPrefix(rest, ";") {
			return "", fmt.Errorf("a value that begins with a quotation mark has to be a whole string in quotation marks, \" and \\ in it escaped by \\")
		}
		value = inner
	}
	if value == "" {
		return "", fmt.Errorf("the id is empty; leave the field out if there is none")
	}
	if len(value) > longestID {
		return "", fmt.Errorf("the id has %d characters, at most %d are taken", len(value), longestID)
	}
	for i := range len(value) {
		if value[i] < 0x20 || value[i] > 0x7e {
			return "", fmt.Errorf("character %d of the id is not printable ASCII", i+1)
		}
	}
	return value, nil
}

// quoted reads a structured-field string at the beginning of s.
func quoted(s string) (inner, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), strings.TrimLeft(s[i+1:], " "), true
		case c == '\\':
			i++
			if i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", "", false
			}
			b.WriteByte(s[i])
		case c < 0x20 || c > 0x7e:
			return "", "", false
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
