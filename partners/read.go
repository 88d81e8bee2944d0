package partners

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxText bounds one configuration: ten thousand partners, every key written
// out, are 12 MB.
const MaxText = 16 << 20

// maxDocument bounds one document, since the YAML parser takes time that grows
// with the square of the length of hostile texts: seconds for this many bytes.
// The fullest partner that Write may write is shorter.
const maxDocument = 192 << 10

// maxNesting bounds brackets in brackets, for which the parser takes a minute
// instead of seconds. Brackets in quotes count too.
const maxNesting = 1000

// maxItems and maxTokens bound the lists of a partner.
const (
	maxItems  = 500
	maxTokens = 20
)

// Reader reads partners and organisations from YAML. Getenv and ReadFile
// resolve tokens given as `env:` and `file:`; where they are nil such a token is
// a fault, so that a file sent to a server cannot read the server's secrets.
type Reader struct {
	Getenv   func(name string) (string, bool) // os.LookupEnv
	ReadFile func(path string) ([]byte, error)
}

// Read gives what the documents of text say, in their order. The error is
// Faults, all of them; then there are no specs. name is the file's, for faults
// and for `file:` references relative to it.
func (r Reader) Read(name string, text []byte) ([]Spec, error) {
	if len(text) > MaxText {
		return nil, Faults{{File: name, Text: fmt.Sprintf("a configuration file has at most %d bytes; split it", MaxText)}}
	}
	var specs []Spec
	var faults Faults
	for _, part := range documentsOf(text) {
		d := &document{reader: r, file: name, before: part.line}
		if spec := d.read(part.text); spec != nil {
			headed(part.text, spec)
			specs = append(specs, *spec)
		}
		faults = append(faults, d.faults...)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return specs, nil
}

// part is the text of one document, with the number of lines before it.
type part struct {
	text []byte
	line int
}

// documentsOf cuts text at its document markers: lines that begin with "---" or
// "...", which YAML 1.2 §9.1.2 forbids inside any document.
//
// QUIRK: goccy/go-yaml drops every document that follows an empty one, without a
// word. One document at a time it reads well.
func documentsOf(text []byte) []part {
	var parts []part
	current := part{}
	line := 0
	// A byte order mark may begin the file: YAML 1.2 §5.2.
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for l := range bytes.Lines(text) {
		rest, marker := l, false
		for _, m := range []string{"---", "..."} {
			if after, ok := bytes.CutPrefix(l, []byte(m)); ok && (len(after) == 0 || bytes.IndexByte([]byte(" \t\r\n"), after[0]) >= 0) {
				rest, marker = append([]byte("   "), after...), true
			}
		}
		switch {
		case marker:
			parts = append(parts, current)
			current = part{line: line}
		case l[0] == '%' && blank(current.text):
			// A directive, YAML 1.2 §6.8. We read neither of the two there are.
			rest = []byte("\n")
		}
		current.text = append(current.text, rest...)
		line++
	}
	return append(parts, current)
}

// Documents cuts YAML into its documents for another reader, without those that hold
// nothing. As many empty lines stand before each as it has lines before it, so that
// faults name the lines of the whole.
func Documents(text []byte) (list [][]byte) {
	for _, p := range documentsOf(text) {
		if !blank(p.text) {
			list = append(list, append(bytes.Repeat([]byte("\n"), p.line), p.text...))
		}
	}
	return list
}

// document reads one YAML document and collects its faults.
type document struct {
	reader Reader
	file   string
	before int // lines of the file before this document
	faults Faults
}

// read gives nil where the document is empty, or has faults.
func (d *document) read(text []byte) *Spec {
	at := Fault{File: d.file, Line: d.before + 1, Column: 1}
	switch {
	case len(text) > maxDocument:
		at.Text = fmt.Sprintf("a document has at most %d bytes", maxDocument)
		d.faults = append(d.faults, at)
		return nil
	case nesting(text) > maxNesting:
		at.Text = "brackets are nested too deep"
		d.faults = append(d.faults, at)
		return nil
	}
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntax(err)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			body = doc.Body
		}
	}
	if body == nil {
		if !blank(text) {
			at.Text = "is no YAML mapping: begin with `kind: Partner`"
			d.faults = append(d.faults, at)
		}
		return nil
	}
	return d.spec(body)
}

// spec reads kind and goes on to what it names.
func (d *document) spec(body ast.Node) *Spec {
	kind := ""
	for _, e := range entriesOf(body) {
		if keyOf(e) == "kind" {
			kind, _ = d.scalar(e.Value, "kind")
		}
	}
	tok := body.GetToken()
	if entries := entriesOf(body); len(entries) > 0 {
		tok = entries[0].Key.GetToken()
	}
	spec := &Spec{File: d.file, Line: d.before + tok.Position.Line}
	switch {
	case len(entriesOf(body)) == 0:
		d.fault(tok, "", "is no YAML mapping: begin with `kind: Partner`")
	case kind == "Organisation":
		spec.Organisation = d.organisation(body)
	case kind == "Partner":
		spec.Partner = d.partner(body)
	case kind == "" && len(d.faults) == 0:
		d.fault(tok, "kind", "is missing: write `kind: Partner` or `kind: Organisation`")
	case kind != "":
		d.fault(tok, "kind", "must be Partner or Organisation, not %q", kind)
	}
	return spec
}

// syntax turns the parser's error into a fault at its place.
func (d *document) syntax(err error) {
	f := Fault{File: d.file, Line: d.before + 1, Column: 1, Text: "is no YAML: " + err.Error()}
	if at := yaml.Error(nil); errors.As(err, &at) && at.GetToken() != nil {
		pos := at.GetToken().Position
		f.Line, f.Column, f.Text = d.before+pos.Line, pos.Column, "is no YAML: "+at.GetMessage()
	}
	d.faults = append(d.faults, f)
}

func (d *document) fault(at *token.Token, key, format string, args ...any) {
	f := Fault{File: d.file, Key: key, Text: fmt.Sprintf(format, args...)}
	if at != nil && at.Position != nil {
		f.Line, f.Column = d.before+at.Position.Line, at.Position.Column
	}
	// A scalar may be looked at twice (kind is): one fault is enough.
	if !slices.Contains(d.faults, f) {
		d.faults = append(d.faults, f)
	}
}

// blank reports whether text is white space and comments only.
func blank(text []byte) bool {
	for l := range bytes.Lines(text) {
		if l = bytes.TrimSpace(l); len(l) > 0 && l[0] != '#' {
			return false
		}
	}
	return true
}

// nesting counts how many brackets are open at once, at most.
func nesting(text []byte) int {
	deepest, open := 0, 0
	for _, c := range text {
		switch c {
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		}
		deepest = max(deepest, open)
	}
	return deepest
}
