package main

import (
	"slices"
	"strings"

	"github.com/edigw/edigw/dedup"
)

// notPosted is invariant 4.
func (c *checker) notPosted() {
	documents := map[ref][]*documentRow{}
	for _, d := range c.rows.documents {
		k := ref{d.partner, d.key}
		documents[k] = append(documents[k], d)
	}
	for k, h := range c.histories {
		if c.rows.purged[k] { // what was a drift, or was none, may be the other now
			continue
		}
		out := map[[32]byte]bool{} // contents that must not have had an effect
		for digest := range h.contents {
			if v := c.rows.find(k, digest); v != nil && (v.state == dedup.Quarantined || v.state == dedup.Refused) {
				out[digest] = true
			}
		}
		if !h.decided() { // by what was told: what is a drift stays one
			for _, d := range h.deliveries {
				for i, x := range d.contents {
					if d.final() && d.keyed(i) && x.key() == k && d.receipt.items[i].Outcome == "quarantined" {
						out[x.digest] = true
					}
				}
			}
		}
		for digest := range out {
			for _, m := range h.contents[digest].messages {
				elsewhere := false
				for other, x := range h.contents {
					elsewhere = elsewhere || !out[other] && x.has(m.sha256)
				}
				if !elsewhere && slices.ContainsFunc(documents[k], func(d *documentRow) bool { return d.sha256 == m.sha256 }) {
					c.add("4", k, "message %s of %s is posted, and came only in a drift that nobody let through", m.reference, short(digest))
				}
			}
		}
		c.onlyTransportDrift(h)
	}
	c.oneUse()
	c.decidedOnce()
}

// oneUse: under one transport id two payloads are never both First with an
// effect: the second is a transport drift.
func (c *checker) oneUse() {
	for k, list := range c.under {
		var first *delivery
		for _, d := range list {
			if !d.positive() || d.verdict != "first" || slices.ContainsFunc(d.contents, func(x *content) bool { return c.histories[x.key()].decided() }) {
				continue
			}
			if first != nil && first.digest() != d.digest() {
				c.add("4", d.contents[0].key(), "two payloads under %s were first: %s, and %s", k.id, first, d)
			}
			first = d
		}
	}
}

// onlyTransportDrift: an interchange that came only under an id used for another
// payload, and that nobody let through, has no key.
func (c *checker) onlyTransportDrift(h *history) {
	drifted := false
	for _, d := range h.deliveries {
		if !d.transportDrift() && (d.final() || d.faulty != "" || !slices.ContainsFunc(h.deliveries, func(e *delivery) bool { return e.transportDrift() && e.id == d.id })) {
			return
		}
		drifted = drifted || d.transportDrift()
	}
	if drifted && !h.decided() && c.rows.keys[h.key] != nil {
		c.add("4", h.key, "it came only as a transport drift, and has a key")
	}
}

// decidedOnce: each decision is applied once, to each payload once.
func (c *checker) decidedOnce() {
	events := map[string]int{}
	for _, e := range c.rows.events {
		if e.typ == "drift.decided" {
			events[e.alert]++
		}
	}
	for id, a := range c.rows.alerts {
		asked := c.byAlert[id]
		key := ref{a.partner, a.key}
		applied := 0
		for _, x := range asked {
			if x.status == 200 && x.state != "awaiting_approval" {
				applied++
			}
		}
		switch {
		case events[id] != c.rows.audit[id]:
			c.add("8", key, "alert %s has %d events of its decision and %d lines in the audit log", id, events[id], c.rows.audit[id])
		case events[id] > len(a.digests):
			c.add("4", key, "alert %s over %d payloads was decided %d times", id, len(a.digests), events[id])
		case events[id] < applied:
			c.add("4", key, "alert %s: %d people were told that their decision was applied, and %d were", id, applied, events[id])
		case events[id] > 0 && len(asked) == 0:
			c.add("4", key, "alert %s is decided, and nobody decided", id)
		}
	}
}

// nothingLeft is invariant 6: what was rolled back left nothing.
func (c *checker) nothingLeft() {
	for words, n := range c.rows.strays {
		if n > 0 {
			c.add("6", ref{}, "%d %s", n, words)
		}
	}
	sent := map[string]bool{}
	for _, d := range c.ledger.deliveries {
		if d.id != "" {
			sent[d.transportKey().String()] = true
		}
	}
	for _, j := range c.rows.journal {
		if j.transportID != "" && !sent[j.partner+" "+j.transportID] {
			// Of a VAN's delivery each owner has a row, under the VAN's id.
			if !slices.ContainsFunc(c.ledger.deliveries, func(d *delivery) bool { return d.id != "" && d.transportKey().id == j.transportID }) {
				c.add("6", ref{j.partner, j.key}, "the journal has a delivery under %s, which nobody used", j.transportID)
			}
		}
	}
	deliveries := map[string]bool{}
	for _, j := range c.rows.journal {
		deliveries[j.delivery] = true
	}
	for _, e := range c.rows.events {
		k := ref{e.partner, e.key}
		h := c.histories[k]
		switch {
		case h != nil && len(h.acts) > 0 && e.typ == "message.received": // a replay or a decision is no delivery
		case e.typ == "document.created" && c.rows.documents[e.document] == nil:
			c.add("6", k, "an event tells of document %s, which does not exist", e.document)
		case e.typ == "message.received" && e.delivery != "" && !deliveries[e.delivery]:
			c.add("6", k, "an event tells of delivery %s, which the journal does not know", e.delivery)
		case e.typ == "drift.opened" && c.rows.alerts[e.alert] == nil:
			c.add("6", k, "an event tells of alert %s, which does not exist", e.alert)
		}
	}
}

// turnedAway is invariant 7: what failed verification changed no key.
func (c *checker) turnedAway() {
	for k, h := range c.histories {
		if slices.ContainsFunc(h.deliveries, func(d *delivery) bool { return d.faulty == "" }) {
			continue
		}
		if c.rows.keys[k] != nil {
			c.add("7", k, "everything under this key failed verification, and it has a row")
		}
	}
	for k := range c.rows.keys {
		if strings.Contains(k.id, ":"+stranger+":") {
			c.add("7", k, "a sender who is nobody's has a key")
		}
	}
	for k, list := range c.under {
		if !slices.ContainsFunc(list, func(d *delivery) bool { return d.faulty != badToken && d.faulty != badDigest }) && c.rows.keys[k] != nil {
			c.add("7", k, "everything under this id failed verification, and it has a row")
		}
	}
}

// told is invariant 8: exactly one event of each kind for what happened.
func (c *checker) told() {
	created, superseded, received, opened := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	processed, ended := map[string]int{}, map[string]int{} // what workers ended
	for _, e := range c.rows.events {
		switch e.typ {
		case "document.created":
			created[e.document]++
		case "document.superseded":
			superseded[e.document]++
		case "message.received":
			if e.delivery != "" {
				received[e.delivery+" "+e.partner+" "+e.key+" "+e.digest]++
			}
		case "drift.opened":
			opened[e.alert]++
		case "message.processed":
			processed[e.partner+" "+e.key+" "+e.digest]++
		}
	}
	for id, d := range c.rows.documents {
		k := ref{d.partner, d.key}
		if created[id] != 1 {
			c.add("8", k, "document %s (%s) has %d events of its creation", d.number, id, created[id])
		}
		if want := map[bool]int{true: 1}[d.over]; superseded[id] != want {
			c.add("8", k, "document %s (%s) has %d events of its end, want %d", d.number, id, superseded[id], want)
		}
	}
	for id, a := range c.rows.alerts {
		if want := map[bool]int{false: 1}[a.state == "auto_resolved"]; opened[id] != want {
			c.add("8", ref{a.partner, a.key}, "alert %s, now %s, has %d events of its opening, want %d", id, a.state, opened[id], want)
		}
	}
	for _, j := range c.rows.journal {
		if j.transport == worker {
			if j.outcome != "received" {
				ended[j.partner+" "+j.key+" "+j.digest]++
			}
			continue
		}
		switch j.verdict {
		case "first", "retry", "re-evaluation", "correction", "completion", "reuse":
		default:
			continue
		}
		if k := (ref{j.partner, j.key}); c.rows.keys[k] != nil && c.rows.keys[k].kind != 1 && received[j.delivery+" "+j.partner+" "+j.key+" "+j.digest] != 1 {
			c.add("8", k, "delivery %s, a %s, has %d events of its reception", j.delivery, j.verdict, received[j.delivery+" "+j.partner+" "+j.key+" "+j.digest])
		}
	}
	for what, n := range ended {
		if processed[what] != n {
			c.add("8", ref{}, "workers ended their work on %s %d times, and %d events tell of it", what, n, processed[what])
		}
	}
}

// complete is invariant 9: no key without its outcome, no guard key without its
// document; and what was received is kept as it came.
func (c *checker) complete() {
	for k, row := range c.rows.keys {
		for _, v := range row.variants {
			if v.state == 0 || v.answer == 0 {
				c.add("9", k, "the key has no outcome for %s", short(v.digest))
			}
			if row.kind == 1 {
				continue
			}
			var x *content
			if h := c.histories[k]; h != nil {
				x = h.contents[v.digest]
			}
			if x == nil {
				c.add("9", k, "the key holds %s, which nobody sent", short(v.digest))
				continue
			}
			body := c.rows.payloads[k.partner+" "+v.payload]
			if v.offset+v.length > int64(len(body)) || body[v.offset:v.offset+v.length] != x.text {
				c.add("5", k, "the payload of %s is not kept as it came", short(v.digest))
			}
			if len(v.messages) != len(x.messages) {
				c.add("9", k, "%s has %d messages and is kept with %d", short(v.digest), len(x.messages), len(v.messages))
			}
			for _, m := range v.messages {
				if m.Fate == 0 && v.state != dedup.Quarantined && v.state != dedup.Refused { // a drift is not judged
					c.add("9", k, "a message of %s has no outcome", short(v.digest))
				}
			}
		}
	}
	guarded := map[string]bool{}
	for _, g := range c.rows.guards {
		k := ref{partner: g.partner}
		if len(g.documents) == 0 || g.contents != len(g.documents) {
			c.add("9", k, "guard key %s has %d documents and %d contents", g.key, len(g.documents), g.contents)
		}
		for _, id := range g.documents {
			guarded[id] = true
			if d := c.rows.documents[id]; d == nil {
				c.add("9", k, "guard key %s names document %s, which does not exist", g.key, id)
			}
		}
	}
	for id, d := range c.rows.documents {
		if !guarded[id] {
			c.add("9", ref{d.partner, d.key}, "document %s (%s) has no guard key", d.number, id)
		}
	}
}
