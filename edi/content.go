package edi

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strconv"
)

// ContentDigest computes Interchange.ContentSHA256: a digest of what an
// interchange says, however it was written down. Rules of ContentVersion 2:
//
//   - SHA-256 over the text "edigw content 2 " + syntax + "\n", then every
//     segment in order, header and trailer of the interchange included;
//   - a segment is its values in the order sent, the tag first. Each value is
//     one byte kind<<6 | length, then length bytes; kind 0 is the tag, 1 the
//     first component of an element, 2 that of a further repetition, 3 a further
//     component. A length over 62 is written as 63 and then four bytes,
//     big-endian. So neither a delimiter nor a boundary can be forged by a value;
//   - values are released and in UTF-8. Bytes that are no UTF-8 under a UTF-8
//     character set stay as they are;
//   - blanks at the end of a value do not count: ISO 9735-1 §9 and X12.6 have them
//     suppressed, and some senders fill up with them;
//   - a value that is empty and followed by the end of its element, repetition
//     or segment is left out, as often as that applies; other empty ones count;
//   - what is no segment does not count: UNA, blanks and line breaks between
//     segments, empty segments. Other blanks inside values count;
//   - the envelope's times, and how the text was encoded, count as empty: the
//     caller names those elements (for EDIFACT UNB S001 0001 and 0133, S004;
//     UNG S004).
//
// The decimal mark is part of a number's text, not of the envelope: no reader
// without the directory knows which values are numbers.
type ContentDigest struct {
	hash   hash.Hash
	off    bool // nothing is digested
	decode func([]byte) string
	frame  []byte
	spans  []span
	plain  []byte
}

type span struct {
	from, to uint32
	kind     uint8
	keep     bool
}

// Omission names an element whose value counts as empty; Component 0 means the
// whole element.
type Omission struct{ Element, Component int }

const (
	longValue   = 63
	frameFlush  = 16 << 10
	fastSegment = 2 << 10 // bytes of a segment that may go the quick way
)

// NewContentDigest starts the digest of an interchange of syntax. decode turns
// released bytes into UTF-8; nil means that they are.
func NewContentDigest(syntax string, decode func([]byte) string) *ContentDigest {
	c := &ContentDigest{hash: sha256.New(), frame: make([]byte, 0, frameFlush+2*fastSegment)}
	c.Reset(syntax, decode)
	return c
}

// Reset starts another digest, as NewContentDigest does, and keeps what c has
// allocated.
func (c *ContentDigest) Reset(syntax string, decode func([]byte) string) {
	c.hash.Reset()
	c.off = false
	c.decode = decode
	c.frame = append(c.frame[:0], "edigw content "+strconv.Itoa(ContentVersion)+" "+syntax+"\n"...)
}

// Add takes the next segment. high says that bytes ≥ 0x80 may stand in it.
func (c *ContentDigest) Add(s *Segment, high bool) {
	if c.off {
		return
	}
	if s.released || high && c.decode != nil && !ascii(s.Raw()) || !c.fast(s) {
		c.slow(s, nil)
	}
	if len(c.frame) >= frameFlush {
		c.flush()
	}
}

// AddWithout is Add for a segment of which some elements do not count.
func (c *ContentDigest) AddWithout(s *Segment, omit ...Omission) {
	if c.off {
		return
	}
	c.slow(s, omit)
	if len(c.frame) >= frameFlush {
		c.flush()
	}
}

// AddObject takes what a package carries, which stands behind the segment added
// last: a tag that is empty, and the bytes as an element.
func (c *ContentDigest) AddObject(b []byte) {
	if c.off {
		return
	}
	c.flush()
	c.frame = append(c.frame, 0, 1<<6|longValue)
	c.frame = binary.BigEndian.AppendUint32(c.frame, uint32(len(b)))
	c.flush()
	c.hash.Write(b)
}

// Sum ends the digest.
func (c *ContentDigest) Sum() (sum [32]byte) {
	c.flush()
	c.hash.Sum(sum[:0])
	return sum
}

func (c *ContentDigest) flush() {
	c.hash.Write(c.frame)
	c.frame = c.frame[:0]
}

// fast frames a segment whose bytes are its values: it copies the segment, 32
// bytes at a time and maybe some too many, and writes the headers over the
// delimiters. It gives up, with nothing written, where a value is long, or ends
// with a blank, or a trailing empty one has to go.
func (c *ContentDigest) fast(s *Segment) bool {
	t := s.text
	n, at := int(s.to-s.from), len(c.frame)
	if n > fastSegment || int(s.from)+n+32 > len(t.raw) {
		return false
	}
	if cap(c.frame)-at < n+33 {
		c.frame = slices.Grow(c.frame, fastSegment+33)
	}
	out := c.frame[at : at+n+33]
	raw := t.raw[s.from : int(s.from)+n+32]
	for i := 0; i < n; i += 32 {
		from, to := (*[32]byte)(raw[i:]), (*[32]byte)(out[i+1:])
		w0, w1 := binary.LittleEndian.Uint64(from[0:]), binary.LittleEndian.Uint64(from[8:])
		w2, w3 := binary.LittleEndian.Uint64(from[16:]), binary.LittleEndian.Uint64(from[24:])
		binary.LittleEndian.PutUint64(to[0:], w0)
		binary.LittleEndian.PutUint64(to[8:], w1)
		binary.LittleEndian.PutUint64(to[16:], w2)
		binary.LittleEndian.PutUint64(to[24:], w3)
	}
	// A value that is too long (62-length is negative), or empty before a lower
	// kind, or whose last byte is a blank (0 - 1 is negative), sets the high bit of
	// stuck: no branch waits for it. The last byte of an empty one is the delimiter
	// before it.
	out[0] = 0
	head, kind, start, stuck := uint32(0), uint32(0), s.from, uint32(0)
	for _, m := range t.marks[s.first : s.first+s.marks] {
		end, next := m>>markShift, m&markKind
		length := end - start
		stuck |= (longValue - 1 - length) | (length-1)&(next-kind) | (uint32(out[head+length]^' ') - 1)
		out[head] = uint8(kind<<6 | length)
		start, kind = end+1, next
		head = start - s.from
	}
	length := s.to - start
	stuck |= (longValue - 1 - length) | (length-1)&(kindTerminator-kind) | (uint32(out[head+length]^' ') - 1)
	if int32(stuck) < 0 {
		return false
	}
	out[head] = uint8(kind<<6 | length)
	c.frame = c.frame[:at+n+1]
	return true
}

// slow frames any segment by the rules one by one.
func (c *ContentDigest) slow(s *Segment, omit []Omission) {
	spans := c.spans[:0]
	cur := span{from: s.from, keep: true}
	el, comp := 0, 1
	for _, m := range s.delimiters() {
		cur.to = m >> markShift
		spans = append(spans, omitted(cur, el, comp, omit))
		cur = span{from: cur.to + 1, kind: uint8(m & markKind), keep: true}
		switch m & markKind {
		case kindElement:
			el, comp = el+1, 1
		case kindRepetition:
			comp = 1
		case kindComponent:
			comp++
		}
	}
	cur.to = s.to
	spans = append(spans, omitted(cur, el, comp, omit))
	for i := range spans {
		spans[i].to = s.text.filled(spans[i].from, spans[i].to)
	}
	next := uint8(kindTerminator)
	for i := len(spans) - 1; i >= 0; i-- {
		if spans[i].from == spans[i].to && next < spans[i].kind {
			spans[i].keep = false
			continue
		}
		next = spans[i].kind
	}
	for _, v := range spans {
		if v.keep {
			c.value(s.text, v.kind, s.text.raw[v.from:v.to], s.released)
		}
	}
	c.spans = spans
}

// filled gives the end of a value without the blanks that fill it up, released
// ones too.
func (t *text) filled(from, to uint32) uint32 {
	for to > from && t.raw[to-1] == ' ' {
		to--
		releases := uint32(0)
		for to-releases > from && t.release != 0 && t.raw[to-releases-1] == t.release {
			releases++
		}
		to -= releases & 1
	}
	return to
}

func omitted(v span, el, comp int, omit []Omission) span {
	for _, o := range omit {
		if o.Element == el && (o.Component == 0 || o.Component == comp) {
			v.to = v.from
		}
	}
	return v
}

func (c *ContentDigest) value(t *text, kind uint8, b []byte, released bool) {
	if released {
		c.plain = t.unrelease(c.plain[:0], b)
		b = c.plain
	}
	if c.decode != nil && !ascii(b) {
		c.plain = append(c.plain[:0], c.decode(b)...)
		b = c.plain
	}
	if len(b) < longValue {
		c.frame = append(c.frame, kind<<6|uint8(len(b)))
	} else {
		c.frame = append(c.frame, kind<<6|longValue)
		c.frame = binary.BigEndian.AppendUint32(c.frame, uint32(len(b)))
	}
	c.frame = append(c.frame, b...)
}

// ascii reports whether no byte of b is ≥ 0x80, eight at a time.
func ascii(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b)&0x8080808080808080 != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
