package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// maxAdvised bounds the messages that an advice names; the others are counted.
const maxAdvised = 10_000

// nameable are those of messages that an advice names.
func nameable(messages []int) []int { return messages[:min(len(messages), maxAdvised)] }

// errReadOtherwise: a payload that is kept is read as fewer messages than it was.
var errReadOtherwise = errors.New("the interchange is read as fewer messages now")

// What an application advice says in words. That a document or an interchange stands
// which was taken before is said wherever the reference alone does not tell them apart.
const (
	adviseHeld     = "A document of this number came before with other content. This one is kept and held for review; the one that was accepted stands."
	adviseTaken    = "The document that was held for review is processed."
	adviseKnown    = "A document of this number came before with other content, and stands. This one is not processed"
	adviseDrift    = "An interchange of this reference came before with other content, and stands. The one prepared at the time given here is not processed"
	adviseAbroad   = "The interchange came under a transport id that was used before for another payload, and is not processed"
	adviseOld      = "The interchange is older than what can be told from what came before, and is not processed"
	adviseGivenUp  = "The message could not be processed, and will not be"
	adviseInvalid  = "The message is not processed."
	adviseWithRest = "The message is not processed, since another one of its interchange is refused."
)

// reasonsAdvised says reason codes of decisions to the partner, behind a sentence that
// has no end yet. A note is for our own people.
var reasonsAdvised = map[string]string{
	"sent_by_mistake":        ", since it was sent by mistake.",
	"corrected":              ", since it was corrected by what was sent besides.",
	"number_reused":          ", since its number belongs to another one.",
	"already_processed":      ", since it was processed before.",
	"wrong_content":          ", since its content is wrong.",
	"confirmed_with_partner": ", as was agreed with you.",
	"our_fault":              ", since processing it failed on our side.",
	"other":                  ".",
}

// adviseTarget is the outbox's target of application advices to a partner; "" where he
// gets none.
func adviseTarget(p *partners.Partner) string { return outbox.AcknowledgementTargets[p.Policy.Advise] }

// advises reports whether the owner of an interchange is advised on it.
func (p *part) advises() bool {
	return p.key.ID != "" && p.format != nil && p.format.Advise != nil && adviseTarget(p.owner) != ""
}

// numberAdvice leases the control reference of an advice on p, where one may be sent.
func (g *Gateway) numberAdvice(ctx context.Context, p *part) error {
	if p.advice != "" || !p.advises() {
		return nil
	}
	n, err := g.Numbers.Next(ctx, p.owner.ID, "interchange")
	p.advice = strconv.FormatInt(n, 10)
	return err
}

// advise writes the APERAK or 824 on p's interchange, sent behind COMMIT; nil where the
// partner gets none, or the syntax has nothing to say. An envelope that cannot be
// answered keeps nobody from deciding: the log says so, and the notice is left.
func (g *Gateway) advise(p *part, now time.Time, a edi.Advice) (*outbox.Event, error) {
	if !p.advises() {
		return nil, nil
	}
	if p.advice == "" {
		return nil, fmt.Errorf("advise on %s: no control reference was leased for it", p.key.ID)
	}
	a.Reference, a.Prepared = p.advice, now
	kind, b, err := p.format.Advise(p.ic, a)
	if err != nil {
		g.Log.Error("no advice can be written", "partner", p.owner.ID, "message_id", p.key.ID, "err", err)
		return nil, nil
	}
	if b == nil {
		return nil, nil
	}
	e := g.sentOn(p, now, p.owner.Policy.Advise, p.advice, functionalOf(kind, b))
	return &e, nil
}

// adviseHeld advises on the messages that the document guard holds: one APERAK or 824
// for each interchange, which names all of its own. The numbers are leased where nothing
// is locked, so that a delivery which finds that it needs some starts again: once, for
// all of its interchanges.
func (g *Gateway) adviseHeld(pl *plan) error {
	if pl.in.foreseen {
		return nil
	}
	var due []*result
	numbered := true
	for _, r := range pl.results {
		if len(r.held) == 0 || !r.p.advises() {
			continue
		}
		due = append(due, r)
		if r.p.advice == "" {
			r.p.advising, numbered = true, false
		}
	}
	if !numbered {
		return errStartAgain
	}
	for _, r := range due {
		e, err := g.adviseOn(r.p, pl.in.now, r.held, edi.Advice{Acceptance: edi.AcceptanceReceived, Reason: edi.AdviceHeld, Text: adviseHeld})
		if err != nil {
			return err
		}
		if e != nil {
			pl.advices = append(pl.advices, *e)
		}
	}
	return nil
}

// adviseOn advises on messages that were mapped, with the numbers of their documents.
func (g *Gateway) adviseOn(p *part, now time.Time, messages []int, a edi.Advice) (*outbox.Event, error) {
	if len(messages) == 0 || !p.advises() {
		return nil, nil
	}
	named := nameable(messages)
	numbers, err := g.numbers(p, named)
	if err != nil {
		return nil, err
	}
	a.Omitted = len(messages) - len(named)
	for n, i := range named {
		a.Messages = append(a.Messages, edi.AdvisedMessage{Index: i, Number: numbers[n]})
	}
	return g.advise(p, now, a)
}

// adviseRefused advises on messages of which processing found that they are refused.
func (g *Gateway) adviseRefused(r *result, now time.Time, messages []int) (*outbox.Event, error) {
	p := r.p
	if len(messages) == 0 || !p.advises() {
		return nil, nil
	}
	named := nameable(messages)
	a := edi.Advice{Acceptance: edi.Rejected, Reason: edi.AdviceInvalid, Text: adviseInvalid, Omitted: len(messages) - len(named)}
	for _, i := range named {
		m := edi.AdvisedMessage{Index: i, Errors: append(onlyErrors(p.ic.MessageErrors[i]), onlyErrors(p.errs[i])...)}
		if len(m.Errors) == 0 && r.variant.Messages[i].Fate == dedup.WithOthers {
			m.Text = adviseWithRest
		}
		a.Messages = append(a.Messages, m)
	}
	if err := g.numberRefused(p, a.Messages); err != nil {
		return nil, err
	}
	return g.advise(p, now, a)
}

// numberRefused finds the numbers of documents, as far as refused messages have one.
func (g *Gateway) numberRefused(p *part, messages []edi.AdvisedMessage) error {
	again := p.format.Again(p.payload, p.ic, p.read)
	for n := range messages {
		m := &messages[n]
		if d := p.doc(m.Index); d != nil {
			m.Number = d.Number
			continue
		}
		b, err := again(m.Index)
		if err != nil {
			return fmt.Errorf("read %s again: %w", p.key.ID, err)
		}
		if d, _, err := g.mapMessage(p, m.Index, b); err == nil && d != nil { // else it has no number that could be told
			m.Number = d.Number
		}
	}
	return nil
}

// storedEnvelope reads the envelope of a payload that is kept, to advise on it: nil where it is
// no longer kept, or can no longer be read. Of its messages it has what envelopeOf keeps.
func (g *Gateway) storedEnvelope(ctx context.Context, ref dedup.Ref, v *dedup.Variant, owner *partners.Partner, named []int) (_ *part, err error) {
	ctx, timely, cancel := inTime(ctx, v.Length)
	defer cancel()
	p := &part{owner: owner, read: readingOf(owner), key: ref}
	body, err := g.readStored(ctx, ref.Partner, v)
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return nil, nil
	}
	if err != nil {
		return nil, timely(err)
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	p.format, err = formatAt(body.Payload, g.Formats, 0)
	if err != nil {
		return nil, timely(err)
	}
	if p.ic, err = p.format.Split(body.Payload, 0, p.read); err == nil {
		err = g.envelopeOf(ctx, p, body.Payload, named)
	}
	if fault := (*edi.Error)(nil); errors.As(err, &fault) || errors.Is(err, errReadOtherwise) {
		return nil, nil
	}
	return p, timely(err)
}

// envelopeOf scans an interchange that was split for what an advice says of it, and leases
// its number. Of its messages those are kept that are named, by their indices and in that
// order; where none is, the first, by whose directory it is answered.
func (g *Gateway) envelopeOf(ctx context.Context, p *part, payload *edi.Payload, named []int) error {
	if !p.advises() {
		return nil
	}
	if err := p.format.Scan(payload, p.ic, p.read, func(int, *edi.Body) error { return nil }); err != nil {
		return err
	}
	all := p.ic.Messages
	if len(named) == 0 {
		p.ic.Messages = slices.Clone(all[:min(len(all), 1)])
		return g.numberAdvice(ctx, p)
	}
	p.ic.Messages = make([]edi.Message, len(named))
	for n, i := range named {
		if i >= len(all) {
			return errReadOtherwise
		}
		p.ic.Messages[n] = all[i]
	}
	return g.numberAdvice(ctx, p)
}

// adviceIn is what a notice says of the advice that tells the partner the same.
func adviceIn(e *outbox.Event) map[string]any {
	return map[string]any{"acknowledgement_id": e.ID, "type": e.Acknowledges.Type, "reference": e.Acknowledges.Reference}
}

// withAdvice gives events with the advice, if there is one, and notes in a notice's data that
// it leaves.
func withAdvice(events []outbox.Event, e *outbox.Event, notice map[string]any) []outbox.Event {
	if e == nil {
		return events
	}
	if notice != nil {
		notice["advice"] = adviceIn(e)
	}
	return append(events, *e)
}
