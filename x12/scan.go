package x12

import (
	"crypto/sha256"
	"strings"

	"github.com/edigw/edigw/edi"
)

// Scan reads an interchange that Split found, once from end to end: it fills
// Groups, Messages, ContentSHA256, Segments and Complete, and finds what is
// wrong. What refuses the whole interchange is in Errors with an I18 code, what
// refuses a group in its Errors with a 716 code, what refuses one transaction set
// in MessageErrors: 718 for ST and SE, 720 for a segment, 723 for an element.
//
// visit, which may be nil, is called for every transaction set that has its SE,
// in order, sound or not: ic.MessageErrors[i] is complete by then, those of the
// group and the interchange only when Scan has returned. Its error ends the scan
// and is returned as it is. The Body is valid until visit returns. Any other error
// is ours: the payload could not be read.
//
// Memory is bounded by the largest transaction set. A text that breaks a limit is
// refused and not read further; its ContentSHA256 is then made of PayloadSHA256
// and equals that of no other text.
func (r Reader) Scan(p *edi.Payload, ic *edi.Interchange, visit func(i int, b *edi.Body) error) error {
	ic.Groups, ic.Messages, ic.Errors, ic.MessageErrors = nil, nil, nil, nil
	ic.DroppedErrors, ic.Segments, ic.Complete = 0, 0, false
	s := scan{reader: r, p: p, ic: ic, visit: visit, open: -1, group: -1}
	s.charset, s.assumed = r.charset()
	b := takeBuffers()
	defer b.giveBack()
	s.lex, s.content = &b.lex, b.content
	s.lex.Reset(ic.Delimiters, s.charset.Decode)
	s.content.Reset("x12", digested(s.charset))
	if err := s.lead(); err != nil {
		return err
	}
	if err := s.run(); err != nil {
		return err
	}
	s.gaps()
	ic.ContentSHA256 = s.content.Sum()
	if s.stopped {
		ic.ContentSHA256 = sha256.Sum256(append([]byte("edigw unread 1 x12\n"), ic.PayloadSHA256[:]...))
	}
	return nil
}

// scan is the state of one pass.
type scan struct {
	reader  Reader
	p       *edi.Payload
	ic      *edi.Interchange
	visit   func(int, *edi.Body) error
	lex     *edi.Lexer
	content *edi.ContentDigest
	charset edi.Charset
	assumed bool // no setting names it

	next    int       // the first of lex.Segments not looked at
	open    int       // index into lex.Segments of the open set's ST, -1 none
	before  int       // segments of the interchange before that ST
	group   int       // index of the open group, -1 none
	answers int       // TA1 that stand in the interchange
	orphans bool      // in a run of segments outside transaction sets
	opaque  int64     // payload offset of the last BIN or BDS that was read by its length
	seen    edi.Class // of the blocks that the open set stands in
	refs    edi.References
	text    strings.Builder // of the sets' control numbers
	groups  map[string]bool
	types   map[string]*edi.MessageType // by ST01, ST03 and GS08
	said    map[string]bool
	stopped bool
	wrapped []byte // the interchange as sent, where line ends are taken out
}

const scanBlock = 32 << 10

func (s *scan) run() error {
	w, err := s.window()
	if err != nil || s.stopped {
		return err
	}
	if err := w.Slide(0); err != nil {
		return err
	}
	s.lex.Window(w.Raw, w.At)
	for {
		s.lex.Seen = 0
		left := s.lex.Lex(scanBlock)
		s.seen |= s.lex.Seen
		again, err := s.segments()
		if err != nil || s.stopped {
			return err
		}
		if s.limit(s.lex.Held(s.keep())); s.stopped {
			return nil
		}
		switch {
		case again:
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

// limit stops at a transaction set, or a segment, that is larger than we hold.
func (s *scan) limit(size, marks int) {
	switch {
	case s.tooLarge(size, marks):
		at := edi.Location{Offset: s.lex.Offset(s.keep()), Segment: s.ic.Segments + 1}
		if s.open >= 0 {
			s.ic.Segments = s.before
			delete(s.ic.MessageErrors, s.message()) // how far it was read is chance
			at = s.lex.Segments[s.open].Location(0, 0)
		}
		s.stop("message-too-large", "024", at, "a transaction set is larger than %d bytes or %d delimiters", s.reader.messageLimit(), maxMarks)
	case s.open >= 0 && s.next-s.open > MaxSegments:
		at := s.lex.Segments[s.open].Location(0, 0)
		s.ic.Segments = s.before
		s.stop("message-too-large", "024", at, "a transaction set has more than %d segments", MaxSegments)
	}
}

// segments looks at what the lexer has completed. again reports that the lexer
// has to read on before anything else: a segment carries bytes that it took for
// delimiters.
func (s *scan) segments() (again bool, err error) {
	for s.next < len(s.lex.Segments) && !s.stopped {
		if s.open >= 0 && s.ordinary() {
			break
		}
		seg := &s.lex.Segments[s.next]
		if seg.Is("BIN") || seg.Is("BDS") {
			if again, err := s.binary(seg); again || err != nil {
				return again, err
			}
			seg = &s.lex.Segments[s.next]
		}
		s.ic.Segments++
		if s.open >= 0 {
			seg.Number = int32(s.next - s.open + 1)
		} else {
			seg.Number = int32(s.ic.Segments)
			if size, marks := s.lex.Span(s.next, s.next+1); s.tooLarge(size, marks) {
				s.ic.Segments--
				s.limit(size, marks)
				return false, nil
			}
		}
		if err := s.segment(seg); err != nil {
			return false, err
		}
		s.next++
	}
	return false, nil
}

// ordinary goes through the segments of the open transaction set as long as they
// are what nearly all are, neither of the envelope nor malformed, and reports
// whether there are no others.
func (s *scan) ordinary() bool {
	high := s.seen&edi.ClassHigh != 0
	list := s.lex.Segments[s.next:]
	number := int32(s.next - s.open + 1)
	n := 0
	for ; n < len(list); n++ {
		seg := &list[n]
		if !userTag(seg.RawTag()) {
			break
		}
		seg.Number = number + int32(n)
		s.content.Add(seg, high)
	}
	s.next += n
	s.ic.Segments += n
	return n == len(list)
}

// userTag reports whether tag is that of a segment which needs no look: two or
// three capital letters or digits, a letter first, and none of the envelope, of
// security or of those that carry binary data.
func userTag(tag []byte) bool {
	if len(tag) < 2 || len(tag) > 3 || tag[0]-'A' > 25 || !capital(tag[1]) {
		return false
	}
	if len(tag) == 2 {
		return string(tag) != "ST" && string(tag) != "SE" && string(tag) != "GS" && string(tag) != "GE"
	}
	if !capital(tag[2]) {
		return false
	}
	switch tag[0] {
	case 'I':
		return string(tag) != "ISA" && string(tag) != "IEA"
	case 'B':
		return string(tag) != "BIN" && string(tag) != "BDS"
	}
	return true
}

func capital(b byte) bool { return b-'A' <= 25 || b-'0' <= 9 }

// validTag reports whether tag is two or three capital letters or digits, a letter
// first (X12.6).
func validTag(tag []byte) bool {
	return (len(tag) == 2 || len(tag) == 3 && capital(tag[2])) && tag[0]-'A' <= 25 && capital(tag[1])
}

// binary makes sure that BIN or BDS was cut by its length, and reports whether it
// has to be cut anew. A length that no terminator follows is not believed.
func (s *scan) binary(seg *edi.Segment) (again bool, err error) {
	at := seg.Offset()
	if at == s.opaque && at > 0 || s.wrapped != nil { // what a wrapped text carries has lost its length
		return false, nil
	}
	head, err := s.p.Slice(at, min(binaryHead, s.p.Size()-at))
	if err != nil {
		return false, err
	}
	data, behind, ok := binary(head, at, s.ic.Delimiters, s.ic.Offset+s.ic.Length)
	if ok {
		b, err := s.p.Slice(behind, 1)
		if err != nil {
			return false, err
		}
		ok = b[0] == s.ic.Delimiters.Terminator
	}
	if !ok {
		return false, nil
	}
	s.opaque = at
	s.lex.Opaque(s.next, data, behind)
	return true, nil
}

// segment looks at a service segment, or at one in the wrong place or form.
func (s *scan) segment(seg *edi.Segment) error {
	tag := seg.RawTag()
	if known, err := s.service(seg, string(tag)); known || err != nil {
		return err
	}
	s.content.Add(seg, s.seen&edi.ClassHigh != 0)
	switch {
	case s.open < 0:
		s.orphan(seg)
	case !validTag(tag):
		s.report(s.message(), edi.SeverityError, "tag-invalid", "1", seg.Location(0, 0),
			"%q is no segment identifier: two or three capital letters or digits", clip(tag))
	case string(tag) == "BIN" || string(tag) == "BDS":
		if s.opaque != seg.Offset() {
			s.binaryLength(seg)
		}
	}
	return nil
}

// binaryLength reports a BIN or BDS whose length could not be believed.
func (s *scan) binaryLength(seg *edi.Segment) {
	e := 1
	if seg.Is("BDS") {
		e = 2
	}
	s.report(s.message(), edi.SeverityError, "binary-length", "7", seg.Location(e, 1),
		"%s says %q bytes of data, but no segment terminator follows so many", seg.Tag(), clip(seg.RawElement(e)))
}

// message is the index of the transaction set that was begun last.
func (s *scan) message() int { return len(s.ic.Messages) - 1 }

// clip shortens what is quoted in a text.
func clip(b []byte) []byte { return b[:min(len(b), 20)] }

// orphan reports a segment outside transaction sets, the first of a run.
func (s *scan) orphan(seg *edi.Segment) {
	if !s.orphans {
		const text = "segment %s stands outside any transaction set: ST is missing, or SE came too early"
		if s.group >= 0 {
			s.reportGroup(s.group, edi.SeverityError, "segment-outside-message", "", seg.Location(0, 0), text, clip(seg.RawTag()))
		} else {
			s.report(-1, edi.SeverityError, "segment-outside-message", "022", seg.Location(0, 0), text, clip(seg.RawTag()))
		}
	}
	s.orphans = true
	s.characters(-1, s.lex.Segments[s.next:s.next+1])
}

// finish reads what stands behind the last terminator, and says what is missing.
func (s *scan) finish() error {
	open, _ := s.lex.End()
	if _, err := s.segments(); err != nil || s.stopped {
		return err
	}
	end := edi.Location{Offset: s.ic.Offset + s.ic.Length, Segment: s.ic.Segments}
	if s.open >= 0 {
		s.seMissing(end)
	}
	if s.group >= 0 {
		s.geMissing(end)
	}
	switch {
	case !s.ic.Complete:
		s.report(-1, edi.SeverityError, "iea-missing", "023", end, "the interchange trailer IEA is missing: the file may be cut off")
	case open:
		s.report(-1, edi.SeverityWarning, "terminator-missing", "", end, "the last segment has no terminator")
	}
	return nil
}
