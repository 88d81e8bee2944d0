package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
)

// lookers read the keys of deliveries that look theirs up at the same time in one
// round trip. Nobody waits for others to come: who is alone goes at once, and who
// comes while others are being read goes with the next. Each has its partner's turn
// for a connection, so whoever waits too long for others goes on its own.
type lookers struct {
	mu      sync.Mutex
	waiting []*asked
	running bool
}

// asked is a delivery that asks for its keys. No two in this process ask for the
// same one: flight lets one in at a time.
type asked struct {
	refs  []dedup.Ref
	found map[dedup.Ref]*dedup.Key // those that exist, when it is done
	err   error
	done  chan struct{}
}

// askedAtOnce bounds the deliveries of one round trip.
const askedAtOnce = 64

// readKeys reads the keys that exist among refs into keys, each with its first
// variant.
func (g *Gateway) readKeys(ctx context.Context, refs []dedup.Ref, keys map[dedup.Ref]*dedup.Key) error {
	a := &asked{refs: refs, done: make(chan struct{})}
	if g.lookers.add(a) {
		go g.readAsked()
	}
	late := time.NewTimer(overdue)
	defer late.Stop()
	for waits := true; waits; {
		select {
		case <-a.done:
			waits = false
		case <-late.C:
			if g.lookers.leave(a) {
				return g.readKeysAlone(ctx, refs, keys)
			}
		case <-ctx.Done(): // whoever reads goes on without it
			g.lookers.leave(a)
			return fmt.Errorf("look up keys: %w", ctx.Err())
		}
	}
	if errors.Is(a.err, errAlone) {
		return g.readKeysAlone(ctx, refs, keys)
	}
	maps.Copy(keys, a.found)
	return a.err
}

// add lets a wait; start: nobody reads now.
func (q *lookers) add(a *asked) (start bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, a)
	start, q.running = !q.running, true
	return start
}

// leave takes a out of those that wait; false if it is being read.
func (q *lookers) leave(a *asked) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, a)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

func (q *lookers) take() []*asked {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), askedAtOnce)
	together := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	q.running = n > 0
	return together
}

// readAsked reads for whoever waits until nobody does.
func (g *Gateway) readAsked() {
	for {
		together := g.lookers.take()
		if len(together) == 0 {
			return
		}
		g.readTogether(together)
		for _, a := range together {
			close(a.done)
		}
	}
}

// readTogether reads for several deliveries. An error may be one's alone, so each
// asks again by itself.
func (g *Gateway) readTogether(together []*asked) {
	ctx, cancel := context.WithTimeout(context.Background(), acquireTimeout) // nobody's own: they share it
	defer cancel()
	found := map[dedup.Ref]*dedup.Key{}
	if len(together) == 1 {
		a := together[0]
		a.err, a.found = g.readKeysAlone(ctx, a.refs, found), found
		return
	}
	var refs []dedup.Ref
	for _, a := range together {
		refs = append(refs, a.refs...)
	}
	var b pgx.Batch
	dedup.QueueKeys(&b, dedup.SortRefs(refs), found)
	err := g.Pool.SendBatch(ctx, &b).Close()
	for _, a := range together {
		if err != nil {
			a.err = errAlone
			continue
		}
		a.found = map[dedup.Ref]*dedup.Key{}
		for _, r := range a.refs {
			if k := found[r]; k != nil {
				a.found[r] = k
			}
		}
	}
}

// readKeysAlone is readKeys in a round trip of its own.
func (g *Gateway) readKeysAlone(ctx context.Context, refs []dedup.Ref, keys map[dedup.Ref]*dedup.Key) error {
	var b pgx.Batch
	clear(keys)
	dedup.QueueKeys(&b, refs, keys)
	if err := g.Pool.SendBatch(ctx, &b).Close(); err != nil {
		return fmt.Errorf("look up keys: %w", err)
	}
	return nil
}
