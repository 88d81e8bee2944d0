package structure

import (
	"slices"

	"github.com/edigw/edigw/edi"
)

// Place is where a segment stands in its message.
type Place struct {
	Groups []string // names of the segment groups or loops around it, the outermost first
	Opens  bool     // the innermost of them begins with it
}

// Outline finds the place of every segment of message i of ic, header and trailer
// included, whose text is b; nil if there is no table for its type. A segment
// that may not stand where it stands belongs to the group of the one before it, and
// one that comes too late to the group that it should have stood in: the groups that
// it interrupts go on behind it.
func (t *Tables) Outline(ic *edi.Interchange, i int, b *edi.Body, guide string) []Place {
	m := t.message(ic.Syntax, ic.Messages[i].Type, guide)
	if m == nil || b.Len() < 2 {
		return nil
	}
	c := checks.Get().(*check)
	defer checks.Put(c)
	c.m, c.severity, c.body = m, edi.SeverityNote, b
	c.stack = append(c.stack[:0], frame{g: &c.m.root, under: -1})
	places := make([]Place, b.Len())
	for c.at = 1; c.at < b.Len()-1; c.at++ {
		t := tagOf(b.Segments[c.at].RawTag())
		c.place(&b.Segments[c.at], t)
		c.found = c.found[:0] // they are Check's to tell
		p := &places[c.at]
		for f := range c.path {
			if len(p.Groups) == 0 { // only a group's first segment has its first item as the one met last
				p.Opens = f.at == 0 && f.g.tags[0] == t
			}
			p.Groups = append(p.Groups, f.g.name)
		}
		slices.Reverse(p.Groups)
	}
	c.m, c.body, c.found, c.last = nil, nil, nil, nil
	return places
}
