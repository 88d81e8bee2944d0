package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
)

// spot is a message to be posted, where its guard key stands among those of the
// delivery. It is small: an interchange may hold 999,999.
type spot struct {
	prefix uint64 // of the guard key
	result int32  // index into plan.results
	post   int32  // index into result.posts
}

// spots gives the messages to be posted sorted by partner and guard key, those of
// one document in the order of the payload.
func (pl *plan) spots() ([]spot, error) {
	n := 0
	for _, r := range pl.results {
		n += len(r.posts)
	}
	list := make([]spot, 0, n)
	for i, r := range pl.results {
		for j, message := range r.posts {
			id, err := r.p.ids.at(int(message))
			if err != nil {
				return nil, err
			}
			list = append(list, spot{binary.BigEndian.Uint64(id.guard[:]), int32(i), int32(j)})
		}
	}
	var failed error
	slices.SortFunc(list, func(a, b spot) int {
		if c := cmp.Or(strings.Compare(pl.partnerOf(a), pl.partnerOf(b)), cmp.Compare(a.prefix, b.prefix)); c != 0 {
			return c
		}
		c, err := pl.compareKeys(a, b)
		if err != nil {
			failed = err
		}
		return cmp.Or(c, cmp.Compare(a.result, b.result), cmp.Compare(a.post, b.post))
	})
	return list, failed
}

func (pl *plan) partnerOf(x spot) string { return pl.results[x.result].p.owner.ID }

func (pl *plan) compareKeys(a, b spot) (int, error) {
	if a == b {
		return 0, nil
	}
	x, err := pl.identityOf(a)
	if err != nil {
		return 0, err
	}
	y, err := pl.identityOf(b)
	return bytes.Compare(x.guard[:], y.guard[:]), err
}

func (pl *plan) identityOf(x spot) (identity, error) { return pl.post(x).identity() }

func (pl *plan) post(x spot) post {
	r := pl.results[x.result]
	return post{r, int(r.posts[x.post])}
}

// sameDocument reports whether b, which follows a, has its guard key.
func (pl *plan) sameDocument(a, b spot) (bool, error) {
	if a.prefix != b.prefix || pl.partnerOf(a) != pl.partnerOf(b) {
		return false, nil
	}
	c, err := pl.compareKeys(a, b)
	return c == 0, err
}

// claimOf is the guard key of a message that may be the first of its document.
func (pl *plan) claimOf(x spot) (*dedup.Guard, error) {
	p := pl.post(x)
	id, err := p.identity()
	if err != nil {
		return nil, err
	}
	return &dedup.Guard{GuardRef: dedup.GuardRef{Partner: p.r.p.owner.ID, Key: id.guard}, Contents: [][32]byte{id.content}, Documents: []uuid.UUID{p.documentID()},
		MessageID: p.r.key.ID, Stamp: p.stamp(), PurgeOn: guardPurge(pl.in.now, p.r.p.owner.Retention.DedupWindow)}, nil
}

// guardsAtOnce bounds the guard keys held in memory at a time.
const guardsAtOnce = 5_000

// guarding is how the messages of a delivery pass the document guard.
type guarding struct {
	spots []spot
	first []int32 // of each document: index into spots
	owned []bool  // beside first: its key was claimed by this delivery
	asked bool    // the claims were queued
	few   bool    // they fit into one statement
}

// orderGuards sorts the messages to be posted by their documents, if that was not
// done.
func (pl *plan) orderGuards() (err error) {
	if pl.guarding != nil {
		return nil
	}
	gd := &guarding{}
	if gd.spots, err = pl.spots(); err != nil {
		return err
	}
	for i := range gd.spots {
		same := false
		if i > 0 {
			if same, err = pl.sameDocument(gd.spots[i-1], gd.spots[i]); err != nil {
				return err
			}
		}
		if !same {
			gd.first = append(gd.first, int32(i))
		}
	}
	gd.owned = make([]bool, len(gd.first))
	gd.few = len(gd.first) <= guardsAtOnce
	pl.guarding = gd
	return nil
}

// of gives the messages of document i.
func (gd *guarding) of(i int) []spot {
	end := len(gd.spots)
	if i+1 < len(gd.first) {
		end = int(gd.first[i+1])
	}
	return gd.spots[gd.first[i]:end]
}

// claims gives the guard keys of documents from up to to, sorted.
func (pl *plan) guardClaims(from, to int) ([]*dedup.Guard, error) {
	claims := make([]*dedup.Guard, 0, to-from)
	for i := from; i < to; i++ {
		c, err := pl.claimOf(pl.guarding.of(i)[0])
		if err != nil {
			return nil, err
		}
		claims = append(claims, c)
	}
	return claims, nil
}

// queueGuards claims guard keys in sorted statements. The first message of a
// document in the delivery is the one it is claimed for.
func (pl *plan) queueGuards(b *pgx.Batch, from, to int) error {
	claims, err := pl.guardClaims(from, to)
	if err != nil || len(claims) == 0 {
		return err
	}
	byRef := make(map[dedup.GuardRef]int, len(claims))
	for i, c := range claims {
		byRef[c.GuardRef] = from + i
	}
	dedup.QueueGuards(b, claims, func(r dedup.GuardRef) { pl.guarding.owned[byRef[r]] = true })
	return nil
}

// claimGuards claims the guard keys of the whole delivery that were not queued
// with its keys.
func (pl *plan) claimGuards(ctx context.Context, s *session) error {
	if pl.guarding.asked {
		return nil
	}
	pl.guarding.asked = true
	return pl.eachGuards(func(from, to int) error {
		if err := pl.queueGuards(s.batch, from, to); err != nil {
			return err
		}
		if err := s.flush(ctx); err != nil {
			return fmt.Errorf("claim document keys: %w", err)
		}
		return nil
	})
}

// knownGuards gives the guard keys of documents from up to to that others own.
func (pl *plan) knownGuards(from, to int) (refs []dedup.GuardRef, err error) {
	for i := from; i < to; i++ {
		if pl.guarding.owned[i] {
			continue
		}
		ref, err := pl.post(pl.guarding.of(i)[0]).ref()
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// lockGuards locks the guard keys that others own, in the one order: all of them
// before any is read.
func (pl *plan) lockGuards(ctx context.Context, s *session) error {
	return pl.eachGuards(func(from, to int) error {
		refs, err := pl.knownGuards(from, to)
		if err != nil || len(refs) == 0 {
			return err
		}
		dedup.QueueGuardLock(s.batch, refs)
		if err := s.flush(ctx); err != nil {
			return fmt.Errorf("lock document keys: %w", err)
		}
		return nil
	})
}

// passGuards decides every message of a document that was known, or that came
// before in this delivery.
func (pl *plan) passGuards(ctx context.Context, s *session) error {
	return pl.eachGuards(func(from, to int) error {
		refs, err := pl.knownGuards(from, to)
		if err != nil {
			return err
		}
		guards := make(map[dedup.GuardRef]*dedup.Guard, len(refs))
		if len(refs) > 0 {
			dedup.QueueGuardRead(s.batch, refs, guards)
			if err := s.flush(ctx); err != nil {
				return fmt.Errorf("read document keys: %w", err)
			}
			if err := readEnds(ctx, s, guards); err != nil {
				return err
			}
		}
		var changed []*dedup.Guard
		for i := from; i < to; i++ {
			messages := pl.guarding.of(i)
			if pl.guarding.owned[i] && len(messages) == 1 {
				continue // claimed for this message: nearly all
			}
			gd, err := pl.passDocument(messages, pl.guarding.owned[i], guards)
			if err != nil {
				return err
			}
			if gd.Changed() {
				changed = append(changed, gd)
			}
		}
		dedup.QueueGuardChanges(s.batch, changed)
		if !pl.guarding.few {
			return s.flush(ctx)
		}
		return nil
	})
}

// readEnds asks which documents of the guards stand no more. A decision that ends
// one in the same moment, without its guard's lock, comes after this.
func readEnds(ctx context.Context, s *session, guards map[dedup.GuardRef]*dedup.Guard) error {
	queueEnds(s.batch, guards)
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("read which documents stand: %w", err)
	}
	return nil
}

func queueEnds(b *pgx.Batch, guards map[dedup.GuardRef]*dedup.Guard) {
	of := map[uuid.UUID]*dedup.Guard{}
	var partners []string
	var ids []uuid.UUID
	for _, gd := range guards {
		for _, d := range gd.Documents {
			of[d] = gd
			partners, ids = append(partners, gd.Partner), append(ids, d)
		}
	}
	documents.QueueEnded(b, partners, ids, func(d documents.Ended) {
		gd := of[d.ID]
		end := dedup.End{Superseded: d.Superseded, Cancelled: d.CancelledBy != nil, Cancellation: d.Cancellation, Stamp: d.Stamp}
		end.Decided = end.Cancelled && !slices.Contains(gd.Documents, *d.CancelledBy)
		gd.Over(d.ID, end)
	})
}

// passDocument decides the messages of one document, in the order of the payload.
func (pl *plan) passDocument(messages []spot, owned bool, guards map[dedup.GuardRef]*dedup.Guard) (gd *dedup.Guard, err error) {
	if owned {
		if gd, err = pl.claimOf(messages[0]); err == nil && pl.post(messages[0]).revision() == documents.RevisionCancel {
			gd.Over(gd.Latest(), dedup.End{Cancellation: true})
		}
		messages = messages[1:]
	} else {
		var ref dedup.GuardRef
		ref, err = pl.post(messages[0]).ref()
		if gd = guards[ref]; gd == nil && err == nil { // purged between claim and lock
			err = errStartAgain
		}
	}
	if err != nil {
		return nil, err
	}
	for _, x := range messages {
		pass := pl.pass
		if pl.ruling != nil {
			pass = pl.rulingPass
		}
		keep, err := pass(pl.post(x), gd)
		if err != nil {
			return nil, err
		}
		if !keep {
			pl.results[x.result].drop(int(x.post))
		}
	}
	return gd, nil
}

// eachGuards calls f with bounded ranges of documents, in order.
func (pl *plan) eachGuards(f func(from, to int) error) error {
	for from := 0; from < len(pl.guarding.first); from += guardsAtOnce {
		if err := f(from, min(from+guardsAtOnce, len(pl.guarding.first))); err != nil {
			return err
		}
	}
	return nil
}
