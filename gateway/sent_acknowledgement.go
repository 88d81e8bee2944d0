package gateway

import (
	"strings"

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
		owner, f := r.p.owner, r.functional
		target := outbox.AcknowledgementTargets[owner.Policy.Acknowledge]
		if target == "" {
			continue
		}
		group, message, groups := r.numbers()
		list = append(list, outbox.Event{Partner: owner.ID, ID: g.NewID(), Month: month(pl.in.now, owner, owner.Retention.Acknowledgements),
			Kind: outbox.KindAcknowledgement, Type: outbox.AcknowledgementDue, Subject: owner.ID + "/" + r.key.ID, Targets: []string{target},
			Data: outbox.AcknowledgementBody{Type: f.Type, Syntax: r.p.ic.Syntax, Reference: r.p.number, MessageID: r.key.ID, Content: f.Content, Base64: f.Base64},
			Acknowledges: &outbox.Acknowledgement{Reference: r.p.number, Type: f.Type, By: owner.Policy.Acknowledge, MessageID: r.key.ID, SHA256: r.p.ic.PayloadSHA256,
				Group: group, Number: message, Groups: groups}})
	}
	return list
}

// numbers reads back by which numbers an answer may name what stands first in the
// functional acknowledgement, and its groups; "" where there is none, as in a TA1. What we wrote can be
// read: where it cannot, its control reference alone is left to match answers by.
func (r *result) numbers() (group, message string, groups []outbox.SentGroup) {
	text := edi.Bytes(r.functional.bytes())
	read := Reading{Undigested: true}
	ic, err := r.p.format.Split(text, 0, read)
	if err == nil {
		err = r.p.format.Scan(text, ic, read, func(int, *edi.Body) error { return nil })
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
