package cms

import (
	"io"
	"iter"
)

// Octets is an OCTET STRING as it lies in a message: in one piece, or in pieces
// that may be pieced again (X.690 §8.7). It is the message's memory, not a copy.
type Octets struct {
	raw   []byte // content of the element: the bytes, or their pieces as elements
	parts bool
	size  int
	depth int
}

// Size is the number of bytes.
func (o Octets) Size() int { return o.size }

// Pieces goes through the bytes piece by piece, in order.
func (o Octets) Pieces() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		p := o.reader()
		for p.fill() && yield(p.rest) {
			p.rest = nil
		}
	}
}

// pieces reads an Octets from front to end.
type pieces struct {
	rest []byte  // of the piece that is read
	from *reader // of the pieces behind it; nil where there are none
}

func (o Octets) reader() *pieces {
	if !o.parts {
		return &pieces{rest: o.raw}
	}
	return &pieces{from: newReader(o.raw, o.depth)}
}

// fill reports whether there is another byte in rest.
func (p *pieces) fill() bool {
	for len(p.rest) == 0 {
		if p.from == nil {
			return false
		}
		piece, err := p.from.piece(0)
		if piece == nil || err != nil { // err is nil: octets has read these pieces before
			return false
		}
		p.rest = piece
	}
	return true
}

func (p *pieces) Read(into []byte) (int, error) {
	if !p.fill() {
		return 0, io.EOF
	}
	n := copy(into, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// ReadByte makes zlib read no further than it needs.
func (p *pieces) ReadByte() (byte, error) {
	if !p.fill() {
		return 0, io.EOF
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	return b, nil
}

// Write writes the bytes to w: a Content.
func (o Octets) Write(w io.Writer) error {
	for piece := range o.Pieces() {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// Bytes gives the bytes in one piece: a copy only where they are not.
func (o Octets) Bytes() []byte {
	if !o.parts {
		return o.raw
	}
	joined := make([]byte, 0, o.size)
	for piece := range o.Pieces() {
		joined = append(joined, piece...)
	}
	return joined
}

// gather moves the pieces together where they lie, and gives the bytes. The
// message is spoilt by it.
func (o Octets) gather() []byte {
	if !o.parts {
		return o.raw
	}
	n := 0
	for piece := range o.Pieces() {
		n += copy(o.raw[n:], piece)
	}
	return o.raw[:n]
}

// octets reads an OCTET STRING, or one whose tag is implicit.
func (r *reader) octets(t tag) (Octets, error) {
	h, err := r.expect(t)
	if err != nil {
		return Octets{}, err
	}
	if !h.constructed {
		content, err := r.primitive(t)
		return Octets{raw: content, size: len(content)}, err
	}
	floor := len(r.open)
	if err := r.into(h); err != nil {
		return Octets{}, err
	}
	o := Octets{parts: true, depth: r.depth}
	start := r.at
	for {
		piece, err := r.piece(floor + 1)
		if err != nil {
			return Octets{}, err
		}
		if piece == nil {
			break
		}
		o.size += len(piece)
	}
	o.raw = r.text[start:r.at]
	return o, r.leave()
}

// piece gives the next primitive piece of an OCTET STRING, going into those that
// are pieced themselves; nil behind the last one that stands in element number
// floor of those open.
func (r *reader) piece(floor int) ([]byte, error) {
	for {
		if !r.more() {
			if len(r.open) <= floor {
				return nil, nil
			}
			if err := r.leave(); err != nil {
				return nil, err
			}
			continue
		}
		h, err := r.expect(tagOctetString)
		if err != nil {
			return nil, err
		}
		if h.constructed {
			if err := r.into(h); err != nil {
				return nil, err
			}
			continue
		}
		return r.primitive(tagOctetString)
	}
}
