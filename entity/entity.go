// Package entity reads MIME entities (RFC 2045, RFC 2046) without changing a byte
// of them, in two ways. Parse and Split read text in memory: signatures and
// integrity checks of S/MIME are over what was sent, so header, body and parts are
// slices of the text that came. Reader reads a multipart body part by part as it
// comes, of which nothing is held: the parts of AS4 may be of any size.
//
// It is tolerant where the field is: lines may end by LF alone, parameters may
// stand without their quotation marks, a preamble may hold anything. What it
// takes in is bounded. It writes no MIME, and knows nothing of what an entity
// means: that is for the transports.
package entity

import (
	"bytes"
	"errors"
	"strings"
)

// What one header may hold.
const (
	maxHeader = 64 << 10 // bytes
	maxFields = 200
)

// What is told of an entity that cannot be read, as errors.Is finds it.
var (
	ErrHeader   = errors.New("the header of a part is too long")
	ErrParts    = errors.New("a multipart body has too many parts")
	ErrBoundary = errors.New("a multipart body without its boundary")
	ErrEncoding = errors.New("a transfer encoding that cannot be undone")
)

// Entity is a header and a body. Its slices share the memory they were read from.
type Entity struct {
	Raw    []byte  // all of it, as it stands: what a signature is over
	Fields []Field // of the header, in order
	Body   []byte  // behind the blank line, still in its transfer encoding
}

// Field is one field of a header, unfolded (RFC 5322 §2.2.3).
type Field struct{ Name, Value string }

// Parse reads a part of a multipart body, or what was encrypted or compressed: a
// header, a blank line, a body. Without a blank line, all that looks like a header
// is one. An entity that begins with its blank line has no header, RFC 2046 §5.1.
func Parse(raw []byte) (*Entity, error) {
	e := &Entity{Raw: raw}
	var folded folds
	rest := raw
	for len(rest) > 0 {
		line, after := cutLine(rest)
		switch name, value, ok := field(line); {
		case len(line) == 0:
			e.Body = after
			folded.into(e)
			return e, nil
		case !ok && len(e.Fields) == 0: // no header at all
			e.Body = raw
			return e, nil
		case len(raw)-len(after) > maxHeader:
			return nil, ErrHeader
		case (line[0] == ' ' || line[0] == '\t') && len(e.Fields) > 0:
			folded = append(folded, line)
		case ok:
			if len(e.Fields) == maxFields {
				return nil, ErrHeader
			}
			folded.into(e)
			folded = folded[:0]
			e.Fields = append(e.Fields, Field{name, value})
		}
		// QUIRK: a line in a header that is no field is passed over; the bytes stay in Raw.
		rest = after
	}
	folded.into(e)
	e.Body = raw[len(raw):]
	return e, nil
}

// HasHeader reports whether text begins with a header of MIME.
//
// QUIRK: some encrypt the interchange alone, without the entity around it. UNA:+.?
// looks like a field, and so may more of EDI; a MIME header has a field Content-…
// or MIME-Version in it.
func HasHeader(text []byte) bool {
	for rest := text[:min(len(text), maxHeader)]; len(rest) > 0; {
		line, after := cutLine(rest)
		name, _, ok := field(line)
		switch {
		case len(line) == 0:
			return false
		case line[0] == ' ' || line[0] == '\t':
			if len(rest) == len(text) {
				return false
			}
		case !ok:
			return false
		case strings.EqualFold(name, "MIME-Version") || len(name) > 8 && strings.EqualFold(name[:8], "Content-"):
			return true
		}
		rest = after
	}
	return false
}

// folds are the lines that continue the last field.
type folds [][]byte

// into puts them behind its value, all at once: one after the other would copy it for
// each. RFC 9112 §5.2: a fold is a space.
func (f folds) into(e *Entity) {
	if len(f) == 0 {
		return
	}
	last := &e.Fields[len(e.Fields)-1]
	words := []string{last.Value}
	for _, line := range f {
		if text := bytes.TrimSpace(line); len(text) > 0 {
			words = append(words, string(text))
		}
	}
	last.Value = strings.TrimSpace(strings.Join(words, " "))
}

// Header is the header with its blank line, as it stands.
func (e *Entity) Header() []byte { return e.Raw[:max(0, len(e.Raw)-len(e.Body))] }

// Get gives the first field of a name; "" if there is none.
func (e *Entity) Get(name string) string {
	for _, f := range e.Fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// ContentType gives Content-Type; without one it is text/plain, RFC 2045 §5.2.
func (e *Entity) ContentType() Value {
	v := ParseValue(e.Get("Content-Type"))
	if v.Word == "" {
		v.Word = "text/plain"
	}
	return v
}

// cutLine cuts the first line off, without its end: CRLF or LF.
func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return b, nil
	}
	return bytes.TrimSuffix(b[:i], []byte("\r")), b[i+1:]
}

// field reads a line as a field. Its name is of letters, digits and dashes: what
// others there may be (RFC 5322 §2.2) nobody uses, and EDI does.
//
// QUIRK: blanks before the colon are taken.
func field(line []byte) (name, value string, ok bool) {
	n, v, ok := bytes.Cut(line, []byte(":"))
	n = bytes.TrimRight(n, " \t")
	if !ok || len(n) == 0 {
		return "", "", false
	}
	for _, c := range n {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return "", "", false
		}
	}
	return string(n), string(bytes.TrimSpace(v)), true
}
