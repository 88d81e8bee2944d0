package edifact

import (
	"crypto/sha256"
	"strings"

	"github.com/edigw/edigw/edi"
)

// Scan reads an interchange that Split found, once from end to end: it fills
// Groups, Messages, ContentSHA256, Segments and Complete, and finds what is
// wrong. What refuses the whole interchange is in Errors, what refuses one
// message in MessageErrors, each with its 0085 code.
//
// visit, which may be nil, is called for every message that has its UNT, in
// order, sound or not: ic.MessageErrors[i] is complete by then, ic.Errors only
// when Scan has returned. Its error ends the scan and is returned as it is. The
// Body is valid until visit returns. Any other error is ours: the payload could
// not be read.
//
// Memory is bounded by the largest message. A text that breaks a limit is
// refused and not read further; its ContentSHA256 is then made of PayloadSHA256
// and equals that of no other text.
func (r Reader) Scan(p *edi.Payload, ic *edi.Interchange, visit func(i int, b *edi.Body) error) error {
	ic.Groups, ic.Messages, ic.Errors, ic.MessageErrors = nil, nil, nil, nil
	ic.DroppedErrors, ic.Segments, ic.Complete = 0, 0, false
	s := scan{reader: r, ic: ic, visit: visit, open: -1, group: -1, payload: p}
	s.charset, _ = r.charset(ic.SyntaxID, ic.Encoding) // what is unknown is reported with UNB
	b := takeBuffers()
	defer b.giveBack()
	s.lex, s.content = &b.lex, b.content
	s.lex.Reset(ic.Delimiters, s.charset.Decode)
	s.content.Reset("edifact", s.charset.digested())
	if err := s.lead(p); err != nil {
		return err
	}
	if err := s.run(p); err != nil {
		return err
	}
	s.gaps()
	ic.ContentSHA256 = s.content.Sum()
	if s.stopped {
		ic.ContentSHA256 = sha256.Sum256(append([]byte("edigw unread 1 edifact\n"), ic.PayloadSHA256[:]...))
	}
	return nil
}

// scan is the state of one pass.
type scan struct {
	reader  Reader
	ic      *edi.Interchange
	visit   func(int, *edi.Body) error
	lex     *edi.Lexer
	content *edi.ContentDigest
	charset charset

	next     int       // the first of lex.Segments not looked at
	open     int       // index into lex.Segments of the open message's UNH, -1 none
	before   int       // segments of the interchange before that UNH
	group    int       // index of the open group, -1 none
	loose    bool      // a message stood outside groups
	orphans  bool      // in a run of segments outside messages
	seen     edi.Class // of the blocks that the open message stands in
	released bool      // a release character was seen since characters were checked
	refs     edi.References
	text     strings.Builder // of the messages' references
	groups   map[string]bool
	types    map[string]*edi.MessageType // by S009 as sent
	said     map[string]bool
	stopped  bool

	payload  *edi.Payload     // the whole one
	parcel   *parcel          // of the open package, nil in a message
	packages *edi.MessageType // of the last package
	wrapped  []byte           // the interchange as sent, where line ends are taken out
	breaks   *edi.Breaks      // of those
}

const scanBlock = 32 << 10

func (s *scan) run(p *edi.Payload) error {
	from, err := behindUNA(p, s.ic)
	if err != nil {
		return err
	}
	w, err := s.window(p, from)
	if err != nil || s.stopped {
		return err
	}
	if err := w.Slide(0); err != nil {
		return err
	}
	s.lex.Window(w.Raw, w.At)
	for {
		s.lex.Seen = 0
		s.lex.Lex(scanBlock)
		s.seen |= s.lex.Seen
		if err := s.segments(); err != nil || s.stopped {
			return err
		}
		left := s.lex.Left()
		if s.limit(s.lex.Held(s.keep())); s.stopped {
			return nil
		}
		switch {
		case !left && !w.More():
			return s.finish()
		case !left:
			if err := w.Slide(s.drop()); err != nil {
				return err
			}
			s.lex.Window(w.Raw, w.At)
		case w.InMemory() && s.keep() > 4096 && s.keep() > len(s.lex.Segments)/8*7: // little is left to move
			w.Skip(s.drop())
		}
	}
}

// behindUNA is the payload offset of UNB.
func behindUNA(p *edi.Payload, ic *edi.Interchange) (int64, error) {
	if !ic.Delimiters.Explicit {
		return ic.Offset, nil
	}
	b, err := p.Slice(ic.Offset, min(ic.Length, 2*MaxHeader))
	if err != nil {
		return 0, err
	}
	_, n, _ := readUNA(b) // Split has refused a wrong one
	return ic.Offset + int64(len(b)-len(skipLead(b[min(n, len(b)):]))), nil
}

// keep is the first segment that is still needed.
func (s *scan) keep() int {
	if s.open >= 0 {
		return s.open
	}
	return s.next
}

// drop lets go of what is not needed and gives its length in bytes.
func (s *scan) drop() int {
	n := s.keep()
	by := s.lex.Drop(n)
	s.next -= n
	if s.open >= 0 {
		s.open = 0
	}
	return by
}

func (s *scan) tooLarge(size, marks int) bool {
	return int64(size) > s.reader.messageLimit() || marks > maxMarks
}

// limit stops at a message, or a segment, that is larger than we hold.
func (s *scan) limit(size, marks int) {
	switch {
	case s.tooLarge(size, marks):
		at := edi.Location{Offset: s.lex.Offset(s.keep()), Segment: s.ic.Segments + 1}
		if s.open >= 0 {
			s.ic.Segments = s.before
			delete(s.ic.MessageErrors, s.message()) // how far it was read is chance
			at = s.lex.Segments[s.open].Location(0, 0)
		}
		s.stop("message-too-large", "18", at, "a message is larger than %d bytes or %d delimiters", s.reader.messageLimit(), maxMarks)
	case s.open >= 0 && s.next-s.open > MaxSegments:
		at := s.lex.Segments[s.open].Location(0, 0)
		s.ic.Segments = s.before
		s.stop("message-too-large", "35", at, "a message has more than %d segments", MaxSegments)
	}
}

// segments looks at what the lexer has completed.
func (s *scan) segments() error {
	for s.next < len(s.lex.Segments) && !s.stopped {
		if s.open >= 0 && s.parcel == nil && s.ordinary() {
			break
		}
		seg := &s.lex.Segments[s.next]
		s.ic.Segments++
		s.released = s.released || seg.Released()
		if s.open >= 0 {
			seg.Number = int32(s.next - s.open + 1)
		} else {
			seg.Number = int32(s.ic.Segments)
			if size, marks := s.lex.Span(s.next, s.next+1); s.tooLarge(size, marks) {
				s.ic.Segments--
				s.limit(size, marks)
				return nil
			}
		}
		if err := s.segment(seg, seg.RawTag()); err != nil {
			return err
		}
		s.next++
	}
	return nil
}

// ordinary goes through the segments of the open message as long as they are what
// nearly all are, neither of the envelope nor malformed, and reports whether
// there are no others.
func (s *scan) ordinary() bool {
	high, released := s.seen&edi.ClassHigh != 0, false
	list := s.lex.Segments[s.next:]
	number := int32(s.next - s.open + 1)
	n := 0
	for ; n < len(list); n++ {
		seg := &list[n]
		if !seg.UserTag() {
			break
		}
		seg.Number = number + int32(n)
		released = released || seg.Released()
		s.content.Add(seg, high)
	}
	s.next += n
	s.ic.Segments += n
	s.released = s.released || released
	return n == len(list)
}

// segment looks at a service segment, or at one in the wrong place or form.
func (s *scan) segment(seg *edi.Segment, tag []byte) error {
	if len(tag) == 3 && tag[0] == 'U' && tag[1] == 'N' {
		if known, err := s.service(seg, tag[2]); known || err != nil {
			return err
		}
	}
	s.content.Add(seg, s.seen&edi.ClassHigh != 0)
	if err := s.header(seg); err != nil {
		return err
	}
	if s.open < 0 {
		s.orphan(seg)
	} else if !seg.ValidTag() {
		s.report(s.message(), edi.SeverityError, "tag-invalid", "12", seg.Location(0, 0),
			"%q is no segment tag: three capital letters or digits", clip(tag))
	}
	return nil
}

// message is the index of the message that was begun last.
func (s *scan) message() int { return len(s.ic.Messages) - 1 }

// clip shortens what is quoted in a text.
func clip(b []byte) []byte { return b[:min(len(b), 20)] }

// orphan reports a segment outside messages, the first of a run.
func (s *scan) orphan(seg *edi.Segment) {
	if !s.orphans {
		s.report(-1, edi.SeverityError, "segment-outside-message", "33", seg.Location(0, 0),
			"segment %s stands outside any message: UNH is missing, or UNT came too early", clip(seg.RawTag()))
	}
	s.orphans = true
	s.characters(-1, s.lex.Segments[s.next:s.next+1])
}

// finish reads what stands behind the last terminator, and says what is missing.
func (s *scan) finish() error {
	open, dangling := s.lex.End()
	if err := s.segments(); err != nil || s.stopped {
		return err
	}
	end := edi.Location{Offset: s.ic.Offset + s.ic.Length, Segment: s.ic.Segments}
	if dangling {
		s.report(-1, edi.SeverityError, "release-at-end", "22", end, "the text ends with a release character that releases nothing")
	}
	if s.open >= 0 {
		s.untMissing(end)
	}
	if s.group >= 0 {
		s.uneMissing(end)
	}
	switch {
	case !s.ic.Complete:
		s.report(-1, edi.SeverityError, "unz-missing", "13", end, "the interchange trailer UNZ is missing: the file may be cut off")
	case open:
		s.report(-1, edi.SeverityWarning, "terminator-missing", "", end, "the last segment has no terminator")
	}
	return nil
}
