package edi

// Pieces walks what a segment holds as it was sent, value by value and empty
// ones too, without a copy:
//
//	for p := s.Pieces(); p.Next(); {
//		use(p.Element, p.Raw())
//	}
//
// The tag is left out. It is for what looks at every value, such as validation.
type Pieces struct {
	Element, Repetition, Component int // of the value at hand, from 1

	s        *Segment
	marks    []uint32
	next     int
	from, to uint32
}

// Pieces starts a walk. What stands with the tag, before the first element, is no
// value.
func (s *Segment) Pieces() Pieces {
	p := Pieces{s: s, marks: s.delimiters()}
	for p.next < len(p.marks) && p.marks[p.next]&markKind != kindElement {
		p.next++
	}
	return p
}

// Next goes to the next value and reports whether there is one.
func (p *Pieces) Next() bool {
	if p.next == len(p.marks) {
		return false
	}
	m := p.marks[p.next]
	switch m & markKind {
	case kindElement:
		p.Element, p.Repetition, p.Component = p.Element+1, 1, 1
	case kindRepetition:
		p.Repetition, p.Component = p.Repetition+1, 1
	case kindComponent:
		p.Component++
	}
	p.from, p.to = m>>markShift+1, p.s.to
	if p.next++; p.next < len(p.marks) {
		p.to = p.marks[p.next] >> markShift
	}
	return true
}

// Raw is the value as sent, releases and charset unresolved: a view, not to be
// kept or changed.
func (p *Pieces) Raw() []byte { return p.s.text.raw[p.from:p.to:p.to] }

// Text is the value released and decoded, as Segment.Get gives it.
func (p *Pieces) Text() string {
	if p.from >= p.to {
		return ""
	}
	return p.s.value(p.from, p.to)
}

// Location is the place of the value.
func (p *Pieces) Location() Location {
	return Location{Offset: p.s.text.at(p.from), Segment: int(p.s.Number), Tag: p.s.shortTag(),
		Element: p.Element, Component: p.Component, Repetition: p.Repetition}
}

// The kinds of delimiter in what Marks gives.
const (
	MarkElement    = kindElement
	MarkRepetition = kindRepetition
	MarkComponent  = kindComponent
	MarkShift      = markShift
	MarkKind       = markKind
)

// Marks is what Pieces walks, for loops that cannot afford the calls: window is
// the bytes that the segment stands in, and each mark is the offset in it of a
// delimiter, shifted left by MarkShift, with its kind. The value behind a mark
// ends at the next one, the last one at end. All is a view.
func (s *Segment) Marks() (window []byte, marks []uint32, end uint32) {
	if s.text == nil {
		return nil, nil, 0
	}
	return s.text.raw, s.text.marks[s.first : s.first+s.marks], s.to
}
