package gateway

import (
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// alertNotices tells the operators what the delivery did to alerts: one notice for
// each that it opened, joined or closed, in its transaction. What a policy resolved
// needs nobody.
func (g *Gateway) alertNotices(pl *plan) []outbox.Event {
	in := pl.in
	var list []outbox.Event
	drift := func(d *driftChange, key, sha256 string, owner *partners.Partner) {
		if d == nil {
			return
		}
		a, data := d.alert, map[string]any{"payload_sha256": sha256}
		typ := outbox.AlertJoined
		switch {
		case d.opened && a.State != "open":
			return
		case d.opened:
			typ = outbox.AlertOpened
		default:
			data["known_payload"] = d.joined
		}
		if !d.joined { // of a repeat nothing new is known
			data["kind"], data["class"], data["severity"], data["words"] = a.Kind, a.Class, a.Severity, a.Headline
			if len(a.Documents) > 0 {
				data["documents"] = a.Documents
			}
			if a.Proposal != "" {
				data["proposal"] = a.Proposal
			}
			if a.Test {
				data["test"] = true
			}
		}
		list = append(list, g.alertNotice(typ, in.now, owner, a, key, data))
	}
	drift(pl.drift, in.key.ID, hexOf(in.SHA256), in.Partner)
	for _, r := range pl.results {
		switch {
		case r.drift == nil || r.drift == pl.drift:
		case r.p == nil: // row T2
			drift(r.drift, in.key.ID, hexOf(in.SHA256), in.Partner)
		default:
			drift(r.drift, r.key.ID, hexOf(r.p.ic.PayloadSHA256), r.p.owner)
		}
	}
	for _, a := range pl.alerts {
		drift(&driftChange{alert: a, opened: true}, a.MessageID, hexOf([32]byte(a.Digests[0])), g.ownerOf(pl, a))
	}
	for _, c := range pl.closed {
		a := &dedup.Alert{Partner: in.Partner.ID, ID: c.Alert, Kind: c.Kind}
		list = append(list, g.alertNotice(outbox.AlertClosed, in.now, in.Partner, a, c.MessageID, map[string]any{"kind": c.Kind, "delivery_id": in.id}))
	}
	return list
}

// ownerOf is the partner whose document an alert of kind document is about.
func (g *Gateway) ownerOf(pl *plan, a *dedup.Alert) *partners.Partner {
	for _, r := range pl.results {
		if r.p != nil && r.p.owner.ID == a.Partner {
			return r.p.owner
		}
	}
	return pl.in.Partner
}

// alertNotice is a notice for whoever looks after an alert: references, never
// payloads. key is the alert's.
func (g *Gateway) alertNotice(typ string, now time.Time, owner *partners.Partner, a *dedup.Alert, key string, data map[string]any) outbox.Event {
	data["alert_id"], data["message_id"] = a.ID, key
	return outbox.Event{Partner: a.Partner, ID: g.NewID(), Month: month(now, owner, owner.Retention.Payloads), Kind: outbox.KindNotice, Type: typ,
		Subject: a.Partner + "/" + key, Data: data}
}
