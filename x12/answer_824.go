package x12

import (
	"github.com/edigw/edigw/edi"
)

// application reads an 824: OTI for each thing that is judged, and under it TED for
// each error. It judges content, by its number as well as by ST02.
func (r *answering) application(b *edi.Body) {
	inError := false // TED was read since OTI
	for _, s := range b.Segments[1:] {
		switch s.Tag() {
		case "BGN":
			r.Answer.Number = trim(s.Get(2, 1))
		case "OTI":
			inError = false
			r.oti(s)
		case "REF":
			ref := edi.AnsweredReference{Qualifier: trim(s.Get(1, 1)), Number: trim(s.Get(2, 1))}
			if o := r.Objection(); inError && o != nil {
				o.About = append(o.About, ref)
			} else if j := r.Last(); j != nil && !inError {
				j.Documents = append(j.Documents, ref)
			}
		case "TED":
			inError = true
			r.place = r.position(s, 5, edi.Location{Tag: trim(s.Get(3, 1)), Segment: max(whole(trim(s.Get(4, 1))), 0)})
			r.object(edi.Objection{List: "647", Code: trim(s.Get(1, 1)), Text: trim(s.Get(2, 1)), Place: r.place, Element: trim(s.Get(6, 1)),
				Value: s.Get(7, 1), NewValue: s.Get(8, 1), Reported: s.Location(1, 1)})
		case "RED":
			r.object(edi.Objection{List: "1271", Code: trim(s.Get(6, 1)), Agency: trim(s.Get(5, 1)), Text: trim(s.Get(1, 1)), Place: r.place, Reported: s.Location(6, 1)})
		case "LQ":
			r.object(edi.Objection{List: "1271", Code: trim(s.Get(2, 1)), Agency: trim(s.Get(1, 1)), Place: r.place, Reported: s.Location(2, 1)})
		case "CTX":
			if o := r.Objection(); o != nil && inError {
				o.Context = append(o.Context, context(s))
			}
		case "NTE":
			r.note(s, inError)
		}
	}
	if len(r.Answer.Judgements) == 0 {
		r.Find(edi.SeverityError, edi.AnswerSubjectMissing, r.Answer.Location, "824 has no OTI, so it cannot be told what it answers")
	}
	for i := range r.Answer.Judgements {
		if j := &r.Answer.Judgements[i]; j.Acceptance == edi.Accepted && len(j.Objections) > 0 {
			r.Find(edi.SeverityWarning, edi.AnswerContradicts, j.Objections[0].Reported, "%s is accepted (OTI01 = %s), yet errors are told of it", brief(j.Reference), j.Action)
		}
	}
}

// oti reads the verdict in OTI01 (110): its first letter says of what, its second what
// became of it.
func (r *answering) oti(s edi.Segment) {
	r.place = edi.Location{}
	j := edi.Judgement{Level: edi.LevelDocument, Interchange: r.subject, Reference: trim(s.Get(9, 1)), Action: trim(s.Get(1, 1))}
	if number := trim(s.Get(3, 1)); number != "" {
		j.Documents = append(j.Documents, edi.AnsweredReference{Qualifier: trim(s.Get(2, 1)), Number: number, Date: date(trim(s.Get(6, 1)))})
	}
	version := trim(s.Get(11, 1))
	if set := trim(s.Get(10, 1)); set != "" {
		j.Type = r.messageType(set, version)
	}
	if group := trim(s.Get(8, 1)); group != "" {
		j.Group = &edi.AnsweredGroup{Reference: group, Version: version, Included: -1, Received: -1, Accepted: -1,
			Sender: edi.Party{ID: trim(s.Get(4, 1))}, Recipient: edi.Party{ID: trim(s.Get(5, 1))}}
		if j.Group.Sender.ID == "" && j.Group.Recipient.ID == "" {
			j.Group.Sender, j.Group.Recipient = r.around.Recipient, r.around.Sender
		}
	}
	known := false
	if len(j.Action) == 2 {
		j.Acceptance, known = applicationAcceptance[j.Action[1]]
		switch j.Action[0] {
		case 'T':
			if j.Reference != "" {
				j.Level = edi.LevelMessage
			}
		case 'G':
			if j.Group != nil {
				j.Level = edi.LevelGroup
			}
		case 'B', 'I': // a batch within a set, an item
		default:
			j.Acceptance, known = edi.AcceptanceUnknown, false
		}
	}
	switch {
	case j.Action == "":
		r.Find(edi.SeverityError, edi.AnswerVerdictMissing, s.Location(1, 1), "OTI has no verdict (OTI01)")
	case !known:
		r.Find(edi.SeverityError, edi.AnswerVerdictUnknown, s.Location(1, 1), "%q (OTI01) is no verdict that there is", brief(j.Action))
	}
	if j.Level == edi.LevelDocument && len(j.Documents) == 0 && j.Reference == "" {
		r.Find(edi.SeverityError, edi.AnswerSubjectMissing, s.Location(3, 1), "OTI names neither a reference (OTI03) nor a transaction set (OTI09), so it cannot be told of what it speaks")
	}
	r.Judge(j, s.Location(0, 0))
}

var applicationAcceptance = map[byte]edi.Acceptance{
	'A': edi.Accepted, 'C': edi.AcceptedWithErrors, 'E': edi.AcceptedWithErrors, 'P': edi.PartlyAccepted, 'R': edi.Rejected,
	'H': edi.AcceptanceReceived, // on hold, in versions behind 005010
}

// note adds NTE to the error it follows, or to what is judged.
func (r *answering) note(s edi.Segment, inError bool) {
	j := r.Last()
	if j == nil {
		return
	}
	text := &j.Text
	if o := r.Objection(); inError && o != nil {
		text = &o.Text
	}
	if *text != "" {
		*text += " "
	}
	*text += trim(s.Get(2, 1))
}
