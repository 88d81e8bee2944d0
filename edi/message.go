package edi

import (
	"crypto/sha256"
	"strings"
)

// OpenMessage begins m, whose header is seg, and gives its index and that of a
// message before with the same reference, -1 if there is none.
func (p *Pass) OpenMessage(seg *Segment, m Message) (i, first int) {
	p.grow(seg)
	p.Open, p.Before = p.Next, p.IC.Segments-1
	seg.Number = 1
	m.Offset, m.Group = seg.Offset(), int32(p.Group)
	p.IC.Messages = append(p.IC.Messages, m)
	i = p.Message()
	if p.Group >= 0 {
		p.IC.Groups[p.Group].Messages++
	}
	return i, p.refs.Add(p.IC.Messages, i)
}

// grow makes room ahead, for as many messages as the text will hold at the rate
// so far: doubling a large slice would need three times its size for a moment.
func (p *Pass) grow(seg *Segment) {
	n := len(p.IC.Messages)
	if n < cap(p.IC.Messages) || n < 1<<16 {
		return
	}
	read := seg.Offset() - p.IC.Offset
	expect := int(float64(n) * float64(p.IC.Length) / float64(max(read, 1)) * 1.02)
	grown := make([]Message, n, max(min(expect, p.Dialect.MaxMessages), n+n/8))
	copy(grown, p.IC.Messages)
	p.IC.Messages = grown
}

// textChunk is how much text of references is allocated at once, in bytes.
const textChunk = 16 << 10

// Kept is t in memory shared with others: a million references would else be a
// million objects, which the garbage collector visits one by one.
func (p *Pass) Kept(t string) string {
	if p.text.Cap()-p.text.Len() < len(t) {
		p.text = strings.Builder{}
		p.text.Grow(max(min(textChunk, 16*len(p.IC.Messages)), len(t)))
	}
	from := p.text.Len()
	p.text.WriteString(t)
	return p.text.String()[from:] // what a Builder holds never moves while it fits
}

// TooLong stops at a header whose values nobody should keep.
func (p *Pass) TooLong(seg *Segment) bool {
	if len(seg.Raw()) <= p.Dialect.MaxHeader {
		return false
	}
	p.Stop("header-too-long", p.Dialect.LongValue, seg.Location(0, 0), "%s is longer than %d bytes", seg.Tag(), p.Dialect.MaxHeader)
	return true
}

// Full stops at one message more than an interchange may have.
func (p *Pass) Full(at Location) bool {
	if len(p.IC.Messages) < p.Dialect.MaxMessages {
		return false
	}
	p.Stop("too-many-messages", p.Dialect.TooMany, at, "more than %d %ss", p.Dialect.MaxMessages, p.Dialect.Message)
	return true
}

// NewGroup opens g and reports whether a group before has its reference.
func (p *Pass) NewGroup(g Group) (known bool) {
	p.IC.Groups = append(p.IC.Groups, g)
	p.Group = len(p.IC.Groups) - 1
	if p.groups == nil {
		p.groups = make(map[string]bool)
	}
	known = p.groups[g.Reference]
	p.groups[g.Reference] = true
	return known
}

// Measure ends the message that was begun last, whose segments these are: it has its
// length and digest, and is not open any more once CloseMessage was called.
func (p *Pass) Measure(segments []Segment) {
	m := &p.IC.Messages[p.Message()]
	m.Length, m.Segments = segments[len(segments)-1].End()-m.Offset, int32(len(segments))
	if p.Undigested {
		return
	}
	raw := (&Body{Segments: segments}).Raw()
	if p.Breaks != nil { // the digest is of the bytes that were sent
		raw = p.wrapped[m.Offset-p.IC.Offset:][:m.Length]
	}
	m.SHA256 = sha256.Sum256(raw)
}

// CloseMessage says that no message is open. What stands behind its trailer was
// read in the last block.
func (p *Pass) CloseMessage() { p.Open, p.Seen = -1, p.Lex.Seen }

// CutMessage says so of one without trailer: the segment that ends it is to be looked
// at still, and may have begun in an earlier block.
func (p *Pass) CutMessage() { p.Open = -1 }

// Judge adds what Check finds in message i.
func (p *Pass) Judge(i int, b *Body) { p.judge(p.Check, i, b) }

// Deliver closes message i and hands it out.
func (p *Pass) Deliver(i int, b *Body) error {
	p.CloseMessage()
	if p.Visit == nil || p.Stopped {
		return nil
	}
	return p.Visit(i, b)
}
