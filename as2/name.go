package as2

import (
	"fmt"
	"strings"
)

// longestName is the longest AS2 name, in characters: RFC 4130 §6.2.
const longestName = 128

// Name is the value of AS2-From or AS2-To (RFC 4130 §6.2): the name itself, and as
// it was written, since an MDN gives it back in the sender's own style.
type Name struct {
	Plain string // without quotation marks, escapes resolved; case counts
	Raw   string // as it came
}

// ParseName reads a name as senders write it. The error says what is wrong with
// one that cannot be a name.
//
// QUIRK: names with blanks come without quotation marks; what is quoted and does not
// end is taken as it stands.
func ParseName(raw string) (Name, error) {
	n := Name{Raw: strings.Trim(raw, " \t")}
	n.Plain = n.Raw
	if inner, ok := unquoted(n.Raw); ok {
		n.Plain = inner
	}
	switch {
	case n.Plain == "":
		return n, fmt.Errorf("the name is empty")
	case len(n.Plain) > longestName:
		return n, fmt.Errorf("the name has %d characters, at most %d are taken", len(n.Plain), longestName)
	}
	for i := range len(n.Plain) {
		if c := n.Plain[i]; c < 0x20 || c == 0x7f {
			return n, fmt.Errorf("character %d of the name is a control character", i+1)
		}
	}
	return n, nil
}

// NameOf is a name as we write it: in quotation marks only where it has to be.
func NameOf(plain string) Name {
	if !strings.ContainsAny(plain, " \"\\") {
		return Name{plain, plain}
	}
	return Name{plain, `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain) + `"`}
}

// unquoted gives the inside of a quoted string that is all of s.
func unquoted(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), i == len(s)-1
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
