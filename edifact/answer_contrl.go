package edifact

import (
	"github.com/edigw/edigw/edi"
)

// actionAcceptance reads 0083. 1, 2, 3, 5 and 6 are those of CONTRL before
// version 3, and are still met.
var actionAcceptance = map[string]edi.Acceptance{
	"1": edi.Accepted,
	"2": edi.AcceptedWithErrors,
	"3": edi.PartlyAccepted,
	"4": edi.Rejected,
	"5": edi.AcceptanceReceived, // UNB and UNZ alone
	"6": edi.Rejected,           // likewise, but nothing is left without them
	"7": edi.Accepted,
	"8": edi.AcceptanceReceived,
}

// contrl reads ISO 9735-4: UCI, then UCM with UCS and UCD, under UCF where there
// are groups. A message that no UCM names shares what its group or the interchange
// is told (Answer.On).
func (r *answering) contrl(ic *edi.Interchange, b *edi.Body) {
	for _, s := range b.Segments[1:] {
		switch s.Tag() {
		case "UCI":
			r.uci(ic, s)
		case "UCF":
			r.group = &edi.AnsweredGroup{Reference: trim(s.Get(1, 1)), Sender: party(s, 2), Recipient: party(s, 3), Included: -1, Received: -1, Accepted: -1}
			r.judge(s, edi.Judgement{Level: edi.LevelGroup}, 1, 4)
		case "UCM":
			r.ucm(s)
		case "UCO": // a package, in the second edition of ISO 9735-4
			r.judge(s, edi.Judgement{Level: edi.LevelMessage, Reference: referencePrefix + trim(s.Get(1, 1)),
				Type: r.intern(edi.MessageType{Type: edi.Package, Version: s.Get(2, 1), Release: s.Get(2, 2)})}, 1, 3)
		case "UCS":
			r.ucs(s)
		case "UCD":
			r.ucd(s)
		}
	}
	if len(r.Answer.Judgements) == 0 {
		r.Find(edi.SeverityError, edi.AnswerSubjectMissing, r.Answer.Location, "CONTRL has no UCI, so it cannot be told what it answers")
		return
	}
	r.contradictions()
}

// uci begins the answer. Its parties are those of our UNB, in our order.
func (r *answering) uci(ic *edi.Interchange, s edi.Segment) {
	if len(r.Answer.Judgements) > 0 {
		r.Find(edi.SeverityError, edi.AnswerOutOfOrder, s.Location(0, 0), "UCI stands behind another segment of the answer: a CONTRL answers one interchange, and UCI begins it")
	}
	sender, recipient := party(s, 2), party(s, 3)
	r.subject = &edi.AnsweredInterchange{ControlReference: trim(s.Get(1, 1)), Sender: sender, Recipient: recipient}
	r.group = nil
	switch {
	case sender.ID == ic.Recipient.ID && recipient.ID == ic.Sender.ID:
	case sender.ID == ic.Sender.ID && recipient.ID == ic.Recipient.ID:
		// QUIRK: some swap the parties of UCI as they do those of UNB.
		r.subject.Sender, r.subject.Recipient = recipient, sender
		r.Find(edi.SeverityWarning, edi.AnswerPartiesDiffer, s.Location(2, 1), "UCI names the parties in the order of its own UNB, not of ours; they are read the other way round")
	default:
		r.Find(edi.SeverityNote, edi.AnswerPartiesDiffer, s.Location(2, 1), "UCI names parties other than those of its own UNB")
	}
	r.judge(s, edi.Judgement{Level: edi.LevelInterchange}, 1, 4)
}

// ucm names a message by 0062 and S009, or in version 4 a package by 0800 and S020.
func (r *answering) ucm(s edi.Segment) {
	j := edi.Judgement{Level: edi.LevelMessage, Reference: trim(s.Get(1, 1))}
	j.Type = r.intern(edi.MessageType{Type: trim(s.Get(2, 1)), Version: trim(s.Get(2, 2)), Release: trim(s.Get(2, 3)),
		Agency: trim(s.Get(2, 4)), AssociationCode: trim(s.Get(2, 5))})
	if object := trim(s.Get(7, 1)); object != "" && j.Reference == "" {
		j.Reference, j.Type = referencePrefix+object, r.intern(edi.MessageType{Type: edi.Package, Version: s.Get(8, 1), Release: s.Get(8, 2)})
	}
	r.judge(s, j, 1, 3)
}

// judge adds j with the action in element act and, behind it, 0085, the service
// segment and S011. name is the element with the reference.
func (r *answering) judge(s edi.Segment, j edi.Judgement, name, act int) {
	if j.Level != edi.LevelInterchange && len(r.Answer.Judgements) == 0 {
		r.Find(edi.SeverityError, edi.AnswerOutOfOrder, s.Location(0, 0), "%s stands before UCI, so it cannot be told of which interchange it speaks", s.Tag())
	}
	j.Interchange, j.Group = r.subject, r.group
	j.Action = trim(s.Get(act, 1))
	known := false
	switch j.Acceptance, known = actionAcceptance[j.Action]; {
	case j.Action == "":
		r.Find(edi.SeverityError, edi.AnswerVerdictMissing, s.Location(act, 1), "%s has no action (0083): whether it was accepted is not told", s.Tag())
	case !known:
		r.Find(edi.SeverityError, edi.AnswerVerdictUnknown, s.Location(act, 1), "%q (0083) in %s is no action that there is", brief(j.Action), s.Tag())
	}
	if s.RawValue(name, 1, 1) == nil && j.Reference == "" {
		r.Find(edi.SeverityError, edi.AnswerSubjectMissing, s.Location(name, 1), "%s has no reference, so it cannot be told of what it speaks", s.Tag())
	}
	r.Judge(j, s.Location(0, 0))
	r.place, r.coded, r.inside = edi.Location{}, false, false
	if code := trim(s.Get(act+1, 1)); code != "" {
		o := edi.Objection{Code: code, Reported: s.Location(act+1, 1)}
		o.Place.Tag = trim(s.Get(act+2, 1))
		if o.Place.Tag == "UNH" || o.Place.Tag == "UNO" {
			o.Place.Segment = 1
		}
		r.element(s, act+3, &o)
		r.object(o)
	}
}

// ucs tells a segment of our message by its number; it may have no code of its own,
// where UCD follow.
func (r *answering) ucs(s edi.Segment) {
	if j := r.Last(); j == nil || j.Level != edi.LevelMessage {
		r.Find(edi.SeverityWarning, edi.AnswerOutOfOrder, s.Location(0, 0), "UCS does not follow a UCM, so it cannot be told which message it is about")
	}
	n := whole(s.Get(1, 1))
	if n < 1 {
		r.Find(edi.SeverityWarning, edi.AnswerPositionInvalid, s.Location(1, 1), "%q (0096) is no number of a segment", brief(s.Get(1, 1)))
		n = 0
	}
	r.place, r.inside = edi.Location{Segment: n}, true
	code := trim(s.Get(2, 1))
	if r.coded = code != ""; r.coded {
		r.object(edi.Objection{Code: code, Place: r.place, Reported: s.Location(2, 1)})
	}
}

func (r *answering) ucd(s edi.Segment) {
	if !r.inside {
		r.Find(edi.SeverityWarning, edi.AnswerOutOfOrder, s.Location(0, 0), "UCD does not follow a UCS, so it cannot be told which segment it is about")
	}
	o := edi.Objection{Code: trim(s.Get(1, 1)), Place: r.place, Reported: s.Location(1, 1)}
	r.element(s, 2, &o)
	r.object(o)
}

// element reads S011: the tag has position 1, so 2 is the first element.
func (r *answering) element(s edi.Segment, e int, o *edi.Objection) {
	at := func(c int) int {
		v := trim(s.Get(e, c))
		n := whole(v)
		if n < 0 && v != "" {
			r.Find(edi.SeverityWarning, edi.AnswerPositionInvalid, s.Location(e, c), "%q (S011) in %s is no position", brief(v), s.Tag())
		}
		return max(n, 0)
	}
	o.Place.Element, o.Place.Component, o.Place.Repetition = max(at(1)-1, 0), at(2), at(3)
}

// contradictions looks for verdicts that cannot both be meant.
func (r *answering) contradictions() {
	var interchange, group edi.Acceptance
	for i := range r.Answer.Judgements {
		j := &r.Answer.Judgements[i]
		outer := interchange
		if j.Level == edi.LevelMessage && j.Group != nil {
			outer = group
		}
		switch {
		case j.Level == edi.LevelInterchange:
			interchange = j.Acceptance
		case outer == edi.Rejected && (j.Acceptance == edi.Accepted || j.Acceptance == edi.AcceptedWithErrors):
			r.Find(edi.SeverityError, edi.AnswerContradicts, r.Answer.Location, "%s %s is acknowledged (0083 = %s), but what it stands in was rejected with all below", j.Level, brief(name(j)), j.Action)
		case outer == edi.AcceptanceReceived && j.Acceptance != edi.AcceptanceReceived:
			r.Find(edi.SeverityNote, edi.AnswerContradicts, r.Answer.Location, "the interchange was received without a judgement of its content (0083 = 8), but %s %s is judged", j.Level, brief(name(j)))
		}
		if j.Level == edi.LevelGroup {
			group = j.Acceptance
		}
		if j.Acceptance == edi.Accepted && len(j.Objections) > 0 {
			o := &j.Objections[0]
			r.Find(edi.SeverityWarning, edi.AnswerContradicts, o.Reported, "%s %s is acknowledged (0083 = %s), yet an error is told of it (0085 = %s)", j.Level, brief(name(j)), j.Action, brief(o.Code))
		}
	}
}

// name is how a judgement names what it is about.
func name(j *edi.Judgement) string {
	switch {
	case j.Level == edi.LevelGroup:
		return j.Group.Reference
	case j.Level == edi.LevelInterchange:
		return j.Interchange.ControlReference
	}
	return j.Reference
}
