package edifact

import "github.com/edigw/edigw/edi"

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
	s := r.pass(p, ic, visit)
	defer s.End()
	from, err := behindUNA(p, ic)
	if err != nil {
		return err
	}
	return s.Read(from, s.segments, s.finish)
}

// pass makes ready to read ic.
func (r Reader) pass(p *edi.Payload, ic *edi.Interchange, visit func(i int, b *edi.Body) error) *scan {
	s := &scan{reader: r, Pass: edi.Pass{Payload: p, Tolerance: r.Tolerance, Limit: r.messageLimit(), Chunk: r.chunk, Undigested: r.Undigested, Check: r.Check, Visit: visit}}
	s.charset, _ = r.charset(ic.SyntaxID, ic.Encoding) // what is unknown is reported with UNB
	s.Begin(ic, dialect, s.charset.Decode, s.charset.digested())
	return s
}

// dialect is how ISO 9735 and CONTRL name and code what may be wrong with any text.
var dialect = &edi.Dialect{
	Syntax: "edifact", Message: "message", MaxSegments: MaxSegments, MaxMessages: MaxMessages, MaxHeader: MaxHeader,
	TooLarge: "18", TooMany: "18", LongValue: "39", Stray: "21", Wrapped: "21",
}

// scan is the state of one pass.
type scan struct {
	edi.Pass
	reader  Reader
	charset charset

	loose    bool                        // a message stood outside groups
	orphans  bool                        // in a run of segments outside messages
	types    map[string]*edi.MessageType // by S009 as sent
	parcel   *parcel                     // of the open package, nil in a message
	packages *edi.MessageType            // of the last package
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
	return ic.Offset + int64(len(b)-len(edi.SkipLead(b[min(n, len(b)):]))), nil
}

// segments looks at what the lexer has completed.
func (s *scan) segments() error {
	for s.Next < len(s.Lex.Segments) && !s.Stopped {
		if s.Open >= 0 && s.parcel == nil && s.Ordinary() {
			break
		}
		seg := &s.Lex.Segments[s.Next]
		if !s.Count(seg) {
			return nil
		}
		if err := s.segment(seg, seg.RawTag()); err != nil {
			return err
		}
		s.Next++
	}
	return nil
}

// segment looks at a service segment, or at one in the wrong place or form.
func (s *scan) segment(seg *edi.Segment, tag []byte) error {
	if len(tag) == 3 && tag[0] == 'U' && tag[1] == 'N' {
		if known, err := s.service(seg, tag[2]); known || err != nil {
			return err
		}
	}
	s.Content.Add(seg, s.High())
	if err := s.header(seg); err != nil {
		return err
	}
	if s.Open < 0 {
		s.orphan(seg)
	} else if !seg.ValidTag() {
		s.Report(s.Message(), edi.SeverityError, "tag-invalid", "12", seg.Location(0, 0),
			"%q is no segment tag: three capital letters or digits", edi.Clip(tag))
	}
	return nil
}

// orphan reports a segment outside messages, the first of a run.
func (s *scan) orphan(seg *edi.Segment) {
	if !s.orphans {
		s.Report(-1, edi.SeverityError, "segment-outside-message", "33", seg.Location(0, 0),
			"segment %s stands outside any message: UNH is missing, or UNT came too early", edi.Clip(seg.RawTag()))
	}
	s.orphans = true
	s.characters(-1, s.Lex.Segments[s.Next:s.Next+1])
}

// finish reads what stands behind the last terminator, and says what is missing.
func (s *scan) finish() error {
	open, dangling := s.Lex.End()
	if err := s.segments(); err != nil || s.Stopped {
		return err
	}
	end := edi.Location{Offset: s.IC.Offset + s.IC.Length, Segment: s.IC.Segments}
	if dangling {
		s.Report(-1, edi.SeverityError, "release-at-end", "22", end, "the text ends with a release character that releases nothing")
	}
	if s.Open >= 0 {
		s.untMissing(end)
	}
	if s.Group >= 0 {
		s.uneMissing(end)
	}
	switch {
	case !s.IC.Complete:
		s.Report(-1, edi.SeverityError, "unz-missing", "13", end, "the interchange trailer UNZ is missing: the file may be cut off")
	case open:
		s.Report(-1, edi.SeverityWarning, "terminator-missing", "", end, "the last segment has no terminator")
	}
	return nil
}
