package edifact

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
// body behind its UNB, and hashes it. It looks from terminator to terminator and
// at the start of each segment only: "UNB" or "ISA" in the data is data.
func (r Reader) bounds(p *edi.Payload, ic *edi.Interchange, body int64) error {
	if r.LineWraps {
		if _, breaks := edi.Unwrap(nil, 0, ic.Delimiters); breaks != nil {
			return wrappedBounds(p, ic, body)
		}
	}
	f := finder{p: p, d: ic.Delimiters, hash: sha256.New(), hashed: ic.Offset}
	if err := f.digest(body); err != nil {
		return err
	}
	// The first segment behind UNB has no terminator of its own before it that
	// is still to come, so it is looked at first.
	if err := f.look(body); err != nil {
		return err
	}
	for at := body; !f.found && at < p.Size(); {
		n, err := f.chunk(at)
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
	if f.end < f.hashed { // blanks behind an interchange without an end of its own
		f.hash.Reset()
		f.hashed = ic.Offset
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

	odd   bool  // an odd run of release characters stands right before the chunk
	last  bool  // the segment being read is UNZ: its terminator is the end
	skip  int64 // no terminator before it counts: the object of a UNO package
	end   int64
	found bool
}

// chunk searches the chunk at offset at and gives its length.
func (f *finder) chunk(at int64) (int64, error) {
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
		if f.d.Release != 0 && (i > 1 && b[i-2] == f.d.Release || i == 1) && f.released(b[:i-1]) || at+int64(i) <= f.skip {
			continue
		}
		// The usual case needs no more than this: no service segment follows.
		if i+1 < len(b) && b[i] > ' ' && (b[i] != 'U' || b[i+1] != 'N' && b[i+1] != 'I') && b[i] != 'I' && !f.last {
			continue
		}
		if f.last {
			f.end, f.found = at+int64(i), true
			break
		}
		if err := f.lookIn(b, at, i); err != nil {
			return 0, err
		}
		if f.found {
			break
		}
	}
	if !f.found {
		f.odd = f.released(b)
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

// released reports whether an odd number of release characters ends b, those
// before the chunk counted where b holds nothing else.
func (f *finder) released(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == f.d.Release {
		n++
	}
	if n == len(b) && f.odd {
		n++
	}
	return n%2 == 1 && f.d.Release != 0
}

// lookIn looks at the segment that starts behind b[:i], from b if it is there.
func (f *finder) lookIn(b []byte, at int64, i int) error {
	n := i
	for n < len(b) && edi.Blank(b[n]) {
		n++
	}
	if len(b)-n < 20 && at+int64(len(b)) < f.p.Size() {
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
		n := 0
		for n < len(b) && edi.Blank(b[n]) {
			n++
		}
		if n == len(b) {
			at += int64(n)
			continue
		}
		if n > 0 && len(b)-n < 20 && at+int64(len(b)) < f.p.Size() {
			at += int64(n)
			continue
		}
		return f.tag(b[n:], start, at+int64(n))
	}
	return nil
}

// tag judges the segment that starts with b at offset at; start is where the one
// before ended.
func (f *finder) tag(b []byte, start, at int64) error {
	if len(b) < 4 || alphanumeric(b[3]) && string(b[:3]) != "UNA" {
		return nil
	}
	switch string(b[:3]) {
	case "UNZ", "UIZ":
		f.last = true
	case "UNA", "UNB", "UIB":
		f.end, f.found = start, true
	case "ISA":
		// A user segment may have this name; X12's header has its separators
		// at fixed places.
		if len(b) > 17 && b[3] != f.d.Element && b[6] == b[3] && b[17] == b[3] {
			f.end, f.found = start, true
		}
	case "UNO":
		return f.object(at)
	}
	return nil
}

// object skips what a package carries: as many bytes behind its UNO at offset at
// as 0810 says, if UNP stands there. ISO 9735-8.
func (f *finder) object(at int64) error {
	b, err := f.p.Slice(at, min(MaxHeader, f.p.Size()-at))
	if err != nil {
		return err
	}
	end := terminator(b, f.d)
	if end < 0 {
		return nil
	}
	uno := edi.NewBody(b[:end+1], at, 1, f.d, nil).Segment(0)
	n, ok := octets(uno.Get(4, 1))
	headers, _ := octets(uno.Get(4, 2))
	for range min(headers, 999) {
		next := terminator(b[end+1:], f.d)
		if next < 0 {
			return nil
		}
		end += next + 1
	}
	behind := at + int64(end) + 1 + n
	if !ok || behind > f.p.Size()-3 || behind < at {
		return nil // Scan will say so
	}
	unp, err := f.p.Slice(behind, 3)
	if err == nil && string(unp) == "UNP" {
		f.skip = behind
	}
	return err
}

// toEnd ends an interchange without UNZ, or whose UNZ has no terminator, with
// the last byte of the payload that is no blank.
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
	return nil
}
