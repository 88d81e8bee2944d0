package main

import (
	"slices"
	"time"

	"github.com/edigw/edigw/dedup"
)

// acknowledged is invariant 2: every answer that stands has its row, byte for
// byte.
func (c *checker) acknowledged() {
	journal := map[string]bool{}
	for _, j := range c.rows.journal {
		journal[j.partner+" "+j.delivery] = true
	}
	for _, d := range c.ledger.deliveries {
		if !d.final() || d.receipt.Outcome == "" { // refused before it was known who sends what
			continue
		}
		if d.verdict != "duplicate" && !journal[d.sender.id()+" "+d.deliveryID] {
			c.add("2", d.contents[0].key(), "the journal has no row of %s", d)
		}
		if d.id != "" && !c.rows.receipts[d.sender.id()+" "+d.body] {
			c.add("2", d.contents[0].key(), "the receipt is not stored byte for byte: %s: %s", d, cutText(d.body))
		}
		for i, it := range d.receipt.items {
			if !d.keyed(i) || it.Problem == "replaced" {
				continue
			}
			x := d.contents[i]
			if !c.rows.answers[x.owner.id()+" "+string(d.receipt.Interchanges[i])] {
				c.add("2", x.key(), "part %d of the answer is not stored byte for byte: %s: %s", i+1, d, cutText(string(d.receipt.Interchanges[i])))
			}
		}
	}
	for k, row := range c.rows.keys {
		for _, v := range row.variants {
			if v.ack != "" && !c.rows.acks[k.partner+" "+v.ack] {
				c.add("2", k, "the answer of %s is not kept", short(v.digest))
			}
		}
	}
}

// sameAnswer is invariant 3. What was accepted is told with the same bytes for
// ever, unless an operator decided; whatever else is, where every content under
// its keys is sound, since then nothing is judged again.
func (c *checker) sameAnswer() {
	type what struct {
		under  ref
		id     string
		digest [32]byte
	}
	told := map[what]*delivery{}
	parts := map[what]string{}
	for _, d := range c.ledger.deliveries {
		if !d.final() || d.receipt.Outcome == "" {
			continue
		}
		w := what{ref{d.sender.id(), ""}, d.id, d.digest()}
		if first := told[w]; first == nil || d.completes(first) {
			told[w] = d
		} else if first.body != d.body && !c.excused(first, d) && (!first.completes(d) || d.sent.After(first.answered)) {
			c.add("3", d.contents[0].key(), "the same again got another answer: %s: %s; and %s: %s", first, cutText(first.body), d, cutText(d.body))
		}
		for i, it := range d.receipt.items {
			if !d.keyed(i) || it.Outcome != "accepted" {
				continue
			}
			x := d.contents[i]
			p := what{x.key(), "", x.digest}
			if part := parts[p]; part == "" {
				parts[p] = string(d.receipt.Interchanges[i])
			} else if part != string(d.receipt.Interchanges[i]) && !c.histories[x.key()].actedBetween(time.Time{}, d.answered) {
				c.add("3", x.key(), "what was accepted got two stored answers: %s: %s; and before %s", d, cutText(string(d.receipt.Interchanges[i])), cutText(part))
			}
		}
	}
	c.triedAgain()
}

// completes reports whether d is the answer first with the acknowledgement that
// stands beside it once a worker has processed what was received.
func (d *delivery) completes(first *delivery) bool {
	more := false
	for i, x := range d.contents {
		if i >= len(d.receipt.items) || i >= len(first.receipt.items) {
			return false
		}
		if x.owner.deferred && d.receipt.items[i].Acknowledgement != nil && first.receipt.items[i].Acknowledgement == nil {
			more = true
		}
	}
	return more && d.status == first.status && d.receipt.Outcome == first.receipt.Outcome
}

// excused reports whether two answers to the same may differ.
func (c *checker) excused(a, b *delivery) bool {
	accepted := a.status < 202 && len(a.receipt.items) > 0 && !slices.ContainsFunc(a.receipt.items, func(it item) bool { return it.Outcome != "accepted" })
	drift := a.transportDrift() || b.transportDrift()
	for _, x := range a.contents {
		h := c.histories[x.key()]
		if h.actedBetween(a.sent, b.answered) {
			return true
		}
		if !accepted && !h.plain() {
			return true // judged again, mended or completed
		}
		if drift && slices.ContainsFunc(h.deliveries, func(d *delivery) bool { return d.id != a.id && d.sent.Before(b.answered) }) {
			return true // it came under another id, which closes the drift
		}
	}
	return false
}

// triedAgain: what is dead with attempts left is never told as a plain duplicate,
// nor as replaced where nothing else came. What a worker tries is not the
// partner's to try.
func (c *checker) triedAgain() {
	for k, h := range c.histories {
		for _, d := range h.deliveries {
			if !d.final() || len(d.contents) != 1 || d.verdict != "duplicate" || !d.keyed(0) || d.contents[0].owner.deferred {
				continue
			}
			it := d.receipt.items[0]
			if it.Outcome != "dead" && it.Problem != "replaced" || h.actedBetween(time.Time{}, d.answered) {
				continue
			}
			tries, other := 0, false // d itself was none
			for _, e := range h.deliveries {
				if e == d || !e.sent.Before(d.answered) {
					continue
				}
				tries++
				other = other || slices.ContainsFunc(e.contents, func(x *content) bool { return x.key() == k && x.digest != d.contents[0].digest })
			}
			if !other && tries < d.contents[0].owner.attempts { // another content may stand in its way
				c.add("3", k, "a dead message was told as a duplicate after %d deliveries of %d attempts: %s: %s", tries, d.contents[0].owner.attempts, d, cutText(d.body))
			}
		}
	}
}

// backed is invariant 5: whatever was acknowledged positively is there.
func (c *checker) backed() {
	byNumber := map[string]bool{}
	byMessage := map[string]bool{}
	type says struct { // a document by what it says
		partner string
		invoice
	}
	saying := map[says][]*documentRow{}
	invoices := map[[32]byte]invoice{}
	for _, h := range c.histories {
		for _, x := range h.contents {
			for _, m := range x.messages {
				invoices[m.sha256] = m.invoice
			}
		}
	}
	for _, d := range c.rows.documents {
		byNumber[d.partner+" "+d.number] = true
		w := says{d.partner, invoices[d.sha256]}
		saying[w] = append(saying[w], d)
		byMessage[d.partner+" "+d.key+" "+string(d.sha256[:])] = true
	}
	held := map[ref]bool{}
	for _, a := range c.rows.alerts {
		if a.kind == "document" {
			held[ref{a.partner, a.key}] = true
		}
	}
	notices := map[string]bool{}
	for _, e := range c.rows.events {
		if e.kind == "notice" {
			notices[e.partner+" "+e.key+" "+e.digest] = true
		}
	}
	for _, d := range c.ledger.deliveries {
		if !d.positive() {
			continue
		}
		for i, it := range d.receipt.items {
			if !d.keyed(i) {
				continue
			}
			x := d.contents[i]
			k := x.key()
			v := c.rows.find(k, x.digest)
			if v == nil {
				if !c.rows.purged[k] {
					c.add("5", k, "it was acknowledged, and is not known: %s", d)
				} else if it.Outcome == "accepted" {
					for _, m := range x.messages {
						if !byNumber[k.partner+" "+m.number] {
							c.add("5", k, "message %s (%s) was accepted and purged, and no document is left of it: %s", m.reference, m.number, d)
						}
					}
				}
				continue
			}
			noticed := notices[k.partner+" "+k.id+" "+hexOf(x.digest)]
			switch it.Outcome {
			case "accepted":
				if v.state != dedup.Accepted && v.state != dedup.Superseded && !c.rows.purged[k] { // once forgotten it may be a drift of what came then
					c.add("5", k, "it was told as accepted and is %v: %s", v.state, d)
				}
			case "received":
				if v.state == dedup.Received {
					c.add("5", k, "it was told as received, and nobody has processed it: %s", d)
				}
			case "quarantined":
				if v.state == dedup.Refused && !noticed {
					c.add("5", k, "it was told as kept, is refused, and no notice says so: %s", d)
				}
			case "partly":
				dead := slices.ContainsFunc(it.Documents, func(d itemDocument) bool { return d.State == "dead" })
				if it.Acknowledgement == nil && !dead { // what is dead is never told as refused
					c.add("5", k, "it was told as partly taken, without an acknowledgement that says what is not: %s", d)
				}
			}
			for n := range min(len(v.messages), len(x.messages)) {
				m := x.messages[n]
				ok := true
				switch f := v.messages[n].Fate; f {
				case dedup.Posted:
					ok = byMessage[k.partner+" "+k.id+" "+string(m.sha256[:])]
				case dedup.Absorbed:
					ok = c.absorbedInto(d, it, saying[says{k.partner, m.invoice}])
				case dedup.Held, dedup.HeldClosed:
					ok = held[k]
				case dedup.DeadMsg, dedup.DeadWithOne, dedup.Pending:
				case dedup.Discarded:
					ok = noticed || it.Outcome != "dead" && it.Outcome != "accepted"
				default:
					ok = it.Outcome != "accepted" && it.Outcome != "dead" && (it.Outcome != "received" || noticed || !x.sound()) || v.state == dedup.Superseded || v.state == dedup.Quarantined || v.state == dedup.Refused ||
						slices.ContainsFunc(v.messages, func(o dedup.MessageState) bool { return o.Fate == dedup.Discarded })
				}
				if v.state == dedup.Superseded || v.state == dedup.Quarantined || v.state == dedup.Refused {
					continue
				}
				if !ok {
					c.add("5", k, "message %s (%s) was acknowledged as %s, is %v, and nothing backs it: %s", m.reference, m.number, it.Outcome, v.messages[n].Fate, d)
				}
			}
		}
	}
}

// absorbedInto: what is absorbed stands in a document that says the same and is in
// force, or was when this was told, or the answer says that it is not.
func (c *checker) absorbedInto(d *delivery, it item, documents []*documentRow) bool {
	if len(documents) == 0 {
		return false
	}
	if d.verdict == "duplicate" || slices.ContainsFunc(it.Findings, func(f itemFinding) bool { return f.Code == "document-void" }) {
		return true // told before
	}
	return slices.ContainsFunc(documents, func(x *documentRow) bool {
		return !x.over || slices.ContainsFunc(c.histories[ref{x.partner, x.key}].acts, func(a *act) bool {
			return a.posts && (a.status == 0 || a.status >= 500 || a.answered.After(d.sent)) // may have ended the document since
		})
	})
}
