package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/edigw/edigw/dedup"
)

// committers commit prepared deliveries of new keys together: one statement a
// table for all of them, one COMMIT. Nobody waits for others to come: whoever is
// there when a committer is free goes with it, and a lone delivery goes at once, as
// a group of one. Where more wait than a group takes, partners take turns.
//
// A group never waits for a lock and takes only deliveries of which nothing is
// known. If anything in it turns out otherwise it is rolled back, and each of its
// members goes alone.
type committers struct {
	mu       sync.Mutex
	waiting  turns[*member]
	running  int                  // committers that take groups
	relieved int                  // groups under way that another committer was started for
	alone    map[string]time.Time // partners that go alone until then
}

type member struct {
	in     *intake
	pl     *plan
	guards []*dedup.Guard // its guard keys
	r      *Receipt
	err    error
	done   chan struct{}
}

const (
	committersAtOnce = 2 // two keep the disk and two processors busy
	// A group that has been under way for so long is stuck, and another committer
	// takes its place: what is stuck in it holds up nobody else. Each holds a
	// connection, so there are not many.
	overdue = 250 * time.Millisecond
	relief  = 2
	// A partner one of whose keys another process holds goes alone for a while: its
	// copies would have group after group rolled back.
	aloneFor = 2 * time.Second
)

// commitSoon commits a delivery, in a group if it may go with others.
func (g *Gateway) commitSoon(ctx context.Context, in *intake) (*Receipt, error) {
	if !in.groupable() || g.committers.goesAlone(in.Partner.ID) {
		return g.commitAlone(ctx, in)
	}
	m := &member{in: in, done: make(chan struct{})}
	if g.committers.add(m) {
		go g.commitWaiting()
	}
	late := time.NewTimer(g.wait())
	defer late.Stop()
	select {
	case <-m.done:
	case <-late.C:
		if g.committers.leave(m) { // every committer is stuck
			return g.commitAlone(ctx, in)
		}
		<-m.done
	case <-ctx.Done():
		if g.committers.leave(m) {
			return nil, fmt.Errorf("wait for a committer: %w", ctx.Err())
		}
		<-m.done // a committer has it, and is bounded itself
	}
	if errors.Is(m.err, errAlone) {
		clear(in.keys) // what the group decided is void
		clear(in.alerts)
		return g.commitAlone(ctx, in)
	}
	return m.r, m.err
}

// commitAlone commits a delivery on its own, in its partner's turn.
func (g *Gateway) commitAlone(ctx context.Context, in *intake) (*Receipt, error) {
	r, err := g.commit(ctx, in)
	if errors.Is(err, ErrBusy) {
		g.committers.avoid(in.Partner.ID)
	}
	return r, err
}

// add lets a member wait; start: a committer is to be started for it.
func (q *committers) add(m *member) (start bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting.push(m.in.Partner.ID, m)
	if start = q.running < committersAtOnce; start {
		q.running++
	}
	return start
}

// leave takes a member out of the queue; false if it is no longer there.
func (q *committers) leave(m *member) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting.remove(m.in.Partner.ID, m)
}

// take gives the next group; where nobody waits the committer ends.
func (q *committers) take() (ms []*member) {
	q.mu.Lock()
	defer q.mu.Unlock()
	// Where several partners wait, none has many more in a group than another: the
	// time that a group takes is everybody's.
	most := groupMembers
	if n, partners := q.waiting.least(); partners > 1 {
		most = max(n, groupBeside)
	}
	has := map[string]int{}
	for size := int64(0); len(ms) < groupMembers && size < groupBytes; {
		m, ok := q.waiting.next(func(partner string) bool { return has[partner] < most })
		if !ok {
			break
		}
		has[m.in.Partner.ID]++
		ms, size = append(ms, m), size+m.in.Payload.Size()
	}
	if len(ms) == 0 {
		q.running--
	}
	return ms
}

// commitWaiting is a committer: it takes who is waiting until nobody is.
func (g *Gateway) commitWaiting() {
	for {
		ms := g.committers.take()
		if len(ms) == 0 {
			return
		}
		inTime := g.committers.watch(g.commitWaiting)
		g.commitMembers(ms)
		for _, m := range ms {
			close(m.done)
		}
		if !inTime() { // another has taken its place
			return
		}
	}
}

// watch starts another committer where a group is overdue. What it gives is called
// at the group's end, and tells whether it was in time.
func (q *committers) watch(start func()) (inTime func() bool) {
	ended, relieved := false, false // under q.mu
	t := time.AfterFunc(overdue, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if !ended && q.relieved < relief {
			relieved = true
			q.relieved++
			go start()
		}
	})
	return func() bool {
		t.Stop()
		q.mu.Lock()
		defer q.mu.Unlock()
		ended = true
		if relieved {
			q.relieved--
		}
		return !relieved
	}
}

// avoid keeps a partner out of groups for a while.
func (q *committers) avoid(partner string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.alone == nil {
		q.alone = map[string]time.Time{}
	}
	q.alone[partner] = time.Now().Add(aloneFor)
}

func (q *committers) goesAlone(partner string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	until, found := q.alone[partner]
	if found && time.Now().After(until) {
		delete(q.alone, partner)
		found = false
	}
	return found
}
