package documents

import "github.com/edigw/edigw/edi"

// segment is a segment as the mappers read it: a stretch of a block of text in
// which values lie between separators. Values are pieces of the block and cost
// nothing. The edi.Segment says where it stands. It is valid while it is visited.
type segment struct {
	*edi.Segment
	tag   string
	block string
	parts []int32 // where each value of the segments in block starts, tags left out
	first []int32 // the first part of each of its elements
	last  int32   // behind its last part
	end   int32   // in block
	odd   odd
}

// odd is what keeps values from being found by counting parts.
type odd uint8

const (
	oddEscaped  odd = 1 << iota // a value may hold one of our separators: ask the edi.Segment
	oddRepeated                 // an element is repeated
)

// get gives component c of element e, both from 1, in its first repetition; "" if
// it is not there.
func (s *segment) get(e, c int) string { return s.repetition(e, 1, c) }

// repetition gives component c of repetition r of element e.
func (s *segment) repetition(e, r, c int) string {
	if s.odd&oddEscaped != 0 {
		return s.GetRep(e, r, c)
	}
	if e > len(s.first) {
		return ""
	}
	part, next := s.first[e-1], s.last
	if e < len(s.first) {
		next = s.first[e]
	}
	if s.odd == 0 {
		if part += int32(c - 1); part >= next || r != 1 {
			return ""
		}
		return s.block[s.parts[part]:s.behind(part)]
	}
	element := s.block[s.parts[part]:s.behind(next-1)]
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

// behind is where part ends.
func (s *segment) behind(part int32) int32 {
	if part+1 < s.last {
		return s.parts[part+1] - 1
	}
	return s.end
}

// elements is how many elements there are, trailing empty ones not counted.
func (s *segment) elements() int {
	if s.odd&oddEscaped != 0 {
		return s.Elements()
	}
	return len(s.first)
}
