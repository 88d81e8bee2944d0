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
// known. If anything in it turns out otherwise it is rolled back, those that it is
// due to go alone, and their partner with all it sends if that goes on.
type committers struct {
	mu       sync.Mutex
	waiting  turns[*member]
	running  int                 // committers that take groups
	relieved int                 // groups under way that another committer was started for
	spoilers map[string]*spoiler // partners whose deliveries had groups rolled back lately
}

type member struct {
	in     *intake
	pl     *plan
	guards []*dedup.Guard // its guard keys
	known  bool           // the group was rolled back for something of it that was known
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
	// A partner that had groups rolled back goes alone for a while.
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
		in.undecide()
		return g.commitAlone(ctx, in)
	}
	return m.r, m.err
}

// commitAlone commits a delivery on its own, in its partner's turn.
func (g *Gateway) commitAlone(ctx context.Context, in *intake) (*Receipt, error) {
	could := in.groupable()
	r, err := g.commit(ctx, in)
	switch {
	case errors.Is(err, ErrBusy), could && errors.Is(err, errCondemned), could && sqlState(err) != "" && !isPassing(err):
		g.committers.avoid(in.Partner.ID)
	case could && (errors.Is(err, errStartAgain) || in.met || len(in.copies) > 0):
		g.committers.suspect(in.Partner.ID)
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

// queued is how many of each partner wait for a committer.
func (q *committers) queued() map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := map[string]int{}
	for _, l := range q.waiting.lines {
		n[l.partner] = len(l.waiting)
	}
	return n
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

// spoiler is a partner whose deliveries are no members for a group.
type spoiler struct {
	last, until time.Time // it had a group rolled back; it goes alone
}

// of gives what is noted of a partner. q.mu is held.
func (q *committers) of(partner string) *spoiler {
	x := q.spoilers[partner]
	if x == nil {
		if q.spoilers == nil {
			q.spoilers = map[string]*spoiler{}
		}
		x = &spoiler{}
		q.spoilers[partner] = x
	}
	return x
}

// avoid keeps a partner out of groups for a while: what it sent would have group
// after group rolled back, and none could tell that it was the cause.
func (q *committers) avoid(partner string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x := q.of(partner)
	x.last = time.Now()
	x.until = x.last.Add(aloneFor)
}

// suspect notes that a partner sent what is known already: a group finds out whose
// it is, at the price of a round trip. Once is forgiven, who goes on goes alone.
func (q *committers) suspect(partner string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x, now := q.of(partner), time.Now()
	if now.Before(x.last.Add(aloneFor)) {
		x.until = now.Add(aloneFor)
	}
	x.last = now
}

func (q *committers) goesAlone(partner string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	x := q.spoilers[partner]
	return x != nil && time.Now().Before(x.until)
}
