package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/structure"
)

// inspectedSegment is a segment of a message in the answer of inspect.
type inspectedSegment struct {
	Number   int                 `json:"number"` // in the message, UNH or ST is 1
	Tag      string              `json:"tag"`
	Name     string              `json:"name,omitempty"`
	Offset   int64               `json:"offset"`
	Group    string              `json:"group,omitempty"` // segment group or loop, 25 or N1, within those around it: 2/3
	Values   []inspectedValue    `json:"values"`
	Children []*inspectedSegment `json:"children,omitempty"` // with --tree: what belongs to the group that it opens

	raw    string
	places []string // groups from the outermost
	opens  bool
	level  int // of CPS and HL, how many are above it
}

// maxLevels bounds how deep levels nest: those further down stand beside each
// other.
const maxLevels = 100

// inspectedValue is a value that is not empty.
type inspectedValue struct {
	Element    int    `json:"element"`
	Repetition int    `json:"repetition,omitempty"` // from the second on
	Component  int    `json:"component,omitempty"`  // where the element has several
	Name       string `json:"name,omitempty"`
	Value      string `json:"value"`
	Meaning    string `json:"meaning,omitempty"` // of a code
}

// segmentsOf reads all segments of a message with names; places may be nil.
func segmentsOf(syntax string, b *edi.Body, places []structure.Place) []*inspectedSegment {
	n := namesOf(syntax)
	list := make([]*inspectedSegment, 0, b.Len())
	for i := range b.Segments {
		s := &b.Segments[i]
		out := &inspectedSegment{Number: int(s.Number), Tag: s.Tag(), Offset: s.Offset(), Values: []inspectedValue{}, raw: string(pictures(s.Raw()))}
		if name := n.Segment(out.Tag); name != out.Tag {
			out.Name = name
		}
		if places != nil {
			out.places, out.opens = places[i].Groups, places[i].Opens
			out.Group = strings.Join(out.places, "/")
		}
		for v := range s.Values() {
			if v.Text == "" {
				continue
			}
			w := inspectedValue{Element: v.Element, Name: n.Element(out.Tag, v.Element, v.Component), Value: v.Text,
				Meaning: n.Code(out.Tag, v.Element, v.Component, v.Text)}
			if strings.HasPrefix(w.Name, "element ") {
				w.Name = ""
			}
			if v.Repetition > 1 {
				w.Repetition = v.Repetition
			}
			if v.Component > 1 || s.Components(v.Element) > 1 {
				w.Component = v.Component
			}
			out.Values = append(out.Values, w)
		}
		list = append(list, out)
	}
	return list
}

// treeOf puts segments below the one that opens their group, and levels (CPS 7166,
// HL02) below the level that they name.
func treeOf(list []*inspectedSegment) []*inspectedSegment {
	root := &inspectedSegment{}
	opened := map[string]*inspectedSegment{} // for each group, with those around it, the segment that opened it last
	levels := map[string]*inspectedSegment{}
	for _, s := range list {
		around := len(s.places)
		if s.opens {
			around--
		}
		parent := root
		for ; around > 0 && parent == root; around-- { // a group may lack the segment that opens it
			if above := opened[strings.Join(s.places[:around], "/")]; above != nil {
				parent = above
			}
		}
		if s.opens && (s.Tag == "CPS" || s.Tag == "HL") {
			if above := levels[s.value(2)]; above != nil && s.value(2) != "" && above.level < maxLevels {
				parent, s.level = above, above.level+1
			}
			levels[s.value(1)] = s
		}
		parent.Children = append(parent.Children, s)
		if s.opens {
			for group := range opened { // those in the one before
				if strings.HasPrefix(group, s.Group+"/") {
					delete(opened, group)
				}
			}
			opened[s.Group] = s
		}
	}
	return root.Children
}

// value is the first component of an element.
func (s *inspectedSegment) value(element int) string {
	for _, v := range s.Values {
		if v.Element == element && v.Component <= 1 && v.Repetition <= 1 {
			return v.Value
		}
	}
	return ""
}

// writeSegments is a line for each segment: its number, what it is, its text.
func writeSegments(w io.Writer, list []*inspectedSegment) error {
	for _, s := range list {
		name := s.Name
		if len(s.places) > 0 {
			name = strings.TrimSpace(name + " [" + s.Group + "]")
		}
		if _, err := fmt.Fprintf(w, "  %5d  %-32s %s\n", s.Number, name, printable(s.raw)); err != nil {
			return err
		}
	}
	return nil
}

// maxIndent bounds how far a tree is drawn to the right.
const maxIndent = 24

// writeTree draws segments with those of their groups below them, and a line for
// each value.
func writeTree(w io.Writer, list []*inspectedSegment, depth int) error {
	margin := strings.Repeat("  ", min(depth, maxIndent)+1)
	for _, s := range list {
		group := ""
		if s.opens {
			group = " [" + s.Group + "]"
		}
		if _, err := fmt.Fprintf(w, "%s%d %s\n", margin, s.Number, strings.TrimRight(printable(s.Tag)+" "+s.Name+group, " ")); err != nil {
			return err
		}
		for _, v := range s.Values {
			place := fmt.Sprint(v.Element)
			if v.Repetition > 0 {
				place += fmt.Sprintf("(%d)", v.Repetition)
			}
			if v.Component > 0 {
				place += fmt.Sprintf(".%d", v.Component)
			}
			meaning := ""
			if v.Meaning != "" {
				meaning = " (" + v.Meaning + ")"
			}
			name := v.Name
			if name != "" {
				name += ": "
			}
			if _, err := fmt.Fprintf(w, "%s    %-5s %s%s%s\n", margin, place, name, printable(v.Value), meaning); err != nil {
				return err
			}
		}
		if err := writeTree(w, s.Children, depth+1); err != nil {
			return err
		}
	}
	return nil
}
