package edifact

import (
	"strconv"
	"strings"

	"github.com/edigw/edigw/edi"
)

// Answers hands out what the CONTRL and APERAK say that stand in ic, an
// interchange that Scan has read, in their order. One in a message or an
// interchange that was refused says so in its findings. visit's error ends the
// reading and is returned as it is; any other error is ours: the payload could
// not be read. Memory is bounded as in Scan, and the payload is read only where
// ic holds such a message.
func (r Reader) Answers(p *edi.Payload, ic *edi.Interchange, visit func(edi.Answer) error) error {
	any := false
	for i := range ic.Messages {
		any = any || answers(ic.Messages[i].Type.Type)
	}
	if !any {
		return nil
	}
	r.Check, r.Undigested = nil, true
	again := *ic
	return r.Scan(p, &again, func(i int, b *edi.Body) error {
		if i >= len(ic.Messages) {
			return nil
		}
		a := Answer(ic, i, b)
		if a == nil {
			return nil
		}
		if ic.Refused(i) {
			a.Findings = append(a.Findings, &edi.Error{Code: edi.AnswerRefused, Severity: edi.SeverityError, Location: a.Location,
				Text: "the message that carries the answer has errors of its own"})
		}
		return visit(*a)
	})
}

// answers reports whether messages of type t answer something.
func answers(t string) bool { return t == "CONTRL" || t == "APERAK" }

// Answer reads b, message i of ic, if it is a CONTRL of version 2, 3 or 4, or an
// APERAK of any directory; nil if it is neither. It never fails: what cannot be
// understood is a finding of the answer.
func Answer(ic *edi.Interchange, i int, b *edi.Body) *edi.Answer {
	t := ic.Messages[i].Type.Type
	if !answers(t) || b.Len() == 0 {
		return nil
	}
	r := answering{subject: &edi.AnsweredInterchange{Sender: ic.Recipient, Recipient: ic.Sender}}
	r.Answer = edi.Answer{Kind: t, Message: i, Location: b.Segment(0).Location(0, 0)}
	if g := ic.Messages[i].Group; g >= 0 {
		r.around = &ic.Groups[g]
	}
	if t == "CONTRL" {
		r.contrl(ic, b)
	} else {
		r.aperak(b)
	}
	return &r.Answer
}

// answering is the state while an answer is read.
type answering struct {
	edi.Answering
	subject *edi.AnsweredInterchange
	around  *edi.Group         // that the answer stands in, nil without groups
	group   *edi.AnsweredGroup // that the messages being told stand in
	types   map[edi.MessageType]*edi.MessageType
	place   edi.Location // that UCS told, in our message
	coded   bool         // UCS had a code of its own
	inside  bool         // a UCS was read since the last UCM
	refers  reference    // what a DTM or FTX belongs to
}

// object adds an objection of 0085 with the code's meaning.
func (r *answering) object(o edi.Objection) {
	o.List, o.Meaning = "0085", ErrorText(o.Code)
	r.Object(o)
}

// intern gives t once for all messages that name the same.
func (r *answering) intern(t edi.MessageType) *edi.MessageType {
	known := r.types[t]
	if known == nil {
		if r.types == nil {
			r.types = make(map[edi.MessageType]*edi.MessageType)
		}
		known = &t
		r.types[t] = known
	}
	return known
}

// whole reads a number of up to nine digits; -1 is none.
func whole(s string) int {
	if s = trim(s); !edi.Digits(s) || len(s) > 9 {
		return -1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// brief cuts what is quoted in a text.
func brief(s string) string { return strings.ToValidUTF8(s[:min(len(s), 20)], "") }
