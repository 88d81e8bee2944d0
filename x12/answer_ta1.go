package x12

import (
	"github.com/edigw/edigw/edi"
)

// interchangeAcceptance reads TA104 (I17).
var interchangeAcceptance = map[string]edi.Acceptance{"A": edi.Accepted, "E": edi.AcceptedWithErrors, "R": edi.Rejected}

// ta1Answer reads TA1: ISA13, ISA09 and ISA10 of our interchange, what became of it,
// and why. It speaks of the envelope; what is in it is judged by 997 and 999.
func ta1Answer(ic *edi.Interchange, s edi.Segment) *edi.Answer {
	var a edi.Answering
	a.Answer = edi.Answer{Kind: "TA1", Message: -1, Location: s.Location(0, 0)}
	j := edi.Judgement{Level: edi.LevelInterchange, Action: trim(s.Get(4, 1)), Interchange: &edi.AnsweredInterchange{
		ControlReference: controlNumber(trim(s.Get(1, 1))), Sender: ic.Recipient, Recipient: ic.Sender,
		Date: date(trim(s.Get(2, 1))), Time: trim(s.Get(3, 1))}}
	known := false
	switch j.Acceptance, known = interchangeAcceptance[j.Action]; {
	case j.Action == "":
		a.Find(edi.SeverityError, edi.AnswerVerdictMissing, s.Location(4, 1), "TA1 has no verdict (TA104)")
	case !known:
		a.Find(edi.SeverityError, edi.AnswerVerdictUnknown, s.Location(4, 1), "%q (TA104) is none of A, E and R", brief(j.Action))
	}
	if j.Interchange.ControlReference == "" {
		a.Find(edi.SeverityError, edi.AnswerSubjectMissing, s.Location(1, 1), "TA1 has no control number (TA101), so it cannot be told what it answers")
	}
	a.Judge(j, a.Answer.Location)
	note := trim(s.Get(5, 1))
	if note != "" && note != "000" {
		a.Object(edi.Objection{List: "I18", Code: note, Meaning: ErrorText("I18", note), Reported: s.Location(5, 1)})
	}
	switch {
	case j.Acceptance == edi.Accepted && note != "" && note != "000":
		a.Find(edi.SeverityWarning, edi.AnswerContradicts, s.Location(5, 1), "TA1 accepts (TA104 = A), yet tells an error (TA105 = %s)", brief(note))
	case note == "000" && (j.Acceptance == edi.Rejected || j.Acceptance == edi.AcceptedWithErrors):
		a.Find(edi.SeverityWarning, edi.AnswerContradicts, s.Location(5, 1), "TA1 tells of an error (TA104 = %s), yet says that there is none (TA105 = 000)", j.Action)
	}
	return &a.Answer
}

// headed hands out each TA1 that stands between ISA and the first group.
func (r Reader) headed(p *edi.Payload, ic *edi.Interchange, visit func(edi.Segment) error) error {
	c, _ := r.charset()
	lex := edi.NewLexer(ic.Delimiters, c.Decode)
	w := edi.NewWindow(p, ic.Offset, ic.Offset+ic.Length, r.chunk)
	if r.LineWraps {
		raw, err := p.Slice(ic.Offset, min(ic.Length, r.messageLimit()))
		if err != nil {
			return err
		}
		if flat, breaks := edi.Unwrap(raw, ic.Offset, ic.Delimiters); breaks != nil {
			lex.Unwrapped(breaks)
			w = edi.NewWindow(edi.Bytes(flat), 0, int64(len(flat)), 0)
		}
	}
	if err := w.Slide(0); err != nil {
		return err
	}
	lex.Window(w.Raw, w.At)
	number, next := int32(0), 0
	look := func() (grouped bool, err error) {
		for ; next < len(lex.Segments); next++ {
			s := &lex.Segments[next]
			number++
			s.Number = number
			switch s.Tag() {
			case "TA1":
				if err := visit(*s); err != nil {
					return true, err
				}
			case "GS", "ST", "IEA":
				return true, nil
			}
		}
		return false, nil
	}
	for {
		left := lex.Lex(headBlock)
		if done, err := look(); done || err != nil {
			return err
		}
		if size, _ := lex.Held(next); int64(size) > r.messageLimit() { // Scan has refused it
			return nil
		}
		switch {
		case left:
		case w.More():
			by := lex.Drop(next)
			next = 0
			if err := w.Slide(by); err != nil {
				return err
			}
			lex.Window(w.Raw, w.At)
		default:
			lex.End()
			_, err := look()
			return err
		}
	}
}

// headBlock is how much is looked at in one go: TA1 stand near the start.
const headBlock = 4 << 10
