package documents

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/edigw/edigw/edi"
)

// What plain writes over delimiters.
var separators = [edi.MarkKind + 1]byte{edi.MarkElement: behindEl, edi.MarkRepetition: behindRep, edi.MarkComponent: behindCom}

// plain appends the text of a segment as nearly all are: ASCII without control
// characters and releases, and no value empty at the end of anything. Its bytes are
// those of the text; only delimiters become others. Of any other segment it reports
// false and has done nothing.
func (g *digester) plain(s *edi.Segment) (_ odd, ok bool) {
	window, marks, end := s.Marks()
	n := len(s.Raw())
	from := int(end) - n
	if s.Released() || from+n+8 > len(window) {
		return 0, false
	}
	start, parts, first := len(g.buf), len(g.parts), len(g.first)
	if cap(g.buf)-start < n+9 || cap(g.parts)-parts < len(marks) || cap(g.first)-first <= len(marks) {
		g.buf = slices.Grow(g.buf, n+9)
		g.parts, g.first = slices.Grow(g.parts, len(marks)), slices.Grow(g.first, len(marks)+1)
	}
	out, raw := g.buf[start:start+n+8], window[from:from+n+8]
	const high, blanks = 0x8080808080808080, 0x2020202020202020
	look := uint64(0) // the high bit of each byte that is ≥ 0x80 or < 0x20
	for i := 0; i < n; i += 8 {
		w := binary.LittleEndian.Uint64(raw[i:])
		binary.LittleEndian.PutUint64(out[i:], w)
		if left := n - i; left < 8 { // what stands behind the segment is not looked at
			mask := uint64(1)<<(8*left) - 1
			w = w&mask | blanks&^mask
		}
		look |= w | (w-blanks)&^w
	}
	if look&high != 0 {
		return 0, false
	}
	values, elements := g.parts[parts:parts+len(marks)], g.first[first:first+len(marks)+1]
	value, kind := uint32(from), uint32(0)
	stuck, repeated, count := uint32(0), uint32(0), uint32(0)
	for i, m := range marks {
		at, next := m>>edi.MarkShift, m&edi.MarkKind
		stuck |= (at - value - 1) & (next - kind) // negative: empty, before what ends more
		repeated |= (next ^ edi.MarkRepetition) - 1
		out[int(at)-from] = separators[next]
		values[i] = int32(start + int(at) - from + 1)
		elements[count] = int32(parts + i)
		count += next & (next>>1 ^ 1) & 1 // MarkElement alone
		value, kind = at+1, next
	}
	stuck |= (end - value - 1) & -kind
	if int32(stuck) < 0 {
		return 0, false
	}
	g.buf, g.parts, g.first = g.buf[:start+n], g.parts[:parts+len(marks)], g.first[:first+int(count)]
	return odd(repeated>>31) * oddRepeated, true
}

// write appends a segment's text to the block. It reports what is odd about it, and
// whether it is UTF-8 without NUL. ASCII is translated byte by byte without a copy of
// each value.
func (g *digester) write(s *edi.Segment) (o odd, ok bool) {
	raw := s.Raw()
	start, parts, first := len(g.buf), len(g.parts), len(g.first)
	g.buf = slices.Grow(g.buf, len(raw)+1)
	out := g.buf[start : start+len(raw)]
	n := 0
	for _, b := range raw {
		c := g.become[b]
		if c-behindEl <= behindCom-behindEl || c == 0 {
			switch c {
			case 0:
				g.parts, g.first = g.parts[:parts], g.first[:first]
				return g.writeValues(s)
			case behindEl:
				n = g.dropTrailing(out, n, behindRep, start)
				g.first = append(g.first, int32(len(g.parts)))
			case behindRep:
				n = g.dropTrailing(out, n, behindCom, start)
				o |= oddRepeated
			}
			g.parts = append(g.parts, int32(start+n+1))
		}
		out[n] = c
		n++
	}
	g.buf = g.buf[:start+g.dropTrailing(out, n, behindEl, start)]
	for len(g.first) > first && int(g.first[len(g.first)-1]) >= len(g.parts) {
		g.first = g.first[:len(g.first)-1]
	}
	return o, true
}

// writeValues is write for what is not plain.
func (g *digester) writeValues(s *edi.Segment) (o odd, ok bool) {
	ok = sound(string(s.RawTag()))
	g.buf = append(g.buf, s.RawTag()...)
	start := len(g.buf)
	g.buf = appendValues(g.buf, s, func(v edi.Value) bool {
		ok = ok && sound(v.Text)
		return false
	})
	for i := start; i < len(g.buf); i++ {
		switch g.buf[i] {
		case escape:
			o |= oddEscaped
			continue
		case behindEl:
			g.first = append(g.first, int32(len(g.parts)))
		case behindRep:
			o |= oddRepeated
		case behindCom:
		default:
			continue
		}
		g.parts = append(g.parts, int32(i+1))
	}
	return o, ok
}

// appendValues appends the values of s, those left out as if they were empty.
func appendValues(dst []byte, s *edi.Segment, leaveOut func(edi.Value) bool) []byte {
	element, repetition, component := 0, 1, 1
	for v := range s.Values() {
		if v.Element == 0 || v.Text == "" || leaveOut(v) {
			continue
		}
		for ; element < v.Element; element++ {
			dst, repetition, component = append(dst, behindEl), 1, 1
		}
		for ; repetition < v.Repetition; repetition++ {
			dst, component = append(dst, behindRep), 1
		}
		for ; component < v.Component; component++ {
			dst = append(dst, behindCom)
		}
		dst = appendEscaped(dst, v.Text)
	}
	return dst
}

// dropTrailing gives the length of b[:n], which stands at start, without the
// separators from lowest up that end it, and forgets the parts behind them.
func (g *digester) dropTrailing(b []byte, n int, lowest byte, start int) int {
	for n > 0 && b[n-1] >= lowest && b[n-1] <= behindCom {
		n--
	}
	for len(g.parts) > 0 && int(g.parts[len(g.parts)-1]) > start+n {
		g.parts = g.parts[:len(g.parts)-1]
	}
	return n
}

// appendEscaped appends a value in which separators are escaped.
func appendEscaped(dst []byte, value string) []byte {
	for i := 0; i < len(value); i++ {
		if value[i] >= escape && value[i] <= behindCom {
			dst = append(dst, escape)
		}
		dst = append(dst, value[i])
	}
	return dst
}

// sound reports whether PostgreSQL takes s as text.
func sound(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] == 0 {
			return false
		}
	}
	return true
}
