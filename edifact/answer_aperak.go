package edifact

import (
	"slices"

	"github.com/edigw/edigw/edi"
)

// What an APERAK says of what it answers stands in BGM: 4343 where it is sent, else
// 1225, else the kind of APERAK in 1001. Guides differ; a code that says nothing of
// acceptance, such as 9 for an original, is passed over.
var (
	responseAcceptance = map[string]edi.Acceptance{ // 4343
		"AB": edi.AcceptanceReceived, "AC": edi.AcceptedWithErrors, "AD": edi.Accepted, "AJ": edi.AcceptanceReceived,
		"AP": edi.Accepted, "CA": edi.AcceptedWithErrors, "RE": edi.Rejected,
	}
	functionAcceptance = map[string]edi.Acceptance{ // 1225
		"6": edi.Accepted, "10": edi.Rejected, "12": edi.AcceptanceReceived, "27": edi.Rejected, "28": edi.AcceptedWithErrors, "29": edi.Accepted,
		"30": edi.AcceptedWithErrors, "34": edi.AcceptedWithErrors, "44": edi.Accepted, "45": edi.AcceptedWithErrors, "48": edi.Rejected,
	}
	advices = map[string]edi.Acceptance{"312": edi.Accepted, "313": edi.Rejected} // 1001
)

// reference says what the DTM or FTX at hand belongs to.
type reference uint8

const (
	toHeading reference = iota
	toDocument
	toParty
	toError
)

// aperak reads BGM, FTX, DOC and RFF with DTM, and ERC with FTX and RFF. Segment
// groups differ between directories: D.96A has no DOC. Errors are in ERC, so an
// APERAK that has one and says nothing else rejects, and one without is a receipt.
func (r *answering) aperak(b *edi.Body) {
	r.Judge(edi.Judgement{Level: edi.LevelDocument, Interchange: r.subject}, r.Answer.Location)
	j, told := r.Last(), edi.Segment{}
	for _, s := range b.Segments[1:] {
		switch s.Tag() {
		case "BGM":
			told = s
			r.Answer.Number = trim(s.Get(2, 1))
		case "DOC":
			r.refers = toDocument
			j.Documents = append(j.Documents, edi.AnsweredReference{Document: true, Qualifier: trim(s.Get(1, 1)), Number: trim(s.Get(2, 1)), Version: trim(s.Get(2, 5))})
		case "RFF":
			r.rff(s, j)
		case "DTM":
			if n := len(j.Documents); r.refers == toDocument && n > 0 && j.Documents[n-1].Date == "" {
				j.Documents[n-1].Date = dtmDate(s)
			}
		case "NAD":
			r.refers = toParty
		case "ERC":
			r.refers = toError
			agency := trim(s.Get(1, 3))
			if agency == "" {
				agency = trim(s.Get(1, 2))
			}
			r.Object(edi.Objection{List: "9321", Code: trim(s.Get(1, 1)), Agency: agency, Reported: s.Location(1, 1)})
		case "FTX":
			text := &j.Text
			if o := r.Objection(); r.refers == toError && o != nil {
				text = &o.Text
			}
			*text = joined(*text, freeText(s))
		}
	}
	r.verdict(told, j)
	// QUIRK: some name the document behind ERC alone.
	if len(j.Documents) == 0 {
		j.Documents = about(j.Objections)
	}
	if len(j.Documents) == 0 {
		r.Find(edi.SeverityError, edi.AnswerSubjectMissing, r.Answer.Location, "APERAK has neither DOC nor RFF, so it cannot be told what it answers")
	}
}

// rff is of the whole before the first ERC, and of the error behind it.
func (r *answering) rff(s edi.Segment, j *edi.Judgement) {
	ref := edi.AnsweredReference{Qualifier: trim(s.Get(1, 1)), Number: trim(s.Get(1, 2)), Line: trim(s.Get(1, 3)), Version: trim(s.Get(1, 4))}
	if r.refers != toError {
		r.refers = toDocument
		j.Documents = append(j.Documents, ref)
		return
	}
	if o := r.Objection(); o != nil {
		o.About = append(o.About, ref)
	}
}

// about gives the documents, each once, that errors are about: without their lines.
func about(list []edi.Objection) (documents []edi.AnsweredReference) {
	for _, o := range list {
		for _, ref := range o.About {
			ref.Line = ""
			if !slices.Contains(documents, ref) && len(documents) < maxAbout {
				documents = append(documents, ref)
			}
		}
	}
	return documents
}

// maxAbout keeps that from being slow for somebody who names thousands.
const maxAbout = 100

// verdict reads BGM, which is the zero Segment where there is none.
func (r *answering) verdict(bgm edi.Segment, j *edi.Judgement) {
	response, function, kind := trim(bgm.Get(4, 1)), trim(bgm.Get(3, 1)), trim(bgm.Get(1, 1))
	byResponse, byFunction := responseAcceptance[response], functionAcceptance[function]
	switch {
	case byResponse != edi.AcceptanceUnknown:
		j.Acceptance, j.Action = byResponse, response
		if (byFunction == edi.Rejected) != (byResponse == edi.Rejected) && byFunction != edi.AcceptanceUnknown {
			r.Find(edi.SeverityError, edi.AnswerContradicts, bgm.Location(3, 1), "BGM says %s by its response type (4343 = %s) and %s by its function (1225 = %s)",
				byResponse, response, byFunction, function)
		}
	case byFunction != edi.AcceptanceUnknown:
		j.Acceptance, j.Action = byFunction, function
	case advices[kind] != edi.AcceptanceUnknown:
		j.Acceptance, j.Action = advices[kind], kind
	case len(j.Objections) > 0:
		j.Acceptance = edi.Rejected
	default:
		j.Acceptance = edi.AcceptanceReceived
		r.Find(edi.SeverityNote, edi.AnswerVerdictMissing, bgm.Location(0, 0), "APERAK tells neither a verdict (4343, 1225) nor an error: it says that the document was received")
	}
	if j.Acceptance == edi.Accepted && len(j.Objections) > 0 {
		r.Find(edi.SeverityNote, edi.AnswerContradicts, j.Objections[0].Reported, "APERAK accepts, and has ERC all the same: they may only specify the acceptance")
	}
}

// freeText is what FTX says: C108, or the code of a text in C107.
func freeText(s edi.Segment) string {
	text := ""
	for c := 1; c <= 5; c++ {
		text = joined(text, trim(s.Get(4, c)))
	}
	if text == "" {
		text = trim(s.Get(3, 1))
	}
	return text
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// dtmDate is the day of a DTM that tells one, as CCYYMMDD.
func dtmDate(s edi.Segment) string {
	v := trim(s.Get(1, 2))
	switch trim(s.Get(1, 3)) {
	case "101":
		if len(v) == 6 {
			v = "20" + v
		}
	case "102", "203", "204", "303", "304", "":
	default:
		return ""
	}
	if len(v) < 8 || !edi.Digits(v[:8]) {
		return ""
	}
	return v[:8]
}
