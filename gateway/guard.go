package gateway

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

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

func (p post) identity() (identity, error) { return p.r.p.ids.at(p.i) }

func (p post) ref() (dedup.GuardRef, error) {
	id, err := p.identity()
	return dedup.GuardRef{Partner: p.r.p.owner.ID, Key: id.guard}, err
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

// guardPurge: a guard key never goes before the keys of the interchanges that
// brought its document. Twice their window covers the repeats that move theirs;
// an interchange that is absorbed moves it again.
func guardPurge(now time.Time, window time.Duration) time.Time {
	return purgeOn(now, 2*window)
}

// guard passes every message to be posted by the document guard: guard keys that
// are not yet claimed are claimed, existing ones locked and read, then each
// message is posted, absorbed or held (outcomes.md, the third guard).
func (g *Gateway) guard(ctx context.Context, s *session, pl *plan) error {
	if err := pl.orderGuards(); err != nil {
		return err
	}
	if err := pl.claimGuards(ctx, s); err != nil {
		return err
	}
	pl.in.met = slices.Contains(pl.guarding.owned, false)
	if err := pl.lockGuards(ctx, s); err != nil {
		return err
	}
	if err := pl.passGuards(ctx, s); err != nil {
		return err
	}
	for _, r := range pl.results {
		r.dropped()
		if err := g.openHeld(pl, r); err != nil {
			return err
		}
	}
	return nil
}

// drop takes post j away, once all were decided.
func (r *result) drop(j int) {
	if r.gone == nil {
		r.gone = make([]bool, len(r.posts))
	}
	r.gone[j] = true
}

func (r *result) dropped() {
	if r.gone == nil {
		return
	}
	kept := r.posts[:0]
	for j, i := range r.posts {
		if !r.gone[j] {
			kept = append(kept, i)
		}
	}
	r.posts, r.gone = kept, nil
	slices.Sort(r.held)
	slices.Sort(r.further)
}

// pass decides one message of a known document; true if it is to be posted.
func (pl *plan) pass(p post, gd *dedup.Guard) (bool, error) {
	id, err := p.identity()
	if err != nil {
		return false, err
	}
	j, v := p.judged(), p.r.variant
	fate := func(f dedup.Fate) {
		v.Messages[p.i].Fate = f
		p.r.key.Touch(v)
	}
	gd.KeepUntil(guardPurge(pl.in.now, p.r.p.owner.Retention.DedupWindow))
	if doc, ok := gd.Find(id.content); ok || gd.Imported {
		fate(dedup.Absorbed)
		if ok {
			p.r.link(p.i, doc)
		}
		return false, nil
	}
	stamp := p.stamp()
	switch documents.Revision(j.revision) {
	case documents.RevisionReplace, documents.RevisionCancel:
		if stamp > gd.Stamp {
			pl.supersede = append(pl.supersede, supersession{gd.Partner, gd.Latest(), p.documentID(), stamp, len(gd.Documents) + 1,
				documents.Revision(j.revision) == documents.RevisionCancel, p.r.p.ic.Test})
		} else {
			pl.stale = append(pl.stale, supersession{partner: gd.Partner, old: p.documentID(), new: gd.Latest(), number: len(gd.Documents) + 1})
			gd.PostStale(id.content, p.documentID())
			return true, nil
		}
	default:
		if p.r.p.owner.Policy.OnKnownDocument[classes[j.class]] != "note" {
			fate(dedup.Held)
			p.r.held = append(p.r.held, p.i)
			return false, nil
		}
		p.r.link(p.i, gd.Latest())
		p.r.further = append(p.r.further, p.i)
	}
	gd.Post(id.content, p.documentID(), stamp)
	return true, nil
}

// stamp orders the revisions of a document.
func (p post) stamp() string { return documents.Stamp(p.r.p.ic, p.i) }

func (r *result) link(i int, doc uuid.UUID) {
	if r.links == nil {
		r.links = map[int]uuid.UUID{}
	}
	r.links[i] = doc
}

// heldNumbers bounds the documents that an alert names.
const heldNumbers = 1000

// openHeld opens one alert for the interchange and class of its held messages.
func (g *Gateway) openHeld(pl *plan, r *result) error {
	byClass := map[string][]int{}
	for _, i := range r.held {
		class := classes[r.p.judged[i].class]
		byClass[class] = append(byClass[class], i)
	}
	for class, held := range byClass {
		severity := compare.High
		if class == documents.ClassInvoice {
			severity = compare.Critical
		}
		numbers, err := g.numbers(r.p, held[:min(len(held), heldNumbers)])
		if err != nil {
			return err
		}
		a := &dedup.Alert{Partner: r.p.owner.ID, ID: g.NewID(), Kind: dedup.KindDocument, MessageID: r.key.ID, Epoch: r.key.Epoch, State: "open",
			Class: string(compare.Business), Severity: string(severity), Documents: numbers, Test: r.p.ic.Test,
			Headline: fmt.Sprintf("%s %s came again with other content", class, joinUpTo(numbers, len(held), 5)),
			Digests:  [][]byte{slices.Clone(r.p.ic.PayloadSHA256[:])}}
		pl.alerts = append(pl.alerts, a)
	}
	return nil
}

// joinUpTo names n of all things, whose first names are in s.
func joinUpTo(s []string, all, n int) string {
	out := ""
	for i, v := range s {
		if i == n {
			return fmt.Sprintf("%s and %d more", out, all-n)
		}
		if i > 0 {
			out += ", "
		}
		out += v
	}
	return out
}
