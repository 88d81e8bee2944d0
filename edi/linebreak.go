package edi

import "bytes"

// LineBreak finds the first line end that stands inside a segment, at byte k of its
// Raw; those between segments, and one that is the terminator, are none.
func (b *Body) LineBreak() (s Segment, k int, found bool) {
	if len(b.Segments) == 0 {
		return Segment{}, 0, false
	}
	raw := b.Raw()
	inside := bytes.Count(raw, []byte{'\n'}) + bytes.Count(raw, []byte{'\r'})
	if inside == 0 {
		return Segment{}, 0, false
	}
	all := b.Segments[0].text.raw
	ends := 0 // in a terminator
	if first := &b.Segments[0]; !first.open {
		ends = lineEnds(all[first.to : first.to+1])
	}
	last := len(b.Segments) - 1
	for i := range last {
		inside -= ends
		between := all[b.Segments[i].to+1 : b.Segments[i+1].from]
		if len(between) == 1 && between[0] == '\n' { // as most write
			inside--
		} else {
			inside -= lineEnds(between)
		}
	}
	if !b.Segments[last].open {
		inside -= ends
	}
	if inside == 0 {
		return Segment{}, 0, false
	}
	for _, s := range b.Segments {
		if k := bytes.IndexAny(s.Raw(), "\r\n"); k >= 0 {
			return s, k, true
		}
	}
	return Segment{}, 0, false
}

// lineEnds counts the bytes of line ends in b, which is short.
func lineEnds(b []byte) (n int) {
	for _, c := range b {
		if c == '\n' || c == '\r' {
			n++
		}
	}
	return n
}
