package gateway

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
)

// post is a message that is to be posted.
type post struct {
	r *result
	i int
}

func (p post) judged() *judgement { return &p.r.p.judged[p.i] }

func (p post) ref() dedup.GuardRef {
	return dedup.GuardRef{Partner: p.r.p.owner.ID, Key: p.judged().guard}
}

func (p post) documentID() uuid.UUID { return documentID(p.r.p.base, p.i) }

// supersession is a revision that replaces or cancels an earlier document.
type supersession struct {
	partner  string
	old, new uuid.UUID
	stamp    string // of new
	number   int    // revision
	cancel   bool
	test     bool
}

// guardRefs gives the guard keys of all messages to be posted, sorted.
func (pl *plan) guardRefs() []dedup.GuardRef {
	var refs []dedup.GuardRef
	for _, r := range pl.results {
		for _, p := range r.posts {
			refs = append(refs, p.ref())
		}
	}
	slices.SortFunc(refs, dedup.GuardRef.Compare)
	return slices.Compact(refs)
}

// queueGuards claims the guard keys of the whole delivery in one sorted
// statement. The first message of a document in the delivery is the one it is
// claimed for.
func (pl *plan) queueGuards(b *pgx.Batch) {
	pl.guarded = true
	claims := pl.guardClaims()
	if len(claims) == 0 {
		return
	}
	byRef := make(map[dedup.GuardRef]*dedup.Guard, len(claims))
	for _, c := range claims {
		byRef[c.GuardRef] = c
	}
	pl.claimedGuards = len(claims)
	dedup.QueueGuards(b, claims, func(r dedup.GuardRef) { pl.guards[r] = byRef[r] })
}

// guardClaims gives the guard keys to be claimed, sorted and without repeats.
func (pl *plan) guardClaims() []*dedup.Guard {
	first := map[dedup.GuardRef]bool{}
	var claims []*dedup.Guard
	for _, r := range pl.results {
		for _, p := range r.posts {
			if first[p.ref()] {
				continue
			}
			first[p.ref()] = true
			claims = append(claims, &dedup.Guard{GuardRef: p.ref(), Contents: [][32]byte{p.judged().content}, Documents: []uuid.UUID{p.documentID()},
				MessageID: r.key.ID, Stamp: p.stamp(), PurgeOn: guardPurge(pl.in.now, r.p.owner.Retention.DedupWindow)})
		}
	}
	slices.SortFunc(claims, func(a, b *dedup.Guard) int { return a.Compare(b.GuardRef) })
	return claims
}

// guardPurge: a guard key never goes before the keys; a day more than they have
// covers repeats that move theirs.
func guardPurge(now time.Time, window time.Duration) time.Time {
	return purgeOn(now, 2*window)
}

// guard passes every message to be posted by the document guard: guard keys that
// are not yet claimed are claimed, existing ones locked and read, then each
// message is posted, absorbed or held (outcomes.md, the third guard).
func (g *Gateway) guard(ctx context.Context, s *session, pl *plan) error {
	if !pl.guarded {
		pl.queueGuards(s.batch)
		if pl.claimedGuards > 0 {
			if err := s.flush(ctx); err != nil {
				return fmt.Errorf("claim document keys: %w", err)
			}
		}
	}
	if pl.claimedGuards == 0 {
		return nil
	}
	owned := make(map[dedup.GuardRef]bool, len(pl.guards))
	for r := range pl.guards {
		owned[r] = true
	}
	if len(owned) < pl.claimedGuards {
		var known []dedup.GuardRef
		for _, r := range pl.guardRefs() {
			if !owned[r] {
				known = append(known, r)
			}
		}
		dedup.QueueGuardLock(s.batch, known)
		if err := s.flush(ctx); err != nil {
			return fmt.Errorf("lock document keys: %w", err)
		}
		dedup.QueueGuardRead(s.batch, known, pl.guards)
		if err := s.flush(ctx); err != nil {
			return fmt.Errorf("read document keys: %w", err)
		}
	}
	for _, r := range pl.results {
		kept := r.posts[:0]
		for _, p := range r.posts {
			ref := p.ref()
			if owned[ref] { // claimed for this message: the first of its document
				delete(owned, ref)
				kept = append(kept, p)
				continue
			}
			gd := pl.guards[ref]
			if gd == nil { // purged between claim and lock
				return errStartAgain
			}
			if pl.ruling != nil && pl.ruling.pass(pl, p, gd) || pl.ruling == nil && pl.pass(p, gd) {
				kept = append(kept, p)
			}
		}
		r.posts = kept
		g.openHeld(pl, r)
	}
	return nil
}

// pass decides one message of a known document; true if it is to be posted.
func (pl *plan) pass(p post, gd *dedup.Guard) bool {
	j, v := p.judged(), p.r.variant
	fate := func(f dedup.Fate) {
		v.Messages[p.i].Fate = f
		p.r.key.Touch(v)
	}
	if doc, ok := gd.Find(j.content); ok || gd.Imported {
		fate(dedup.Absorbed)
		if ok {
			p.r.link(p.i, doc)
		}
		return false
	}
	stamp := p.stamp()
	switch documents.Revision(j.revision) {
	case documents.RevisionReplace, documents.RevisionCancel:
		if stamp > gd.Stamp {
			pl.supersede = append(pl.supersede, supersession{gd.Partner, gd.Latest(), p.documentID(), stamp, len(gd.Documents) + 1,
				documents.Revision(j.revision) == documents.RevisionCancel, p.r.p.ic.Test})
		} else {
			pl.stale = append(pl.stale, supersession{partner: gd.Partner, old: p.documentID(), new: gd.Latest(), number: len(gd.Documents) + 1})
			gd.PostStale(j.content, p.documentID())
			return true
		}
	default:
		if p.r.p.owner.Policy.OnKnownDocument[classes[j.class]] != "note" {
			fate(dedup.Held)
			p.r.held = append(p.r.held, p)
			return false
		}
		p.r.link(p.i, gd.Latest())
		p.r.further = append(p.r.further, p.i)
	}
	gd.Post(j.content, p.documentID(), stamp)
	return true
}

// stamp orders the revisions of a document.
func (p post) stamp() string { return documents.Stamp(p.r.p.ic, p.i) }

func (r *result) link(i int, doc uuid.UUID) {
	if r.links == nil {
		r.links = map[int]uuid.UUID{}
	}
	r.links[i] = doc
}

// openHeld opens one alert for the interchange and class of its held messages.
func (g *Gateway) openHeld(pl *plan, r *result) {
	byClass := map[string][]string{}
	for _, p := range r.held {
		class := classes[p.judged().class]
		byClass[class] = append(byClass[class], numberOf(r.p, p.i))
	}
	for class, numbers := range byClass {
		severity := compare.High
		if class == documents.ClassInvoice {
			severity = compare.Critical
		}
		a := &dedup.Alert{Partner: r.p.owner.ID, ID: g.NewID(), Kind: dedup.KindDocument, MessageID: r.key.ID, Epoch: r.key.Epoch, State: "open",
			Class: string(compare.Business), Severity: string(severity), Documents: numbers, Test: r.p.ic.Test,
			Headline: fmt.Sprintf("%s %s came again with other content", class, joinUpTo(numbers, 5)),
			Digests:  [][]byte{slices.Clone(r.p.ic.PayloadSHA256[:])}}
		pl.alerts = append(pl.alerts, a)
	}
}

func joinUpTo(s []string, n int) string {
	out := ""
	for i, v := range s {
		if i == n {
			return fmt.Sprintf("%s and %d more", out, len(s)-n)
		}
		if i > 0 {
			out += ", "
		}
		out += v
	}
	return out
}
