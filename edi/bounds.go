package edi

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
)

// Bounds looks for the end of an interchange and hashes it on the way: from
// terminator to terminator, and at the start of each segment only, so that the name
// of a trailer in the data is data.
type Bounds struct {
	Payload    *Payload
	Delimiters Delimiters
	Blank      *[256]bool // what may stand between segments
	Look       *[256]bool // what a segment begins with that Segment has to see
	Undigested bool       // PayloadSHA256 is not asked for

	// Segment sees b, the start of a segment at payload offset at, and may set Last,
	// Skip, or End and Found. before is where the segment before ended.
	Segment func(b []byte, before, at int64) error

	Last  bool  // the segment being read is the trailer: its terminator is the end
	Skip  int64 // no terminator before it counts: what stands there is binary
	End   int64
	Found bool

	hash   hash.Hash
	hashed int64     // the payload is hashed up to here
	known  *[32]byte // what the digest is if the interchange is the whole payload; hashing waits for that
	buf    []byte
	odd    bool // an odd run of release characters stands right before the chunk
}

const (
	boundsChunk = 64 << 10
	lookAhead   = 24 // bytes of a segment, enough to tell what it is
)

// Find measures ic, whose Offset is known and whose header ends at payload offset
// body. Without a trailer that has its terminator, it ends with the last byte of the
// payload that is no blank.
func (f *Bounds) Find(ic *Interchange, body int64) error {
	f.begin(ic)
	if err := f.digest(body); err != nil {
		return err
	}
	// The segment behind the header has no terminator before it that is still to
	// come, so it is looked at first.
	if err := f.look(body); err != nil {
		return err
	}
	for at := body; !f.Found && at < f.Payload.Size(); {
		n, err := f.search(at)
		if err != nil {
			return err
		}
		at += n
	}
	return f.settle(ic)
}

// Settle measures ic, of which End is known if Found says so.
func (f *Bounds) Settle(ic *Interchange) error {
	f.begin(ic)
	return f.settle(ic)
}

func (f *Bounds) begin(ic *Interchange) {
	f.known = nil
	if f.hashed = ic.Offset; f.Undigested {
		return
	}
	f.hash = sha256.New()
	if ic.Offset == 0 && f.terminated() {
		f.known = f.Payload.sum
	}
}

// terminated reports whether the payload's last byte is a terminator, without which no
// interchange with a trailer is all of it. A payload that cannot be read fails later.
func (f *Bounds) terminated() bool {
	b, err := f.Payload.Slice(f.Payload.Size()-1, 1)
	return err == nil && b[0] == f.Delimiters.Terminator
}

func (f *Bounds) settle(ic *Interchange) error {
	if !f.Found {
		if err := f.toEnd(ic.Offset); err != nil {
			return err
		}
	}
	ic.Length = f.End - ic.Offset
	if f.Undigested {
		return nil
	}
	if f.known != nil && f.End == f.Payload.Size() {
		ic.PayloadSHA256 = *f.known
		return nil
	}
	f.known = nil
	if f.End < f.hashed { // blanks behind an interchange without an end of its own
		f.hash.Reset()
		f.hashed = ic.Offset
	}
	if err := f.digest(f.End); err != nil {
		return err
	}
	f.hash.Sum(ic.PayloadSHA256[:0])
	return nil
}

// search looks through the chunk at offset at and gives its length.
func (f *Bounds) search(at int64) (int64, error) {
	b, err := f.read(at, min(boundsChunk, f.Payload.Size()-at))
	if err != nil {
		return 0, err
	}
	release := f.Delimiters.Release
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], f.Delimiters.Terminator)
		if j < 0 {
			break
		}
		i += j + 1
		if release != 0 && (i == 1 || b[i-2] == release) && f.released(b[:i-1]) || at+int64(i) <= f.Skip {
			continue
		}
		if f.Last {
			f.End, f.Found = at+int64(i), true
			break
		}
		// The usual case needs no more than this: nothing follows that has to be read.
		if k := i + f.blanks(b[i:]); k < len(b) && !f.Look[b[k]] {
			continue
		}
		if err := f.lookIn(b, at, i); err != nil {
			return 0, err
		}
		if f.Found {
			break
		}
	}
	if !f.Found {
		f.odd = f.released(b)
		if f.known == nil {
			if !f.Undigested {
				f.hash.Write(b[f.hashed-at:])
			}
			f.hashed = at + int64(len(b))
		}
	}
	return int64(len(b)), nil
}

// read gives n bytes from at, valid until the next call.
func (f *Bounds) read(at, n int64) ([]byte, error) {
	if _, ok := f.Payload.InMemory(); ok {
		return f.Payload.Slice(at, n)
	}
	if f.buf == nil {
		f.buf = make([]byte, boundsChunk)
	}
	b := f.buf[:n]
	if _, err := f.Payload.ReadAt(b, at); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	return b, nil
}

// digest hashes the payload up to offset to.
func (f *Bounds) digest(to int64) error {
	for f.hashed < to && !f.Undigested && f.known == nil {
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
func (f *Bounds) released(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == f.Delimiters.Release {
		n++
	}
	if n == len(b) && f.odd {
		n++
	}
	return n%2 == 1 && f.Delimiters.Release != 0
}

// blanks is the length of what stands between segments at the start of b.
func (f *Bounds) blanks(b []byte) (n int) {
	for n < len(b) && f.Blank[b[n]] {
		n++
	}
	return n
}

// lookIn looks at the segment that starts behind b[:i], from b if it is there.
func (f *Bounds) lookIn(b []byte, at int64, i int) error {
	n := i + f.blanks(b[i:])
	if len(b)-n < lookAhead && at+int64(len(b)) < f.Payload.Size() {
		return f.look(at + int64(i))
	}
	return f.Segment(b[n:], at+int64(i), at+int64(n))
}

// look reads what stands at offset at.
func (f *Bounds) look(at int64) error {
	before := at
	for at < f.Payload.Size() {
		b, err := f.Payload.Slice(at, min(512, f.Payload.Size()-at))
		if err != nil {
			return err
		}
		n := f.blanks(b)
		if n == len(b) || n > 0 && len(b)-n < lookAhead && at+int64(len(b)) < f.Payload.Size() {
			at += int64(n)
			continue
		}
		return f.Segment(b[n:], before, at+int64(n))
	}
	return nil
}

// toEnd ends the interchange with the last byte of the payload that is no blank, or
// is a terminator.
func (f *Bounds) toEnd(from int64) error {
	f.End = f.Payload.Size()
	for f.End > from {
		n := min(512, f.End-from)
		b, err := f.Payload.Slice(f.End-n, n)
		if err != nil {
			return err
		}
		k := len(b)
		for k > 0 && Blank(b[k-1]) && b[k-1] != f.Delimiters.Terminator {
			k--
		}
		f.End -= int64(len(b) - k)
		if k > 0 {
			break
		}
	}
	return nil
}
