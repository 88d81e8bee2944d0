package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
)

// Receive is the life of one delivery. It gives the receipt that was committed,
// by this delivery or by the one it repeats.
//
// ErrBusy means that the first copy is still running, ErrCrowded that the partner
// has more on its way than its share, a *Rejection that the sender has to change
// something before an id is remembered, and any other error is ours: nothing was
// stored, and the partner's retry starts fresh.
//
// The client hanging up does not cancel the work; a database that does not
// answer does.
func (g *Gateway) Receive(ctx context.Context, d *Delivery) (*Receipt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.patience(d))
	defer cancel()
	if d.Fault != nil {
		return nil, g.refuse(ctx, d)
	}
	in, err := g.splitInTurn(ctx, d)
	if errors.As(err, &d.Fault) {
		return nil, g.refuse(ctx, d)
	}
	if err != nil {
		return nil, err
	}
	defer in.close()
	defer g.leaveRoom(in)
	wait := g.wait()
	in.mayWait = &wait
	leave, ok := g.takeOff(in)
	if !ok {
		return nil, ErrBusy
	}
	defer leave()
	if r, err := g.remembered(ctx, in); r != nil || err != nil {
		return r, err
	}

	for range startsAgain {
		if r, err := g.find(ctx, in); r != nil || err != nil {
			return r, err
		}
		if err := g.prepare(ctx, in); errors.Is(err, errStartAgain) {
			continue
		} else if err != nil {
			return nil, g.wrote(err)
		}
		r, err := g.commitSoon(ctx, in)
		_ = g.wrote(err) // told below
		switch {
		case err == nil:
			g.remember(in)
			g.wakeFor(in)
			return r, nil
		case errors.Is(err, errStartAgain):
			continue
		case errors.Is(err, errUnknownCommit):
			return g.afterLostCommit(ctx, in, r, err)
		}
		return nil, err
	}
	return nil, errUnsettled
}

// find looks a delivery's keys up and answers it if it is a plain repeat, in one
// turn.
func (g *Gateway) find(ctx context.Context, in *intake) (*Receipt, error) {
	leave, err := g.turn(ctx, in, lookUp)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := g.lookUp(ctx, in); err != nil {
		return nil, err
	}
	if r, err := g.known(ctx, in); r != nil || err != nil {
		return r, err
	}
	return nil, g.readMessages(ctx, in)
}

// commit is the one ingress transaction: claim, lock, decide, guard, write.
func (g *Gateway) commit(ctx context.Context, in *intake) (*Receipt, error) {
	pl, err := g.decide(in) // from what was looked up: a new key is written whole when it is claimed
	if err != nil {
		return nil, err
	}
	s, err := g.beginInTurn(ctx, in)
	if err != nil {
		return nil, err
	}
	defer s.end()
	if err := s.point(ctx, "begin"); err != nil {
		return nil, err
	}
	if err := g.claim(ctx, s, in, pl); err != nil {
		return nil, err
	}
	if known := in.knownRefs(); len(known) > 0 {
		claimed := pl
		if err := g.lock(ctx, s, in, known); err != nil {
			return nil, err
		}
		if pl, err = g.decide(in); err != nil { // again, from what stands under the locks
			return nil, err
		}
		if err := pl.adopt(s, claimed); err != nil {
			return nil, err
		}
	}
	if err := s.point(ctx, "claim"); err != nil {
		return nil, err
	}
	if pl.closed, err = pl.closeTransportDrifts(); err != nil {
		return nil, err
	}
	if err := g.guard(ctx, s, pl); err != nil {
		return nil, err
	}
	r, err := g.receipt(pl)
	if err != nil || in.foreseen {
		return r, err
	}
	if err := g.write(ctx, s, pl, r); err != nil {
		return nil, g.blame(ctx, in, pl, s.failed(err))
	}
	if err := s.commit(ctx); err != nil {
		return r, g.blame(ctx, in, pl, s.failed(err))
	}
	return r, nil
}

// claim inserts every new key of the delivery in one sorted statement and, where
// no key was known, asks in the same round trip what the guard asks. A key
// that was taken meanwhile sends the delivery back to its look-up.
func (g *Gateway) claim(ctx context.Context, s *session, in *intake, pl *plan) error {
	claimed := 0
	if len(pl.claims) > 0 {
		dedup.QueueClaim(s.batch, pl.claims, func(dedup.Ref) { claimed++ })
	}
	in.copies = nil
	for partner, contents := range pl.copyContents() {
		dedup.QueueCopies(s.batch, partner, contents, func(c dedup.Copy) { in.copies = append(in.copies, foundCopy{Copy: c, partner: partner}) })
	}
	if len(in.knownRefs()) == 0 {
		queueUnits(s.batch, pl)
		if err := pl.orderGuards(); err != nil {
			return err
		}
		if pl.guarding.few {
			pl.guarding.asked = true
			if err := pl.queueGuards(s.batch, 0, len(pl.guarding.first)); err != nil {
				return err
			}
		}
	}
	if err := s.flush(ctx); err != nil {
		if isBusy(err) && claimed < len(pl.claims) { // else it was a document's key that kept it waiting
			return ErrBusy
		}
		return fmt.Errorf("claim keys: %w", err)
	}
	if claimed < len(pl.claims) {
		return errStartAgain
	}
	for _, k := range pl.claims {
		k.Claimed()
	}
	return nil
}

// lock takes the rows of the known keys in order, then reads in a following
// statement what stands under them.
func (g *Gateway) lock(ctx context.Context, s *session, in *intake, known []dedup.Ref) error {
	found := 0
	dedup.QueueLock(s.batch, known, func(dedup.Ref) { found++ })
	if err := s.flush(ctx); err != nil {
		if isBusy(err) {
			return ErrBusy
		}
		return fmt.Errorf("lock keys: %w", err)
	}
	if found < len(known) { // purged meanwhile
		return errStartAgain
	}
	return in.readUnderLock(ctx, s, known)
}

// afterLostCommit asks the database whether the delivery was committed. Not
// found is no answer either, since the COMMIT may still be running: the
// partner's retry finds the receipt or is First.
func (g *Gateway) afterLostCommit(ctx context.Context, in *intake, r *Receipt, lost error) (*Receipt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	committed, err := journal.Committed(ctx, g.Pool, in.deliveryPartner(), in.id)
	if err != nil || !committed {
		return nil, errors.Join(lost, err)
	}
	if err := g.settled(ctx); err != nil {
		return nil, errors.Join(lost, err)
	}
	return r, nil
}

// settled commits a mark in the log and waits for it as every COMMIT waits:
// whatever was committed before it is then as durable. A COMMIT whose answer was
// lost may have been cut short of its standby.
func (g *Gateway) settled(ctx context.Context) error {
	s, err := g.begin(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	s.hook = nil
	s.batch.Queue("select pg_logical_emit_message(true, 'edigw', '')")
	return s.commit(ctx)
}
