package cms

import (
	"fmt"
	"math"
)

// tag is the class and number of an element, as the identifier octet has them
// without the bit that says it is constructed: X.690 §8.1.2. Numbers above 30,
// which CMS has nowhere, have the low five bits set.
type tag byte

const (
	tagBoolean         tag = 0x01
	tagInteger         tag = 0x02
	tagBitString       tag = 0x03
	tagOctetString     tag = 0x04
	tagNull            tag = 0x05
	tagOID             tag = 0x06
	tagUTF8String      tag = 0x0c
	tagSequence        tag = 0x10
	tagSet             tag = 0x11
	tagUTCTime         tag = 0x17
	tagGeneralizedTime tag = 0x18

	contextSpecific tag  = 0x80
	constructed     byte = 0x20
)

// tagged is the tag [n].
func tagged(n byte) tag { return contextSpecific | tag(n) }

func (t tag) String() string {
	if t&0xc0 == contextSpecific {
		return fmt.Sprintf("[%d]", t&0x1f)
	}
	switch t {
	case tagBoolean:
		return "BOOLEAN"
	case tagInteger:
		return "INTEGER"
	case tagBitString:
		return "BIT STRING"
	case tagOctetString:
		return "OCTET STRING"
	case tagNull:
		return "NULL"
	case tagOID:
		return "OBJECT IDENTIFIER"
	case tagSequence:
		return "SEQUENCE"
	case tagSet:
		return "SET"
	}
	return fmt.Sprintf("tag %#02x", byte(t))
}

// reader walks through BER (X.690 §8) from front to end, and never back: what is
// entered is read or skipped element by element, so that the work is linear in the
// input however indefinite lengths are nested.
type reader struct {
	text  []byte
	at    int
	open  []frame // the elements that were entered
	depth int     // most elements that may be open at once
}

// frame is an element that was entered.
type frame struct {
	end        int // of its content; of an indefinite one the most it can be
	indefinite bool
}

// partDepth is how deep elements may stand in a part of a message that is read by
// itself: a certificate, attributes, parameters.
const partDepth = 16

func newReader(text []byte, depth int) *reader {
	return &reader{text: text, depth: depth}
}

// end is where the innermost open element ends at the latest.
func (r *reader) end() int {
	if n := len(r.open); n > 0 {
		return r.open[n-1].end
	}
	return len(r.text)
}

func (r *reader) malformed(format string, args ...any) error {
	return fmt.Errorf("%w: byte %d: %s", ErrMalformed, r.at, fmt.Sprintf(format, args...))
}

// header is the identifier and length octets of an element.
type header struct {
	tag         tag
	constructed bool
	indefinite  bool
	size        int // of the header
	length      int // of the content; 0 where indefinite
}

// header reads the next one without moving. At the end of what is open there is
// none: an error, as for one that is broken.
func (r *reader) header() (header, error) {
	end := r.end()
	if r.at >= end {
		return header{}, r.malformed("an element is missing")
	}
	p := r.at
	first := r.text[p]
	h := header{tag: tag(first &^ constructed), constructed: first&constructed != 0}
	p++
	if first&0x1f == 0x1f { // X.690 §8.1.2.4
		for n := 0; ; n++ {
			if p >= end || n == 4 {
				return header{}, r.malformed("its tag is broken")
			}
			p++
			if r.text[p-1]&0x80 == 0 {
				break
			}
		}
	}
	if p >= end {
		return header{}, r.malformed("its length is missing")
	}
	length := r.text[p]
	p++
	switch {
	case length < 0x80:
		h.length = int(length)
	case length == 0x80:
		if !h.constructed {
			return header{}, r.malformed("a primitive element of indefinite length")
		}
		h.indefinite = true
	default:
		// QUIRK: lengths with leading zeros occur; X.690 §8.1.3.5 allows them.
		n := int(length & 0x7f)
		if n > end-p {
			return header{}, r.malformed("its length is broken off")
		}
		var value uint64
		for _, b := range r.text[p : p+n] {
			if value > math.MaxInt32<<16 {
				return header{}, r.malformed("its length is out of reach")
			}
			value = value<<8 | uint64(b)
		}
		p += n
		if value > uint64(end-p) {
			return header{}, r.malformed("it says %d bytes, and %d are there", value, end-p)
		}
		h.length = int(value)
	}
	if h.length > end-p {
		return header{}, r.malformed("it says %d bytes, and %d are there", h.length, end-p)
	}
	h.size = p - r.at
	return h, nil
}

// more reports whether another element stands in what is open.
func (r *reader) more() bool {
	if r.at >= r.end() {
		return false
	}
	if n := len(r.open); n > 0 && r.open[n-1].indefinite {
		return !r.atEnd()
	}
	return true
}

// atEnd reports whether the end-of-contents octets stand here: X.690 §8.1.5.
func (r *reader) atEnd() bool {
	return r.end()-r.at >= 2 && r.text[r.at] == 0 && r.text[r.at+1] == 0
}

// next reports whether the next element has the tag.
func (r *reader) next(t tag) bool {
	return r.more() && tag(r.text[r.at]&^constructed) == t
}

// enter goes into a constructed element, whose content is read next; leave comes
// behind.
func (r *reader) enter(t tag) error {
	h, err := r.expect(t)
	if err != nil {
		return err
	}
	if !h.constructed {
		return r.malformed("a primitive %s", t)
	}
	return r.into(h)
}

func (r *reader) into(h header) error {
	if len(r.open) >= r.depth {
		return fmt.Errorf("%w: byte %d: more than %d elements in each other", ErrLimit, r.at, r.depth)
	}
	f := frame{end: r.end(), indefinite: h.indefinite}
	r.at += h.size
	if !h.indefinite {
		f.end = r.at + h.length
	}
	r.open = append(r.open, f)
	return nil
}

// leave comes out of an element that was entered and read to its end.
func (r *reader) leave() error {
	f := r.open[len(r.open)-1]
	switch {
	case f.indefinite && r.atEnd():
		r.at += 2
	case f.indefinite:
		return r.malformed("the end of an element of indefinite length is missing")
	case r.at != f.end:
		return r.malformed("something stands behind what should be the last")
	}
	r.open = r.open[:len(r.open)-1]
	return nil
}

// leaveRest skips what is left of an element, and leaves it.
func (r *reader) leaveRest() error {
	for r.more() {
		if _, err := r.skip(); err != nil {
			return err
		}
	}
	return r.leave()
}

// expect reads the header of an element that has to have the tag, and does not
// move.
func (r *reader) expect(t tag) (header, error) {
	if !r.more() {
		return header{}, r.malformed("%s is missing", t)
	}
	h, err := r.header()
	if err != nil {
		return header{}, err
	}
	if h.tag != t {
		return header{}, r.malformed("%s where %s should stand", h.tag, t)
	}
	return h, nil
}

// primitive reads the content of an element that has no parts.
func (r *reader) primitive(t tag) ([]byte, error) {
	h, err := r.expect(t)
	if err != nil {
		return nil, err
	}
	if h.constructed {
		return nil, r.malformed("a constructed %s", t)
	}
	content := r.text[r.at+h.size : r.at+h.size+h.length]
	r.at += h.size + h.length
	return content, nil
}

// skip passes over the next element with all that it holds, and gives its bytes
// with header and end.
func (r *reader) skip() ([]byte, error) {
	h, err := r.header()
	if err != nil {
		return nil, err
	}
	start := r.at
	if !h.indefinite {
		r.at += h.size + h.length
		return r.text[start:r.at], nil
	}
	floor := len(r.open)
	if err := r.into(h); err != nil {
		return nil, err
	}
	for len(r.open) > floor {
		if !r.more() {
			if err := r.leave(); err != nil {
				return nil, err
			}
			continue
		}
		h, err := r.header()
		if err != nil {
			return nil, err
		}
		if !h.indefinite {
			r.at += h.size + h.length
			continue
		}
		if err := r.into(h); err != nil {
			return nil, err
		}
	}
	return r.text[start:r.at], nil
}

// finish checks what stands behind the last element.
//
// QUIRK: some products pad BER with zeros, or leave a line end behind it (Drummond
// Group, interoperability issue 1Q09-4). Anything else behind is an error.
func (r *reader) finish() error {
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case 0, '\r', '\n', ' ', '\t':
		default:
			return r.malformed("%d bytes stand behind the end", len(r.text)-r.at)
		}
	}
	return nil
}
