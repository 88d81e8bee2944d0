package structure

import (
	"fmt"
	"strconv"
)

// condition is a relational condition among the elements of a segment, X12.6
// §3.8.3: P0304, R0203, E0204, C1110, L130204.
type condition struct {
	kind     byte
	elements []int  // from 1
	all      uint64 // their bits
	rest     uint64 // without the first
}

// parseCondition reads one for a segment of n elements.
func parseCondition(note string, n int) (condition, error) {
	c := condition{}
	if len(note) < 5 || len(note)%2 == 0 {
		return c, fmt.Errorf("%q is no condition: a letter and two digits for each of two or more elements, as P0304", note)
	}
	switch c.kind = note[0]; c.kind {
	case 'P', 'R', 'E', 'C', 'L':
	default:
		return c, fmt.Errorf("condition %q begins with none of P, R, E, C and L", note)
	}
	for i := 1; i < len(note); i += 2 {
		e, err := strconv.Atoi(note[i : i+2])
		if err != nil || e < 1 || e > min(n, 63) {
			return c, fmt.Errorf("condition %q names element %q of a segment of %d", note, note[i:i+2], n)
		}
		if c.elements = append(c.elements, e); len(c.elements) > 1 {
			c.rest |= 1 << e
		}
		c.all |= 1 << e
	}
	return c, nil
}

// holds reports whether the condition holds; present is that of broken.
func (c *condition) holds(present uint64) bool {
	has := present & c.all
	switch c.kind {
	case 'P':
		return has == 0 || has == c.all
	case 'R':
		return has != 0
	case 'E':
		return has&(has-1) == 0
	case 'C':
		return has&^c.rest == 0 || has == c.all
	}
	return has&^c.rest == 0 || has&c.rest != 0
}

// broken gives the element at which the condition does not hold, 0 if it holds;
// present says which elements have a value, element 1 in bit 1.
func (c *condition) broken(present uint64) (at int, f fault) {
	has := func(e int) bool { return present&(1<<e) != 0 }
	n, firstMissing := 0, 0
	for _, e := range c.elements {
		if has(e) {
			if n++; n == 2 && c.kind == 'E' {
				return e, excludedByCondition
			}
		} else if firstMissing == 0 {
			firstMissing = e
		}
	}
	switch {
	case c.kind == 'P' && n > 0 && firstMissing > 0,
		c.kind == 'C' && has(c.elements[0]) && firstMissing > 0:
		return firstMissing, missingByCondition
	case c.kind == 'R' && n == 0:
		return c.elements[0], missingByCondition
	case c.kind == 'L' && has(c.elements[0]) && n == 1:
		return c.elements[1], missingByCondition
	}
	return 0, 0
}

// words says what the condition asks for, of segment tag.
func (c *condition) words(tag string) string {
	name := func(e int) string { return fmt.Sprintf("%s%02d", tag, e) }
	list := func(of []int, last string) string {
		s := ""
		for i, e := range of {
			switch {
			case i == 0:
			case i == len(of)-1:
				s += last
			default:
				s += ", "
			}
			s += name(e)
		}
		return s
	}
	switch c.kind {
	case 'P':
		return list(c.elements, " and ") + " come together or not at all"
	case 'R':
		return "one of " + list(c.elements, " and ") + " is needed"
	case 'E':
		return "only one of " + list(c.elements, " and ") + " may be there"
	case 'C':
		return "where " + name(c.elements[0]) + " is there, " + list(c.elements[1:], " and ") + " is needed"
	}
	return "where " + name(c.elements[0]) + " is there, one of " + list(c.elements[1:], " and ") + " is needed"
}
