package x12

import (
	"strconv"
	"strings"

	"github.com/edigw/edigw/edi"
)

// Answers hands out what stands in ic, an interchange that Scan has read, of
// answers to what we sent: each TA1, 997, 999 and 824, in their order. One in a set,
// a group or an interchange that was refused says so in its findings. visit's error
// ends the reading and is returned as it is; any other error is ours: the payload
// could not be read. Memory is bounded as in Scan, and the payload is read only where
// ic holds an answer.
func (r Reader) Answers(p *edi.Payload, ic *edi.Interchange, visit func(edi.Answer) error) error {
	refused := func(a *edi.Answer, by bool) {
		if by {
			a.Findings = append(a.Findings, &edi.Error{Code: edi.AnswerRefused, Severity: edi.SeverityError, Location: a.Location,
				Text: "what the answer stands in has errors of its own"})
		}
	}
	if carriesTA1(ic) || ic.DroppedErrors > 0 { // the note may be among those
		if err := r.headed(p, ic, func(s edi.Segment) error {
			a := ta1Answer(ic, s)
			refused(a, edi.Worst(ic.Errors) >= edi.SeverityError)
			return visit(*a)
		}); err != nil {
			return err
		}
	}
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
		refused(a, ic.Refused(i))
		return visit(*a)
	})
}

// answers reports whether transaction sets of type t answer something.
func answers(t string) bool { return t == "997" || t == "999" || t == "824" }

// Answer reads b, transaction set i of ic, if it is a 997, a 999 or an 824 of any
// version; nil if it is none. It never fails: what cannot be understood is a finding
// of the answer.
func Answer(ic *edi.Interchange, i int, b *edi.Body) *edi.Answer {
	t := ic.Messages[i].Type.Type
	if !answers(t) || b.Len() == 0 {
		return nil
	}
	r := answering{subject: &edi.AnsweredInterchange{Sender: ic.Recipient, Recipient: ic.Sender}, groupAt: -1}
	r.Answer = edi.Answer{Kind: t, Message: i, Location: b.Segment(0).Location(0, 0)}
	if g := ic.Messages[i].Group; g >= 0 {
		r.around = ic.Groups[g]
	}
	if t == "824" {
		r.application(b)
	} else {
		r.functional(b)
	}
	return &r.Answer
}

// answering is the state while an answer is read.
type answering struct {
	edi.Answering
	subject *edi.AnsweredInterchange
	around  edi.Group          // that the answer stands in
	group   *edi.AnsweredGroup // that the sets being told stand in
	groupAt int                // its judgement, -1 none
	ended   bool               // AK9 was read
	open    bool               // AK2 was read, and no AK5 since
	types   map[edi.MessageType]*edi.MessageType
	place   edi.Location // in our set: AK3, TED
	loop    string
}

// object adds an objection with the code's meaning.
func (r *answering) object(o edi.Objection) {
	o.Meaning = ErrorText(o.List, o.Code)
	r.Object(o)
}

// messageType gives one value for all sets that name the same: ST01 and what tells the
// version, as Scan reads it.
func (r *answering) messageType(set, version string) *edi.MessageType {
	t := edi.MessageType{Type: set, Release: version}
	if len(version) > 6 {
		t.Release, t.AssociationCode = version[:6], version[6:]
	}
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

// position reads C030: element, component and repetition.
func (r *answering) position(s edi.Segment, e int, place edi.Location) edi.Location {
	at := func(c int) int {
		v := trim(s.Get(e, c))
		n := whole(v)
		if n < 0 && v != "" {
			r.Find(edi.SeverityWarning, edi.AnswerPositionInvalid, s.Location(e, c), "%q in %s is no position", brief(v), s.Tag())
		}
		return max(n, 0)
	}
	place.Element, place.Component, place.Repetition = at(1), at(2), at(3)
	return place
}

// whole reads a number of up to nine digits; -1 is none.
func whole(s string) int {
	if !edi.Digits(s) || len(s) > 9 {
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
