package x12

import (
	"slices"
	"strings"

	"github.com/edigw/edigw/edi"
)

// functionalAcceptance reads AK501 (717) and AK901 (715). M, W and X are failures of
// security: authentication, assurance, decryption.
var functionalAcceptance = map[string]edi.Acceptance{
	"A": edi.Accepted, "E": edi.AcceptedWithErrors, "P": edi.PartlyAccepted, "R": edi.Rejected, "M": edi.Rejected, "W": edi.Rejected, "X": edi.Rejected,
}

// functional reads a 997 or 999: AK1, for each set AK2 to AK5 with AK3 and AK4 or their
// IK, and AK9. A set that no AK2 names shares what the group is told (Answer.On).
func (r *answering) functional(b *edi.Body) {
	guide := r.Answer.Kind == "999"
	for _, s := range b.Segments[1:] {
		switch s.Tag() {
		case "AK1":
			r.ak1(s)
		case "AK2":
			r.ak2(s)
		case "AK3", "IK3":
			r.ak3(s, list(guide, "720", "620"))
		case "AK4", "IK4":
			if r.place.Segment == 0 && r.place.Tag == "" {
				r.Find(edi.SeverityWarning, edi.AnswerOutOfOrder, s.Location(0, 0), "%s follows no %s3, so it cannot be told which segment it is about", s.Tag(), s.Tag()[:2])
			}
			r.object(edi.Objection{List: list(guide, "723", "621"), Code: trim(s.Get(3, 1)), Place: r.position(s, 1, r.place), Loop: r.loop,
				Element: trim(s.Get(2, 1)), Value: s.Get(4, 1), Reported: s.Location(3, 1)})
		case "CTX":
			if o := r.Objection(); o != nil {
				o.Context = append(o.Context, context(s))
			}
		case "AK5", "IK5":
			r.ak5(s, list(guide, "718", "618"))
		case "AK9":
			r.ak9(s)
		}
	}
	if r.groupAt < 0 {
		r.Find(edi.SeverityError, edi.AnswerSubjectMissing, r.Answer.Location, "%s has no AK1, so it cannot be told what it answers", r.Answer.Kind)
		return
	}
	r.endAnswered(b.Segment(b.Len() - 1))
}

func list(guide bool, plain, implementation string) string {
	if guide {
		return implementation
	}
	return plain
}

// context is what CTX says: names, positions and references, as they stand there.
func context(s edi.Segment) string {
	var b strings.Builder
	for v := range s.Values() {
		if v.Text == "" || v.Element == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(v.Text)
	}
	return b.String()
}

// ak1 begins the answer to a group: GS01, GS06 and, from 005010 on, GS08.
func (r *answering) ak1(s edi.Segment) {
	if r.groupAt >= 0 {
		r.Find(edi.SeverityWarning, edi.AnswerOutOfOrder, s.Location(0, 0), "a second AK1: a %s answers one group", r.Answer.Kind)
		r.endAnswered(s)
	}
	r.group = &edi.AnsweredGroup{FunctionalID: trim(s.Get(1, 1)), Reference: trim(s.Get(2, 1)), Version: trim(s.Get(3, 1)),
		Sender: r.around.Recipient, Recipient: r.around.Sender, Included: -1, Received: -1, Accepted: -1}
	if r.group.Reference == "" {
		r.Find(edi.SeverityError, edi.AnswerSubjectMissing, s.Location(2, 1), "AK1 has no group control number (AK102), so it cannot be told what it answers")
	}
	r.groupAt, r.ended, r.open = len(r.Answer.Judgements), false, false
	r.Judge(edi.Judgement{Level: edi.LevelGroup, Interchange: r.subject, Group: r.group}, s.Location(0, 0))
}

// ak2 begins the answer to a transaction set: ST01, ST02 and, from 005010 on, ST03.
func (r *answering) ak2(s edi.Segment) {
	if r.groupAt < 0 {
		r.Find(edi.SeverityError, edi.AnswerOutOfOrder, s.Location(0, 0), "AK2 stands before AK1, so it cannot be told in which group its set stood")
	}
	r.open, r.place, r.loop = true, edi.Location{}, ""
	version := trim(s.Get(3, 1))
	if version == "" && r.group != nil {
		version = r.group.Version
	}
	r.Judge(edi.Judgement{Level: edi.LevelMessage, Interchange: r.subject, Group: r.group, Reference: trim(s.Get(2, 1)),
		Type: r.messageType(trim(s.Get(1, 1)), version)}, s.Location(0, 0))
	if trim(s.Get(2, 1)) == "" {
		r.Find(edi.SeverityError, edi.AnswerSubjectMissing, s.Location(2, 1), "AK2 has no control number (AK202), so it cannot be told which set it is about")
	}
}

// ak3 tells a segment of our set. It has one code, in old versions up to five.
func (r *answering) ak3(s edi.Segment, list string) {
	if !r.open {
		r.Find(edi.SeverityWarning, edi.AnswerOutOfOrder, s.Location(0, 0), "%s follows no AK2, so it cannot be told which set it is about", s.Tag())
	}
	n := whole(trim(s.Get(2, 1)))
	if n < 1 {
		r.Find(edi.SeverityWarning, edi.AnswerPositionInvalid, s.Location(2, 1), "%q is no number of a segment", brief(s.Get(2, 1)))
	}
	r.place, r.loop = edi.Location{Tag: trim(s.Get(1, 1)), Segment: max(n, 0)}, trim(s.Get(3, 1))
	r.codes(s, 4, 8, edi.Objection{List: list, Place: r.place, Loop: r.loop})
}

// codes adds an objection like o for each code in elements from to to.
func (r *answering) codes(s edi.Segment, from, to int, o edi.Objection) {
	for e := from; e <= to; e++ {
		if o.Code = trim(s.Get(e, 1)); o.Code != "" {
			o.Reported = s.Location(e, 1)
			r.object(o)
		}
	}
}

func (r *answering) ak5(s edi.Segment, list string) {
	if !r.open {
		r.Find(edi.SeverityWarning, edi.AnswerOutOfOrder, s.Location(0, 0), "%s follows no AK2, so it cannot be told which set it is about", s.Tag())
		return
	}
	if r.open = false; r.Last() == nil {
		return
	}
	j := r.Last()
	j.Action = trim(s.Get(1, 1))
	j.Acceptance = r.acceptance(s, j.Action)
	r.codes(s, 2, 6, edi.Objection{List: list})
	if j.Acceptance == edi.Accepted && len(j.Objections) > 0 {
		r.Find(edi.SeverityWarning, edi.AnswerContradicts, s.Location(1, 1), "set %s is accepted (%s01 = A), yet errors are told of it", brief(j.Reference), s.Tag())
	}
}

// acceptance reads a verdict in the first element of s.
func (r *answering) acceptance(s edi.Segment, action string) edi.Acceptance {
	known, ok := functionalAcceptance[action]
	switch {
	case action == "":
		r.Find(edi.SeverityError, edi.AnswerVerdictMissing, s.Location(1, 1), "%s has no verdict", s.Tag())
	case !ok:
		r.Find(edi.SeverityError, edi.AnswerVerdictUnknown, s.Location(1, 1), "%q (%s01) is no verdict that there is", brief(action), s.Tag())
	}
	return known
}

func (r *answering) ak9(s edi.Segment) {
	if r.groupAt < 0 || r.ended {
		r.Find(edi.SeverityWarning, edi.AnswerOutOfOrder, s.Location(0, 0), "AK9 ends the answer to no group")
		return
	}
	if r.groupAt >= len(r.Answer.Judgements) { // there were too many
		return
	}
	r.ended = true
	j := &r.Answer.Judgements[r.groupAt]
	j.Action = trim(s.Get(1, 1))
	j.Acceptance = r.acceptance(s, j.Action)
	for e := 5; e <= 9; e++ {
		if code := trim(s.Get(e, 1)); code != "" {
			j.Objections = append(j.Objections, edi.Objection{List: "716", Code: code, Meaning: ErrorText("716", code), Reported: s.Location(e, 1)})
		}
	}
	r.group.Included, r.group.Received, r.group.Accepted = r.counted(s, 2), r.counted(s, 3), r.counted(s, 4)
	r.agree(s)
}

func (r *answering) counted(s edi.Segment, e int) int {
	v := trim(s.Get(e, 1))
	n := whole(v)
	if n < 0 {
		r.Find(edi.SeverityWarning, edi.AnswerCountsDiffer, s.Location(e, 1), "%q (AK90%d) is no count", brief(v), e)
	}
	return n
}

// agree holds AK9 against the sets that were named, each of which it must count.
func (r *answering) agree(s edi.Segment) {
	j := &r.Answer.Judgements[r.groupAt]
	accepted, rejected := 0, 0
	for _, m := range r.Answer.Judgements[r.groupAt+1:] {
		switch m.Acceptance {
		case edi.Accepted, edi.AcceptedWithErrors:
			accepted++
		case edi.Rejected:
			rejected++
		}
	}
	contradiction := func(text string, args ...any) {
		r.Find(edi.SeverityError, edi.AnswerContradicts, s.Location(1, 1), text, args...)
	}
	switch {
	case (j.Acceptance == edi.Accepted || j.Acceptance == edi.AcceptedWithErrors) && rejected > 0:
		contradiction("the group is accepted (AK901 = %s), but %d of its sets are rejected", j.Action, rejected)
	case j.Acceptance == edi.Rejected && accepted > 0:
		contradiction("the group is rejected (AK901 = %s), but %d of its sets are accepted", j.Action, accepted)
	}
	if j.Acceptance == edi.Accepted && len(j.Objections) > 0 {
		r.Find(edi.SeverityWarning, edi.AnswerContradicts, s.Location(5, 1), "the group is accepted (AK901 = A), yet errors are told of it")
	}
	g := r.group
	differ := func(e int, text string, args ...any) {
		r.Find(edi.SeverityWarning, edi.AnswerCountsDiffer, s.Location(e, 1), text, args...)
	}
	switch named := len(r.Answer.Judgements) - r.groupAt - 1; {
	case g.Included < 0 || g.Received < 0 || g.Accepted < 0:
	case named > g.Received:
		differ(3, "AK903 says that %d sets were received, but %d are named", g.Received, named)
	case g.Accepted > g.Received:
		differ(4, "AK904 says that %d sets were accepted, but AK903 that %d were received", g.Accepted, g.Received)
	case named == g.Received && named == accepted+rejected && accepted != g.Accepted, accepted > g.Accepted, rejected > g.Received-g.Accepted:
		differ(4, "AK904 says that %d of %d sets were accepted, but %d are named as accepted and %d as rejected", g.Accepted, g.Received, accepted, rejected)
	case (j.Acceptance == edi.Accepted || j.Acceptance == edi.AcceptedWithErrors) && g.Accepted < g.Received:
		differ(4, "the group is accepted (AK901 = %s), but AK904 counts %d of %d sets as accepted", j.Action, g.Accepted, g.Received)
	case j.Acceptance == edi.Rejected && g.Accepted > 0:
		differ(4, "the group is rejected (AK901 = %s), but AK904 counts %d sets as accepted", j.Action, g.Accepted)
	case g.Included != g.Received:
		r.Find(edi.SeverityNote, edi.AnswerCountsDiffer, s.Location(2, 1), "GE01 said %d sets (AK902), and %d were received (AK903)", g.Included, g.Received)
	}
}

// endAnswered is reached at the end of what is said of a group.
// QUIRK: AK5 is left out by some where a set has no error; AK9 then decides.
func (r *answering) endAnswered(s edi.Segment) {
	if r.groupAt >= len(r.Answer.Judgements) {
		return
	}
	all := r.Answer.Judgements[r.groupAt:]
	group := &all[0]
	if !r.ended {
		r.Find(edi.SeverityError, edi.AnswerVerdictMissing, s.Location(0, 0), "AK9 is missing: whether group %s was accepted is not told", brief(r.group.Reference))
	}
	silent := slices.IndexFunc(all[1:], func(j edi.Judgement) bool { return j.Action == "" && j.Acceptance == edi.AcceptanceUnknown }) + 1
	if silent == 0 {
		return
	}
	r.Find(edi.SeverityWarning, edi.AnswerVerdictMissing, s.Location(0, 0), "set %s has no AK5 with a verdict; it is taken to share the group's, if that is one for all", brief(all[silent].Reference))
	for i := silent; i < len(all); i++ {
		if j := &all[i]; j.Action == "" && j.Acceptance == edi.AcceptanceUnknown && group.Acceptance != edi.PartlyAccepted {
			j.Acceptance = group.Acceptance
		}
	}
}
