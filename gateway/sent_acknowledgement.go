package gateway

import (
	"strings"
	"time"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/outbox"
)

// sentAcknowledgements gives the functional acknowledgements that this delivery calls
// for and that leave by another way than the response: written with what they say, and
// sent behind COMMIT. Tests are answered as everything is.
func (g *Gateway) sentAcknowledgements(pl *plan) []outbox.Event {
	var list []outbox.Event
	for _, r := range pl.results {
		if r.functional == nil {
			continue
		}
		by := r.p.owner.Policy.Acknowledge
		if outbox.AcknowledgementTargets[by] == "" {
			continue
		}
		list = append(list, g.sentOn(r.p, pl.in.now, by, r.p.number, r.functional))
	}
	return list
}

// sentOn is the row of what leaves, by one of outbox.AcknowledgementTargets, to say
// something of an interchange.
func (g *Gateway) sentOn(p *part, now time.Time, by, reference string, f *FunctionalAcknowledgement) outbox.Event {
	group, message, groups := p.format.numbersIn(f)
	return outbox.Event{Partner: p.owner.ID, ID: g.NewID(), Month: month(now, p.owner, p.owner.Retention.Acknowledgements),
		Kind: outbox.KindAcknowledgement, Type: outbox.AcknowledgementDue, Subject: p.owner.ID + "/" + p.key.ID, Targets: []string{outbox.AcknowledgementTargets[by]},
		Data: outbox.AcknowledgementBody{Type: f.Type, Syntax: p.ic.Syntax, Reference: reference, MessageID: p.key.ID, Content: f.Content, Base64: f.Base64},
		Acknowledges: &outbox.Acknowledgement{Reference: reference, Type: f.Type, By: by, MessageID: p.key.ID, SHA256: p.ic.PayloadSHA256,
			Group: group, Number: message, Groups: groups}}
}

// numbersIn reads back by which numbers an answer may name what stands first in what we
// send, and its groups; "" where there is none, as in a TA1. What we wrote can be
// read: where it cannot, its control reference alone is left to match answers by.
func (f *Format) numbersIn(sent *FunctionalAcknowledgement) (group, message string, groups []outbox.SentGroup) {
	text := edi.Bytes(sent.bytes())
	read := Reading{Undigested: true}
	ic, err := f.Split(text, 0, read)
	if err == nil {
		err = f.Scan(text, ic, read, func(int, *edi.Body) error { return nil })
	}
	if err != nil {
		return "", "", nil
	}
	for _, g := range ic.Groups {
		groups = append(groups, outbox.SentGroup{Reference: strings.TrimLeft(g.Reference, "0"), Sets: g.Messages})
	}
	for _, m := range ic.Messages {
		if m.Group >= 0 {
			groups[m.Group].Form = m.Type.Type
		}
	}
	if len(ic.Groups) > 0 {
		group = ic.Groups[0].Reference
	}
	if len(ic.Messages) > 0 {
		message = ic.Messages[0].Reference
	}
	return group, message, groups
}
