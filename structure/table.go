package structure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// directory is one directory ready for use: EDIFACT D.96A, X12 004010.
type directory struct {
	name     string
	syntax   syntax
	messages map[string]*message
}

// message is what may stand between UNH and UNT, or ST and SE.
type message struct {
	name string
	dir  *directory
	root group
	tags map[tag]bool // all that stand in it
}

// group is a segment group or loop; the whole message is one without a trigger.
type group struct {
	name  string // 25, N1; "" for the message
	items []item // in a group the first is the trigger
	tags  []tag  // of the items
	musts []int  // how many of the items before each are mandatory; one more at the end
}

// of makes a group of its items.
func (g *group) of(items []item) {
	g.items, g.tags, g.musts = items, make([]tag, len(items)), make([]int, len(items)+1)
	for i := range items {
		g.tags[i], g.musts[i+1] = items[i].tag, g.musts[i]
		if items[i].mandatory {
			g.musts[i+1]++
		}
	}
}

// item is a place in a group: a segment or a group in it.
type item struct {
	tag       tag // of the segment, or of the group's trigger
	mandatory bool
	max       int32 // unbounded: math.MaxInt32
	group     *group
	segment   *segment // its elements, nil where the table does not describe them
}

// segment is what its elements are.
type segment struct {
	tag        string
	elements   []element
	conditions []condition
	pairs      uint64      // bits of the first of two neighbours of which a condition says P
	others     []condition // the rest of them
	required   int         // elements up to the last mandatory one
	slots      []slot
	first      []int // for each element its first slot; one more at the end
}

// slot is a component as plain looks at it.
type slot struct {
	kind     kind
	any      bool   // its length is all there is to judge
	least    uint32 // bytes of a value of single bytes,
	most     uint32 // 0 where plain cannot judge it
	min, max uint32 // characters; of numbers, digits
}

// flatten lays out the slots and the conditions for plain.
func (s *segment) flatten() {
	for _, c := range s.conditions {
		if c.kind == 'P' && len(c.elements) == 2 && c.elements[1] == c.elements[0]+1 {
			s.pairs |= 1 << c.elements[0]
		} else {
			s.others = append(s.others, c)
		}
	}
	for _, e := range s.elements {
		s.first = append(s.first, len(s.slots))
		for _, c := range e.components {
			v := slot{kind: c.kind, least: uint32(c.min), most: uint32(c.max), min: uint32(c.min), max: uint32(c.max)}
			switch {
			case c.codes != nil || c.kind == letters:
				v.most = 0
			case c.kind >= number && c.kind != code: // marks and signs count for nothing
				v.most = math.MaxUint32
			}
			v.any = c.kind == text && c.min <= 1 && v.most > 0
			s.slots = append(s.slots, v)
		}
	}
	s.first = append(s.first, len(s.slots))
}

// element is a simple element, or a composite.
type element struct {
	id         string // 1004, C002
	mandatory  bool
	max        int // repetitions
	composite  bool
	components []component // of a simple element one
	must       uint64      // bits of its mandatory components, from 1<<0
}

// component is a value.
type component struct {
	id       string
	kind     kind
	min, max int             // characters; of numbers, digits
	codes    map[string]bool // nil: any
}

// tag is a segment's tag as a number; 0 is none.
type tag uint32

func tagOf(b []byte) tag {
	switch len(b) {
	case 3:
		return tag(b[0])<<16 | tag(b[1])<<8 | tag(b[2])
	case 2:
		return tag(b[0])<<16 | tag(b[1])<<8
	}
	return 0
}

func (t tag) String() string {
	return strings.TrimRight(string([]byte{byte(t >> 16), byte(t >> 8), byte(t)}), "\x00")
}

// maxComponents is how many a composite may have: bits of a mask.
const maxComponents = 64

// compiler makes a directory of definitions from one or more files, of which
// later ones win.
type compiler struct {
	sources  []source // first the one that wins
	syntax   syntax
	segments map[string]*segment
}

type source struct {
	file string
	*definitions
}

// find looks a definition up in the sources.
func (c *compiler) find(of func(*definitions) map[string]*definition, name string) (*definition, *source) {
	for i := range c.sources {
		if d := of(c.sources[i].definitions)[name]; d != nil {
			return d, &c.sources[i]
		}
	}
	return nil, nil
}

func (c *compiler) fault(s *source, line int, text string, args ...any) error {
	return &FormatError{File: s.file, Line: line, Text: fmt.Sprintf(text, args...)}
}

// compile makes the directory called name.
func compile(name string, syntaxName string, sources []source) (*directory, error) {
	c := &compiler{sources: sources, syntax: syntaxOf(syntaxName), segments: map[string]*segment{}}
	d := &directory{name: name, syntax: c.syntax, messages: map[string]*message{}}
	for i := range sources {
		s := &sources[i]
		for tag := range s.segments { // those that no message uses must be right as well
			if _, err := c.segment(tag); err != nil {
				return nil, err
			}
		}
		for name, def := range s.messages {
			if d.messages[name] != nil {
				continue
			}
			m := &message{name: name, dir: d, tags: map[tag]bool{}}
			items, err := c.items(m, s, def.items)
			if err != nil {
				return nil, err
			}
			m.root.of(items)
			d.messages[name] = m
		}
	}
	return d, nil
}

func (c *compiler) items(m *message, s *source, rows []definedRow) ([]item, error) {
	list := make([]item, 0, len(rows))
	for _, r := range rows {
		it := item{mandatory: r.mandatory, max: unbounded}
		if r.max > 0 {
			it.max = int32(r.max)
		}
		if r.tag != "" {
			it.tag = tagOf([]byte(r.tag))
			m.tags[it.tag] = true
			var err error
			if it.segment, err = c.segment(r.tag); err != nil {
				return nil, err
			}
		} else {
			inner, err := c.items(m, s, r.items)
			if err != nil {
				return nil, err
			}
			it.tag, it.group = inner[0].tag, &group{name: r.group}
			it.group.of(inner)
		}
		list = append(list, it)
	}
	return list, nil
}

// segment compiles one segment, once; nil if no source describes it.
func (c *compiler) segment(tag string) (*segment, error) {
	if s, done := c.segments[tag]; done {
		return s, nil
	}
	def, src := c.find(func(d *definitions) map[string]*definition { return d.segments }, tag)
	if def == nil {
		c.segments[tag] = nil
		return nil, nil
	}
	s := &segment{tag: tag}
	for i, w := range def.words {
		if w == ":" {
			for _, note := range def.words[i+1:] {
				n, err := parseCondition(note, len(s.elements))
				if err != nil {
					return nil, c.fault(src, def.line, "%v", err)
				}
				s.conditions = append(s.conditions, n)
			}
			break
		}
		e, err := c.element(src, def.line, w)
		if err != nil {
			return nil, err
		}
		s.elements = append(s.elements, e)
		if e.mandatory {
			s.required = len(s.elements)
		}
	}
	s.flatten()
	c.segments[tag] = s
	return s, nil
}

// reference reads "C002!*5": what, mandatory, repetitions.
func (c *compiler) reference(src *source, line int, word string) (id string, mandatory bool, max int, err error) {
	max = 1
	id, times, repeats := strings.Cut(word, "*")
	if repeats {
		if max, err = strconv.Atoi(times); err != nil || max < 1 {
			return "", false, 0, c.fault(src, line, "%q: behind * stands how often it may be repeated", word)
		}
	}
	id, mandatory = strings.CutSuffix(id, "!")
	return id, mandatory, max, nil
}

// element resolves a word of a segment.
func (c *compiler) element(src *source, line int, word string) (e element, err error) {
	if e.id, e.mandatory, e.max, err = c.reference(src, line, word); err != nil {
		return e, err
	}
	def, at := c.find(func(d *definitions) map[string]*definition { return d.composites }, e.id)
	if def == nil {
		one, err := c.component(src, line, e.id)
		if err != nil {
			return e, err
		}
		e.components, e.must = []component{one}, 1
		return e, nil
	}
	e.composite = true
	for _, w := range def.words {
		id, mandatory, _, err := c.reference(at, def.line, w)
		if err != nil {
			return e, err
		}
		one, err := c.component(at, def.line, id)
		if err != nil {
			return e, err
		}
		if len(e.components) == maxComponents {
			return e, c.fault(at, def.line, "composite %s has more than %d components", e.id, maxComponents)
		}
		if mandatory {
			e.must |= 1 << len(e.components)
		}
		e.components = append(e.components, one)
	}
	if len(e.components) == 0 {
		return e, c.fault(at, def.line, "composite %s has no components", e.id)
	}
	return e, nil
}

// component resolves a simple element.
func (c *compiler) component(src *source, line int, id string) (component, error) {
	def, at := c.find(func(d *definitions) map[string]*definition { return d.elements }, id)
	if def == nil {
		return component{}, c.fault(src, line, "element %s is not described: there is no line \"element %s …\"", id, id)
	}
	v := component{id: id}
	if err := c.syntax.format(&v, def.words); err != nil {
		return v, c.fault(at, def.line, "%v", err)
	}
	if codes, _ := c.find(func(d *definitions) map[string]*definition { return d.codes }, id); codes != nil {
		v.codes = make(map[string]bool, len(codes.words))
		for _, w := range codes.words {
			v.codes[w] = true
		}
	}
	return v, nil
}
