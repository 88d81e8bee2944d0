package gateway

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// storedPayload is what of the delivery is kept for one partner: all of it for
// the partner who sent it, of a VAN's delivery to each owner his interchange.
type storedPayload struct {
	partner        string
	ref            dedup.Stored
	offset, length int64
}

// month is the purge month of what is kept of a partner; nothing of one under
// legal hold is purged.
func month(now time.Time, p *partners.Partner, keep time.Duration) time.Time {
	if p.Retention.LegalHold {
		return journal.Held
	}
	return journal.Month(now, keep)
}

// placePayload gives every new variant the place of its bytes. What is open, held
// or dead is kept in the partition held.
func (pl *plan) placePayload() {
	in := pl.in
	pl.payloads = pl.payloads[:0]
	whole := storedPayload{partner: in.Partner.ID, length: in.Payload.Size()}
	whole.ref = dedup.Stored{ID: in.payloadID, Month: month(in.now, in.Partner, in.Partner.Retention.Payloads)}
	keep := false
	for _, r := range pl.results {
		if r.p == nil || r.p.owner.ID == in.Partner.ID {
			switch {
			case pl.stores(r):
				keep = true
				if retained(r) {
					whole.ref.Month = journal.Held
				}
			case r.variant == nil && !r.stored && !in.overQuarantine:
				keep = true
			}
		}
	}
	if pl.tvariant != nil && pl.tvariant.State == dedup.Quarantined && pl.tvariant.DeliveryID == in.id {
		keep, whole.ref.Month = true, journal.Held
	}
	if in.decided != nil { // kept already
		keep, whole.ref = false, in.stored
	}
	if keep {
		pl.payloads = append(pl.payloads, whole)
		if pl.tvariant != nil && pl.tvariant.DeliveryID == in.id {
			place(pl.tkey, pl.tvariant, whole.ref)
		}
	}
	for _, r := range pl.results {
		if !pl.stores(r) {
			continue
		}
		r.variant.DeliveryID, r.variant.Offset, r.variant.Length = in.id, r.p.ic.Offset, r.p.ic.Length
		if r.p.owner.ID == in.Partner.ID {
			place(r.key, r.variant, whole.ref)
			continue
		}
		own := storedPayload{partner: r.p.owner.ID, offset: r.p.ic.Offset, length: r.p.ic.Length,
			ref: dedup.Stored{ID: documentID(in.payloadID, len(pl.payloads)+1), Month: month(in.now, r.p.owner, r.p.owner.Retention.Payloads)}}
		if retained(r) {
			own.ref.Month = journal.Held
		}
		r.variant.Offset = 0
		place(r.key, r.variant, own.ref)
		pl.payloads = append(pl.payloads, own)
	}
}

// stores reports whether the bytes of a variant are kept with this delivery: it
// is new, or it is taken up again and what was kept of it is gone, or would be
// purged while something of it is open.
func (pl *plan) stores(r *result) bool {
	if r.variant == nil {
		return false
	}
	if r.variant.DeliveryID == pl.in.id {
		return true
	}
	kept := r.variant.Payload.Month
	return r.row.Effect == Redo && kept != journal.Held && (retained(r) || !pl.in.now.Before(kept.AddDate(0, 1, 0)))
}

// place notes where v's bytes stand. They move to the partition held with those
// of another interchange of the delivery that the guard holds, after the key of v
// was claimed.
func place(k *dedup.Key, v *dedup.Variant, at dedup.Stored) {
	if v.Payload != at {
		v.Payload = at
		k.Touch(v)
	}
}

// retained reports whether a variant's payload must not be purged yet.
func retained(r *result) bool {
	if r.variant.State == dedup.Quarantined {
		return true
	}
	return slices.ContainsFunc(r.variant.Messages, func(m dedup.MessageState) bool {
		return m.Fate == dedup.Held || m.Fate == dedup.Pending || m.Fate.IsDead()
	})
}

// write queues everything the delivery leaves behind; the last of it goes with
// COMMIT.
func (g *Gateway) write(ctx context.Context, s *session, pl *plan, r *Receipt) error {
	in := pl.in
	pl.placePayload() // again: the guard may have held something
	var changed []*dedup.Key
	for _, k := range in.keys {
		if k.Changed() {
			changed = append(changed, k)
		}
	}
	slices.SortFunc(changed, func(a, b *dedup.Key) int { return a.Compare(b.Ref) })
	dedup.QueueChanges(s.batch, changed)
	if err := dedup.WriteMessages(ctx, s.conn, in.keys); err != nil {
		return err
	}
	dedup.QueueJobs(s.batch, pl.jobs())
	pl.queueLastDelivery(s.batch)
	pl.queueRepeats(s.batch)
	if err := g.writeDocuments(ctx, s, pl); err != nil {
		return err
	}
	if err := g.writePayload(ctx, s, pl); err != nil {
		return err
	}
	if err := pl.writeAlerts(ctx, s); err != nil {
		return err
	}
	acks, err := pl.acknowledgements(r)
	if err != nil {
		return err
	}
	journal.QueueAcknowledgements(s.batch, acks)
	if err := s.point(ctx, "acknowledgement"); err != nil {
		return err
	}
	if err := outbox.QueueEvents(s.batch, g.events(pl)); err != nil {
		return err
	}
	if err := g.sendElsewhere(ctx, s, pl, r); err != nil {
		return err
	}
	if err := pl.queueAnswers(s.batch); err != nil {
		return err
	}
	journal.QueueDeliveries(s.batch, g.journalRows(pl, r, pl.payloads))
	return nil
}

// jobs gives the work that the delivery leaves to workers.
func (pl *plan) jobs() []dedup.Job {
	var jobs []dedup.Job
	for _, r := range pl.results {
		if r.row != nil && r.row.Effect.works() && r.variant.State == dedup.Received {
			jobs = append(jobs, dedup.Job{Ref: r.key.Ref, SHA256: r.variant.SHA256})
		}
	}
	return jobs
}

// queueLastDelivery moves the window of keys that only had a repeat; what changed
// has moved its own.
func (pl *plan) queueLastDelivery(b *pgx.Batch) {
	var refs []dedup.Ref
	add := func(k *dedup.Key) {
		if k != nil && !k.Changed() && !k.FromClaim() {
			refs = append(refs, k.Ref)
		}
	}
	add(pl.tkey)
	for _, r := range pl.results {
		add(r.key)
	}
	if len(refs) > 0 {
		dedup.QueueLastDelivery(b, dedup.SortRefs(refs))
	}
}

// writePayload keeps the bytes as they came.
func (g *Gateway) writePayload(ctx context.Context, s *session, pl *plan) error {
	for _, p := range pl.payloads {
		if err := g.queuePayload(ctx, s, pl.in.Payload, p); err != nil {
			return err
		}
	}
	return pl.writeEvidence(ctx, s)
}

// queuePayload keeps a stretch of a payload: what is in memory goes with the batch.
func (g *Gateway) queuePayload(ctx context.Context, s *session, body *edi.Payload, p storedPayload) error {
	if b, ok := body.InMemory(); ok {
		journal.QueuePayload(s.batch, p.partner, p.ref.ID, p.ref.Month, b[p.offset:p.offset+p.length])
		return nil
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	return journal.WritePayload(ctx, s.conn, p.partner, p.ref.ID, p.ref.Month, body, p.offset, p.length)
}

// maxCopies bounds the documents of a drift that are looked for later.
const maxCopies = 1000

// writeAlerts queues what happens to alerts. One that is joined must be there, or
// the delivery starts again: that is asked before COMMIT is sent.
func (pl *plan) writeAlerts(ctx context.Context, s *session) error {
	joined, there := 0, 0
	one := func(c pgconn.CommandTag) error { there += int(c.RowsAffected()); return nil }
	write := func(d *driftChange) {
		if d == nil {
			return
		}
		switch a := d.alert; {
		case d.opened:
			dedup.QueueAlert(s.batch, a)
		case d.joined:
			joined++
			dedup.QueueAlertReception(s.batch, a.Partner, a.ID).Exec(one)
		case d.added:
			joined++
			dedup.QueueAlertDigest(s.batch, a.Partner, a.ID, a.Digests[0], a.Class, a.Severity, a.Headline, a.Proposal).Exec(one)
		}
	}
	write(pl.drift)
	for _, r := range pl.results {
		if r.drift == nil || r.drift == pl.drift {
			continue
		}
		write(r.drift)
		if r.p == nil || r.drift.joined || r.row.Effect != Quarantine {
			continue
		}
		var contents [][]byte
		for i := range min(len(r.p.docs), maxCopies) {
			if r.p.docs[i] != nil {
				c := r.p.copyOf(i)
				contents = append(contents, c[:])
			}
		}
		if len(contents) > 0 {
			dedup.QueueCopy(s.batch, r.drift.alert.Partner, r.drift.alert.ID, contents)
		}
	}
	if pl.drift != nil && pl.transport.Then == TransportDrift {
		var contents [][]byte
		for _, p := range pl.in.parts[:min(len(pl.in.parts), maxCopies)] {
			contents = append(contents, slices.Clone(p.ic.PayloadSHA256[:]))
		}
		dedup.QueueCopy(s.batch, pl.drift.alert.Partner, pl.drift.alert.ID, contents)
	}
	for _, a := range pl.alerts {
		dedup.QueueAlert(s.batch, a)
	}
	for _, c := range pl.closed {
		dedup.QueueAlertClose(s.batch, pl.in.Partner.ID, c.Alert, "resolved", "its interchange was processed with delivery "+pl.in.id.String())
	}
	for _, c := range pl.in.copies {
		if c.told {
			dedup.QueueCopySeen(s.batch, c.partner, c.Alert, pl.in.messageID())
		}
	}
	if joined == 0 {
		return nil
	}
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("write alerts: %w", err)
	}
	if there < joined {
		return errStartAgain
	}
	return nil
}

// acknowledgements gives the answers to be kept.
func (pl *plan) acknowledgements(r *Receipt) ([]*journal.Acknowledgement, error) {
	var acks []*journal.Acknowledgement
	for _, res := range pl.results {
		if res.ack.ID != uuid.Nil {
			acks = append(acks, &journal.Acknowledgement{Partner: res.key.Partner, ID: res.ack.ID, Month: res.ack.Month, Answer: res.item.JSON})
		}
	}
	if pl.answered {
		parts, err := pl.storedParts()
		if err != nil {
			return nil, fmt.Errorf("keep the receipt: %w", err)
		}
		acks = append(acks, &journal.Acknowledgement{Partner: pl.in.Partner.ID, ID: pl.tvariant.Ack.ID, Month: pl.tvariant.Ack.Month,
			Status: int16(r.Rendered.Status), ContentType: r.Rendered.ContentType, Fields: r.Rendered.Fields, Receipt: r.Rendered.Body, Answer: parts, Binding: pl.in.Binding})
	}
	pl.in.written = acks
	return acks, nil
}

// events tells what happened, once each, in the transaction that causes it: all
// that writeDocuments has not queued. Test interchanges cause none.
func (g *Gateway) events(pl *plan) []outbox.Event {
	var events []outbox.Event
	add := func(partner, typ, subject string, data map[string]any) {
		owner := pl.ownerOf(partner)
		events = append(events, outbox.Event{Partner: partner, ID: g.NewID(), Month: month(pl.in.now, owner, owner.Retention.Payloads),
			Kind: outbox.KindEvent, Type: typ, Subject: subject, Data: data})
	}
	drift := func(d *driftChange) {
		if d != nil && d.opened && d.alert.State == "open" && !d.alert.Test {
			add(d.alert.Partner, outbox.DriftOpened, d.alert.Partner+"/"+d.alert.MessageID, map[string]any{"alert_id": d.alert.ID,
				"kind": d.alert.Kind, "message_id": d.alert.MessageID, "class": d.alert.Class, "severity": d.alert.Severity, "words": d.alert.Headline})
		}
	}
	drift(pl.drift)
	for _, a := range pl.alerts {
		drift(&driftChange{alert: a, opened: true})
	}
	for _, r := range pl.results {
		if r.p == nil || r.key == nil || r.p.ic.Test {
			continue
		}
		if r.drift != pl.drift {
			drift(r.drift)
		}
		subject := r.key.Partner + "/" + r.key.ID
		if r.row.Effect.works() && r.row != &deferredRow { // a worker tells when it has ended
			add(r.key.Partner, outbox.MessageReceived, subject, map[string]any{"message_id": r.key.ID, "verdict": r.verdict,
				"outcome": r.variant.State.String(), "payload_sha256": hexOf(r.p.ic.PayloadSHA256), "documents": len(r.posts), "delivery_id": pl.in.id})
		}
	}
	events = append(events, g.sentAcknowledgements(pl)...)
	events = append(events, pl.advices...)
	events = append(events, g.rejections(pl)...)
	events = append(events, g.alertNotices(pl)...)
	events = append(events, pl.created...)
	pl.created = nil
	for _, x := range pl.supersede {
		if !x.test {
			add(x.partner, outbox.DocumentSuperseded, x.partner+"/"+x.old.String(),
				map[string]any{"document_id": x.old, "by": x.new, "cancelled": x.cancel})
		}
	}
	return events
}

// ownerOf gives the partner of that name, of those whose keys this delivery holds.
func (pl *plan) ownerOf(id string) *partners.Partner {
	for _, r := range pl.results {
		if r.p != nil && r.p.owner != nil && r.p.owner.ID == id {
			return r.p.owner
		}
	}
	return pl.in.Partner
}

// journalRows gives the journal's rows of a delivery: one for each interchange,
// under the partner who owns its key.
func (g *Gateway) journalRows(pl *plan, r *Receipt, payloads []storedPayload) []*journal.Delivery {
	in := pl.in
	row := func(seq int, owner *partners.Partner) *journal.Delivery {
		partner := owner.ID
		d := &journal.Delivery{Partner: partner, ID: in.id, Seq: int32(seq), Month: month(in.now, owner, owner.Retention.Deliveries), Received: in.now,
			Transport: in.Transport, TransportID: in.TransportID, SHA256: in.SHA256[:], Verdict: string(r.Verdict), Outcome: r.Answer.Told().Word,
			Status: r.status(in.Delivery), Bytes: in.Payload.Size(), Took: in.took(), Remote: in.Remote, Filename: in.Filename}
		if partner == in.Partner.ID { // labels are its own
			d.Signer = in.Signer
		}
		if len(payloads) > 0 && payloads[0].partner == partner && payloads[0].ref.ID == in.payloadID {
			d.Payload, d.PayloadIn = &payloads[0].ref.ID, &payloads[0].ref.Month
		}
		return d
	}
	var rows []*journal.Delivery
	own := false
	for i, res := range pl.results {
		owner := in.Partner
		if res.key != nil {
			owner = pl.ownerOf(res.key.Partner)
		}
		d := row(i, owner)
		d.Verdict, d.Outcome, d.Rule, d.Alert = string(res.verdict), res.answer.Told().Word, pl.rule(res), alertOf(res.drift)
		if res.p != nil {
			d.SHA256 = res.p.ic.PayloadSHA256[:]
			if res.p.reject != nil {
				d.Detail = res.p.reject.Detail
			} else if res.p.fault != nil {
				d.Detail = res.p.fault.Error()
			}
		}
		switch {
		case res.key != nil:
			d.MessageID = res.key.ID
		case in.TransportID == "": // found by the digest of the payload
			d.MessageID = in.key.ID
		}
		if len(payloads) > 0 && res.variant != nil && res.variant.DeliveryID == in.id && res.variant.Payload.ID != uuid.Nil {
			d.Payload, d.PayloadIn = &res.variant.Payload.ID, &res.variant.Payload.Month
		}
		if res.variant != nil && res.variant.Ack.ID != uuid.Nil && res.answer != ToldTryAgain {
			d.Ack, d.AckIn = &res.variant.Ack.ID, &res.variant.Ack.Month
		}
		own = own || owner.ID == in.Partner.ID
		rows = append(rows, d)
	}
	if !own {
		rows = append(rows, row(len(rows), in.Partner))
	}
	return rows
}

// deliveryPartner is a partner under whom the journal has a row of the delivery.
func (in *intake) deliveryPartner() string { return in.Partner.ID }

// copyContents gives, by partner, what open drifts are asked for: the
// interchanges that are processed and the contents of their documents.
func (pl *plan) copyContents() map[string][][]byte {
	in := pl.in
	contents := map[string][][]byte{}
	for _, r := range pl.results {
		if r.row == nil || !r.row.Effect.works() {
			continue
		}
		owner := r.p.owner.ID
		contents[in.Partner.ID] = append(contents[in.Partner.ID], slices.Clone(r.p.ic.PayloadSHA256[:]))
		for _, i := range r.posts[:min(len(r.posts), maxCopies)] {
			if c := r.p.copyOf(int(i)); c != ([32]byte{}) {
				contents[owner] = append(contents[owner], c[:])
			}
		}
	}
	return contents
}
