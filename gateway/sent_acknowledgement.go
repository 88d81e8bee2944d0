package gateway

import (
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
		list = append(list, outbox.Event{Partner: owner.ID, ID: g.NewID(), Month: month(pl.in.now, owner, owner.Retention.Acknowledgements),
			Kind: outbox.KindAcknowledgement, Type: outbox.AcknowledgementDue, Subject: owner.ID + "/" + r.key.ID, Targets: []string{target},
			Data:         outbox.AcknowledgementBody{Type: f.Type, Syntax: r.p.ic.Syntax, Reference: r.p.number, MessageID: r.key.ID, Content: f.Content, Base64: f.Base64},
			Acknowledges: &outbox.Acknowledgement{Reference: r.p.number, Type: f.Type, By: owner.Policy.Acknowledge, MessageID: r.key.ID, SHA256: r.p.ic.PayloadSHA256}})
	}
	return list
}
