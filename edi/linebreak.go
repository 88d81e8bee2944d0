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
	for i := range b.Segments {
		s := &b.Segments[i]
		behind := s.to // of the segment, its terminator in it
		if !s.open {
			behind++
			inside -= lineEnds(all[s.to:behind])
		}
		if i+1 < len(b.Segments) {
			inside -= lineEnds(all[behind:b.Segments[i+1].from])
		}
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
