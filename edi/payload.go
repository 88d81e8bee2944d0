package edi

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Payload is the decoded content of one delivery: after decryption,
// decompression and transfer decoding. Small ones are in memory, large ones in
// an unlinked spool file; readers need not know which.
type Payload struct {
	mem  []byte
	file *os.File
	size int64
	sum  *[32]byte // SHA-256 of all of it, where it is known
}

// Bytes makes a payload of b, which must not change afterwards.
func Bytes(b []byte) *Payload { return &Payload{mem: b, size: int64(len(b))} }

// File makes a payload of the first size bytes of f. Close closes f.
func File(f *os.File, size int64) *Payload { return &Payload{file: f, size: size} }

// Hashed tells the SHA-256 of the whole payload, known from taking it in, and gives p:
// an interchange that is all of it is not hashed again.
func (p *Payload) Hashed(sum [32]byte) *Payload {
	p.sum = &sum
	return p
}

// Until gives a view of the payload's first end bytes, which need not be closed.
func (p *Payload) Until(end int64) *Payload {
	view := &Payload{file: p.file, size: end}
	if p.file == nil {
		view.mem = p.mem[:end:end]
	}
	return view
}

// Size is the length in bytes.
func (p *Payload) Size() int64 { return p.size }

// InMemory gives the whole payload without a copy, if it is in memory.
func (p *Payload) InMemory() ([]byte, bool) { return p.mem, p.file == nil }

// ReadAt implements io.ReaderAt.
func (p *Payload) ReadAt(b []byte, off int64) (int, error) {
	if p.file != nil {
		return p.file.ReadAt(b, off)
	}
	return bytes.NewReader(p.mem).ReadAt(b, off)
}

// Slice gives n bytes from off: a view where the payload is in memory, a copy
// read from the spool otherwise. An error is ours (the disk), never the text's.
func (p *Payload) Slice(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off+n > p.size {
		return nil, fmt.Errorf("payload slice %d+%d of %d bytes", off, n, p.size)
	}
	if p.file == nil {
		return p.mem[off : off+n : off+n], nil
	}
	b := make([]byte, n)
	if _, err := p.file.ReadAt(b, off); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	return b, nil
}

// Reader reads n bytes from off.
func (p *Payload) Reader(off, n int64) io.Reader { return io.NewSectionReader(p, off, n) }

// Close releases the spool file, if there is one.
func (p *Payload) Close() error {
	if p.file != nil {
		return p.file.Close()
	}
	return nil
}
