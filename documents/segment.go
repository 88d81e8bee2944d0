package documents

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// segment is a segment as the mappers read it: its text, in which values lie
// between separators. Values are pieces of the text and cost nothing. The
// edi.Segment says where it stands.
type segment struct {
	*edi.Segment
	tag     string
	text    string
	escaped bool      // a value holds one of our separators: ask the edi.Segment
	count   int       // elements
	starts  [40]int32 // of the elements in text
}

// set makes s read another segment.
func (s *segment) set(of *edi.Segment, text string) {
	s.Segment, s.tag, s.text, s.count = of, of.Tag(), text, 0
	s.escaped = strings.IndexByte(text, escape) >= 0
	for i := len(s.tag); i < len(text); i++ {
		if text[i] != behindEl {
			continue
		}
		if s.count == len(s.starts) { // no segment of ours has that many
			s.escaped = true
			return
		}
		s.starts[s.count] = int32(i + 1)
		s.count++
	}
}

// get gives component c of element e, both from 1, in its first repetition; "" if
// it is not there.
func (s *segment) get(e, c int) string { return s.repetition(e, 1, c) }

// repetition gives component c of repetition r of element e.
func (s *segment) repetition(e, r, c int) string {
	if s.escaped {
		return s.GetRep(e, r, c)
	}
	if e > s.count {
		return ""
	}
	element := s.text[s.starts[e-1]:]
	if e < s.count {
		element = element[:s.starts[e]-s.starts[e-1]-1]
	}
	from := 0
	for i := 0; ; i++ {
		if i == len(element) || element[i] == behindRep || element[i] == behindCom {
			if r == 1 && c == 1 {
				return element[from:i]
			}
			if i == len(element) {
				return ""
			}
			from = i + 1
			if element[i] == behindCom {
				if r == 1 {
					c--
				}
				continue
			}
			if r == 1 { // the component is not in this repetition
				return ""
			}
			r--
		}
	}
}

// elements is how many elements there are, trailing empty ones not counted.
func (s *segment) elements() int {
	if s.escaped {
		return s.Elements()
	}
	return s.count
}
