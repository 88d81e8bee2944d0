package gateway_test

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
)

// States that only later features create are written by fixtures, on both sides:
// numbers known from a former gateway, decisions of an operator, purged keys, and
// time.

// rewrite changes a key in the database.
func (m *machine) rewrite(t *rapid.T, id string, change func(*dedup.Key)) {
	ctx := context.Background()
	ref := dedup.Ref{Partner: m.partner, ID: id}
	keys, err := dedup.Load(ctx, m.Pool, []dedup.Ref{ref})
	if err != nil {
		t.Fatal(err)
	}
	k := keys[ref]
	change(k)
	var b pgx.Batch
	b.Queue("begin")
	for _, v := range k.Variants {
		k.Touch(v)
	}
	dedup.QueueChanges(&b, []*dedup.Key{k})
	b.Queue("commit")
	if err := m.Pool.SendBatch(ctx, &b).Close(); err != nil {
		t.Fatal(err)
	}
	if k := m.keys[id]; k != nil {
		k.aged = false // what is written is of now
	}
	m.agree(t)
}

func (m *machine) execute(t *rapid.T, sql string, args ...any) {
	if _, err := m.Pool.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// newKey writes a key that did not come through Receive.
func (m *machine) newKey(t *rapid.T, id string, mv *modelVariant, v *dedup.Variant) {
	if m.keys[id] != nil {
		noSubject(t)
	}
	v.DeliveryID, v.Answer = m.NewID(), int16(mv.answer)
	m.keys[id] = &modelKey{id: id, current: mv, variants: []*modelVariant{mv}}
	k := dedup.NewKey(dedup.Ref{Partner: m.partner, ID: id}, dedup.Interchange, m.rig.now, m.rig.now.AddDate(1, 0, 0))
	k.Add(v)
	var b pgx.Batch
	dedup.QueueClaim(&b, []*dedup.Key{k}, func(dedup.Ref) {})
	if err := m.Pool.SendBatch(context.Background(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	m.agree(t)
}

// importNumber makes a number known from a former gateway.
func (m *machine) importNumber(t *rapid.T) {
	s := m.interchangeOf(t)
	id := s.key(m.controlReference)
	t.Logf("import %s", id)
	m.newKey(t, id, &modelVariant{noDigest: true, state: "imported", answer: gateway.ToldAccepted}, &dedup.Variant{NoDigest: true, State: dedup.Imported})
}

// importID makes a transport id known from a former gateway.
func (m *machine) importID(t *rapid.T) {
	id := "http:nordhafen:" + pick(t, "id", "T1", "T2", "T3")
	if m.ids[id] != nil {
		noSubject(t)
	}
	t.Logf("import %s", id)
	m.ids[id] = &modelID{id: id, payloads: []*modelPayload{{noDigest: true, state: "imported", answer: gateway.ToldAccepted}}}
	k := dedup.NewKey(dedup.Ref{Partner: m.partner, ID: id}, dedup.Transport, m.rig.now, m.rig.now.AddDate(1, 0, 0))
	k.Add(&dedup.Variant{NoDigest: true, State: dedup.Imported, DeliveryID: m.NewID(), Answer: int16(gateway.ToldAccepted)})
	var b pgx.Batch
	dedup.QueueClaim(&b, []*dedup.Key{k}, func(dedup.Ref) {})
	if err := m.Pool.SendBatch(context.Background(), &b).Close(); err != nil {
		t.Fatal(err)
	}
	m.agree(t)
}

// some gives a key with a variant that fits, with that variant's place in it.
func (m *machine) some(t *rapid.T, label string, fits func(*modelKey, *modelVariant) bool) (*modelKey, int) {
	type place struct {
		key string
		n   int
	}
	var all []place
	for id, k := range m.keys {
		for n, v := range k.variants {
			if fits(k, v) {
				all = append(all, place{id, n})
			}
		}
	}
	if len(all) == 0 {
		noSubject(t)
	}
	slices.SortFunc(all, func(a, b place) int { return dedup.Ref{ID: a.key}.Compare(dedup.Ref{ID: b.key})*100 + a.n - b.n })
	p := rapid.SampledFrom(all).Draw(t, label)
	return m.keys[p.key], p.n
}

// decide takes a decision of an operator on a drift of kind interchange. What it
// posts was known before, so that no document is written here.
func (m *machine) decide(t *rapid.T) {
	k, n := m.some(t, "drift", func(k *modelKey, v *modelVariant) bool { return v.state == "quarantined" && k.holds()&4 == 0 })
	v := k.variants[n]
	decision := pick(t, "decision", "keep_original", "process_as_new", "replace", "complete")
	if v.byI1 && decision != "process_as_new" {
		decision = "keep_original" // there is no original
	}
	t.Logf("%s: %s under %s", decision, v.sent, k.id)
	var over []int // superseded
	for i, x := range k.variants {
		if decision == "replace" && (x.state == "accepted" || x.state == "partly") || (decision == "replace" || decision == "complete") && x == k.current {
			x.state, x.byHand = "superseded", true
			over = append(over, i)
			for j := range x.messages {
				if isDead(x.messages[j].fate) {
					x.messages[j].fate = discarded
				}
			}
		}
	}
	v.decided, v.byHand = true, true
	if decision == "keep_original" {
		v.state = "refused"
	} else {
		v.epoch = k.epoch // a drift of an earlier one is decided for now
		v.state, v.answer, v.item, v.version = "accepted", gateway.ToldAccepted, nil, v.version+1
		for i := range v.messages {
			v.messages[i].fate = absorbed
		}
		k.current = v
	}
	if decision == "process_as_new" {
		k.epoch++
		v.epoch = k.epoch
	}
	m.resolve(t, v.alert, slices.ContainsFunc(k.variants, func(x *modelVariant) bool { return x.alert == v.alert && x.state == "quarantined" }))
	m.rewrite(t, k.id, func(k *dedup.Key) {
		w := k.Variants[n]
		for _, i := range over {
			k.Variants[i].State = dedup.Superseded
			for j := range k.Variants[i].Messages {
				if m := &k.Variants[i].Messages[j]; m.Fate.IsDead() {
					m.Fate = dedup.Discarded
				}
			}
		}
		if decision == "keep_original" {
			w.State = dedup.Refused
			return
		}
		w.Epoch = k.Epoch
		w.State, w.Answer, w.Ack = dedup.Accepted, int16(gateway.ToldAccepted), dedup.Stored{}
		for i := range w.Messages {
			w.Messages[i].Fate = dedup.Absorbed
		}
		if decision == "process_as_new" {
			k.NextEpoch(w)
		}
		k.SetCurrent(w)
	})
}

// resolve closes an alert unless another payload waits under it.
func (m *machine) resolve(t *rapid.T, a *modelAlert, waits bool) {
	if waits {
		return
	}
	a.state = "resolved"
	m.execute(t, `update drift_alert set state = 'resolved' where partner_id = $1 and message_id = $2 and kind = $3 and state = 'open'`, m.partner, a.key, a.kind)
}

// discard refuses a dead message for good.
func (m *machine) discard(t *rapid.T) {
	k, n := m.some(t, "dead", func(_ *modelKey, v *modelVariant) bool {
		return v.state != "superseded" && slices.ContainsFunc(v.messages, func(x modelMessage) bool { return isDead(x.fate) })
	})
	v := k.variants[n]
	i := slices.IndexFunc(v.messages, func(x modelMessage) bool { return isDead(x.fate) })
	t.Logf("discard message %d of %s under %s", i, v.sent, k.id)
	v.messages[i].fate = discarded
	v.state = judgeState(v.messages)
	m.rewrite(t, k.id, func(k *dedup.Key) {
		w := k.Variants[n]
		w.Messages[i].Fate = dedup.Discarded
		w.State = dedup.StateOf(w.Messages, dedup.Rejected)
	})
}

// closeHeld keeps what the document guard held as it is.
func (m *machine) closeHeld(t *rapid.T) {
	isHeld := func(_ *modelKey, v *modelVariant) bool {
		return slices.ContainsFunc(v.messages, func(x modelMessage) bool { return x.fate == held })
	}
	k, _ := m.some(t, "held", isHeld)
	t.Logf("close what is held under %s", k.id)
	for _, v := range k.variants {
		for i := range v.messages {
			if v.messages[i].fate == held {
				v.messages[i].fate = heldClosed
			}
		}
	}
	for _, a := range m.alerts {
		if a.kind == "document" && a.key == k.id {
			a.state = "resolved"
		}
	}
	m.execute(t, `update drift_alert set state = 'resolved' where partner_id = $1 and message_id = $2 and kind = 'document'`, m.partner, k.id)
	m.rewrite(t, k.id, func(k *dedup.Key) {
		for _, v := range k.Variants {
			for i := range v.Messages {
				if v.Messages[i].Fate == dedup.Held {
					v.Messages[i].Fate = dedup.HeldClosed
				}
			}
		}
	})
}

// void cancels a document as a decision does that replaces its interchange by one
// which lacks it.
func (m *machine) void(t *rapid.T) {
	var list []*modelDocument
	for _, g := range m.guards {
		for _, d := range g.rows {
			if d.stands() {
				list = append(list, d)
			}
		}
	}
	if len(list) == 0 {
		noSubject(t)
	}
	slices.SortFunc(list, func(a, b *modelDocument) int {
		return cmp.Or(cmp.Compare(a.document, b.document), cmp.Compare(a.key, b.key), bytes.Compare(a.message[:], b.message[:]), a.epoch-b.epoch)
	})
	d := rapid.SampledFrom(list).Draw(t, "document")
	by := sending{ref: pick(t, "reference", "1", "9"), date: m.date(t), clock: pick(t, "clock", "0900", "1100")}
	d.cancelled, d.voided = true, by.stamp(0)
	t.Logf("void %s of %s by %s", d.document, d.key, d.voided)
	m.execute(t, `update document set cancelled_by = gen_random_uuid(), cancelled_stamp = $5
		where partner_id = $1 and message_id = $2 and message_sha256 = $3 and epoch = $4 and superseded_by is null and cancelled_by is null`, m.partner, d.key, d.message[:], d.epoch, d.voided)
	m.agree(t)
}

// rejectPayload decides against a transport drift.
func (m *machine) rejectPayload(t *rapid.T) {
	var ids []string
	for id, x := range m.ids {
		if slices.ContainsFunc(x.payloads, func(p *modelPayload) bool { return p.state == "quarantined" }) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		noSubject(t)
	}
	slices.Sort(ids)
	id := m.ids[rapid.SampledFrom(ids).Draw(t, "transport drift")]
	n := slices.IndexFunc(id.payloads, func(p *modelPayload) bool { return p.state == "quarantined" })
	t.Logf("reject payload %d of %s", n, id.id)
	p := id.payloads[n]
	p.state = "refused"
	m.resolve(t, p.alert, id.open(p.alert))
	m.rewrite(t, id.id, func(k *dedup.Key) { k.Variants[n].State = dedup.Refused })
}

// purge forgets a key; the transport ids that carried it, here, live longer.
func (m *machine) purge(t *rapid.T) {
	k, _ := m.some(t, "purged", func(k *modelKey, v *modelVariant) bool { return v == k.variants[0] && k.holds() == 0 })
	t.Logf("purge %s", k.id)
	delete(m.keys, k.id)
	m.purged = append(m.purged, k.id)
	maps.DeleteFunc(m.told, func(a acknowledged, _ gateway.Answer) bool { return a.key == k.id })
	m.execute(t, `delete from inbox where partner_id = $1 and message_id = $2`, m.partner, k.id)
	m.execute(t, `delete from variant where partner_id = $1 and message_id = $2`, m.partner, k.id)
	m.agree(t)
}

// age lets more than reuse_after pass for a key.
func (m *machine) age(t *rapid.T) {
	k, _ := m.some(t, "aged", func(k *modelKey, v *modelVariant) bool { return v == k.variants[0] && !k.aged })
	t.Logf("age %s", k.id)
	k.aged = true
	m.execute(t, `update inbox set last_at = last_at - interval '60 days' where partner_id = $1 and message_id = $2`, m.partner, k.id)
}
