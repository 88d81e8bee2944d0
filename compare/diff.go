package compare

import (
	"fmt"
	"hash/maphash"
)

const (
	// maxChanges bounds the changes that a Result lists; the others are counted.
	maxChanges = 10_000
	// maxContent bounds the segments listed of one added or removed line.
	maxContent = 200
)

// Diff compares the original a with b. A nil a is an original whose payload is
// purged, a nil b one that could not be read. It never fails: what cannot be
// compared is said in the Result.
func Diff(a, b *Interchange, names Names) *Result {
	r := &Result{}
	if !r.comparable(a, b) {
		return r
	}
	d := &differ{r: r, names: names, syntax: b.Envelope.Syntax, d: dialectOf(b.Envelope.Syntax)}
	d.o = outliner{d: d.d, seed: maphash.MakeSeed()}
	d.sameWriting = sameWriting(a.Envelope, b.Envelope)
	r.syntax = d.syntax
	r.Identical = a.Envelope.PayloadSHA256 == b.Envelope.PayloadSHA256 && a.Envelope.PayloadSHA256 != [32]byte{}
	r.Formatting = writing(a.Envelope, b.Envelope)
	d.envelope(a, b)

	pairs := pairMessages(a, b)
	related := len(a.Messages) == 0 || len(b.Messages) == 0
	for _, p := range pairs {
		switch {
		case p.b < 0:
			d.lone(Removed, &a.Messages[p.a])
		case p.a < 0:
			d.lone(Added, &b.Messages[p.b])
		default:
			x, y := &a.Messages[p.a], &b.Messages[p.b]
			related = related || x.Type.Type == y.Type.Type && x.Number == y.Number
			if p.moved {
				d.moved(y)
			}
			d.message(x, y)
		}
	}
	if n := max(a.Withheld, b.Withheld); n > 0 {
		r.Partial = fmt.Sprintf("%d of %d messages compared by digest only", n, max(len(a.Messages), len(b.Messages)))
	}
	r.classify(!related || foreign(a.Envelope, b.Envelope))
	r.Headline = r.words(a, b)
	return r
}

// comparable settles what needs no comparison.
func (r *Result) comparable(a, b *Interchange) bool {
	switch {
	case b == nil || b.Fault != "":
		r.Class, r.Severity, r.Fault = Unparseable, Medium, "no payload"
		if b != nil {
			r.Fault = b.Fault
		}
		r.Headline = "cannot be read: " + Clean(r.Fault)
	case a == nil:
		r.Class, r.Severity = OriginalPurged, Medium
		r.Headline = "the original is no longer kept, only its digests"
	case a.Fault != "":
		r.Class, r.Severity, r.Fault = Unparseable, Medium, a.Fault
		r.Headline = "the original cannot be read: " + Clean(a.Fault)
	case a.Envelope == nil || b.Envelope == nil:
		r.Class, r.Severity, r.Fault = Unparseable, Medium, "no envelope"
		r.Headline = "cannot be read: no envelope"
	default:
		return true
	}
	return false
}

// differ walks two interchanges and fills a Result.
type differ struct {
	r      *Result
	d      *dialect
	o      outliner
	names  Names
	syntax string
	listed int // changes kept so far

	sameWriting bool // equal bytes are equal segments

	m       *MessageResult // the message at hand
	t       *tally
	invoice bool
	payee   bool // a payee is named in it
}

// lone is a message that only one side has.
func (d *differ) lone(kind Kind, m *Message) {
	d.start(kind, m)
	d.m.Note = fmt.Sprintf("the whole message was %s", kind)
	if kind == Added {
		d.r.Counts.MessagesAdded++
		d.r.Counts.SegmentsAdded += len(m.Segments)
	} else {
		d.r.Counts.MessagesRemoved++
		d.r.Counts.SegmentsRemoved += len(m.Segments)
	}
	d.r.critical = d.r.critical || d.invoice
	for i := range m.Segments {
		d.row(kind, &m.Segments[i])
	}
	d.m.Headline = string(kind)
	d.r.Messages = append(d.r.Messages, *d.m)
}

// moved notes a message that stands in another order.
func (d *differ) moved(m *Message) {
	d.r.Envelope = append(d.r.Envelope, Change{
		Kind: Moved, Facet: Control, Tag: m.Location.Tag, Name: "order of messages",
		After: m.Reference, AfterSegment: &SegmentText{Location: m.Location},
	})
}

func (d *differ) start(kind Kind, m *Message) {
	d.m = &MessageResult{Kind: kind, Type: m.Type.Type, Reference: m.Reference, Number: m.Number}
	d.t = &tally{counts: map[Facet]int{}}
	d.invoice = invoices[m.Type.Type]
}

// message compares two messages that belong together.
func (d *differ) message(a, b *Message) {
	if a.Same || b.Same || a.Withheld || b.Withheld {
		d.digests(a, b)
		return
	}
	d.start(Changed, b)
	d.m.differsFrom(a)
	d.invoice = d.invoice || invoices[a.Type.Type]
	before := d.r.Counts
	x, y := d.o.outline(a.Segments), d.o.outline(b.Segments)
	d.payee = x.payee || y.payee
	d.t.currencies(d.d, a, b)
	d.nodes(x.head, y.head, place{})
	d.blocks(x.blocks, y.blocks, place{})
	d.nodes(x.tail, y.tail, place{})
	d.finish(before)
}

// differsFrom keeps what names a differently than b.
func (m *MessageResult) differsFrom(a *Message) {
	if a.Type.Type != m.Type {
		m.BeforeType = a.Type.Type
	}
	if a.Reference != m.Reference {
		m.BeforeReference = a.Reference
	}
	if a.Number != m.Number {
		m.BeforeNumber = a.Number
	}
}

// finish files the message as changed, or, where only UNH, UNT, ST and SE
// differ, its changes as the envelope's.
func (d *differ) finish(before Counts) {
	if d.t.content {
		d.m.Headline = d.t.words()
		d.r.Counts.MessagesChanged++
		for f, n := range d.t.counts {
			if d.r.Counts.Facets == nil {
				d.r.Counts.Facets = map[Facet]int{}
			}
			d.r.Counts.Facets[f] += n
		}
		d.r.Messages = append(d.r.Messages, *d.m)
		return
	}
	d.r.Counts.MessagesEqual++
	d.r.Envelope = append(d.r.Envelope, d.m.Changes...)
	n := &d.r.Counts // control segments are the envelope's
	n.SegmentsChanged, n.SegmentsAdded, n.SegmentsRemoved = before.SegmentsChanged, before.SegmentsAdded, before.SegmentsRemoved
}

// digests compares messages of which one side's segments are not at hand.
func (d *differ) digests(a, b *Message) {
	if d.sameWriting && a.SHA256 == b.SHA256 && a.SHA256 != [32]byte{} {
		d.r.Counts.MessagesEqual++
		d.r.Counts.SegmentsEqual += max(len(a.Segments), len(b.Segments))
		return
	}
	d.start(Changed, b)
	d.m.differsFrom(a)
	d.m.Note = "compared by digest only"
	d.m.Headline = "other content, compared by digest only"
	d.invoice = d.invoice || invoices[a.Type.Type]
	d.r.critical = d.r.critical || d.invoice // nothing speaks against it
	d.r.Counts.MessagesChanged++
	d.r.Messages = append(d.r.Messages, *d.m)
}

// list keeps a change, up to the bound.
func (d *differ) list(c Change) {
	if d.listed >= maxChanges {
		d.r.Counts.ChangesLeftOut++
		return
	}
	d.listed++
	d.m.Changes = append(d.m.Changes, c)
}

func (d *differ) row(kind Kind, s *Segment) {
	if kind == Removed {
		d.m.Rows = append(d.m.Rows, Row{Kind: kind, A: s})
	} else {
		d.m.Rows = append(d.m.Rows, Row{Kind: kind, B: s})
	}
}
