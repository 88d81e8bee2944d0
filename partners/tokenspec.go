package partners

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// minToken is the fewest bytes of a token that is not of our making: below that
// it can be guessed from its digest.
const minToken = 16

func (d *document) http(into *HTTPSpec) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		d.mapping(n, path,
			field{"credentials", d.oneOf(&into.Credentials, AnyCredential, TokenAlone, CertificateAlone, BothCredentials)},
			field{"tokens", func(n ast.Node, path string) {
				d.sequence(n, path, maxTokens, func(item ast.Node, path string) { d.token(item, path, into) })
			}},
		)
	}
}

// token reads one token and adds it, digested.
func (d *document) token(item ast.Node, path string, into *HTTPSpec) {
	var t TokenSpec
	before := len(d.faults)
	digested := func(n ast.Node, path string, secret []byte) {
		secret = []byte(strings.TrimRight(string(secret), "\r\n"))
		if len(secret) < minToken {
			d.fault(n.GetToken(), path, "names a token of %d bytes; fewer than %d can be guessed", len(secret), minToken)
			return
		}
		sum := sha256.Sum256(secret)
		t.SHA256 = hex.EncodeToString(sum[:])
	}
	seen := d.mapping(item, path,
		field{"label", d.text(&t.Label, 60)},
		field{"sha256", func(n ast.Node, path string) {
			s, ok := d.scalar(n, path)
			t.SHA256 = strings.ToLower(s)
			if b, err := hex.DecodeString(s); ok && (err != nil || len(b) != sha256.Size) {
				d.fault(n.GetToken(), path, "must be the SHA-256 of the token as 64 hex digits")
			}
		}},
		field{"env", func(n ast.Node, path string) {
			name, ok := d.scalar(n, path)
			switch {
			case !ok:
			case d.reader.Getenv == nil:
				d.fault(n.GetToken(), path, "is only read on the machine that applies the file; give sha256 here")
			default:
				secret, set := d.reader.Getenv(name)
				if !set {
					d.fault(n.GetToken(), path, "the environment variable %s is not set", name)
					return
				}
				digested(n, path, []byte(secret))
			}
		}},
		field{"file", func(n ast.Node, path string) {
			if secret, ok := d.referenced(n, path, "give sha256 here"); ok {
				digested(n, path, secret)
			}
		}},
		field{"expires", d.expires(&t.Expires)},
	)
	if len(d.faults) > before {
		return
	}
	given := 0
	for _, key := range []string{"sha256", "env", "file"} {
		if seen[key] != nil {
			given++
		}
	}
	switch {
	case given != 1:
		d.fault(item.GetToken(), path, "needs one of sha256, env and file")
	case t.Label == "":
		d.fault(item.GetToken(), join(path, "label"), "is missing: a name to tell tokens apart, like `label: erp-2026`")
	case slices.ContainsFunc(into.Tokens, func(o TokenSpec) bool { return o.Label == t.Label }):
		d.fault(item.GetToken(), join(path, "label"), "%q stands twice", t.Label)
	case slices.ContainsFunc(into.Tokens, func(o TokenSpec) bool { return o.SHA256 == t.SHA256 }):
		d.fault(item.GetToken(), path, "is the same token as another of this partner")
	default:
		into.Tokens = append(into.Tokens, t)
	}
}

// expires reads a day, valid to its end in UTC, or an instant.
func (d *document) expires(into **time.Time) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if !ok {
			return
		}
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t, err = time.Parse(time.DateOnly, s)
			t = t.AddDate(0, 0, 1)
		}
		if err != nil || t.Year() < 2000 || t.Year() > 9000 {
			d.fault(n.GetToken(), path, "must be a day like 2027-12-31, or an instant like 2027-12-31T18:00:00Z, not %q", s)
			return
		}
		t = t.UTC().Truncate(time.Second)
		*into = &t
	}
}
