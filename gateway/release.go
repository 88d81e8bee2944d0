package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
)

const (
	releaseEvery = 10 * time.Minute
	releaseBatch = 100 // payloads that are looked for at a time
)

// KeepReleasing moves payloads whose last hold has ended to the month of their
// purge, until ctx ends. Decisions and replays do so at once; this finds what a
// partner's copies ended, and what a process that died had still to do.
func (g *Gateway) KeepReleasing(ctx context.Context) {
	t := time.NewTicker(releaseEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if _, err := g.Release(ctx); err != nil && ctx.Err() == nil {
				g.Log.Warn("payloads that nothing holds any more stay with the held ones until the next round", "err", err)
			}
		}
	}
}

// Release moves every payload whose last hold has ended from the partition held to
// the month of its purge: it is kept as long as the partner's retention says, from
// now on. It gives their number. Acknowledgements are only held of partners under
// legal hold, of whom nothing moves.
func (g *Gateway) Release(ctx context.Context) (int, error) {
	moved := 0
	var after dedup.HeldPayload
	for {
		list, err := dedup.Inbox{Pool: g.Pool}.Released(ctx, after, releaseBatch)
		if err != nil {
			return moved, err
		}
		for _, p := range list {
			if after.Partner == p.Partner && after.ID == uuid.Max {
				continue
			}
			if after = p; !g.releases(p.Partner) {
				after.ID = uuid.Max // nor any other of his
				continue
			}
			did, err := g.release(ctx, p)
			if errors.Is(err, ErrBusy) || errors.Is(err, errStartAgain) {
				continue // the next round finds it again
			}
			if err != nil {
				return moved, err
			}
			if did {
				moved++
			}
		}
		if len(list) < releaseBatch {
			return moved, nil
		}
	}
}

// releases reports whether anything of a partner moves.
func (g *Gateway) releases(partner string) bool {
	owner := g.Partner(partner)
	return owner != nil && !owner.Retention.LegalHold
}

// release moves one payload, unless a key under which it stands holds something:
// the interchanges of one delivery share its payload. It takes the locks of all of
// them, in order, in a transaction of its own.
func (g *Gateway) release(ctx context.Context, p dedup.HeldPayload) (bool, error) {
	owner := g.Partner(p.Partner)
	if owner == nil || owner.Retention.LegalHold { // asked again: it may have changed
		return false, nil
	}
	s, err := g.begin(ctx)
	if err != nil {
		return false, err
	}
	defer s.end()
	s.batch.Queue("set local lock_timeout = '200ms'") // whoever works on a key goes first
	var refs []dedup.Ref
	dedup.QueueHeldBy(s.batch, p, func(r dedup.Ref, _ uuid.UUID, _ bool) { refs = append(refs, r) })
	if err := s.flush(ctx); err != nil {
		return false, fmt.Errorf("release a payload of %s: %w", p.Partner, err)
	}
	refs = dedup.SortRefs(refs)
	locked := 0
	dedup.QueueLock(s.batch, refs, func(dedup.Ref) { locked++ })
	if err := s.flush(ctx); err != nil {
		if isBusy(err) {
			return false, ErrBusy
		}
		return false, fmt.Errorf("release a payload of %s: %w", p.Partner, err)
	}
	if locked < len(refs) {
		return false, errStartAgain
	}
	var deliveries []uuid.UUID
	needed, more := false, false
	dedup.QueueHeldBy(s.batch, p, func(r dedup.Ref, delivery uuid.UUID, holds bool) {
		deliveries = append(deliveries, delivery)
		needed = needed || holds
		more = more || !slices.Contains(refs, r)
	})
	if err := s.flush(ctx); err != nil {
		return false, fmt.Errorf("release a payload of %s: %w", p.Partner, err)
	}
	switch {
	case more: // another key came to it before its first was locked
		return false, errStartAgain
	case needed || len(deliveries) == 0:
		return false, nil
	}
	to := month(g.Now(), owner, owner.Retention.Payloads)
	journal.QueueRelease(s.batch, p.Partner, p.ID, to, deliveries)
	dedup.QueuePayloadMonth(s.batch, p, to)
	return true, s.commit(ctx)
}

// released moves the payloads of a key on which a decision or a replay ended a
// hold. What cannot be moved now is by KeepReleasing.
func (g *Gateway) released(ctx context.Context, k *dedup.Key) {
	if k == nil || k.Hold() != 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultPatience)
	defer cancel()
	seen := map[uuid.UUID]bool{}
	for _, v := range k.Variants {
		if !v.Payload.Month.Equal(journal.Held) || seen[v.Payload.ID] {
			continue
		}
		seen[v.Payload.ID] = true
		if _, err := g.release(ctx, dedup.HeldPayload{Partner: k.Partner, ID: v.Payload.ID}); err != nil {
			g.Log.Info("a payload that nothing holds any more stays with the held ones until the next round", "partner", k.Partner, "message_id", k.ID, "err", err)
		}
	}
}
