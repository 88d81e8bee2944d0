package partners

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/edigw/edigw/documents/checks"
)

// Checks says, by code, what a finding in a document does: it is told and kept
// (note), refuses its message (refuse), or is nothing (off). The key "default" stands
// for every code that has none; without it that is note. YAML writes one word where
// all codes are alike.
type Checks map[string]string

// String gives the one word, or the mapping as YAML writes it.
func (c Checks) String() string { return byKey(c).text(checks.Note) }

// MarshalYAML writes one word where all codes are alike.
func (c Checks) MarshalYAML() (any, error) { return byKey(c).yaml(checks.Note), nil }

// Refusing gives the codes that refuse a message, in the order of the list.
func (c Checks) Refusing() []string {
	var codes []string
	for _, code := range checks.Settable() {
		if checks.Of(c, code) == checks.Refuse {
			codes = append(codes, code)
		}
	}
	return codes
}

// normalise leaves out what says what is so anyway.
func (c *Checks) normalise() { *c = Checks(byKey(*c).short(checks.Note)) }

// checks reads a word, or a mapping of codes to words.
func (d *document) checks(into *Checks) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		*into = Checks{}
		word := func(key string) func(ast.Node, string) {
			return func(n ast.Node, path string) {
				var s string
				d.oneOf(&s, checks.Consequences...)(n, path)
				(*into)[key] = s
			}
		}
		entries := entriesOf(n)
		if entries == nil {
			word(checks.Default)(n, path)
			return
		}
		at := map[string]*token.Token{}
		for _, e := range entries {
			key, tok := keyOf(e), e.Key.GetToken()
			full := join(path, key)
			if at[key] != nil {
				d.fault(tok, full, "stands twice; the first is in line %d", d.before+at[key].Position.Line)
				continue
			}
			at[key] = tok
			c, known := checks.Find(key)
			switch near := nearest(key, append(checks.Settable(), checks.Default)); {
			case key == checks.Default, known && c.Settable():
				word(key)(e.Value, full)
			case known:
				d.fault(tok, full, "is not to be set: what it finds is always told as it is")
			case near != "":
				d.fault(tok, full, "there is no such finding; did you mean %s?", near)
			default:
				d.fault(tok, full, "there is no such finding; docs/reference/documents.md lists them")
			}
		}
	}
}
