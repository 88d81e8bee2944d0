package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/outbox"
)

// heard is one thing that an interchange answers, as prepare read it, and which of the
// acknowledgements that we sent it is, if it is one.
type heard struct {
	seq    int        // among what the interchange answers, known or not
	answer edi.Answer // bounded: see hear
	names  []string   // control references of ours that it may mean
	group  string     // GS06 as the answer names it; ""

	omitted []int // objections, beside answer.Judgements

	sent  outbox.Sent
	found bool
	noted bool // by an earlier delivery of the same interchange
	says  edi.Acceptance
	of    *edi.Judgement // of what was sent; never nil where found
	part  string         // of it: outbox.Answer.Part
}

// An interchange of answers is held in memory no further than this: an acknowledgement
// of ours is one message, so that honest answers are short.
const (
	maxHeard           = 1000 // things answered
	maxHeardJudgements = 20   // of each
	maxHeardObjections = 20   // of each judgement
	maxHeardInAll      = 5000 // objections
)

// The codes of findings about what is answered.
const (
	answerUnmatched = "answer-unmatched"
	answersOmitted  = "answers-omitted"
)

// errHeardEnough ends the reading of answers.
var errHeardEnough = errors.New("no more answers are noted")

// readAnswers reads what the interchange says of what we sent. An answer in a message
// that was refused is not believed.
func (p *part) readAnswers(in *intake) error {
	p.heard = nil
	if p.format.Answers == nil {
		return nil
	}
	seq, objections := 0, 0
	err := p.format.Answers(in.Payload, p.ic, p.read, func(a edi.Answer) error {
		subjects := subjectsOf(&a)
		from := seq
		seq += len(subjects)
		if a.Message >= 0 && (a.Message >= len(p.judged) || p.judged[a.Message].fate == dedup.RefusedMsg) {
			return nil
		}
		p.doubt(&a)
		for i := range subjects {
			if len(p.heard) == maxHeard || objections > maxHeardInAll {
				p.find(&a, edi.SeverityWarning, answersOmitted, fmt.Sprintf("More than %d things are answered in one interchange; from here on none is noted. Send the answers in several interchanges.", len(p.heard)))
				return errHeardEnough
			}
			h := subjects[i]
			h.seq = from + i
			objections += h.bound()
			p.heard = append(p.heard, h)
		}
		return nil
	})
	if errors.Is(err, errHeardEnough) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the answers in %s: %w", p.key.ID, err)
	}
	return nil
}

// subjectsOf gives what an answer is about, each with the references of ours that may
// be meant: what it names, without leading zeros. CONTRL and TA1 name an interchange,
// 997 and 999 a group FA or AG, 824 each group or set in an OTI, APERAK a former message.
func subjectsOf(a *edi.Answer) []*heard {
	if len(a.Judgements) == 0 {
		return nil
	}
	whole := func(names []string, group string) []*heard { return []*heard{{answer: *a, names: names, group: group}} }
	first := &a.Judgements[0]
	switch a.Kind {
	case "CONTRL", "TA1":
		return whole(ours(first.Interchange.ControlReference), "")
	case "997", "999":
		if first.Group == nil || !slices.Contains(ourGroups, first.Group.FunctionalID) { // of documents
			return whole(nil, "")
		}
		return whole(oursOfGroup(first.Group.Reference), first.Group.Reference)
	case "824":
		var list []*heard
		for i := range a.Judgements {
			j := a.Judgements[i]
			h := &heard{answer: *a}
			h.answer.Judgements = []edi.Judgement{j}
			if j.Group != nil {
				h.names, h.group = oursOfGroup(j.Group.Reference), j.Group.Reference
			}
			list = append(list, h)
		}
		return list
	}
	var names []string
	for _, d := range first.Documents {
		if !d.Document && slices.Contains(formerMessage, d.Qualifier) && len(names) < maxHeardJudgements {
			names = append(names, ours(d.Number)...)
		}
	}
	return whole(names, "")
}

// ourGroups are the functional groups that hold what we send: 997 and 999, and 824. An
// answer may leave out which it is.
var ourGroups = []string{"", "FA", "AG"}

// formerMessage are the codes of 1153 for a message that went before: its number, and
// its sender's reference.
var formerMessage = []string{"ACW", "AGO"}

// ours is a reference as we count: a number without leading zeros.
func ours(reference string) []string {
	if n := strings.TrimLeft(reference, "0"); n != "" && len(n) <= maxCounted && edi.Digits(n) {
		return []string{n}
	}
	return nil
}

const maxCounted = 18 // digits

// oursOfGroup: GS06 is our interchange's control number; that of further groups has
// another digit before its last eight.
func oursOfGroup(reference string) []string {
	names := ours(reference)
	if len(names) == 1 && len(names[0]) == 9 {
		names = append(names, ours(names[0][1:])...)
	}
	return names
}

// bound cuts off what is more than is kept, and gives how many objections are left.
func (h *heard) bound() (objections int) {
	h.answer.Judgements = slices.Clone(h.answer.Judgements[:min(len(h.answer.Judgements), maxHeardJudgements)])
	for i := range h.answer.Judgements {
		j := &h.answer.Judgements[i]
		j.Text = j.Text[:min(len(j.Text), maxToldText)]
		n := min(len(j.Objections), maxHeardObjections)
		h.omitted = append(h.omitted, len(j.Objections)-n)
		j.Objections, objections = slices.Clone(j.Objections[:n]), objections+n
	}
	return objections
}

const maxToldText = 1000 // bytes

// doubt passes on what is wrong with an answer itself, as a warning at most: the text
// is sound, and its sender's message is taken.
func (p *part) doubt(a *edi.Answer) {
	for _, e := range a.Findings[:min(len(a.Findings), maxHeardObjections)] {
		p.findAt(a, e.Location, min(e.Severity, edi.SeverityWarning), e.Code, e.Text)
	}
}

func (p *part) find(a *edi.Answer, severity edi.Severity, code, text string) {
	p.findAt(a, a.Location, severity, code, text)
}

func (p *part) findAt(a *edi.Answer, at edi.Location, severity edi.Severity, code, text string) {
	e := &edi.Error{Code: code, Severity: severity, Text: text, Location: at}
	if a.Message < 0 {
		p.ic.Errors = append(p.ic.Errors, e)
		return
	}
	p.remember(a.Message, append(p.errs[a.Message], e))
}

// matchAnswers finds what we sent that the interchange answers. What was sent is
// committed before anybody can answer it, so it is looked for without a lock.
func (g *Gateway) matchAnswers(ctx context.Context, in *intake, p *part) error {
	if len(p.heard) == 0 || p.matched {
		return nil
	}
	names := map[string]bool{}
	for _, h := range p.heard {
		for _, n := range h.names {
			names[n] = true
		}
	}
	sent, noted, err := g.lookForSent(ctx, in, p, slices.Sorted(maps.Keys(names)))
	if err != nil {
		return err
	}
	for _, h := range p.heard {
		for _, n := range h.names {
			if s, known := sent[n]; known && h.means(&s) {
				h.sent, h.found, h.noted = s, true, noted[h.seq]
				break
			}
		}
		if !h.found && len(h.answer.Findings) == 0 {
			p.find(&h.answer, edi.SeverityNote, answerUnmatched, fmt.Sprintf("%s answers %s, which is no acknowledgement that was sent to %s.", h.answer.Kind, h.subject(), p.owner.ID))
		}
	}
	p.matched = true
	return nil
}

func (g *Gateway) lookForSent(ctx context.Context, in *intake, p *part, names []string) (sent map[string]outbox.Sent, noted map[int]bool, err error) {
	if len(names) == 0 {
		return nil, nil, nil
	}
	leave, err := g.turn(ctx, in, lookUp)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	if sent, err = outbox.SentAs(ctx, g.Pool, p.owner.ID, names); err != nil || len(sent) == 0 {
		return nil, nil, err
	}
	noted, err = outbox.AnswersNoted(ctx, g.Pool, p.owner.ID, p.key.ID, p.ic.PayloadSHA256)
	return sent, noted, err
}

// subject names what is answered, for people.
func (h *heard) subject() string {
	j := &h.answer.Judgements[0]
	brief := func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 35)], "") }
	switch {
	case j.Interchange.ControlReference != "":
		return "interchange " + brief(j.Interchange.ControlReference)
	case j.Group != nil:
		return "group " + brief(j.Group.Reference)
	case len(j.Documents) > 0:
		return strings.TrimSpace(brief(j.Documents[0].Qualifier) + " " + brief(j.Documents[0].Number))
	}
	return "something that it does not name"
}

// answersOf gives what this delivery is the first to say of what we sent: that of the
// messages that are taken now, and of a TA1 with its interchange.
func (r *result) answersOf() (list []*heard) {
	if r.p == nil || r.key == nil || r.row == nil {
		return nil
	}
	for _, h := range r.p.heard {
		taken := r.row.Effect.works() && r.answer.positive()
		if h.answer.Message >= 0 {
			_, taken = slices.BinarySearch(r.posts, int32(h.answer.Message))
		}
		if h.found && !h.noted && taken {
			list = append(list, h)
		}
	}
	return list
}

// queueAnswers notes what partners say of what we sent them.
func (pl *plan) queueAnswers(b *pgx.Batch) error {
	return queueAnswers(b, pl.results)
}

func queueAnswers(b *pgx.Batch, results []*result) error {
	by := map[string][]outbox.Answer{}
	for _, r := range results {
		for _, h := range r.answersOf() {
			a := outbox.Answer{Partner: r.key.Partner, Event: h.sent.Event, Kind: h.answer.Kind, Acceptance: h.says.String(), MessageID: r.key.ID, SHA256: r.p.ic.PayloadSHA256, Seq: h.seq, Part: h.part,
				Told: outbox.Told{Number: h.answer.Number, Level: h.of.Level.String(), Action: h.of.Action, Text: h.of.Text, Objections: h.of.Objections}}
			for i := range h.omitted {
				if h.of == &h.answer.Judgements[i] {
					a.Told.Omitted = h.omitted[i]
				}
			}
			for _, e := range h.answer.Findings[:min(len(h.answer.Findings), maxHeardObjections)] {
				a.Told.Doubts = append(a.Told.Doubts, e.Code)
			}
			by[r.key.Partner] = append(by[r.key.Partner], a)
		}
	}
	for _, partner := range slices.Sorted(maps.Keys(by)) {
		if err := outbox.QueueAnswers(b, partner, by[partner]); err != nil {
			return err
		}
	}
	return nil
}

// rejections tells of acknowledgements that the partner could not use.
func (g *Gateway) rejections(pl *plan) (events []outbox.Event) {
	for _, r := range pl.results {
		for _, h := range r.answersOf() {
			if h.says != edi.Rejected || r.p.ic.Test {
				continue
			}
			owner := r.p.owner
			why := []string{}
			for _, o := range h.of.Objections {
				why = append(why, strings.TrimSpace(o.List+" "+o.Code+" "+o.Meaning))
			}
			events = append(events, outbox.Event{Partner: owner.ID, ID: g.NewID(), Month: month(pl.in.now, owner, owner.Retention.Acknowledgements),
				Kind: outbox.KindEvent, Type: outbox.AcknowledgementFailed, Subject: owner.ID + "/" + h.sent.MessageID,
				Data: map[string]any{"acknowledgement_id": h.sent.Event, "type": h.sent.Type, "reference": h.sent.Reference, "message_id": h.sent.MessageID,
					"rejected_by": h.answer.Kind, "answer_message_id": r.key.ID, "objections": why}})
		}
	}
	return events
}
