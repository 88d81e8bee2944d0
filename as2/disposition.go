package as2

import (
	"fmt"
	"strings"
)

// Disposition says what became of a message: RFC 8098 §3.2.6, RFC 4130 §7.4.3.
type Disposition struct {
	Kind     string // processed or failed
	Modifier string // "error: decryption-failed", "warning: …", "failure: …"; "" for none
}

// processed is that of a message that was received intact.
var processed = Disposition{Kind: "processed"}

// String gives the field's value with its blanks exactly so: some compare it whole.
func (d Disposition) String() string {
	s := "automatic-action/MDN-sent-automatically; " + d.Kind
	if d.Modifier != "" {
		s += "/" + d.Modifier
	}
	return s
}

// Positive reports whether the message arrived: processed, with a warning or without.
func (d Disposition) Positive() bool {
	return d.Kind == "processed" && (d.Modifier == "" || strings.HasPrefix(d.Modifier, "warning"))
}

// ParseDisposition reads the field as others write it.
//
// QUIRK: any case, blanks and tabs anywhere or nowhere, no action mode, a modifier
// without its kind.
func ParseDisposition(value string) (Disposition, error) {
	text := value
	if _, after, ok := strings.Cut(value, ";"); ok {
		text = after
	}
	kind, modifier, _ := strings.Cut(text, "/")
	d := Disposition{strings.ToLower(strings.TrimSpace(kind)), plainModifier(modifier)}
	switch {
	case d.Kind == "processed" || d.Kind == "failed":
	case d.Kind == "displayed", d.Kind == "dispatched", d.Kind == "deleted": // RFC 2298; some mail software
		d.Kind = "processed"
	default:
		if m := plainModifier(text); strings.HasPrefix(m, "error") || strings.HasPrefix(m, "failure") || strings.HasPrefix(m, "warning") {
			return Disposition{"processed", m}, nil
		}
		return Disposition{}, fmt.Errorf("%.80q is no disposition", value)
	}
	return d, nil
}

func plainModifier(s string) string {
	name, text, ok := strings.Cut(strings.ToLower(strings.Join(strings.Fields(s), " ")), ":")
	name = strings.TrimSpace(name)
	if !ok {
		return name
	}
	return name + ": " + strings.TrimSpace(text)
}
