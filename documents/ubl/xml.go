package ubl

import (
	"bufio"
	"encoding/xml"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/edigw/edigw/documents"
)

// The namespaces of UBL 2.1, §B.2: of a document's own element, of aggregates (cac) and
// of leaves (cbc).
const (
	namespaceInvoice    = "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
	namespaceCreditNote = "urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2"
	namespaceAggregate  = "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
	namespaceBasic      = "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"
)

// writer writes elements as they come. A start tag waits until something stands in its
// element, so that none is empty. The first error of the writer beneath stays, and
// nothing is written after it.
type writer struct {
	w       *bufio.Writer
	waiting []string // aggregates opened and not yet written
	depth   int      // of what is written
	err     error
}

func newWriter(w io.Writer) *writer { return &writer{w: bufio.NewWriterSize(w, 16<<10)} }

// root writes a document's own element around what inside writes.
func (x *writer) root(name, namespace string, inside func()) error {
	x.raw(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<" + name + ` xmlns="` + namespace + `" xmlns:cac="` + namespaceAggregate + `" xmlns:cbc="` + namespaceBasic + `">`)
	x.depth = 1
	inside()
	x.raw("\n</" + name + ">\n")
	if x.err == nil {
		x.err = x.w.Flush()
	}
	return x.err
}

// group writes an aggregate around what inside writes, and nothing if that is nothing.
func (x *writer) group(name string, inside func()) {
	x.waiting = append(x.waiting, name)
	inside()
	if n := len(x.waiting); n > 0 {
		x.waiting = x.waiting[:n-1]
		return
	}
	x.depth--
	x.line()
	x.raw("</cac:" + name + ">")
}

// must is group for an aggregate that the schema demands, empty or not.
func (x *writer) must(name string, inside func()) {
	x.waiting = append(x.waiting, name)
	x.begin()
	inside()
	x.depth--
	x.line()
	x.raw("</cac:" + name + ">")
}

// leaf writes an element with text, and nothing if that is empty or blank. Attributes
// come in pairs of name and value; one without a value is left out.
func (x *writer) leaf(name, text string, attributes ...string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	x.begin()
	x.line()
	x.raw("<cbc:" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		if attributes[i+1] != "" {
			x.raw(" " + attributes[i] + `="`)
			x.text(attributes[i+1])
			x.raw(`"`)
		}
	}
	x.raw(">")
	x.text(text)
	x.raw("</cbc:" + name + ">")
}

// number writes a number with the digits it has (xsd:decimal), nothing if there is none.
func (x *writer) number(name string, n documents.Number, attributes ...string) {
	x.leaf(name, n.String(), attributes...)
}

// begin writes the start tags that wait.
func (x *writer) begin() {
	for _, name := range x.waiting {
		x.line()
		x.raw("<cac:" + name + ">")
		x.depth++
	}
	x.waiting = x.waiting[:0]
}

const indents = "\n                                "

// line begins a line, indented by two blanks a level.
func (x *writer) line() { x.raw(indents[:1+min(2*x.depth, len(indents)-1)]) }

func (x *writer) raw(s string) {
	if x.err == nil {
		_, x.err = x.w.WriteString(s)
	}
}

// text writes character data. What XML 1.0 §2.2 has no character for, such as the
// control characters that some send in texts, becomes U+FFFD.
func (x *writer) text(s string) {
	if x.err != nil {
		return
	}
	if plain(s) {
		_, x.err = x.w.WriteString(s)
		return
	}
	x.err = xml.EscapeText(x.w, []byte(s))
}

// plain reports whether s needs no escape.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ', c >= utf8.RuneSelf, c == '<', c == '>', c == '&', c == '"', c == '\'':
			return false
		}
	}
	return true
}
