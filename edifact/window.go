package edifact

import (
	"fmt"
	"io"

	"github.com/edigw/edigw/edi"
)

// window shows an interchange piece by piece: a view where the payload is in
// memory, a buffer that grows to the largest message otherwise.
type window struct {
	p     *edi.Payload
	mem   []byte // the whole payload, if it is in memory
	at    int64  // payload offset of raw[0]
	end   int64  // of the interchange
	raw   []byte
	chunk int
}

// memoryWindow keeps the lexer's 29 bits of offset far away.
const memoryWindow = 256 << 20

func newWindow(p *edi.Payload, at, end int64, chunk int) *window {
	if chunk == 0 {
		chunk = readChunk
	}
	w := &window{p: p, at: at, end: min(end, p.Size()), chunk: chunk}
	if b, ok := p.InMemory(); ok {
		w.mem = b
	}
	return w
}

// more reports whether the interchange goes on behind raw.
func (w *window) more() bool { return w.at+int64(len(w.raw)) < w.end }

// skip lets go of the first n bytes of raw; only where the payload is in memory.
func (w *window) skip(n int) { w.at, w.raw = w.at+int64(n), w.raw[n:] }

// slide lets go of the first n bytes of raw and shows what follows the rest.
func (w *window) slide(n int) error {
	w.at += int64(n)
	if w.mem != nil {
		w.raw = w.mem[w.at:min(w.end, w.at+memoryWindow)]
		return nil
	}
	kept := copy(w.raw, w.raw[n:])
	size := kept + w.chunk
	if cap(w.raw) < size {
		grown := make([]byte, kept, max(size, 2*cap(w.raw)))
		copy(grown, w.raw[:kept])
		w.raw = grown
	}
	size = int(min(int64(cap(w.raw)), w.end-w.at))
	w.raw = w.raw[:size]
	if _, err := w.p.ReadAt(w.raw[kept:], w.at+int64(kept)); err != nil && err != io.EOF {
		return fmt.Errorf("read spool: %w", err)
	}
	return nil
}
