package partners

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// field is one key of a mapping and what reads its value; path is the value's
// name in faults.
type field struct {
	key  string
	read func(value ast.Node, path string)
}

// misplaced names where a key belongs that people write a level too high.
var misplaced = map[string]string{
	"dedup_window": "retention", "retry_window": "retention", "payloads": "retention",
	"acknowledgements": "retention", "quarantine": "retention", "deliveries": "retention",
	"legal_hold": "retention", "tokens": "http", "credentials": "http", "invoice": "known_document", "despatch": "known_document",
	"charset": "reading", "default_charset": "reading", "byte_order_mark": "reading", "blank_lines": "reading",
	"padding": "reading", "leading_zeros": "reading", "surrounding_text": "reading", "line_wraps": "reading",
	"structure": "reading", "guide": "reading",
	"roles":   "documents",
	"profile": "as4", "agreement": "as4", "services": "as4", "unsigned": "as4", "unencrypted": "as4", "signatures": "as4",
}

// mapping reads the keys of n by fields, and gives the place of each key it saw.
// A key that no field names, or that stands twice, is a fault.
func (d *document) mapping(n ast.Node, path string, fields ...field) map[string]*token.Token {
	seen := map[string]*token.Token{}
	if !d.plain(n, path) {
		return seen
	}
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		d.fault(n.GetToken(), path, "must be a mapping with the keys %s", keysOf(fields))
		return seen
	}
	for _, e := range entriesOf(n) {
		key, at := keyOf(e), e.Key.GetToken()
		full := join(path, key)
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		switch {
		case i < 0:
			d.unknown(at, path, key, fields)
		case seen[key] != nil:
			d.fault(at, full, "stands twice; the first is in line %d", d.before+seen[key].Position.Line)
		default:
			seen[key] = at
			fields[i].read(e.Value, full)
		}
	}
	return seen
}

func (d *document) unknown(at *token.Token, path, key string, fields []field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	home, known := misplaced[key]
	switch near := nearest(key, names); {
	case known && home != path && slices.Contains(names, home):
		d.fault(at, join(path, key), "unknown key here; it belongs under %s", home)
	case near != "":
		d.fault(at, join(path, key), "unknown key; did you mean %s?", near)
	default:
		d.fault(at, join(path, key), "unknown key; known are %s", keysOf(fields))
	}
}

// sequence calls each for every item of n, of which there may be most.
func (d *document) sequence(n ast.Node, path string, most int, each func(item ast.Node, path string)) {
	if !d.plain(n, path) {
		return
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fault(n.GetToken(), path, "must be a list: write [a, b], or one `- item` a line")
		return
	}
	if len(s.Values) > most {
		d.fault(n.GetToken(), path, "has %d items, of which there may be at most %d", len(s.Values), most)
		return
	}
	for i, item := range s.Values {
		each(item, path+"["+strconv.Itoa(i+1)+"]")
	}
}

// scalar gives the text of a single value as it was written: an identifier
// 0123456789012 keeps its zero, whether it was quoted or not.
func (d *document) scalar(n ast.Node, path string) (string, bool) {
	if !d.plain(n, path) {
		return "", false
	}
	switch x := n.(type) {
	case *ast.StringNode:
		return x.Value, true
	case *ast.LiteralNode:
		return strings.TrimSuffix(x.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	d.fault(n.GetToken(), path, "must be a single value, not a list or mapping")
	return "", false
}

// plain refuses what means something other than it shows: nothing, or YAML's
// references and tags.
func (d *document) plain(n ast.Node, path string) bool {
	switch n.(type) {
	case nil:
		d.fault(nil, path, "has no value; leave the key out for the default")
	case *ast.NullNode:
		d.fault(n.GetToken(), path, "has no value; leave the key out for the default")
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		d.fault(n.GetToken(), path, "anchors, aliases and tags are not read here; write the value out")
	default:
		return true
	}
	return false
}

func entriesOf(n ast.Node) []*ast.MappingValueNode {
	switch x := n.(type) {
	case *ast.MappingNode:
		return x.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{x}
	}
	return nil
}

// keyOf is the key's text. A merge key or a complex one has a text that no field
// is named, and so is an unknown key.
func keyOf(e *ast.MappingValueNode) string { return e.Key.GetToken().Value }

func keysOf(fields []field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	return strings.Join(names, ", ")
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
