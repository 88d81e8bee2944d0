package edi

import (
	"fmt"
	"strconv"
	"strings"
)

// Subject says in a few words what a judgement is about: "group 7 (IN)", "message
// 0001 (810 004010) in group 7", "document IV 4711".
func (j *Judgement) Subject() string {
	var b strings.Builder
	b.WriteString(j.Level.String())
	switch j.Level {
	case LevelInterchange:
		words(&b, j.Interchange.ControlReference)
	case LevelGroup:
		words(&b, j.Group.Reference)
		bracketed(&b, j.Group.FunctionalID, j.Group.Version)
	case LevelMessage:
		words(&b, j.Reference)
		if t := j.Type; t != nil {
			bracketed(&b, t.Type, t.Version, t.Release, t.AssociationCode)
		}
		if j.Group != nil && j.Group.Reference != "" {
			words(&b, "in group", j.Group.Reference)
		}
	}
	for i, d := range j.Documents {
		if i > 0 || j.Level != LevelDocument {
			b.WriteByte(',')
		}
		words(&b, d.String())
	}
	return b.String()
}

// String gives "IV 4711", with its line, version and date where they are told.
func (r AnsweredReference) String() string {
	var b strings.Builder
	words(&b, r.Qualifier, r.Number)
	if r.Line != "" {
		words(&b, "line", r.Line)
	}
	if r.Version != "" {
		words(&b, "version", r.Version)
	}
	if r.Date != "" {
		words(&b, "of", r.Date)
	}
	return strings.TrimPrefix(b.String(), " ")
}

// Where says in words where in what we sent something is wrong: "segment 4 MOA,
// element 2, component 1, in loop IT1". Empty where that is not told.
func (o *Objection) Where() string {
	var parts []string
	p := o.Place
	switch {
	case p.Segment > 0 && p.Tag != "":
		parts = append(parts, "segment "+strconv.Itoa(p.Segment)+" "+p.Tag)
	case p.Segment > 0:
		parts = append(parts, "segment "+strconv.Itoa(p.Segment))
	case p.Tag != "":
		parts = append(parts, p.Tag)
	}
	for _, n := range [...]struct {
		name string
		n    int
	}{{"element", p.Element}, {"component", p.Component}, {"repetition", p.Repetition}} {
		if n.n > 0 {
			parts = append(parts, n.name+" "+strconv.Itoa(n.n))
		}
	}
	if o.Element != "" {
		parts = append(parts, "data element "+o.Element)
	}
	if o.Loop != "" {
		parts = append(parts, "in loop "+o.Loop)
	}
	for _, r := range o.About {
		parts = append(parts, r.String())
	}
	for _, c := range o.Context {
		parts = append(parts, "context "+c)
	}
	return strings.Join(parts, ", ")
}

// String gives the code with its list, the place, the value and the words sent.
func (o *Objection) String() string {
	var b strings.Builder
	b.WriteString(o.List)
	words(&b, o.Code)
	bracketed(&b, o.Agency)
	if where := o.Where(); where != "" {
		words(&b, "at", where)
	}
	if o.Value != "" {
		fmt.Fprintf(&b, ", which was %q", o.Value)
	}
	if o.NewValue != "" {
		fmt.Fprintf(&b, ", read as %q", o.NewValue)
	}
	if o.Text != "" {
		words(&b, "— "+o.Text)
	}
	return b.String()
}

// words appends what is not empty, a blank before each.
func words(b *strings.Builder, list ...string) {
	for _, w := range list {
		if w != "" {
			b.WriteByte(' ')
			b.WriteString(w)
		}
	}
}

// bracketed appends what is not empty in round brackets.
func bracketed(b *strings.Builder, list ...string) {
	var in strings.Builder
	if words(&in, list...); in.Len() > 0 {
		b.WriteString(" (" + in.String()[1:] + ")")
	}
}
