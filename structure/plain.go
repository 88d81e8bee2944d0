package structure

import "github.com/edigw/edigw/edi"

// plain reports whether nothing is wrong with a segment, for those that are as
// nearly all are: no repetitions, values of single bytes. Where it reports false
// the segment is judged again, by walk, which finds what it is, if anything.
func (t *segment) plain(s *edi.Segment) bool {
	window, marks, end := s.Marks()
	if len(marks) == 0 {
		return t.required == 0 && t.holds(0)
	}
	present := uint64(0)
	released := s.Released()   // a release character counts for nothing: bytes do not tell
	e := -1                    // element at hand, from 0
	at, first, last := 0, 0, 0 // its slot at hand, its own first one, and that of the next element
	seen := uint64(0)          // its components with a value
	from := marks[0]>>edi.MarkShift + 1
	for i, m := range marks {
		switch m & edi.MarkKind {
		case edi.MarkElement:
			if e >= 0 && !t.elements[e].full(seen) {
				return false
			}
			if e++; e == len(t.elements) {
				return t.nothingBehind(marks[i:], end) && t.holds(present)
			}
			first, last = t.first[e], t.first[e+1]
			at, seen = first, 0
		case edi.MarkComponent:
			at++
		default:
			return false
		}
		to := end
		if i+1 < len(marks) {
			to = marks[i+1] >> edi.MarkShift
		}
		size := to - from
		if size == 0 {
			from = to + 1
			continue
		}
		if at >= last {
			return false
		}
		v := &t.slots[at]
		present |= 1 << (e + 1)
		seen |= 1 << (at - first)
		if size > v.most || size < v.least || !v.any && (released || !v.fits(window[from:to])) {
			return false
		}
		from = to + 1
	}
	if e >= 0 && !t.elements[e].full(seen) {
		return false
	}
	for i := e + 1; i < t.required; i++ {
		if t.elements[i].mandatory {
			return false
		}
	}
	return t.holds(present)
}

// full reports whether an element has what is mandatory.
func (e *element) full(seen uint64) bool {
	if seen == 0 {
		return !e.mandatory
	}
	return e.must&^seen == 0
}

// fits judges a value that is not plain text.
func (v *slot) fits(b []byte) bool {
	switch v.kind {
	case text, code:
		return uint32(len(b)) <= v.max && ascii(b)
	case number, decimal:
		if n := uint32(len(b)); allDigits(b) {
			return n >= v.min && n <= v.max
		}
		point, n := -1, uint32(0)
		for i, ch := range b {
			switch {
			case ch >= '0' && ch <= '9':
				n++
			case ch == '.' && point < 0:
				point = i
			case ch == '-' && i == 0:
			default:
				return false
			}
		}
		return n >= v.min && n <= v.max && (point < 0 || v.kind == decimal || point > 0 && b[point-1] != '-' && point < len(b)-1)
	case integer:
		return uint32(len(b)) <= v.max && allDigits(b)
	case date:
		return uint32(len(b)) <= v.max && isDate(b)
	case clock:
		return uint32(len(b)) <= v.max && isTime(b)
	}
	return v.kind == binary
}

// nothingBehind reports whether only empty values follow the last element.
func (t *segment) nothingBehind(marks []uint32, end uint32) bool {
	for i, m := range marks {
		to := end
		if i+1 < len(marks) {
			to = marks[i+1] >> edi.MarkShift
		}
		if m>>edi.MarkShift+1 != to {
			return false
		}
	}
	return true
}

// holds reports whether all conditions hold; present is that of broken.
func (t *segment) holds(present uint64) bool {
	if (present^present>>1)&t.pairs != 0 {
		return false
	}
	for i := range t.others {
		if !t.others[i].holds(present) {
			return false
		}
	}
	return true
}
