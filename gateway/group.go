package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
)

const (
	groupMembers = 64        // of a group at most
	groupBeside  = 16        // of one partner where others wait too, at least
	groupPayload = 256 << 10 // bytes of a member's payload at most
	groupBytes   = 1 << 20   // of all its members' payloads, about
	groupPosts   = 200       // documents of a member at most
)

// errAlone: the group was rolled back, or the delivery is none for a group; it goes
// alone.
var errAlone = errors.New("goes alone")

// groupable: nothing about the delivery is known, and it is small.
func (in *intake) groupable() bool {
	if len(in.keys) > 0 || len(in.alsoLock) > 0 || in.Payload.Size()+in.exhibitBytes() > groupPayload {
		return false
	}
	posts := 0
	for _, p := range in.parts {
		if !p.prepared || !p.retained || p.owner.ID != in.Partner.ID {
			return false
		}
		posts += len(p.judged)
	}
	return posts > 0 && posts <= groupPosts
}

// commitMembers commits a group. Where it turns out whose fault it is that it cannot
// be, the others go together once more; where that is not known, it is looked for
// between partners, half and half, so that one partner's members take no other's
// with them. What is left goes alone.
func (g *Gateway) commitMembers(ms []*member) { g.commitTogether(ms, true) }

func (g *Gateway) commitTogether(ms []*member, again bool) {
	defer func() {
		if e := recover(); e != nil { // one member's fault is not the others'
			g.Log.Error("a group of deliveries failed; each goes alone", "members", len(ms), "err", e, "stack", string(debug.Stack()))
			for _, m := range ms {
				m.err = errAlone
			}
		}
	}()
	going := g.decideMembers(ms)
	if len(going) == 0 {
		return
	}
	err := g.commitGroup(going)
	if err == nil {
		return
	}
	for _, m := range going {
		m.err = errAlone
		if errors.Is(err, errUnknownCommit) || errors.Is(err, errNotDurable) {
			m.err = err
		}
	}
	switch {
	case errors.Is(err, errAlone):
		rest := slices.DeleteFunc(slices.Clone(going), func(m *member) bool { return m.known })
		if again && len(rest) > 0 && len(rest) < len(going) {
			g.commitTogether(forgotten(rest), false)
		}
	case isBusy(err) || sqlState(err) != "" && !isPassing(err):
		if a, b := byPartners(going); len(b) > 0 {
			g.commitTogether(forgotten(a), again)
			g.commitTogether(forgotten(b), again)
		}
	}
}

// forgotten voids what a group that was rolled back decided of its members.
func forgotten(ms []*member) []*member {
	for _, m := range ms {
		m.in.undecide()
		m.known = false
	}
	return ms
}

// undecide voids what was decided of a delivery of which nothing was known.
func (in *intake) undecide() {
	clear(in.keys)
	clear(in.alerts)
}

// byPartners halves members, those of a partner staying together; b is empty where
// all are one's.
func byPartners(ms []*member) (a, b []*member) {
	var partners []string
	for _, m := range ms {
		if !slices.Contains(partners, m.in.Partner.ID) {
			partners = append(partners, m.in.Partner.ID)
		}
	}
	half := partners[:(len(partners)+1)/2]
	for _, m := range ms {
		if slices.Contains(half, m.in.Partner.ID) {
			a = append(a, m)
		} else {
			b = append(b, m)
		}
	}
	return a, b
}

// decideMembers decides for each member; those that are no plain First, or share
// a document with another, go alone.
func (g *Gateway) decideMembers(ms []*member) (going []*member) {
	guards := map[dedup.GuardRef]bool{}
	for _, m := range ms {
		m.err = errAlone
		pl, err := g.decide(m.in)
		if err != nil || !pl.plainFirst() {
			continue
		}
		if err := pl.orderGuards(); err != nil || len(pl.guarding.first) != len(pl.guarding.spots) {
			continue
		}
		claims, err := pl.guardClaims(0, len(pl.guarding.first))
		if err != nil || slices.ContainsFunc(claims, func(c *dedup.Guard) bool { return guards[c.GuardRef] }) {
			continue
		}
		for _, c := range claims {
			guards[c.GuardRef] = true
		}
		m.pl, m.guards, m.err = pl, claims, nil
		going = append(going, m)
	}
	return going
}

// plainFirst: every part is First and is processed, and nothing is to be alerted.
func (pl *plan) plainFirst() bool {
	if pl.drift != nil || len(pl.alerts) > 0 {
		return false
	}
	for _, r := range pl.results {
		if r.row == nil || r.row.Name != "I1b" || len(r.key.Variants) != 1 {
			return false
		}
	}
	return true
}

// commitGroup is the ingress transaction of several deliveries.
func (g *Gateway) commitGroup(ms []*member) error {
	ctx, cancel := context.WithTimeout(context.Background(), g.patience(ms[0].in.Delivery)) // no member's own: they share it
	defer cancel()
	s, err := g.begin(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	if err := s.point(ctx, "begin"); err != nil {
		return err
	}
	if err := g.claimGroup(ctx, s, ms); err != nil {
		return err
	}
	if err := s.point(ctx, "claim"); err != nil {
		return err
	}
	for _, m := range ms {
		if m.r, err = g.receipt(m.pl); err != nil {
			return err
		}
	}
	if err := g.writeGroup(ctx, s, ms); err != nil {
		return err
	}
	return s.commit(ctx)
}

// claimGroup claims every key and every guard key of the group, each in one
// sorted statement. It waits a few milliseconds for a lock at most, then as long as
// any delivery: what it writes next waits for nobody's key, but another group may
// be about to extend the same table.
func (g *Gateway) claimGroup(ctx context.Context, s *session, ms []*member) error {
	s.batch.Queue("set local lock_timeout = '20ms'")
	var keys []*dedup.Key
	var guards []*dedup.Guard
	contents := map[string][][]byte{}
	for _, m := range ms {
		keys, guards = append(keys, m.pl.claims...), append(guards, m.guards...)
		for partner, c := range m.pl.copyContents() {
			contents[partner] = append(contents[partner], c...)
		}
	}
	slices.SortFunc(keys, func(a, b *dedup.Key) int { return a.Compare(b.Ref) })
	slices.SortFunc(guards, func(a, b *dedup.Guard) int { return a.Compare(b.GuardRef) })
	free, freeGuards, copies := map[dedup.Ref]bool{}, map[dedup.GuardRef]bool{}, map[copied]bool{}
	dedup.QueueClaim(s.batch, keys, func(r dedup.Ref) { free[r] = true })
	for partner, c := range contents {
		dedup.QueueCopies(s.batch, partner, c, func(c dedup.Copy) { copies[copied{partner, c.Content}] = true })
	}
	if len(guards) > 0 {
		dedup.QueueGuards(s.batch, guards, func(r dedup.GuardRef) { freeGuards[r] = true })
	}
	plans := make([]*plan, len(ms))
	for i, m := range ms {
		plans[i] = m.pl
	}
	queueUnits(s.batch, plans...)
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("claim the keys of %d deliveries: %w", len(ms), err)
	}
	if len(free) < len(keys) || len(freeGuards) < len(guards) || len(copies) > 0 {
		for _, m := range ms {
			m.known = m.meets(free, freeGuards, copies)
		}
		return errAlone
	}
	refused := false
	for _, m := range ms {
		m.known = m.pl.judgeUnits() != nil
		refused = refused || m.known
	}
	if refused { // which is told alone
		return errAlone
	}
	s.batch.Queue("reset lock_timeout") // to the session's
	return nil
}

// copied is the content of an open drift.
type copied struct {
	partner string
	content [32]byte
}

// meets reports whether a key or a document of the member is none of those that were
// free, or something in it stands in an open drift.
func (m *member) meets(free map[dedup.Ref]bool, freeGuards map[dedup.GuardRef]bool, copies map[copied]bool) bool {
	for partner, contents := range m.pl.copyContents() {
		if slices.ContainsFunc(contents, func(c []byte) bool { return copies[copied{partner, [32]byte(c)}] }) {
			return true
		}
	}
	return slices.ContainsFunc(m.pl.claims, func(k *dedup.Key) bool { return !free[k.Ref] }) ||
		slices.ContainsFunc(m.guards, func(c *dedup.Guard) bool { return !freeGuards[c.GuardRef] })
}

// writeGroup queues one statement a table, documents one for each partner.
func (g *Gateway) writeGroup(ctx context.Context, s *session, ms []*member) error {
	rows := map[string][]documents.Row{}
	var order []string
	var chunks []journal.Chunk
	var acks []*journal.Acknowledgement
	var events []outbox.Event
	var deliveries []*journal.Delivery
	var jobs []dedup.Job
	var answering []*result
	var evidence []*journal.Evidence
	for _, m := range ms {
		answering = append(answering, m.pl.results...)
		for _, r := range m.pl.results {
			partner := r.p.owner.ID
			if rows[partner] == nil {
				order = append(order, partner)
			}
			for _, i := range r.posts {
				rows[partner] = append(rows[partner], r.documentRow(m.in.now, int(i), r.p.docs[i]))
				g.tellCreated(m.pl, r, int(i))
			}
		}
		body, _ := m.in.Payload.InMemory() // a member is small, so it is in memory
		for _, p := range m.pl.payloads {
			chunks = append(chunks, journal.Chunk{Partner: p.partner, ID: p.ref.ID, Month: p.ref.Month, Body: body[p.offset : p.offset+p.length]})
		}
		if e := m.pl.evidence(); e != nil {
			evidence = append(evidence, e)
		}
		a, err := m.pl.acknowledgements(m.r)
		if err != nil {
			return err
		}
		acks = append(acks, a...)
		events = append(events, g.events(m.pl)...)
		if e := g.receiptDue(m.pl.in, m.r); e != nil {
			events = append(events, *e)
		}
		deliveries = append(deliveries, g.journalRows(m.pl, m.r, m.pl.payloads)...)
		jobs = append(jobs, m.pl.jobs()...)
	}
	dedup.QueueJobs(s.batch, jobs)
	for _, partner := range order {
		if err := s.queueDocuments(ctx, partner, rows[partner]); err != nil {
			return err
		}
	}
	if err := s.point(ctx, "last document"); err != nil {
		return err
	}
	journal.QueueChunks(s.batch, chunks)
	if err := journal.QueueEvidence(s.batch, evidence); err != nil {
		return err
	}
	journal.QueueAcknowledgements(s.batch, acks)
	if err := s.point(ctx, "acknowledgement"); err != nil {
		return err
	}
	if err := outbox.QueueEvents(s.batch, events); err != nil {
		return err
	}
	if err := queueAnswers(s.batch, answering); err != nil {
		return err
	}
	journal.QueueDeliveries(s.batch, deliveries)
	return nil
}
