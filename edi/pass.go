package edi

import (
	"crypto/sha256"
	"strings"
)

// Pass is one reading of an interchange from end to end: what both syntaxes do alike
// while each looks at its own envelope.
type Pass struct {
	Findings
	Payload    *Payload
	Tolerance  Tolerance
	Limit      int64 // bytes of one message
	Chunk      int   // bytes read of a spool at a time; 0 is the window's own
	Undigested bool  // no digest is asked for
	Check      func(ic *Interchange, i int, b *Body) []*Error
	Visit      func(i int, b *Body) error

	Lex     *Lexer
	Content *ContentDigest
	Next    int     // the first of Lex.Segments not looked at
	Open    int     // index into Lex.Segments of the open message's header, -1 none
	Before  int     // segments of the interchange before that header
	Group   int     // index of the open group, -1 none
	Seen    Class   // of the blocks that the open message stands in
	Breaks  *Breaks // line ends that were taken out

	Released bool // a release character was seen since the caller last cleared it

	buffers *buffers
	refs    References
	text    strings.Builder // of the messages' references
	groups  map[string]bool
	wrapped []byte // the interchange as sent, where line ends are taken out
}

const (
	scanBlock = 32 << 10
	maxMarks  = 24 << 20 // delimiters in one message
)

// Begin makes ready for ic. What it takes is given back by End. decode is that of
// values, digested that of the content digest; nil means UTF-8.
func (p *Pass) Begin(ic *Interchange, d *Dialect, decode, digested func([]byte) string) {
	ic.Groups, ic.Messages, ic.Errors, ic.MessageErrors = nil, nil, nil, nil
	ic.DroppedErrors, ic.DroppedRefusals, ic.Segments, ic.Complete = 0, 0, 0, false
	p.IC, p.Dialect, p.Open, p.Group = ic, d, -1, -1
	p.buffers = takeBuffers()
	p.Lex, p.Content = &p.buffers.lex, p.buffers.content
	p.Lex.Reset(ic.Delimiters, decode)
	p.Lex.short = d.ShortTags
	p.Content.Reset(d.Syntax, digested)
	p.Content.off = p.Undigested
}

// End gives back what Begin took.
func (p *Pass) End() { p.buffers.giveBack() }

// Read reads from payload offset from on: segments looks at what the lexer has
// completed, finish at what stands behind the last terminator. ContentSHA256 is made
// of PayloadSHA256 alone where the rest was not read, and equals that of no other
// text.
func (p *Pass) Read(from int64, segments, finish func() error) error {
	if err := p.lead(); err != nil {
		return err
	}
	if err := p.run(from, segments, finish); err != nil {
		return err
	}
	p.gaps()
	if p.Undigested {
		return nil
	}
	p.IC.ContentSHA256 = p.Content.Sum()
	if p.Stopped {
		p.IC.ContentSHA256 = sha256.Sum256(append([]byte("edigw unread 1 "+p.Dialect.Syntax+"\n"), p.IC.PayloadSHA256[:]...))
	}
	return nil
}

func (p *Pass) run(from int64, segments, finish func() error) error {
	w, err := p.window(from)
	if err != nil || p.Stopped {
		return err
	}
	if err := w.Slide(0); err != nil {
		return err
	}
	p.Lex.Window(w.Raw, w.At)
	for {
		p.Lex.Seen = 0
		p.Lex.Lex(scanBlock)
		p.Seen |= p.Lex.Seen
		if err := segments(); err != nil || p.Stopped {
			return err
		}
		left := p.Lex.Left()
		if p.limit(p.Lex.Held(p.keep())); p.Stopped {
			return nil
		}
		switch {
		case !left && !w.More():
			return finish()
		case !left:
			if err := w.Slide(p.drop()); err != nil {
				return err
			}
			p.Lex.Window(w.Raw, w.At)
		case w.InMemory() && p.keep() > 4096 && p.keep() > len(p.Lex.Segments)/8*7: // little is left to move
			w.Skip(p.drop())
		}
	}
}

// keep is the first segment that is still needed.
func (p *Pass) keep() int {
	if p.Open >= 0 {
		return p.Open
	}
	return p.Next
}

// drop lets go of what is not needed and gives its length in bytes.
func (p *Pass) drop() int {
	n := p.keep()
	by := p.Lex.Drop(n)
	p.Next -= n
	if p.Open >= 0 {
		p.Open = 0
	}
	return by
}

func (p *Pass) tooLarge(size, marks int) bool { return int64(size) > p.Limit || marks > maxMarks }

// limit stops at a message, or a segment, that is larger than we hold.
func (p *Pass) limit(size, marks int) {
	switch {
	case p.tooLarge(size, marks):
		at := Location{Offset: p.Lex.Offset(p.keep()), Segment: p.IC.Segments + 1}
		if p.Open >= 0 {
			p.IC.Segments = p.Before
			delete(p.IC.MessageErrors, p.Message()) // how far it was read is chance
			at = p.Lex.Segments[p.Open].Location(0, 0)
		}
		p.Stop("message-too-large", p.Dialect.TooLarge, at, "a %s is larger than %d bytes or %d delimiters", p.Dialect.Message, p.Limit, maxMarks)
	case p.Open >= 0 && p.Next-p.Open > p.Dialect.MaxSegments:
		at := p.Lex.Segments[p.Open].Location(0, 0)
		p.IC.Segments = p.Before
		p.Stop("message-too-large", p.Dialect.TooMany, at, "a %s has more than %d segments", p.Dialect.Message, p.Dialect.MaxSegments)
	}
}

// Fits reports whether the open message may end with the segment at hand: one size
// for it, whatever the window.
func (p *Pass) Fits() bool {
	p.limit(p.Lex.Span(p.Open, p.Next+1))
	return !p.Stopped
}

// Count numbers seg, the segment at hand, and reports whether it may be read: one
// outside messages is bounded as a message is.
func (p *Pass) Count(seg *Segment) bool {
	p.IC.Segments++
	p.Released = p.Released || seg.Released()
	if p.Open >= 0 {
		seg.Number = int32(p.Next - p.Open + 1)
		return true
	}
	seg.Number = int32(p.IC.Segments)
	size, marks := p.Lex.Span(p.Next, p.Next+1)
	if p.tooLarge(size, marks) {
		p.IC.Segments--
		p.limit(size, marks)
		return false
	}
	return true
}

// Ordinary goes through the segments of the open message as long as they are what
// nearly all are, neither of the envelope nor malformed, and reports whether
// there are no others.
func (p *Pass) Ordinary() bool {
	high, released := p.High(), false
	list := p.Lex.Segments[p.Next:]
	number := int32(p.Next - p.Open + 1)
	n := 0
	for ; n < len(list); n++ {
		seg := &list[n]
		if !seg.user {
			break
		}
		seg.Number = number + int32(n)
		released = released || seg.released
		p.Content.Add(seg, high)
	}
	p.Next += n
	p.IC.Segments += n
	p.Released = p.Released || released
	return n == len(list)
}

// High reports whether bytes ≥ 0x80 may stand in the segment at hand.
func (p *Pass) High() bool { return p.Seen&ClassHigh != 0 }

// Message is the index of the message that was begun last.
func (p *Pass) Message() int { return len(p.IC.Messages) - 1 }
