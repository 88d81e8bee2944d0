package edi

import "fmt"

// Answering puts an Answer together while its text is read. What follows a
// judgement belongs to it, so the last one is the one at hand.
type Answering struct {
	Answer     Answer
	objections int
	full       bool
}

// An answer of more is cut off, with a finding: nobody answers so much of what we
// sent, and it would have to be held in memory.
const (
	MaxJudgements = 100_000
	MaxObjections = 50_000
	maxSaid       = 50 // findings
)

// The codes of what can be wrong with an answer itself.
const (
	AnswerRefused         = "answer-refused"
	AnswerSubjectMissing  = "answer-subject-missing"
	AnswerVerdictMissing  = "answer-verdict-missing"
	AnswerVerdictUnknown  = "answer-verdict-unknown"
	AnswerContradicts     = "answer-contradicts-itself"
	AnswerCountsDiffer    = "answer-counts-differ"
	AnswerPartiesDiffer   = "answer-parties-differ"
	AnswerPositionInvalid = "answer-position-invalid"
	AnswerOutOfOrder      = "answer-out-of-order"
	AnswerTooLarge        = "answer-too-large"
)

// Find notes what is wrong with the answer itself; of one that is cut off, nothing
// more.
func (a *Answering) Find(severity Severity, code string, at Location, text string, args ...any) {
	if a.full && code != AnswerTooLarge {
		return
	}
	if len(a.Answer.Findings) < maxSaid || severity == SeverityError && Worst(a.Answer.Findings) < SeverityError {
		a.Answer.Findings = append(a.Answer.Findings, &Error{Code: code, Severity: severity, Location: at, Text: fmt.Sprintf(text, args...)})
	}
}

// Judge adds a judgement.
func (a *Answering) Judge(j Judgement, at Location) {
	if a.full || len(a.Answer.Judgements) >= MaxJudgements {
		a.tooLarge(at)
		return
	}
	a.Answer.Judgements = append(a.Answer.Judgements, j)
}

// Last is the judgement at hand, nil where there is none. It is valid until the
// next one.
func (a *Answering) Last() *Judgement {
	if n := len(a.Answer.Judgements); n > 0 && !a.full {
		return &a.Answer.Judgements[n-1]
	}
	return nil
}

// Object adds an objection to the judgement at hand.
func (a *Answering) Object(o Objection) {
	j := a.Last()
	switch {
	case j == nil:
	case a.objections >= MaxObjections:
		a.tooLarge(o.Reported)
	default:
		a.objections++
		j.Objections = append(j.Objections, o)
	}
}

// Objection is the last one of the judgement at hand, nil where it has none.
func (a *Answering) Objection() *Objection {
	if j := a.Last(); j != nil && len(j.Objections) > 0 {
		return &j.Objections[len(j.Objections)-1]
	}
	return nil
}

func (a *Answering) tooLarge(at Location) {
	if !a.full {
		a.full = true
		a.Find(SeverityError, AnswerTooLarge, at, "the answer has more than %d verdicts or %d errors; the rest is left out", MaxJudgements, MaxObjections)
	}
}
