package x12

import "github.com/edigw/edigw/edi"

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
	s := r.pass(p, ic, visit)
	defer s.End()
	return s.Read(ic.Offset, s.segments, s.finish)
}

// pass makes ready to read ic.
func (r Reader) pass(p *edi.Payload, ic *edi.Interchange, visit func(i int, b *edi.Body) error) *scan {
	s := &scan{reader: r, Pass: edi.Pass{Payload: p, Tolerance: r.Tolerance, Limit: r.messageLimit(), Chunk: r.chunk, Undigested: r.Undigested, Check: r.Check, Visit: visit}}
	s.charset, s.assumed = r.charset()
	s.Begin(ic, dialect, s.charset.Decode, digested(s.charset))
	return s
}

// dialect is how X12.5 and TA1 name and code what may be wrong with any text.
var dialect = &edi.Dialect{
	Syntax: "x12", Message: "transaction set", MaxSegments: MaxSegments, MaxMessages: MaxMessages, MaxHeader: MaxHeader, ShortTags: true,
	TooLarge: "024", TooMany: "024", LongValue: "024", Stray: "022",
}

// scan is the state of one pass.
type scan struct {
	edi.Pass
	reader  Reader
	charset edi.Charset
	assumed bool // no setting names it

	answers int                         // TA1 that stand in the interchange
	orphans bool                        // in a run of segments outside transaction sets
	opaque  int64                       // payload offset of the last BIN or BDS that was read by its length
	types   map[string]*edi.MessageType // by ST01, ST03 and GS08
	kind    kind                        // of the set before
}

// segments looks at what the lexer has completed, up to a segment that carries bytes
// which it took for delimiters: it has to read on before anything else.
func (s *scan) segments() error {
	for s.Next < len(s.Lex.Segments) && !s.Stopped {
		if s.Open >= 0 && s.Ordinary() {
			break
		}
		seg := &s.Lex.Segments[s.Next]
		if seg.Is("BIN") || seg.Is("BDS") {
			if again, err := s.binary(seg); again || err != nil {
				return err
			}
			seg = &s.Lex.Segments[s.Next]
		}
		if !s.Count(seg) {
			return nil
		}
		if err := s.segment(seg); err != nil {
			return err
		}
		s.Next++
	}
	return nil
}

func capital(b byte) bool { return b-'A' <= 25 || b-'0' <= 9 }

// binary makes sure that BIN or BDS was cut by its length, and reports whether it
// has to be cut anew. A length that no terminator follows is not believed.
func (s *scan) binary(seg *edi.Segment) (again bool, err error) {
	at := seg.Offset()
	if at == s.opaque && at > 0 || s.Breaks != nil { // what a wrapped text carries has lost its length
		return false, nil
	}
	head, err := s.Payload.Slice(at, min(binaryHead, s.Payload.Size()-at))
	if err != nil {
		return false, err
	}
	data, behind, ok := binary(head, at, s.IC.Delimiters, s.IC.Offset+s.IC.Length)
	if ok {
		b, err := s.Payload.Slice(behind, 1)
		if err != nil {
			return false, err
		}
		ok = b[0] == s.IC.Delimiters.Terminator
	}
	if !ok {
		return false, nil
	}
	s.opaque = at
	s.Lex.Opaque(s.Next, data, behind)
	return true, nil
}

// segment looks at a service segment, or at one in the wrong place or form.
func (s *scan) segment(seg *edi.Segment) error {
	tag := seg.RawTag()
	if known, err := s.service(seg, string(tag)); known || err != nil {
		return err
	}
	s.Content.Add(seg, s.High())
	switch {
	case s.Open < 0:
		s.orphan(seg)
	case !edi.ShortTag(tag):
		s.Report(s.Message(), edi.SeverityError, "tag-invalid", "1", seg.Location(0, 0),
			"%q is no segment identifier: two or three capital letters or digits", edi.Clip(tag))
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
	s.Report(s.Message(), edi.SeverityError, "binary-length", "7", seg.Location(e, 1),
		"%s says %q bytes of data, but no segment terminator follows so many", seg.Tag(), edi.Clip(seg.RawElement(e)))
}

// orphan reports a segment outside transaction sets, the first of a run.
func (s *scan) orphan(seg *edi.Segment) {
	if !s.orphans {
		const text = "segment %s stands outside any transaction set: ST is missing, or SE came too early"
		if s.Group >= 0 {
			s.Report(edi.OfGroup(s.Group), edi.SeverityError, "segment-outside-message", "", seg.Location(0, 0), text, edi.Clip(seg.RawTag()))
		} else {
			s.Report(-1, edi.SeverityError, "segment-outside-message", "022", seg.Location(0, 0), text, edi.Clip(seg.RawTag()))
		}
	}
	s.orphans = true
	s.characters(-1, s.Lex.Segments[s.Next:s.Next+1])
}

// finish reads what stands behind the last terminator, and says what is missing.
func (s *scan) finish() error {
	open, _ := s.Lex.End()
	if err := s.segments(); err != nil || s.Stopped {
		return err
	}
	end := edi.Location{Offset: s.IC.Offset + s.IC.Length, Segment: s.IC.Segments}
	if s.Open >= 0 {
		s.seMissing(end)
	}
	if s.Group >= 0 {
		s.geMissing(end)
	}
	switch {
	case !s.IC.Complete:
		s.Report(-1, edi.SeverityError, "iea-missing", "023", end, "the interchange trailer IEA is missing: the file may be cut off")
	case open:
		s.Report(-1, edi.SeverityWarning, "terminator-missing", "", end, "the last segment has no terminator")
	}
	return nil
}
