package as4

import (
	"errors"
	"strings"

	"github.com/edigw/edigw/entity"
)

// mediaType reads a Content-Type (RFC 2045 §5.1) as partners write it. What the two sides
// might each understand in another way is refused.
func mediaType(s string) (entity.Value, error) {
	m := entity.ParseValue(s)
	if kind, sub, ok := strings.Cut(m.Word, "/"); !ok || kind == "" || sub == "" || strings.ContainsAny(m.Word, `"=,`) {
		return m, errors.New("it is not a media type like application/soap+xml")
	}
	if m.Doubt != "" {
		return m, errors.New(m.Doubt)
	}
	return m, nil
}

// linearSpace is the white space of MIME and XML alike.
const linearSpace = " \t\r\n"

// quote writes a parameter's value: RFC 2045 §5.1.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
