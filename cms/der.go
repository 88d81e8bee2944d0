package cms

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// appendHeader appends identifier and length octets in DER: X.690 §10.1.
func appendHeader(to []byte, first byte, length int) []byte {
	to = append(to, first)
	if length < 0x80 {
		return append(to, byte(length))
	}
	octets := bytes.TrimLeft(binary.BigEndian.AppendUint64(nil, uint64(length)), "\x00")
	return append(append(to, 0x80|byte(len(octets))), octets...)
}

// headerSize is how long appendHeader's is.
func headerSize(length int) int {
	if length < 0x80 {
		return 2
	}
	return 2 + (bits.Len(uint(length))+7)/8
}

// element writes an element whose content is the parts, one behind the other.
func element(first byte, parts ...[]byte) []byte {
	length := 0
	for _, p := range parts {
		length += len(p)
	}
	out := appendHeader(make([]byte, 0, length+headerSize(length)), first, length)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func sequence(parts ...[]byte) []byte { return element(byte(tagSequence)|constructed, parts...) }

// setOf writes a SET OF, sorted: X.690 §11.6.
func setOf(parts ...[]byte) []byte {
	sorted := slices.SortedFunc(slices.Values(parts), compareDER)
	return element(byte(tagSet)|constructed, sorted...)
}

// compareDER compares two encodings, the shorter one as if zeros stood behind it.
func compareDER(a, b []byte) int {
	n := min(len(a), len(b))
	if c := bytes.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return len(a) - len(b)
}

// explicit wraps an element into [n].
func explicit(n byte, parts ...[]byte) []byte {
	return element(byte(contextSpecific)|constructed|n, parts...)
}

// derOf writes an element in DER (X.690 §10 and §11): lengths definite and
// shortest, OCTET STRINGs in one piece, sets sorted.
func derOf(ber []byte) ([]byte, error) {
	r := newReader(ber, partDepth)
	out, err := r.der()
	if err != nil {
		return nil, err
	}
	if r.at != len(ber) {
		return nil, r.malformed("something stands behind the element")
	}
	return out, nil
}

// der reads one element and writes it in DER.
func (r *reader) der() ([]byte, error) {
	h, err := r.header()
	if err != nil {
		return nil, err
	}
	first := r.text[r.at]
	switch {
	case first&0x1f == 0x1f:
		return nil, r.malformed("a tag number above 30")
	case h.tag == tagOctetString:
		o, err := r.octets(tagOctetString)
		if err != nil {
			return nil, err
		}
		return element(byte(tagOctetString), o.Bytes()), nil
	case !h.constructed:
		content, err := r.primitive(h.tag)
		if err != nil {
			return nil, err
		}
		return element(first, content), nil
	}
	if err := r.into(h); err != nil {
		return nil, err
	}
	var parts [][]byte
	for r.more() {
		part, err := r.der()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if err := r.leave(); err != nil {
		return nil, err
	}
	if h.tag == tagSet {
		return setOf(parts...), nil
	}
	return element(first, parts...), nil
}

// integer writes a small INTEGER.
func integer(n byte) []byte { return []byte{byte(tagInteger), 1, n} }

// null is NULL.
var null = []byte{byte(tagNull), 0}
