package partners

import (
	"maps"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Processing says, by message type, whether messages are processed inline, while
// the partner waits, or deferred: received and acknowledged at once, and processed
// by a worker. The key "default" stands for every type that has none; without it
// that is inline. YAML writes one word where all types are alike.
type Processing map[string]string

// The words of processing.
const (
	Inline   = "inline"
	Deferred = "deferred"
)

// Defers reports whether messages of this type (0065 of UNH, ST01) are deferred.
func (p Processing) Defers(messageType string) bool {
	if word, ok := p[messageType]; ok {
		return word == Deferred
	}
	return p[otherKeys] == Deferred
}

// Any reports whether messages of any type are deferred.
func (p Processing) Any() bool {
	for _, word := range p {
		if word == Deferred {
			return true
		}
	}
	return false
}

// String gives the one word, or the mapping as YAML writes it.
func (p Processing) String() string { return byKey(p).text(Inline) }

// MarshalYAML writes one word where all types are alike.
func (p Processing) MarshalYAML() (any, error) { return byKey(p).yaml(Inline), nil }

// normalise leaves out what says what is so anyway.
func (p *Processing) normalise() { *p = Processing(byKey(*p).short(Inline)) }

// processing reads a word, or a mapping of message types to words; it remembers
// where each type stood.
func (d *document) processing(into *Processing, at map[string]*token.Token) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		*into = Processing{}
		word := func(key string) func(ast.Node, string) {
			return func(n ast.Node, path string) {
				var s string
				d.oneOf(&s, Inline, Deferred)(n, path)
				(*into)[key] = s
			}
		}
		entries := entriesOf(n)
		if entries == nil {
			word(otherKeys)(n, path)
			return
		}
		for _, e := range entries {
			key, tok := keyOf(e), e.Key.GetToken()
			switch full := join(path, key); {
			case at[key] != nil:
				d.fault(tok, full, "stands twice; the first is in line %d", d.before+at[key].Position.Line)
			case key != otherKeys && !messageType.MatchString(key):
				d.fault(tok, full, "must be default or a message type in capitals like INVOIC or 810")
			default:
				at[key] = tok
				word(key)(e.Value, full)
			}
		}
	}
}

// processed holds what is said of types against the list of them: a word for a
// type that is never accepted is a mistake.
func (d *document) processed(s *PartnerSpec, at map[string]*token.Token) {
	for _, key := range slices.Sorted(maps.Keys(at)) {
		if key != otherKeys && !slices.Contains(s.Types, key) {
			d.fault(at[key], join("processing", key), "is not among the partner's types %v", s.Types)
		}
	}
}
