package x12

import (
	"fmt"
	"io"

	"github.com/edigw/edigw/edi"
)

// againChunk is how much of a spooled interchange is read at a time.
const againChunk = 256 << 10

// Again gives a function that reads transaction set i of an interchange that Scan
// has read before, as Scan handed it out, without reading the others. It is
// cheapest in ascending order. Its Body is valid until the next call; its error is
// ours: the payload could not be read. Not for concurrent use.
func (r Reader) Again(p *edi.Payload, ic *edi.Interchange) func(i int) (*edi.Body, error) {
	c, _ := r.charset()
	lex := edi.NewLexer(ic.Delimiters, c.Decode)
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
		lex.Reset(ic.Delimiters, c.Decode)
		if r.LineWraps {
			if flat, breaks := edi.Unwrap(raw, m.Offset, ic.Delimiters); breaks != nil {
				lex.Unwrapped(breaks)
				return wrappedBody(lex, flat), nil
			}
		}
		return body(lex, raw, m.Offset, ic.Delimiters), nil
	}
}

// wrappedBody cuts the text of a transaction set without its line ends.
func wrappedBody(lex *edi.Lexer, flat []byte) *edi.Body {
	lex.Window(flat, 0)
	for lex.Lex(len(flat)) {
	}
	return numbered(lex)
}

// numbered ends what lex reads and counts its segments.
func numbered(lex *edi.Lexer) *edi.Body {
	lex.End()
	for n := range lex.Segments {
		lex.Segments[n].Number = int32(n + 1)
	}
	return &edi.Body{Segments: lex.Segments}
}

// body cuts raw, the text of one transaction set that starts at payload offset
// base, BIN and BDS by their lengths.
func body(lex *edi.Lexer, raw []byte, base int64, d edi.Delimiters) *edi.Body {
	lex.Window(raw, base)
	next, opaque := 0, int64(-1)
	for left := true; left; {
		left = lex.Lex(len(raw))
		for ; next < len(lex.Segments); next++ {
			seg := &lex.Segments[next]
			at := seg.Offset() - base
			if at == opaque || !seg.Is("BIN") && !seg.Is("BDS") {
				continue
			}
			data, behind, ok := binary(raw[at:min(at+binaryHead, int64(len(raw)))], at, d, int64(len(raw)))
			if !ok || raw[behind] != d.Terminator {
				continue
			}
			lex.Opaque(next, base+data, base+behind)
			opaque, left = at, true
			break
		}
	}
	return numbered(lex)
}
