package edifact

import (
	"fmt"
	"io"

	"github.com/edigw/edigw/edi"
)

// againChunk is how much of a spooled interchange is read at a time.
const againChunk = 256 << 10

// Again gives a function that reads message i of an interchange that Scan has
// read before, as Scan handed it out, without reading the others. It is cheapest
// in ascending order. Its Body is valid until the next call; its error is ours:
// the payload could not be read. Not for concurrent use.
func (r Reader) Again(p *edi.Payload, ic *edi.Interchange) func(i int) (*edi.Body, error) {
	cs, _ := r.charset(ic.SyntaxID, ic.Encoding)
	lex := edi.NewLexer(ic.Delimiters, cs.Decode)
	mem, inMemory := p.InMemory()
	var read []byte // of the spool
	var at int64    // where that starts
	return func(i int) (*edi.Body, error) {
		m := &ic.Messages[i]
		var raw []byte
		switch {
		case inMemory:
			raw = mem[m.Offset : m.Offset+m.Length]
		case m.Offset >= at && m.Offset+m.Length <= at+int64(len(read)):
			raw = read[m.Offset-at:][:m.Length]
		default:
			size := min(max(againChunk, m.Length), p.Size()-m.Offset)
			if int64(cap(read)) < size || cap(read) > 4*againChunk && size == againChunk {
				read = make([]byte, size)
			}
			read, at = read[:size], m.Offset
			if _, err := p.ReadAt(read, at); err != nil && err != io.EOF {
				return nil, fmt.Errorf("read spool: %w", err)
			}
			raw = read[:m.Length]
		}
		lex.Reset(ic.Delimiters, cs.Decode)
		base := m.Offset
		if r.LineWraps {
			var breaks *edi.Breaks
			if raw, breaks = edi.Unwrap(raw, m.Offset, ic.Delimiters); breaks != nil {
				lex.Unwrapped(breaks)
				base = 0
			}
		}
		lex.Window(raw, base)
		if m.Type.Type == edi.Package {
			passObject(lex, raw)
		}
		for lex.Lex(len(raw)) {
		}
		lex.End()
		for n := range lex.Segments {
			lex.Segments[n].Number = int32(n + 1)
		}
		return &edi.Body{Segments: lex.Segments}, nil
	}
}
