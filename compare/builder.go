package compare

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/edigw/edigw/edi"
)

// Limits bound what a Builder keeps of one interchange. Messages beyond them
// are compared by digest only. Zero means the default.
type Limits struct {
	Segments int // default 200,000
	Bytes    int // of values, and a guess for what holds them; default 64 MiB
}

const (
	defaultSegments = 200_000
	defaultBytes    = 64 << 20

	segmentCost = 120 // bytes that a Segment and its slices take
	valueCost   = 24

	headerWindow = 4096 // a UNB or ISA is shorter
)

// Builder turns one scanned interchange into a side of a comparison. Give
// Visit to the syntax's Scan, then ask for the Interchange:
//
//	b := compare.Builder{Envelope: ic, Payload: p, Other: other}
//	err := reader.Scan(p, ic, b.Visit)
//	side := b.Interchange()
type Builder struct {
	Envelope *edi.Interchange
	Payload  *edi.Payload     // for the header as sent; nil: what Envelope says of it
	Other    *edi.Interchange // the other side, if it was scanned already: of messages with the same bytes nothing is kept
	Limits   Limits

	messages []Message
	same     map[[32]byte]bool
	segments int
	bytes    int
	full     bool
}

// Visit keeps message i. It returns no error ever; the result is what Scan asks
// its visitor for.
func (b *Builder) Visit(i int, body *edi.Body) error {
	if b.messages == nil && b.Other != nil && sameWriting(b.Envelope, b.Other) {
		b.same = make(map[[32]byte]bool, len(b.Other.Messages))
		for j := range b.Other.Messages {
			b.same[b.Other.Messages[j].SHA256] = true
		}
	}
	for len(b.messages) <= i {
		b.messages = append(b.messages, Message{Withheld: true})
	}
	m := Message{}
	if i < len(b.Envelope.Messages) {
		m.SHA256 = b.Envelope.Messages[i].SHA256
	}
	d := dialectOf(b.Envelope.Syntax)
	if len(body.Segments) > 0 {
		m.Location = body.Segments[0].Location(0, 0)
	}
	m.Number = documentNumber(d, body)
	switch {
	case m.SHA256 != [32]byte{} && b.same[m.SHA256]:
		m.Same = true
	case b.full || !b.keep(&m, body):
		b.full, m.Withheld, m.Segments = true, true, nil
	}
	b.messages[i] = m
	return nil
}

// documentNumber looks at the first segments only: it stands in the second.
func documentNumber(d *dialect, body *edi.Body) string {
	for _, s := range body.Segments[:min(len(body.Segments), 8)] {
		if e, ok := d.number[s.Tag()]; ok {
			return trimBlanks(s.Get(e, 1))
		}
	}
	return ""
}

// keep copies the segments of body, and says false when that breaks a limit.
func (b *Builder) keep(m *Message, body *edi.Body) bool {
	limit := b.Limits
	if limit.Segments == 0 {
		limit.Segments = defaultSegments
	}
	if limit.Bytes == 0 {
		limit.Bytes = defaultBytes
	}
	if b.segments += len(body.Segments); b.segments > limit.Segments {
		return false
	}
	m.Segments = make([]Segment, 0, len(body.Segments))
	for i := range body.Segments {
		s, cost, ok := flatten(body.Segments[i])
		if b.bytes += cost; !ok || b.bytes > limit.Bytes {
			return false
		}
		m.Segments = append(m.Segments, s)
	}
	return true
}

// flatten copies the values of s that are not empty. Not ok: a position is
// beyond what a Value can say, which no directory has.
func flatten(s edi.Segment) (out Segment, cost int, ok bool) {
	out = Segment{Tag: s.Tag(), Location: s.Location(0, 0)}
	cost = segmentCost
	var values [32]Value
	list := values[:0]
	for v := range s.Values() {
		if v.Text = trimBlanks(v.Text); v.Text == "" {
			continue
		}
		if max(v.Element, v.Repetition, v.Component) > math.MaxUint16 {
			return out, cost, false
		}
		list = append(list, Value{uint16(v.Element), uint16(v.Repetition), uint16(v.Component), v.Text})
		cost += valueCost + len(v.Text)
	}
	out.Values = append(make([]Value, 0, len(list)), list...)
	return out, cost, true
}

func trimBlanks(s string) string { return strings.TrimRight(s, " ") }

// Interchange is the side, once Scan is through.
func (b *Builder) Interchange() *Interchange {
	ic := b.Envelope
	side := &Interchange{Envelope: ic, Messages: b.messages, Fault: fault(ic)}
	for len(side.Messages) < len(ic.Messages) {
		side.Messages = append(side.Messages, Message{Withheld: true})
	}
	side.Messages = side.Messages[:len(ic.Messages)]
	for i := range side.Messages {
		m := &side.Messages[i]
		m.Reference, m.SHA256 = ic.MessageReference(i), ic.Messages[i].SHA256
		if ic.Messages[i].Type != nil {
			m.Type = *ic.Messages[i].Type
		}
		if m.Withheld {
			side.Withheld++
		}
	}
	side.header = b.header()
	return side
}

// fault says why an interchange cannot be compared: it has no end, or no
// message could be read of it.
func fault(ic *edi.Interchange) string {
	if ic.Complete && (len(ic.Messages) > 0 || edi.Worst(ic.Errors) < edi.SeverityError) {
		return ""
	}
	for _, e := range ic.Errors {
		if e.Severity == edi.SeverityError {
			return fmt.Sprintf("%s (segment %d, byte %d)", e.Text, e.Segment, e.Offset)
		}
	}
	return "the interchange has no trailer"
}

// header reads UNB or ISA as sent, to see what Envelope does not hold (0022,
// 0029, ISA02 and so on). nil if there is no payload at hand.
func (b *Builder) header() *Segment {
	if b.Payload == nil {
		return nil
	}
	raw, err := b.Payload.Slice(b.Envelope.Offset, min(b.Envelope.Length, headerWindow))
	if err != nil {
		return nil
	}
	base := b.Envelope.Offset
	if bytes.HasPrefix(raw, []byte("UNA")) && len(raw) > 9 { // ISO 9735-1 §8: nine characters
		raw, base = raw[9:], base+9
	}
	body := edi.NewBody(raw, base, 1, b.Envelope.Delimiters, nil)
	if len(body.Segments) == 0 || !body.Segments[0].Terminated() {
		return nil
	}
	if s, _, ok := flatten(body.Segments[0]); ok && (s.Tag == "UNB" || s.Tag == "ISA") {
		return &s
	}
	return nil
}
