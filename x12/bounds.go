package x12

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"github.com/edigw/edigw/edi"
)

const boundsChunk = 64 << 10

// bounds finds where the interchange at ic.Offset ends, reading on from offset
// body behind its ISA, and hashes it. It looks from terminator to terminator and
// at the start of each segment only: "IEA" or "ISA" in the data is data.
func (r Reader) bounds(p *edi.Payload, ic *edi.Interchange, body int64) error {
	if t := ic.Delimiters.Terminator; r.LineWraps && t != '\r' && t != '\n' {
		return wrappedBounds(p, ic, body)
	}
	f := finder{p: p, d: ic.Delimiters, hash: sha256.New(), hashed: ic.Offset}
	if err := f.digest(body); err != nil {
		return err
	}
	// The segment behind ISA has no terminator before it that is still to come.
	if err := f.look(body); err != nil {
		return err
	}
	for at := body; !f.found && at < p.Size(); {
		n, err := f.search(at)
		if err != nil {
			return err
		}
		at += n
	}
	if !f.found {
		if err := f.toEnd(ic.Offset); err != nil {
			return err
		}
	}
	if err := f.digest(f.end); err != nil {
		return err
	}
	ic.Length = f.end - ic.Offset
	f.hash.Sum(ic.PayloadSHA256[:0])
	return nil
}

// finder is the state of one search.
type finder struct {
	p      *edi.Payload
	d      edi.Delimiters
	hash   hash.Hash
	hashed int64 // the payload is hashed up to here
	buf    []byte

	last  bool  // the segment being read is IEA: its terminator is the end
	skip  int64 // no terminator before it counts: what BIN or BDS carries
	end   int64
	found bool
}

// search looks through the chunk at offset at and gives its length.
func (f *finder) search(at int64) (int64, error) {
	b, err := f.read(at, min(boundsChunk, f.p.Size()-at))
	if err != nil {
		return 0, err
	}
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], f.d.Terminator)
		if j < 0 {
			break
		}
		i += j + 1
		if at+int64(i) <= f.skip {
			continue
		}
		if f.last {
			f.end, f.found = at+int64(i), true
			break
		}
		// The usual case needs no more than this: nothing follows that has to be read.
		if i < len(b) && b[i] > ' ' && b[i] != 'I' && b[i] != 'B' && b[i] != 'U' {
			continue
		}
		if err := f.lookIn(b, at, i); err != nil {
			return 0, err
		}
		if f.found {
			break
		}
	}
	if !f.found {
		f.hash.Write(b[f.hashed-at:])
		f.hashed = at + int64(len(b))
	}
	return int64(len(b)), nil
}

// read gives n bytes from at, valid until the next call.
func (f *finder) read(at, n int64) ([]byte, error) {
	if _, ok := f.p.InMemory(); ok {
		return f.p.Slice(at, n)
	}
	if f.buf == nil {
		f.buf = make([]byte, boundsChunk)
	}
	b := f.buf[:n]
	if _, err := f.p.ReadAt(b, at); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	return b, nil
}

// digest hashes the payload up to offset to.
func (f *finder) digest(to int64) error {
	for f.hashed < to {
		b, err := f.read(f.hashed, min(boundsChunk, to-f.hashed))
		if err != nil {
			return err
		}
		f.hash.Write(b)
		f.hashed += int64(len(b))
	}
	return nil
}

// lookAhead is enough of a segment to tell whether it ends the interchange.
const lookAhead = 24

// lookIn looks at the segment that starts behind b[:i], from b if it is there.
func (f *finder) lookIn(b []byte, at int64, i int) error {
	n := i + blanks(b[i:], f.d)
	if len(b)-n < lookAhead && at+int64(len(b)) < f.p.Size() {
		return f.look(at + int64(i))
	}
	return f.tag(b[n:], at+int64(i), at+int64(n))
}

// look reads what stands at offset at.
func (f *finder) look(at int64) error {
	start := at
	for at < f.p.Size() {
		b, err := f.p.Slice(at, min(512, f.p.Size()-at))
		if err != nil {
			return err
		}
		n := blanks(b, f.d)
		if n == len(b) || n > 0 && len(b)-n < lookAhead && at+int64(len(b)) < f.p.Size() {
			at += int64(n)
			continue
		}
		return f.tag(b[n:], start, at+int64(n))
	}
	return nil
}

// blanks is the length of what may stand between segments.
func blanks(b []byte, d edi.Delimiters) int {
	n := 0
	for n < len(b) && edi.Blank(b[n]) && b[n] != d.Terminator && b[n] != d.Element {
		n++
	}
	return n
}

// tag judges the segment that starts with b at offset at; start is where the one
// before ended.
func (f *finder) tag(b []byte, start, at int64) error {
	if len(b) < 3 {
		return nil
	}
	switch string(b[:3]) {
	case "IEA":
		f.last = len(b) == 3 || b[3] == f.d.Element || b[3] == f.d.Terminator
	case "ISA", "UNA", "UNB":
		if starts(b) {
			f.end, f.found = start, true
		}
	case "BIN", "BDS":
		head, err := f.p.Slice(at, min(binaryHead, f.p.Size()-at))
		if err != nil {
			return err
		}
		_, behind, ok := binary(head, at, f.d, f.p.Size())
		if !ok {
			return nil
		}
		end, err := f.p.Slice(behind, 1)
		if err == nil && end[0] == f.d.Terminator {
			f.skip = behind
		}
		return err
	}
	return nil
}

// toEnd ends an interchange without IEA, or whose IEA has no terminator, with the
// last byte of the payload that is no blank.
func (f *finder) toEnd(from int64) error {
	f.end = f.p.Size()
	for f.end > from {
		n := min(512, f.end-from)
		b, err := f.p.Slice(f.end-n, n)
		if err != nil {
			return err
		}
		k := len(b)
		for k > 0 && edi.Blank(b[k-1]) && b[k-1] != f.d.Terminator {
			k--
		}
		f.end -= int64(len(b) - k)
		if k > 0 {
			break
		}
	}
	if f.end < f.hashed { // blanks behind the last segment
		f.hash.Reset()
		f.hashed = from
	}
	return nil
}
