package edi

import (
	"fmt"
	"io"
)

// Window shows a stretch of a payload piece by piece: a view where the payload is
// in memory, a buffer that grows to the largest message otherwise.
type Window struct {
	Raw []byte
	At  int64 // payload offset of Raw[0]

	p     *Payload
	mem   []byte // the whole payload, if it is in memory
	end   int64
	chunk int
}

// What is shown at a time: of a spool as much as is read at once, of memory little
// enough for the lexer's 29 bits of offset.
const (
	readWindow   = 256 << 10
	memoryWindow = 256 << 20
)

// NewWindow shows p from offset at up to end. chunk is what is read of a spool at
// a time, in bytes; 0 is 256 KiB.
func NewWindow(p *Payload, at, end int64, chunk int) *Window {
	if chunk == 0 {
		chunk = readWindow
	}
	w := &Window{p: p, At: at, end: min(end, p.Size()), chunk: chunk}
	if b, ok := p.InMemory(); ok {
		w.mem = b
	}
	return w
}

// InMemory reports whether Raw is a view of memory.
func (w *Window) InMemory() bool { return w.mem != nil }

// More reports whether the stretch goes on behind Raw.
func (w *Window) More() bool { return w.At+int64(len(w.Raw)) < w.end }

// Skip lets go of the first n bytes of Raw; only where the payload is in memory.
func (w *Window) Skip(n int) { w.At, w.Raw = w.At+int64(n), w.Raw[n:] }

// Slide lets go of the first n bytes of Raw and shows what follows the rest. Its
// error is ours: the payload could not be read.
func (w *Window) Slide(n int) error {
	w.At += int64(n)
	if w.mem != nil {
		w.Raw = w.mem[w.At:min(w.end, w.At+memoryWindow)]
		return nil
	}
	kept := copy(w.Raw, w.Raw[n:])
	size := kept + w.chunk
	if cap(w.Raw) < size {
		grown := make([]byte, kept, max(size, 2*cap(w.Raw)))
		copy(grown, w.Raw[:kept])
		w.Raw = grown
	}
	size = int(min(int64(cap(w.Raw)), w.end-w.At))
	w.Raw = w.Raw[:size]
	if _, err := w.p.ReadAt(w.Raw[kept:], w.At+int64(kept)); err != nil && err != io.EOF {
		return fmt.Errorf("read spool: %w", err)
	}
	return nil
}
