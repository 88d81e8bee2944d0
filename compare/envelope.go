package compare

import (
	"fmt"

	"github.com/edigw/edigw/edi"
)

// sameWriting reports whether equal bytes mean equal segments on both sides.
func sameWriting(a, b *edi.Interchange) bool {
	x, y := a.Delimiters, b.Delimiters
	x.Explicit, y.Explicit = false, false
	return a.Syntax == b.Syntax && x == y && a.SyntaxID == b.SyntaxID && a.Encoding == b.Encoding
}

// foreign reports whether b is between other parties, or in another syntax. The
// qualifiers do not count: the same party may be named under a new one.
func foreign(a, b *edi.Interchange) bool {
	return a.Syntax != b.Syntax || trimBlanks(a.Sender.ID) != trimBlanks(b.Sender.ID) ||
		trimBlanks(a.Recipient.ID) != trimBlanks(b.Recipient.ID)
}

// writing says how the two are written differently.
func writing(a, b *edi.Interchange) []string {
	var notes []string
	note := func(what, x, y string) {
		if x != y {
			notes = append(notes, fmt.Sprintf("%s %s → %s", what, quoteNone(x), quoteNone(y)))
		}
	}
	x, y := a.Delimiters, b.Delimiters
	note("character set", a.SyntaxID, b.SyntaxID)
	note("encoding", a.Encoding, b.Encoding)
	note("syntax version", a.SyntaxVersion, b.SyntaxVersion)
	note("segment terminator", delimiter(x.Terminator), delimiter(y.Terminator))
	note("element separator", delimiter(x.Element), delimiter(y.Element))
	note("component separator", delimiter(x.Component), delimiter(y.Component))
	note("repetition separator", delimiter(x.Repetition), delimiter(y.Repetition))
	note("release character", delimiter(x.Release), delimiter(y.Release))
	note("decimal mark", delimiter(x.Decimal), delimiter(y.Decimal))
	switch {
	case y.Explicit && !x.Explicit:
		notes = append(notes, "UNA added")
	case x.Explicit && !y.Explicit:
		notes = append(notes, "UNA left out")
	}
	return notes
}

func quoteNone(s string) string {
	if s == "" {
		return "none"
	}
	return Clean(s)
}

func delimiter(c byte) string {
	switch {
	case c == 0:
		return ""
	case c <= ' ' || c >= 0x7F:
		return fmt.Sprintf("0x%02X", c)
	}
	return string(rune(c))
}

// envelope compares UNB or ISA, and the group headers.
func (d *differ) envelope(a, b *Interchange) {
	d.m, d.t = &MessageResult{}, &tally{counts: map[Facet]int{}}
	x, y := a.header, b.header
	if x == nil || y == nil || x.Tag != y.Tag {
		x, y = headerOf(a.Envelope), headerOf(b.Envelope)
	}
	d.segment(x, y, place{})
	g, h := a.Envelope.Groups, b.Envelope.Groups
	for i := range max(len(g), len(h)) {
		switch {
		case i >= len(h):
			s := groupHeader(d.d, &g[i])
			d.whole(Removed, &node{seg: s, key: s.Tag}, place{})
		case i >= len(g):
			s := groupHeader(d.d, &h[i])
			d.whole(Added, &node{seg: s, key: s.Tag}, place{})
		default:
			d.segment(groupHeader(d.d, &g[i]), groupHeader(d.d, &h[i]), place{})
		}
	}
	d.r.Envelope = d.m.Changes
	d.r.Counts = Counts{ChangesLeftOut: d.r.Counts.ChangesLeftOut} // of documents only
	for i := range d.r.Envelope {
		if c := &d.r.Envelope[i]; c.ElementName == "" {
			c.ElementName = headerNames[headerPlace{c.Tag, c.Element, c.Component}]
		}
	}
}

// writes tells elements of the envelope that say how the rest is written: UNB
// S001; ISA11, ISA12 and ISA16. They are formatting, see writing.
func writes(tag string, element uint16) bool {
	switch tag {
	case "UNB":
		return element == 1
	case "ISA":
		return element == 11 || element == 12 || element == 16
	}
	return false
}

// headerOf writes the envelope as the segment it came from.
func headerOf(ic *edi.Interchange) *Segment {
	test, ack := "", ""
	if ic.Test {
		test = "1"
	}
	if ic.AckRequested {
		ack = "1"
	}
	if ic.Syntax == "x12" {
		usage := "P"
		if ic.Test {
			usage = "T"
		}
		return header("ISA", ic.Offset, "5", ic.Sender.Qualifier, "6", ic.Sender.ID, "7", ic.Recipient.Qualifier, "8", ic.Recipient.ID,
			"9", ic.Date, "10", ic.Time, "13", ic.ControlReference, "14", ack, "15", usage)
	}
	return header("UNB", ic.Offset, "2", ic.Sender.ID, "2.2", ic.Sender.Qualifier, "3", ic.Recipient.ID, "3.2", ic.Recipient.Qualifier,
		"4", ic.Date, "4.2", ic.Time, "5", ic.ControlReference, "7", ic.ApplicationReference, "9", ack, "10", ic.Agreement, "11", test)
}

// groupHeader writes a group as UNG or GS.
func groupHeader(d *dialect, g *edi.Group) *Segment {
	if d.x12 {
		return header("GS", g.Offset, "1", g.FunctionalID, "2", g.Sender.ID, "3", g.Recipient.ID, "4", g.Date, "5", g.Time,
			"6", g.Reference, "7", g.Agency, "8", g.Version)
	}
	return header("UNG", g.Offset, "1", g.FunctionalID, "2", g.Sender.ID, "2.2", g.Sender.Qualifier, "3", g.Recipient.ID,
		"3.2", g.Recipient.Qualifier, "4", g.Date, "4.2", g.Time, "5", g.Reference, "6", g.Agency, "7", g.Version)
}

// header makes a segment of places ("4.2") and values, in order.
func header(tag string, offset int64, placed ...string) *Segment {
	s := &Segment{Tag: tag, Location: edi.Location{Offset: offset, Segment: 1, Tag: tag}}
	for i := 0; i < len(placed); i += 2 {
		v := Value{Repetition: 1, Component: 1, Text: trimBlanks(placed[i+1])}
		for j, c := range placed[i] {
			switch {
			case c == '.':
				v.Component = uint16(placed[i][j+1] - '0')
			case v.Component == 1:
				v.Element = v.Element*10 + uint16(c-'0')
			}
		}
		if v.Text != "" {
			s.Values = append(s.Values, v)
		}
	}
	return s
}

type headerPlace struct {
	tag                string
	element, component int
}

// headerNames name what a difference of envelopes is about when Names do not.
var headerNames = map[headerPlace]string{
	{"UNB", 2, 1}: "sender", {"UNB", 2, 2}: "sender qualifier", {"UNB", 3, 1}: "recipient", {"UNB", 3, 2}: "recipient qualifier",
	{"UNB", 4, 1}: "preparation date", {"UNB", 4, 2}: "preparation time", {"UNB", 5, 1}: "control reference",
	{"UNB", 6, 1}: "recipient password", {"UNB", 7, 1}: "application reference", {"UNB", 8, 1}: "priority",
	{"UNB", 9, 1}: "acknowledgement request", {"UNB", 10, 1}: "agreement", {"UNB", 11, 1}: "test indicator",
	{"UNG", 4, 1}: "group date", {"UNG", 4, 2}: "group time", {"UNG", 5, 1}: "group reference",
	{"UNH", 1, 1}: "message reference", {"UNH", 3, 1}: "common access reference",
	{"UNT", 1, 1}: "segment count", {"UNT", 2, 1}: "message reference",
	{"ISA", 2, 1}: "authorization", {"ISA", 4, 1}: "security", {"ISA", 5, 1}: "sender qualifier", {"ISA", 6, 1}: "sender",
	{"ISA", 7, 1}: "recipient qualifier", {"ISA", 8, 1}: "recipient", {"ISA", 9, 1}: "interchange date",
	{"ISA", 10, 1}: "interchange time", {"ISA", 13, 1}: "control number", {"ISA", 14, 1}: "acknowledgement request",
	{"ISA", 15, 1}: "usage indicator",
	{"GS", 4, 1}:   "group date", {"GS", 5, 1}: "group time", {"GS", 6, 1}: "group control number",
	{"ST", 2, 1}: "control number", {"SE", 1, 1}: "segment count", {"SE", 2, 1}: "control number",
}
