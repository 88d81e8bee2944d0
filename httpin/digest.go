package httpin

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
)

// digests are those of Content-Digest that are checked, nil where not given.
// The others of RFC 9530's registry are insecure (§5); beside one of these they are
// ignored.
type digests struct {
	sha256, sha512 []byte
}

func (d digests) any() bool { return d.sha256 != nil || d.sha512 != nil }

// wantedDigests reads Content-Digest, a structured-field dictionary of byte
// sequences (RFC 9530 §2, RFC 9651 §4.2.2). A digest that cannot be read is
// refused, and so is a field with none that is checked: the sender asked for a check
// that would not take place.
func wantedDigests(values []string) (digests, error) {
	var d digests
	var others []string
	for _, member := range members(strings.Join(values, ",")) {
		name, value, _ := strings.Cut(member, "=")
		size := 0
		// QUIRK: keys of a dictionary are in lower case; those who write SHA-256, as
		// in Digest of RFC 3230, mean the same.
		switch strings.ToLower(strings.TrimRight(name, " \t")) {
		case "sha-256":
			size = 32
		case "sha-512":
			size = 64
		default:
			others = append(others, name)
			continue
		}
		sum, ok := byteSequence(strings.TrimLeft(value, " \t"))
		if !ok || len(sum) != size {
			return digests{}, &refusal{problem: "invalid-content-digest", detail: fmt.Sprintf("%s in Content-Digest is not a digest of %d bytes as base64 between colons.", name, size)}
		}
		if size == 32 {
			d.sha256 = sum
		} else {
			d.sha512 = sum
		}
	}
	if !d.any() && len(others) > 0 {
		return digests{}, &refusal{problem: "invalid-content-digest", detail: fmt.Sprintf("Content-Digest names neither sha-256 nor sha-512, but %q. Add one of them, or leave the field out.", shortened(strings.Join(others, ", ")))}
	}
	return d, nil
}

// shortened is what a refusal shows of what was sent.
func shortened(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

// members cuts a dictionary at its commas, of which those in strings are none.
func members(s string) []string {
	var list []string
	from, inString := 0, false
	cut := func(to int) {
		if m := strings.Trim(s[from:to], " \t"); m != "" {
			list = append(list, m)
		}
		from = to + 1
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && inString:
			i++
		case s[i] == '"':
			inString = !inString
		case s[i] == ',' && !inString:
			cut(i)
		}
	}
	if from < len(s) {
		cut(len(s))
	}
	return list
}

// byteSequence reads ":base64:", with or without parameters behind it.
func byteSequence(s string) ([]byte, bool) {
	if !strings.HasPrefix(s, ":") {
		return nil, false
	}
	text, rest, ok := strings.Cut(s[1:], ":")
	if !ok || rest != "" && !strings.HasPrefix(strings.TrimLeft(rest, " "), ";") {
		return nil, false
	}
	// QUIRK: RFC 9651 §4.2.7 lets a parser take base64 without its padding.
	sum, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	return sum, err == nil
}

// mismatch names the digest that differs, "" if none does.
func (d digests) mismatch(sum256, sum512 []byte) string {
	switch {
	case d.sha256 != nil && !bytes.Equal(d.sha256, sum256):
		return "sha-256"
	case d.sha512 != nil && !bytes.Equal(d.sha512, sum512):
		return "sha-512"
	}
	return ""
}
