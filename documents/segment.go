package documents

import "github.com/edigw/edigw/edi"

// segment is a segment as the mappers read it: a stretch of a block of text in
// which values lie between separators. Values are pieces of the block and cost
// nothing. The edi.Segment says where it stands. It is valid while it is visited.
type segment struct {
	*edi.Segment
	tag     string
	block   string
	starts  []int32 // of its elements in block
	end     int32   // in block
	escaped bool    // a value may hold one of our separators: ask the edi.Segment
}

// get gives component c of element e, both from 1, in its first repetition; "" if
// it is not there.
func (s *segment) get(e, c int) string { return s.repetition(e, 1, c) }

// repetition gives component c of repetition r of element e.
func (s *segment) repetition(e, r, c int) string {
	if s.escaped {
		return s.GetRep(e, r, c)
	}
	if e > len(s.starts) {
		return ""
	}
	to := s.end
	if e < len(s.starts) {
		to = s.starts[e] - 1
	}
	element := s.block[s.starts[e-1]:to]
	from := 0
	for i := 0; i < len(element); i++ {
		switch element[i] {
		case behindCom:
			if r == 1 {
				if c == 1 {
					return element[from:i]
				}
				c--
			}
			from = i + 1
		case behindRep:
			if r == 1 {
				if c == 1 {
					return element[from:i]
				}
				return ""
			}
			r--
			from = i + 1
		}
	}
	if r == 1 && c == 1 {
		return element[from:]
	}
	return ""
}

// elements is how many elements there are, trailing empty ones not counted.
func (s *segment) elements() int {
	if s.escaped {
		return s.Elements()
	}
	return len(s.starts)
}
