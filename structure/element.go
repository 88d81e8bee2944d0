package structure

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/edigw/edigw/edi"
)

// elements checks what stands in a segment against its table, in one walk.
func (c *check) elements(s *edi.Segment, table *segment) {
	before := len(c.found)
	c.walk(s, table)
	if len(c.found) > before+1 { // in the order of the text
		slices.SortStableFunc(c.found[before:], func(a, b *edi.Error) int {
			return cmp.Or(a.Element-b.Element, a.Repetition-b.Repetition, a.Component-b.Component)
		})
	}
}

func (c *check) walk(s *edi.Segment, table *segment) {
	var present uint64             // elements with a value, from bit 1
	var seen uint64                // components of the repetition at hand with a value
	e, rep := 0, 0                 // element and repetition at hand
	surplus, extra := false, false // an element, a component of this repetition: reported already
	var def *element               // of element e, nil behind the last
	released := s.Released()
	for p := s.Pieces(); p.Next(); {
		if p.Element != e || p.Repetition != rep {
			if def != nil {
				c.complete(s, table, def, e, rep, seen)
			}
			if e, rep, seen, extra, def = p.Element, p.Repetition, 0, false, nil; e <= len(table.elements) {
				def = &table.elements[e-1]
				if rep == def.max+1 {
					c.findElement(elementRepeats, s.LocationRep(e, rep, 0), def.id, "", "element %s of %s is repeated more than %d times", name(table, e), table.tag, def.max)
				}
			}
		}
		raw := p.Raw()
		if len(raw) == 0 {
			continue
		}
		if e < 64 {
			present |= 1 << e
		}
		if def == nil {
			if !surplus {
				c.findElement(surplusElement, s.LocationRep(e, 0, 0), "", p.Text(), "%s has %s", table.tag, plural(len(table.elements), "element"))
				surplus = true
			}
			continue
		}
		if p.Component > len(def.components) {
			if !extra {
				c.findElement(surplusComponent, s.LocationRep(e, told(def, rep), p.Component), def.id, p.Text(), "element %s of %s has %d %s", name(table, e), table.tag, len(def.components),
					plural(len(def.components), "component"))
			}
			extra = true
			continue
		}
		seen |= 1 << (p.Component - 1)
		v := &def.components[p.Component-1]
		if v.kind == text && v.codes == nil && v.min == 1 && len(raw) <= v.max {
			continue // what nearly all are; characters are never more than bytes
		}
		c.value(&p, released, table, def, v)
	}
	if def != nil {
		c.complete(s, table, def, e, rep, seen)
	}
	for i := e; i < table.required; i++ {
		if table.elements[i].mandatory {
			c.findElement(missingElement, s.Location(i+1, 0), table.elements[i].id, "", "element %s of %s is missing", name(table, i+1), table.tag)
		}
	}
	var said uint64 // elements that two conditions ask for are told once
	for i := range table.conditions {
		if at, f := table.conditions[i].broken(present); at > 0 && said&(1<<at) == 0 {
			said |= 1 << at
			c.findElement(f, s.Location(at, 0), table.elements[at-1].id, "", "%s", table.conditions[i].words(table.tag))
		}
	}
}

// complete reports what a repetition of an element lacks.
func (c *check) complete(s *edi.Segment, table *segment, def *element, e, rep int, seen uint64) {
	if seen == 0 {
		if def.mandatory && rep == 1 {
			c.findElement(missingElement, s.Location(e, 0), def.id, "", "element %s of %s is missing", name(table, e), table.tag)
		}
		return
	}
	if !def.composite {
		return
	}
	for lack := def.must &^ seen; lack != 0; lack &= lack - 1 {
		i := 0
		for lack>>i&1 == 0 {
			i++
		}
		at := s.LocationRep(e, told(def, rep), i+1)
		c.findElement(missingElement, at, def.components[i].id, "", "component %s of element %s of %s is missing", def.components[i].id, name(table, e), table.tag)
	}
}

// told is the repetition to name: none where the element has only one.
func told(def *element, rep int) int {
	if def.max == 1 && rep == 1 {
		return 0
	}
	return rep
}

// name is how people call an element: BGM 2 (1004).
func name(table *segment, e int) string { return fmt.Sprintf("%d (%s)", e, table.elements[e-1].id) }

func plural(n int, word string) string {
	if n == 1 {
		return "one " + word + " only"
	}
	return fmt.Sprintf("%d %ss at most", n, word)
}
