package x12

import "github.com/edigw/edigw/edi"

func (s *scan) gs(seg *edi.Segment) {
	s.endMessage(seg)
	at := seg.Location(0, 0)
	s.endGroup(at)
	if s.TooLong(seg) {
		return
	}
	if s.IC.Complete {
		s.Report(-1, edi.SeverityError, "segment-behind-iea", "022", at, "a group stands behind IEA")
	}
	if len(s.IC.Groups) >= MaxGroups {
		s.Stop("too-many-groups", "024", at, "more than %d groups", MaxGroups)
		return
	}
	g := edi.Group{
		FunctionalID: trim(seg.Get(1, 1)), Sender: edi.Party{ID: trim(seg.Get(2, 1))}, Recipient: edi.Party{ID: trim(seg.Get(3, 1))},
		Date: date(trim(seg.Get(4, 1))), Time: trim(seg.Get(5, 1)), Reference: trim(seg.Get(6, 1)),
		Agency: trim(seg.Get(7, 1)), Version: trim(seg.Get(8, 1)), Offset: seg.Offset(), Included: -1,
	}
	known := s.NewGroup(g)
	report := func(severity edi.Severity, code, standard string, e int, text string, args ...any) {
		s.Report(edi.OfGroup(s.Group), severity, code, standard, seg.Location(e, 1), text, args...)
	}
	switch {
	case !edi.Digits(g.Reference) || len(g.Reference) > 9:
		report(edi.SeverityError, "gs-control-number-invalid", "6", 6, "control number %q (GS06) is not one to nine digits", edi.Clip([]byte(g.Reference)))
	case known:
		report(edi.SeverityError, "gs-control-number-duplicate", "19", 6, "control number %s (GS06) occurs twice in the interchange", g.Reference)
	}
	if len(g.FunctionalID) != 2 {
		report(edi.SeverityError, "gs-incomplete", "1", 1, "%q is no functional identifier of two letters (GS01)", edi.Clip([]byte(g.FunctionalID)))
	}
	if len(g.Version) < 6 || !edi.Digits(g.Version[:6]) {
		report(edi.SeverityError, "gs-version-invalid", "2", 8, "%q (GS08) names no version such as 004010", edi.Clip([]byte(g.Version)))
	}
	if g.Date == "" {
		report(edi.SeverityWarning, "gs-date-invalid", "", 4, "%q (GS04) is no date", edi.Clip(seg.RawElement(4)))
	}
}

func (s *scan) ge(seg *edi.Segment) {
	s.endMessage(seg)
	if s.Group < 0 {
		s.Report(-1, edi.SeverityError, "gs-missing", "022", seg.Location(0, 0), "GE ends a group that no GS began")
		return
	}
	g := s.Group
	s.Group = -1
	report := func(severity edi.Severity, code, standard string, e int, text string, args ...any) {
		s.Report(edi.OfGroup(g), severity, code, standard, seg.Location(e, 1), text, args...)
	}
	if s.IC.Groups[g].Messages == 0 {
		report(edi.SeverityError, "group-empty", "5", 0, "group %s holds no transaction set", s.IC.Groups[g].Reference)
	}
	if n := trim(seg.Get(1, 1)); edi.Digits(n) && len(n) < 10 {
		s.IC.Groups[g].Included = number(n)
	}
	s.count(seg, 1, s.IC.Groups[g].Messages, "ge-count-mismatch", "5", "GE01", "transaction sets", "the group", report)
	controlNumbers(seg, 2, s.IC.Groups[g].Reference, "ge-reference-mismatch", "4", "GE02", "GS06", report)
}

func (s *scan) endGroup(at edi.Location) {
	if s.Group >= 0 {
		s.geMissing(at)
	}
}

func (s *scan) geMissing(at edi.Location) {
	g := &s.IC.Groups[s.Group]
	s.Report(edi.OfGroup(s.Group), edi.SeverityError, "ge-missing", "3", at, "group %s that begins at byte %d has no trailer GE", edi.Clip([]byte(g.Reference)), g.Offset)
	s.Group = -1
}
