package structure

import (
	"fmt"
	"sync"

	"github.com/edigw/edigw/edi"
)

// MaxFindings is how many findings Check gives of one message. It then stops:
// a text that breaks its structure so often is not of this message type.
const MaxFindings = 100

// check is the state of one pass over one message.
type check struct {
	m        *message
	severity edi.Severity
	body     *edi.Body
	at       int // index of the segment at hand
	stack    []frame
	last     []int // for each item of the message itself, the last segment with its tag; nil until needed
	found    []*edi.Error
}

// frame is a group that the pass is in.
type frame struct {
	g     *group
	at    int   // item that was met last
	count int32 // and how often
	under int   // of a group that comes too late: the frame above it in the table; -1: the one before
}

var checks = sync.Pool{New: func() any { return new(check) }}

// run checks all segments between header and trailer.
func (c *check) run() []*edi.Error {
	c.stack = append(c.stack[:0], frame{g: &c.m.root, under: -1})
	n := c.body.Len()
	for c.at = 1; c.at < n-1 && len(c.found) < MaxFindings; c.at++ {
		s := &c.body.Segments[c.at]
		t := tagOf(s.RawTag())
		table, ok := c.step(t)
		if !ok {
			table = c.place(s, t)
		}
		if table != nil && !table.plain(s) {
			c.elements(s, table)
		}
	}
	c.leave(0, len(c.m.root.items))
	found := c.found
	c.m, c.body, c.found, c.last = nil, nil, nil, nil
	return found
}

// step does what place does for a segment that stands where nothing is wrong: what
// it leaves behind has all that is mandatory, and the item has not its maximum yet.
// Otherwise it reports false and has done nothing.
func (c *check) step(t tag) (_ *segment, ok bool) {
	for depth := len(c.stack) - 1; depth >= 0; depth-- {
		f := &c.stack[depth]
		g := f.g
		i, n := f.at, len(g.tags)
		for i < n && g.tags[i] != t {
			i++
		}
		from := f.at
		if f.count > 0 {
			from++
		}
		if i == n || i == 0 && depth > 0 { // the trigger of a group is an item of that around it
			if from < n && g.musts[from] != g.musts[n] || i == 0 {
				return nil, false
			}
			continue
		}
		it := &g.items[i]
		switch {
		case i == f.at && f.count >= it.max, i > from && g.musts[from] != g.musts[i]:
			return nil, false
		case i == f.at:
			f.count++
		default:
			f.at, f.count = i, 1
		}
		c.stack = c.stack[:depth+1]
		if it.group == nil {
			return it.segment, true
		}
		c.stack = append(c.stack, frame{g: it.group, count: 1, under: -1})
		return it.group.items[0].segment, true
	}
	return nil, false
}

// place finds where a segment stands: its item's segment table, or nil if there
// is none for it.
//
// It looks onwards only, in the group at hand, then in those around it. An item
// that has its maximum already is passed over if the tag comes once more further
// on, which is how directories have the same segment in two places.
func (c *check) place(s *edi.Segment, t tag) *segment {
	full, fullAt := -1, 0
	for depth := len(c.stack) - 1; depth >= 0; depth-- {
		f := &c.stack[depth]
		tags := f.g.tags
		for i := f.at; i < len(tags); i++ {
			if tags[i] != t || depth > 0 && i == 0 {
				continue
			}
			if i == f.at && f.count >= f.g.items[i].max {
				if full < 0 {
					full, fullAt = depth, i
				}
				continue
			}
			if c.skipsWhatComes(depth, i) {
				continue
			}
			return c.enter(depth, i)
		}
	}
	if full >= 0 {
		return c.overfull(s, full, fullAt)
	}
	return c.misplaced(s, t)
}

// enter goes on to item i of the group at depth, and reports what is missing
// before it.
func (c *check) enter(depth, i int) *segment {
	c.leave(depth+1, 0)
	f := &c.stack[depth]
	if i == f.at {
		f.count++
	} else {
		c.skip(f, i)
		f.at, f.count = i, 1
	}
	it := &f.g.items[i]
	if it.group != nil {
		c.stack = append(c.stack, frame{g: it.group, count: 1, under: -1})
		return it.group.items[0].segment
	}
	return it.segment
}

// leave ends the groups from depth on; of the message itself, depth 0, it skips
// up to item to.
func (c *check) leave(depth, to int) {
	for len(c.stack) > depth && len(c.stack) > 0 {
		f := &c.stack[len(c.stack)-1]
		if depth == 0 && len(c.stack) == 1 {
			c.skip(f, to)
			return
		}
		c.skip(f, len(f.g.items))
		c.stack = c.stack[:len(c.stack)-1]
	}
}

// skip reports the mandatory items between the one at hand and item to.
func (c *check) skip(f *frame, to int) {
	i := f.at
	if f.count > 0 {
		i++
	}
	if i >= to || f.g.musts[i] == f.g.musts[to] {
		return
	}
	for ; i < to; i++ {
		if f.g.items[i].mandatory {
			c.missing(f.g, &f.g.items[i])
		}
	}
}

// skipsWhatComes reports whether going on to item i of the group at depth would
// leave out a mandatory segment of the message itself that stands further on in
// the text: then it is the segment at hand that is out of place, and no reason
// to end the part of the message that is being read.
func (c *check) skipsWhatComes(depth, i int) bool {
	if depth > 0 {
		return false
	}
	f := &c.stack[0]
	from := f.at + 1
	if f.count == 0 {
		from = f.at
	}
	if from >= i || f.g.musts[from] == f.g.musts[i] {
		return false
	}
	for k := from; k < i; k++ {
		if f.g.items[k].mandatory && c.lastOf(k) > c.at {
			return true
		}
	}
	return false
}

// lastOf is the last segment with the tag of item k of the message itself. All
// are found in one walk, the first time one is asked for.
func (c *check) lastOf(k int) int {
	if c.last == nil {
		items := c.m.root.items
		c.last = make([]int, len(items))
		for i := range c.body.Segments {
			t := tagOf(c.body.Segments[i].RawTag())
			for k := range items {
				if items[k].mandatory && items[k].tag == t {
					c.last[k] = i
				}
			}
		}
	}
	return c.last[k]
}

// overfull reports a segment or group that was met as often as it may be.
func (c *check) overfull(s *edi.Segment, depth, i int) *segment {
	c.leave(depth+1, 0)
	f := &c.stack[depth]
	it := &f.g.items[i]
	f.count++
	first := f.count == it.max+1 // one finding, however many there are
	if it.group != nil {
		if first {
			c.findIn(it.group, groupRepeats, s.Location(0, 0), "%s %s stands here more than %d times, which is the maximum %s",
				c.m.dir.syntax.group(), it.group.name, it.max, c.inside(f.g))
		}
		c.stack = append(c.stack, frame{g: it.group, count: 1, under: -1})
		return it.group.items[0].segment
	}
	if first {
		c.findIn(f.g, segmentRepeats, s.Location(0, 0), "%s stands here more than %d times, which is the maximum %s", it.tag, it.max, c.inside(f.g))
	}
	return it.segment
}

// misplaced reports a segment that may not stand here, and finds out what it can
// be, so that one fault is one finding.
func (c *check) misplaced(s *edi.Segment, t tag) *segment {
	at := s.Location(0, 0)
	// It should have come before: what belongs to it may follow it all the same.
	for depth := len(c.stack) - 1; depth >= 0; depth-- {
		f := &c.stack[depth]
		for i := range f.g.items[:f.at] {
			it := &f.g.items[i]
			if it.tag != t || depth > 0 && i == 0 {
				continue
			}
			in := f.g
			if it.group != nil {
				in = it.group
			}
			c.findIn(in, lateSegment, at, "%s comes too late: %s it stands before %s", t, c.inside(f.g), f.g.items[f.at].tag)
			if it.group != nil {
				c.aside(depth, it.group)
				return it.group.items[0].segment
			}
			return it.segment
		}
	}
	// It belongs to a group whose first segment was left out.
	for depth := len(c.stack) - 1; depth >= 0; depth-- {
		f := &c.stack[depth]
		for i := f.at; i < len(f.g.items); i++ {
			it := &f.g.items[i]
			if it.group == nil || c.skipsWhatComes(depth, i) {
				continue
			}
			for k := 1; k < len(it.group.items); k++ {
				if it.group.items[k].tag != t {
					continue
				}
				// What is mandatory between the two is part of the same gap.
				c.missing(it.group, &it.group.items[0])
				c.enter(depth, i)
				c.stack[len(c.stack)-1].at = k - 1
				return c.enter(len(c.stack)-1, k)
			}
		}
	}
	syntax := c.m.dir.syntax
	switch {
	case t == 0 || !plausible(t):
		c.findIn(nil, unknownSegment, at, "%q is no segment of %s", edi.Clip(s.RawTag()), c.m.dir.name)
	case !c.m.tags[t]:
		c.findIn(nil, foreignSegment, at, "%s is no segment of %s %s in directory %s", t, syntax.message(), c.m.name, c.m.dir.name)
	default:
		c.findIn(nil, unexpectedSegment, at, "%s may not stand behind %s", t, c.body.Segments[c.at-1].Tag())
	}
	return nil
}

// aside enters group g of the frame at depth, which comes too late. The groups
// above that frame stay open: what the late one interrupts goes on behind it. Late
// groups before it end, or a text could pile up as many as it likes.
func (c *check) aside(depth int, g *group) {
	for i := depth + 1; i < len(c.stack); i++ {
		if c.stack[i].under >= 0 {
			c.leave(i, 0)
		}
	}
	c.stack = append(c.stack, frame{g: g, count: 1, under: depth})
}

// path gives the frames of the groups around the segment at hand, as the table has
// them, the innermost first.
func (c *check) path(yield func(*frame) bool) {
	for i := len(c.stack) - 1; i > 0; {
		f := &c.stack[i]
		if !yield(f) {
			return
		}
		if i--; f.under >= 0 {
			i = f.under
		}
	}
}

// plausible reports whether t can be a segment tag.
func plausible(t tag) bool {
	for _, b := range []byte(t.String()) {
		if (b < 'A' || b > 'Z') && (b < '0' || b > '9') {
			return false
		}
	}
	return true
}

// missing reports a mandatory segment of group g, or the trigger of a mandatory
// group in it. Its place is behind the last segment that was read.
func (c *check) missing(g *group, it *item) {
	last := &c.body.Segments[c.at-1]
	syntax := c.m.dir.syntax
	at := edi.Location{Offset: last.End(), Segment: syntax.missing(last.Number), Tag: it.tag.String()}
	if it.group != nil {
		c.findIn(it.group, missingSegment, at, "%s is missing behind %s: %s %s is mandatory", it.tag, last.Tag(), syntax.group(), it.group.name)
		return
	}
	c.findIn(g, missingSegment, at, "%s is missing behind %s", it.tag, last.Tag())
}

// inside names a group in a sentence.
func (c *check) inside(g *group) string {
	if g.name == "" {
		return fmt.Sprintf("in %s %s", c.m.dir.syntax.message(), c.m.name)
	}
	return fmt.Sprintf("in %s %s (%s)", c.m.dir.syntax.group(), g.name, g.items[0].tag)
}

// findIn reports what is wrong with a segment of group g, nil where it has none.
func (c *check) findIn(g *group, f fault, at edi.Location, text string, args ...any) {
	e := edi.Error{Location: at, Text: fmt.Sprintf(text, args...)}
	if g != nil {
		e.Group = g.name
	}
	c.add(f, e)
}

// findElement reports what is wrong with element or component number, of a segment
// of the group at hand; value is what was sent. The component of at is 0 unless the
// element is a composite, or is written as one.
func (c *check) findElement(f fault, at edi.Location, number, value, text string, args ...any) {
	c.add(f, edi.Error{Location: at, Text: fmt.Sprintf(text, args...), Number: number, Value: value,
		Composite: at.Component > 0, Group: c.stack[len(c.stack)-1].g.name})
}

func (c *check) add(f fault, e edi.Error) {
	if len(c.found) >= MaxFindings {
		return
	}
	e.Code, e.Standard, e.Severity = ours[f], c.m.dir.syntax.code(f), c.severity
	c.found = append(c.found, &e)
}
