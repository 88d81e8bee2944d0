package edi

import "iter"

// Segment is one segment of a Body. Elements and components count from 1, the
// tag not counted; element 0 is the tag itself. What is not there is "", and the
// zero Segment has nothing.
type Segment struct {
	text     *text
	from, to uint32 // in text.raw, the terminator not included
	first    uint32 // its first mark in text.marks
	marks    uint32 // and how many it has
	Number   int32  // in a message UNH or ST is 1; outside one, the number in the interchange
	released bool   // a release character stands in it
	open     bool   // the text ended before its terminator
	user     bool   // its tag needs no look: see userTag and shortTag
}

// text is what the segments of one window share.
type text struct {
	raw     []byte
	base    int64 // of raw[0] in the payload, or in what breaks says was left of it
	breaks  *Breaks
	marks   []uint32 // offset<<markShift | kind, in order, released delimiters left out
	release byte
	decode  func([]byte) string
}

// at is where raw[off] stands in the payload.
func (t *text) at(off uint32) int64 {
	if t.breaks != nil {
		return t.breaks.Origin(t.base + int64(off))
	}
	return t.base + int64(off)
}

// The kinds of delimiter, in the order of what they end: a value that stands
// empty before a lower kind is a trailing empty one.
const (
	kindTerminator = iota
	kindElement
	kindRepetition
	kindComponent
	kindRelease

	markShift = 3
	markKind  = 1<<markShift - 1
)

// Tag is the segment's name: LIN, N1. It allocates only for tags nobody knows.
func (s Segment) Tag() string {
	b := s.RawTag()
	if t, ok := knownTags[string(b)]; ok {
		return t
	}
	return string(b)
}

// shortTag is the tag, cut where it can be none.
func (s Segment) shortTag() string {
	if b := s.RawTag(); len(b) > 16 {
		return string(b[:16])
	}
	return s.Tag()
}

// Is reports whether the segment's tag is tag.
func (s Segment) Is(tag string) bool { return string(s.RawTag()) == tag }

// RawTag is the tag as sent: a view, not to be kept or changed.
func (s Segment) RawTag() []byte {
	if s.text == nil {
		return nil
	}
	to := s.to
	if s.marks > 0 {
		to = s.text.marks[s.first] >> markShift
	}
	return s.text.raw[s.from:to:to]
}

// Raw is the segment as sent, without its terminator: a view, not to be kept or
// changed.
func (s Segment) Raw() []byte {
	if s.text == nil {
		return nil
	}
	return s.text.raw[s.from:s.to:s.to]
}

// Terminated is false for a last segment whose terminator is missing.
func (s Segment) Terminated() bool { return !s.open }

// Released reports whether a release character stands in the segment.
func (s Segment) Released() bool { return s.released }

// Offset is where the segment starts in the payload.
func (s Segment) Offset() int64 {
	if s.text == nil {
		return 0
	}
	return s.text.at(s.from)
}

// End is the payload offset behind the segment and its terminator.
func (s Segment) End() int64 {
	switch {
	case s.text == nil:
		return 0
	case !s.open:
		return s.text.at(s.to) + 1
	case s.to > s.from:
		return s.text.at(s.to-1) + 1
	}
	return s.Offset()
}

// Elements is how many elements were sent, empty ones counted.
func (s Segment) Elements() int {
	n := 0
	for _, m := range s.delimiters() {
		if m&markKind == kindElement {
			n++
		}
	}
	return n
}

// Repetitions is how often element e was sent: 0 if it is not there, 1 if it is
// there and may be empty.
func (s Segment) Repetitions(e int) int { return s.count(e, 0, kindRepetition) }

// Components is how many components the first repetition of element e has: 0 if
// the element is not there.
func (s Segment) Components(e int) int { return s.count(e, 1, kindComponent) }

// count counts what kind separates in element e, in repetition r of it (0: all).
func (s Segment) count(e, r, kind int) int {
	n, el, rep := 0, 0, 1
	if e == 0 {
		n = 1
	}
	for _, m := range s.delimiters() {
		switch m & markKind {
		case kindElement:
			if el++; el > e {
				return n
			}
			if rep = 1; el == e {
				n = 1
			}
			continue
		case kindRepetition:
			rep++
		}
		if el == e && int(m&markKind) == kind && (r == 0 || r == rep) {
			n++
		}
	}
	return n
}

// Get gives component c of element e in its first repetition, released and
// decoded to UTF-8. Blanks stay as sent.
func (s Segment) Get(e, c int) string { return s.GetRep(e, 1, c) }

// GetRep gives component c of repetition r of element e.
func (s Segment) GetRep(e, r, c int) string {
	from, to, ok := s.find(e, r, c)
	if !ok || from == to {
		return ""
	}
	return s.value(from, to)
}

// RawValue gives the value as sent, releases and charset unresolved: a view.
func (s Segment) RawValue(e, r, c int) []byte {
	from, to, ok := s.find(e, r, c)
	if !ok || from == to {
		return nil
	}
	return s.text.raw[from:to:to]
}

// RawElement gives element e as sent, with all its components and repetitions: a
// view.
func (s Segment) RawElement(e int) []byte {
	el, from := 0, s.from
	for _, m := range s.delimiters() {
		if m&markKind != kindElement {
			continue
		}
		if el == e {
			return s.text.raw[from : m>>markShift]
		}
		el, from = el+1, m>>markShift+1
	}
	if el != e || s.text == nil {
		return nil
	}
	return s.text.raw[from:s.to]
}

// Location is the place of component c of element e; 0, 0 is the segment. What
// is missing is placed where the segment, or the element, starts.
func (s Segment) Location(e, c int) Location { return s.LocationRep(e, 0, c) }

// LocationRep is the place of component c of repetition r of element e; 0 where
// it is not meant.
func (s Segment) LocationRep(e, r, c int) Location {
	at := s.Offset()
	if e > 0 {
		if from, _, ok := s.find(e, max(r, 1), max(c, 1)); ok {
			at = s.text.at(from)
		} else if from, _, ok := s.find(e, 1, 1); ok {
			at = s.text.at(from)
		}
	}
	return Location{Offset: at, Segment: int(s.Number), Tag: s.shortTag(), Element: e, Component: c, Repetition: r}
}

// Value is one component of a segment with its place.
type Value struct {
	Element, Repetition, Component int
	Text                           string
}

// Values walks all values in the order sent, the tag left out, in time that
// grows with the segment: use it to read whole segments instead of Get in loops.
func (s Segment) Values() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		d := s.delimiters()
		v := Value{Repetition: 1, Component: 1}
		for i, m := range d {
			switch m & markKind {
			case kindElement:
				v.Element, v.Repetition, v.Component = v.Element+1, 1, 1
			case kindRepetition:
				v.Repetition, v.Component = v.Repetition+1, 1
			case kindComponent:
				v.Component++
			}
			to := s.to
			if i+1 < len(d) {
				to = d[i+1] >> markShift
			}
			if v.Text = ""; m>>markShift+1 < to {
				v.Text = s.value(m>>markShift+1, to)
			}
			if !yield(v) {
				return
			}
		}
	}
}

func (s Segment) delimiters() []uint32 {
	if s.text == nil {
		return nil
	}
	return s.text.marks[s.first : s.first+s.marks]
}

// find gives the bounds of a value in the window.
func (s Segment) find(e, r, c int) (from, to uint32, ok bool) {
	el, rep, comp := 0, 1, 1
	from = s.from
	d := s.delimiters()
	for i := 0; ; i++ {
		if el == e && rep == r && comp == c {
			if to = s.to; i < len(d) {
				to = d[i] >> markShift
			}
			return from, to, true
		}
		if i == len(d) || el > e {
			return 0, 0, false
		}
		from = d[i]>>markShift + 1
		switch d[i] & markKind {
		case kindElement:
			el, rep, comp = el+1, 1, 1
		case kindRepetition:
			rep, comp = rep+1, 1
		case kindComponent:
			comp++
		}
	}
}

// value copies, releases and decodes a piece of the window.
func (s Segment) value(from, to uint32) string {
	b := s.text.raw[from:to]
	if s.released {
		var short [64]byte
		b = s.text.unrelease(short[:0], b)
	}
	if s.text.decode == nil {
		return string(b)
	}
	return s.text.decode(b)
}

// unrelease appends b without its release characters to dst.
func (t *text) unrelease(dst, b []byte) []byte {
	for i := 0; i < len(b); i++ {
		if b[i] == t.release && i+1 < len(b) {
			i++
		}
		dst = append(dst, b[i])
	}
	return dst
}

// LocationIn is the place of byte k of Raw.
func (s Segment) LocationIn(k int) Location { return s.LocationAt(s.text.at(s.from + uint32(k))) }

// LocationAt is the place of payload offset off, which lies in the segment.
func (s Segment) LocationAt(off int64) Location {
	l := Location{Offset: off, Segment: int(s.Number), Tag: s.shortTag()}
	for _, m := range s.delimiters() {
		if s.text.at(m>>markShift) >= off {
			break
		}
		switch m & markKind {
		case kindElement:
			l.Element, l.Repetition, l.Component = l.Element+1, 1, 1
		case kindRepetition:
			l.Repetition, l.Component = l.Repetition+1, 1
		case kindComponent:
			l.Component++
		}
	}
	return l
}
