package gateway

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
)

// lookUp reads the delivery's keys without a lock: enough to answer plain
// duplicates, and to know what has to be prepared.
func (g *Gateway) lookUp(ctx context.Context, in *intake) error {
	ctx, cancel := context.WithTimeout(ctx, acquireTimeout)
	defer cancel()
	var earlier []dedup.Ref
	for _, p := range in.parts {
		if p.key != (dedup.Ref{}) {
			earlier = append(earlier, p.earlier(in.now)...)
		}
	}
	refs := dedup.SortRefs(append(in.refs(), earlier...))
	in.forget()
	read := g.readKeys
	if in.mayWait == nil || len(earlier)+len(in.alsoLock) > 0 { // keys that others may ask for too
		read = g.readKeysAlone
	}
	if err := read(ctx, refs, in.keys); err != nil {
		return err
	}
	if len(in.keys) > 0 && (len(earlier) > 0 || !in.plain()) {
		var whole pgx.Batch
		in.queueRead(&whole, refs)
		if err := g.Pool.SendBatch(ctx, &whole).Close(); err != nil {
			return fmt.Errorf("look up keys: %w", err)
		}
	}
	in.useEarlierKeys()
	if t := in.keys[in.key]; t != nil { // what T carried decides rows T4 to T6
		var more []dedup.Ref
		for _, c := range t.Carried {
			if in.keys[c.Ref] == nil {
				more = append(more, c.Ref)
			}
		}
		if len(more) > 0 && t.Find(in.SHA256) == nil {
			in.alsoLock = dedup.SortRefs(append(in.alsoLock, more...))
			carried, err := dedup.LoadFor(ctx, g.Pool, in.alsoLock, nil)
			if err != nil {
				return err
			}
			for r, k := range carried {
				in.keys[r] = k
			}
		}
	}
	if in.purged = in.unread(); len(in.purged) > 0 { // or they were committed with the id between the two reads
		asked := slices.DeleteFunc(in.asked(), func(a dedup.Asked) bool { return !slices.Contains(in.purged, a.Ref) })
		late, err := dedup.LoadFor(ctx, g.Pool, in.purged, asked)
		if err != nil {
			return err
		}
		for r, k := range late {
			in.keys[r] = k
		}
		in.purged = in.unread()
	}
	in.looked = map[dedup.Ref]bool{}
	for _, r := range append(refs, in.alsoLock...) {
		in.looked[r] = true
	}
	return g.lookUpQuarantine(ctx, in)
}

// lookUpQuarantine: what is refused without a key is stored on every try, so it
// counts against the partner's quarantine of the day.
func (g *Gateway) lookUpQuarantine(ctx context.Context, in *intake) error {
	if in.key.ID != "" || !slices.ContainsFunc(in.parts, func(p *part) bool { return p.key.ID == "" }) {
		return nil
	}
	kept, err := journal.RefusedToday(ctx, g.Pool, in.Partner.ID, quarantineRows)
	in.overQuarantine = kept.Rows >= quarantineRows || kept.Bytes+in.Payload.Size() > quarantineBytes
	return err
}

// readMessages reads the message records that lookUp left out, since no plain
// duplicate needs them: those of interchanges with very many.
func (g *Gateway) readMessages(ctx context.Context, in *intake) error {
	var b pgx.Batch
	if !dedup.QueueMessages(&b, in.keys) {
		return nil
	}
	if err := g.Pool.SendBatch(ctx, &b).Close(); err != nil {
		return fmt.Errorf("read message states: %w", err)
	}
	return nil
}

// queueRead reads of a key what this delivery may meet: of the drifts under it only
// those that it may be, as a constant control reference makes one of every file. A
// decision, and whoever closes drifts, reads keys whole.
func (in *intake) queueRead(b *pgx.Batch, refs []dedup.Ref) {
	in.forget()
	if in.wholly {
		dedup.QueueRead(b, refs, in.keys)
		return
	}
	dedup.QueueReadFor(b, refs, in.asked(), in.keys)
}

// asked are the digests of the delivery under its keys.
func (in *intake) asked() (asked []dedup.Asked) {
	if in.key.ID != "" {
		asked = append(asked, dedup.Asked{Ref: in.key, SHA256: in.SHA256})
	}
	for _, p := range in.parts {
		if p.key.ID == "" {
			continue
		}
		for _, r := range append(p.earlier(in.now), p.key) {
			asked = append(asked, dedup.Asked{Ref: r, SHA256: p.ic.PayloadSHA256})
			if p.prepared {
				asked = append(asked, dedup.Asked{Ref: r, SHA256: p.ic.ContentSHA256})
			}
		}
	}
	return asked
}

// unread gives the interchange keys that the transport id carried with the bytes
// that come now, and that were not found: they are purged, or were committed with
// the id after they were looked for, by a decision that processed the payload or
// by the first copy.
func (in *intake) unread() (refs []dedup.Ref) {
	t := in.keys[in.key]
	if in.key.ID == "" || t == nil || t.Find(in.SHA256) == nil {
		return nil
	}
	for _, p := range in.parts {
		if p.key.ID != "" && in.keys[p.key] == nil && slices.Contains(t.Carried, dedup.Carried{Ref: p.key, SHA256: p.ic.PayloadSHA256}) {
			refs = append(refs, p.key)
		}
	}
	return dedup.SortRefs(refs)
}

// forget what was read before.
func (in *intake) forget() {
	in.keys, in.alerts, in.acks = map[dedup.Ref]*dedup.Key{}, map[dedup.Ref][]*dedup.Alert{}, map[uuid.UUID]*journal.Acknowledgement{}
}

// plain reports whether every key of the delivery is known with its digest as the
// first variant, and that one is accepted: row I2, whatever came besides.
func (in *intake) plain() bool {
	first := func(r dedup.Ref, digest [32]byte) bool {
		k := in.keys[r]
		return k != nil && !k.Variants[0].NoDigest && k.Variants[0].SHA256 == digest &&
			(k.Variants[0].State == dedup.Accepted || k.Variants[0].State == dedup.Superseded)
	}
	if in.key.ID != "" && !first(in.key, in.SHA256) {
		return false
	}
	for _, p := range in.parts {
		if p.key.ID == "" || !first(p.key, p.ic.PayloadSHA256) {
			return false
		}
	}
	return true
}

// useEarlierKeys: after a change of the partner's key settings, an interchange
// whose digest stands under the key the earlier setting gives is handled there.
func (in *intake) useEarlierKeys() {
	for _, p := range in.parts {
		if p.key == (dedup.Ref{}) {
			continue
		}
		for _, r := range p.earlier(in.now) {
			if k := in.keys[r]; k != nil && k.Find(p.ic.PayloadSHA256) != nil {
				p.key = r
				break
			}
		}
	}
	used := map[dedup.Ref]bool{}
	for _, r := range in.refs() {
		used[r] = true
	}
	for r := range in.keys { // those that are not used are not locked either
		if !used[r] {
			delete(in.keys, r)
		}
	}
}

// knownRefs gives the keys that have a row, sorted.
func (in *intake) knownRefs() []dedup.Ref {
	var refs []dedup.Ref
	for r, k := range in.keys {
		if !k.FromClaim() {
			refs = append(refs, r)
		}
	}
	return dedup.SortRefs(refs)
}

// readUnderLock reads keys, their variants, alerts and stored answers in the
// statement after the one that locked them.
func (in *intake) readUnderLock(ctx context.Context, s *session, known []dedup.Ref) error {
	in.queueRead(s.batch, known)
	dedup.QueueOpenDrifts(s.batch, known, func(r dedup.Ref, a *dedup.Alert) { in.alerts[r] = append(in.alerts[r], a) })
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("read keys: %w", err)
	}
	for _, r := range in.unread() { // what the id carries meanwhile was not locked
		if !slices.Contains(in.purged, r) {
			return errStartAgain
		}
	}
	dedup.QueueMessages(s.batch, in.keys)
	journal.QueueReadAcknowledgements(s.batch, in.ackRefs(), in.acks)
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("read acknowledgements: %w", err)
	}
	if journal.QueueReadMoved(s.batch, in.ackRefs(), in.acks); s.batch.Len() > 0 {
		if err := s.flush(ctx); err != nil {
			return fmt.Errorf("read acknowledgements: %w", err)
		}
	}
	return nil
}

// ackRefs gives the stored answers that this delivery may have to give again.
func (in *intake) ackRefs() []journal.AckRef {
	var refs []journal.AckRef
	add := func(partner string, k *dedup.Key, d [32]byte) {
		if k == nil {
			return
		}
		if v := k.Find(d); v != nil && v.Ack.ID != uuid.Nil {
			refs = append(refs, journal.AckRef{Partner: partner, ID: v.Ack.ID, Month: v.Ack.Month})
		}
	}
	if in.key.ID != "" {
		add(in.key.Partner, in.keys[in.key], in.SHA256)
	}
	for _, p := range in.parts {
		if p.key.ID != "" {
			add(p.key.Partner, in.keys[p.key], p.ic.PayloadSHA256)
		}
	}
	return refs
}

// known answers a delivery of which every interchange is accepted or superseded
// (row I2), the only row that may be decided on an unlocked read: what is
// accepted stays so. nil if it is not that.
func (g *Gateway) known(ctx context.Context, in *intake) (*Receipt, error) {
	if len(in.alsoLock) > 0 || !in.accepted() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, acquireTimeout)
	defer cancel()
	var b pgx.Batch
	standby := false
	journal.QueueReadAcknowledgements(&b, in.ackRefs(), in.acks)
	b.Queue("select current_setting('synchronous_standby_names') <> ''").QueryRow(func(row pgx.Row) error { return row.Scan(&standby) })
	if err := g.Pool.SendBatch(ctx, &b).Close(); err != nil {
		return nil, fmt.Errorf("read acknowledgements: %w", err)
	}
	var moved pgx.Batch
	if journal.QueueReadMoved(&moved, in.ackRefs(), in.acks); moved.Len() > 0 {
		if err := g.Pool.SendBatch(ctx, &moved).Close(); err != nil {
			return nil, fmt.Errorf("read acknowledgements: %w", err)
		}
	}
	if standby { // what is read may be of a COMMIT whose wait was cancelled, here or in another process
		if err := g.settled(ctx); err != nil {
			return nil, err
		}
	}
	r, err := g.repeat(ctx, in)
	if r != nil {
		g.remember(in)
	}
	return r, err
}

// accepted reports whether rows T3 and I2 answer the whole delivery.
func (in *intake) accepted() bool {
	if in.key.ID != "" {
		k := in.keys[in.key]
		if k == nil {
			return false
		}
		if t := k.Find(in.SHA256); t == nil || t.State != dedup.Accepted {
			return false
		}
	}
	for _, p := range in.parts {
		k := in.keys[p.key]
		if p.key.ID == "" || k == nil {
			return false
		}
		if row := Judge(&p.arrival, k); row.Name != "I2" || Answer(k.Find(p.ic.PayloadSHA256).Answer) == ToldTryAgain {
			return false
		}
	}
	return len(in.parts) > 0
}

// repeat gives the stored answers of an accepted delivery again; nil if the
// transport id's receipt was made of others.
func (g *Gateway) repeat(ctx context.Context, in *intake) (*Receipt, error) {
	pl := &plan{in: in}
	if in.key.ID != "" {
		pl.tkey = in.keys[in.key]
		pl.tvariant, pl.transport = pl.tkey.Find(in.SHA256), &Transports[3]
	}
	for _, p := range in.parts {
		k := in.keys[p.key]
		v := k.Find(p.ic.PayloadSHA256)
		pl.results = append(pl.results, &result{p: p, row: Judge(&p.arrival, k), verdict: Duplicate, key: k, variant: v, answer: Answer(v.Answer), stored: true})
	}
	if pl.tvariant != nil {
		pl.kept = in.keptParts(pl.tvariant)
		if pl.fromStore = pl.sameAnswers(); !pl.fromStore {
			return nil, nil
		}
	}
	r, err := g.receipt(pl)
	if err != nil {
		return nil, err
	}
	if err := g.repeatElsewhere(ctx, in, r); err != nil {
		return nil, err
	}
	g.Later.Add(g.journalRows(pl, r, nil)...)
	return r, nil
}

// took is how long the delivery has been with us, in microseconds.
func (in *intake) took() int32 { return int32(min(time.Since(in.started).Microseconds(), 1<<31-1)) }

// LastDeliveries is queued with the journal rows of plain duplicates: the keys'
// windows count from their last delivery, and an acknowledgement that did not reach the
// partner is sent again.
func LastDeliveries(b *pgx.Batch, ds []*journal.Delivery) {
	var refs []dedup.Ref
	for _, d := range ds {
		if d.MessageID != "" {
			refs = append(refs, dedup.Ref{Partner: d.Partner, ID: d.MessageID})
		}
		if d.TransportID != "" {
			refs = append(refs, dedup.Ref{Partner: d.Partner, ID: d.TransportID})
		}
	}
	if len(refs) > 0 {
		dedup.QueueLastDelivery(b, dedup.SortRefs(refs))
	}
	queueRepeated(b, ds)
}
