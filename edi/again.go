package edi

import (
	"fmt"
	"io"
)

// againChunk is how much of a spooled interchange is read at a time.
const againChunk = 256 << 10

// Texts gives a function for the text of message i of an interchange that was read
// before, without reading the others. It is cheapest in ascending order. What it
// gives is valid until the next call; its error is ours: the payload could not be
// read. Not for concurrent use.
func Texts(p *Payload, ic *Interchange) func(i int) ([]byte, error) {
	mem, inMemory := p.InMemory()
	var read []byte // of the spool
	var at int64    // where that starts
	return func(i int) ([]byte, error) {
		m := &ic.Messages[i]
		switch {
		case inMemory:
			return mem[m.Offset : m.Offset+m.Length], nil
		case m.Offset >= at && m.Offset+m.Length <= at+int64(len(read)):
			return read[m.Offset-at:][:m.Length], nil
		}
		size := min(max(againChunk, m.Length), p.Size()-m.Offset)
		if int64(cap(read)) < size || cap(read) > 4*againChunk && size == againChunk {
			read = make([]byte, size)
		}
		read, at = read[:size], m.Offset
		if _, err := p.ReadAt(read, at); err != nil && err != io.EOF {
			return nil, fmt.Errorf("read spool: %w", err)
		}
		return read[:m.Length], nil
	}
}

// Body ends the text, which is that of one message, and counts its segments.
func (l *Lexer) Body() *Body {
	l.End()
	for n := range l.Segments {
		l.Segments[n].Number = int32(n + 1)
	}
	return &Body{Segments: l.Segments}
}
