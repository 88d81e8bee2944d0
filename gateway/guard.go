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
	stamp    string // of new, or of a decision
	sent     string // stamp of new's interchange
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
// message is posted, absorbed or held (outcomes.md, the third guard). What is not
// absorbed is judged by its SSCCs then, on every way to be posted.
func (g *Gateway) guard(ctx context.Context, s *session, pl *plan) error {
	if err := pl.orderGuards(); err != nil {
		return err
	}
	if !pl.unitsAsked { // goes with the first of the guard's
		queueUnits(s.batch, pl)
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
	if err := pl.judgeUnits(); err != nil {
		return err
	}
	for _, r := range pl.results {
		r.dropped()
		if err := r.insist(); err != nil {
			return err
		}
		if err := g.openHeld(pl, r); err != nil {
			return err
		}
	}
	return g.adviseHeld(pl)
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
	slices.Sort(r.void)
}

// pass decides one message of a known document; true if it is to be posted. What
// the document says already is absorbed as long as that is in force: what was
// replaced or cancelled backs no acknowledgement. docs/decisions/0012.
func (pl *plan) pass(p post, gd *dedup.Guard) (bool, error) {
	id, err := p.identity()
	if err != nil {
		return false, err
	}
	gd.KeepUntil(guardPurge(pl.in.now, p.r.p.owner.Retention.DedupWindow))
	revision := p.revision()
	i, absorbed := absorbs(gd, id.content, p.stamp(), revision)
	if absorbed {
		p.absorb(gd, i)
		return false, nil
	}
	known := i >= 0
	newer := p.stamp() > gd.Newest()
	standing, stands := gd.Standing()
	switch {
	case !newer && p.revises():
		pl.stale = append(pl.stale, supersession{partner: gd.Partner, old: p.documentID(), new: gd.Latest(), number: len(gd.Documents) + 1})
		gd.PostStale(id.content, p.documentID())
		gd.Over(p.documentID(), dedup.End{Superseded: true, Cancellation: revision == documents.RevisionCancel})
		return true, nil
	case p.revises() && stands:
		pl.replace(p, gd, standing, p.stamp())
	case p.revises(), known && !stands:
		pl.postAgain(p, gd)
	case p.r.p.owner.Policy.OnKnownDocument[classes[p.judged().class]] != "note":
		p.fate(dedup.Held)
		p.r.held = append(p.r.held, p.i)
		return false, nil
	default:
		p.r.link(p.i, gd.Latest())
		p.r.further = append(p.r.further, p.i)
	}
	p.post(gd, id.content)
	return true, nil
}

// absorbs reports whether what a message says is said already by a document of the
// guard, and by which: -1 where that is known by its number alone. What was replaced or
// cancelled says no more than what is not newer, or a copy.
func absorbs(gd *dedup.Guard, content [32]byte, stamp string, revision documents.Revision) (i int, absorbed bool) {
	i, known := gd.Find(content)
	if gd.Imported || known && gd.InForce(i) {
		return i, true
	}
	return i, known && (stamp <= gd.Newest() || revision == documents.RevisionCopy)
}

func (p post) fate(f dedup.Fate) {
	p.r.variant.Messages[p.i].Fate = f
	p.r.key.Touch(p.r.variant)
}

// revision is what the message means for an earlier document.
func (p post) revision() documents.Revision { return documents.Revision(p.judged().revision) }

func (p post) revises() bool {
	return p.revision() == documents.RevisionReplace || p.revision() == documents.RevisionCancel
}

// absorb links the message to document i of the guard, which says the same, if it
// has one: a number known from a former gateway has none. Where that document is
// void a finding says so, but of a cancellation, which wants nothing else.
func (p post) absorb(gd *dedup.Guard, i int) {
	p.fate(dedup.Absorbed)
	if i < 0 {
		return
	}
	p.r.link(p.i, gd.Documents[i])
	if !gd.InForce(i) && p.revision() != documents.RevisionCancel {
		p.r.void = append(p.r.void, p.i)
	}
}

// post adds the message to the guard.
func (p post) post(gd *dedup.Guard, content [32]byte) {
	gd.Post(content, p.documentID(), p.stamp())
	if p.revision() == documents.RevisionCancel {
		gd.Over(p.documentID(), dedup.End{Cancelled: true, Cancellation: true})
	}
}

// replace ends the document old by the message's, which replaces or cancels it.
func (pl *plan) replace(p post, gd *dedup.Guard, old uuid.UUID, stamp string) {
	cancel := p.revision() == documents.RevisionCancel
	pl.supersede = append(pl.supersede, supersession{gd.Partner, old, p.documentID(), stamp, p.stamp(), len(gd.Documents) + 1, cancel, p.r.p.ic.Test})
	gd.Over(old, dedup.End{Superseded: !cancel, Cancelled: cancel, Stamp: p.stamp()})
}

// postAgain makes the message's document the next revision of one of which nothing
// stands any more.
func (pl *plan) postAgain(p post, gd *dedup.Guard) {
	pl.again = append(pl.again, supersession{partner: gd.Partner, old: gd.Latest(), new: p.documentID(), number: len(gd.Documents) + 1,
		cancel: p.revision() == documents.RevisionCancel})
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
