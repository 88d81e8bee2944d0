package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/partners"
)

// ErrCrowded: a partner has more on its way in this process than its share, and
// no turn came in time. Nothing was stored; it is told to come again (503).
var ErrCrowded = errors.New("more of this partner's deliveries are on their way than are taken at once")

// admission shares this process out between partners: each holds at most its
// share of the connections that deliveries use, and of the deliveries taken in at
// once. Who waits for a connection holds none, and partners that wait take turns.
//
// A delivery holds one turn at a time, for as long as it uses a connection, and
// never waits for one while it holds another. Groups of deliveries commit on
// connections of their own, which are nobody's share.
//
// A transaction may wait for a lock, a look-up does not: the last connection, of a
// share and of all, is for look-ups, so that a delivery whose key is free goes past
// those whose keys are held. What is refused may be anybody's, under the partner's
// name: one of a partner has a connection at a time, beside its share, and all of them
// a few.
//
// So are the processors: as many deliveries are split and prepared at a time as
// keep them busy, whoever's they are, and the others wait for their partner's turn
// here, not in Go's scheduler, to which 256 deliveries of one partner are more than
// eight of another. Large ones take long and have places of their own, of which the
// last is never one partner's that has the others. Who waits for the database, or for
// memory (rooms), has no processor.
type admission struct {
	mu    sync.Mutex
	slots int // connections for deliveries that go alone; 0: not counted yet
	used  [uses]int
	by    map[string]*presence
	queue [uses]turns[chan struct{}] // of deliveries that wait for a place; closed when its turn has come

	deliveries int   // that are proved
	unproved   Crowd // of those that are not, one each
	memory     Crowd // of these, by the bytes that are held of them
}

// use is what a delivery needs a place for: the first three are connections.
type use int

const (
	lookUp use = iota
	transaction
	refusing // a transaction, by a delivery that made no key
	work     // of a processor
	bulk     // of a processor, by a large delivery
	uses
)

// presence is what a partner has in this process. It stays, since partners are
// as many as are configured.
type presence struct {
	most       int       // connections at once
	held       [uses]int // places
	waiting    [uses]int // deliveries that wait for a place
	deliveries int       // that are proved
	copies     int       // deliveries that wait for the first one under their key
}

const (
	// deliveriesAtOnce bounds the deliveries in this process whose senders are proved, of
	// which each may hold a payload in memory (Spool.Threshold).
	deliveriesAtOnce = 1024
	// spare connections are for what is no delivery: the API, the clock, the
	// configuration.
	spare = 1
)

// slotsOf is how many of a pool's connections are for deliveries that go alone.
func slotsOf(connections int) int { return max(3, connections-committersAtOnce-relief-spare) }

// shareOf is a partner's share of n, rounded up.
func shareOf(p *partners.Partner, n int) int {
	share := p.Share
	if share == 0 {
		share = partners.DefaultShare
	}
	return max(1, (n*share+99)/100)
}

// connectionsOf is how many of so many connections a partner's deliveries may hold.
func connectionsOf(p *partners.Partner, slots int) int { return max(2, shareOf(p, slots)) }

// of gives what partner p has here. a.mu is held.
func (a *admission) of(id string) *presence {
	here := a.by[id]
	if here == nil {
		if a.by == nil {
			a.by = map[string]*presence{}
		}
		here = &presence{}
		a.by[id] = here
	}
	return here
}

// Admit lets a delivery of p, who is proved to send it, into this process; not ok while p
// has its share of deliveries here, or all have theirs. The last quarter of all is for
// those who have few.
func (g *Gateway) Admit(p *partners.Partner) (leave func(), ok bool) {
	a := &g.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	here := a.of(p.ID)
	if here.deliveries >= shareOf(p, deliveriesAtOnce) || a.deliveries >= deliveriesAtOnce ||
		a.deliveries >= deliveriesAtOnce*3/4 && here.deliveries >= deliveriesAtOnce/16 && shareOf(p, deliveriesAtOnce) < deliveriesAtOnce {
		return nil, false
	}
	here.deliveries++
	a.deliveries++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		here.deliveries--
		a.deliveries--
	}, true
}

// known has p among those whom the metrics tell of.
func (a *admission) known(p *partners.Partner) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of(p.ID)
}

// may reports whether a partner may have one more place. a.mu is held.
func (a *admission) may(here *presence, to use) bool {
	switch to {
	case work:
		return a.used[work] < 2*runtime.GOMAXPROCS(0) // some of it waits, for a page of memory or of the spool
	case bulk:
		most := max(2, runtime.GOMAXPROCS(0))
		return a.used[bulk] < most && here.held[bulk] < most-1
	}
	used := a.used[lookUp] + a.used[transaction] + a.used[refusing]
	switch to {
	case refusing:
		return here.held[to] == 0 && a.used[to] < max(1, a.slots/4) && used < a.slots-1
	case transaction:
		if used-a.used[lookUp] >= a.slots-1 || here.held[to] >= here.most-1 {
			return false
		}
	}
	return used < a.slots && here.held[lookUp]+here.held[transaction] < here.most
}

// turn waits until a delivery may use a connection, and gives what ends it. What
// it may wait for others in this process is used up by the wait. An operator's act
// waits for nobody's turn.
func (g *Gateway) turn(ctx context.Context, in *intake, to use) (leave func(), err error) {
	if in.mayWait == nil {
		return func() {}, nil
	}
	return g.place(ctx, in.Partner, to, in.mayWait)
}

// atWork does what takes a processor and nothing else, in the partner's turn for
// one; what is large has places of its own, since it takes long. An operator's act
// waits for nobody's turn. It is bounded by the number of deliveries that are taken
// in (Admit) and by ctx.
func (g *Gateway) atWork(ctx context.Context, d *Delivery, inTurn bool, do func() error) error {
	if !inTurn || d.Payload == nil {
		return do()
	}
	to := work
	if d.Payload.Size() > groupPayload {
		to = bulk
	}
	leave, err := g.place(ctx, d.Partner, to, nil)
	if err != nil {
		return err
	}
	defer leave()
	return do()
}

// splitInTurn is split in the partner's turn.
func (g *Gateway) splitInTurn(ctx context.Context, d *Delivery) (in *intake, err error) {
	err = g.atWork(ctx, d, true, func() error {
		in, err = g.split(d)
		return err
	})
	return in, err
}

// refusalsWaiting is how many deliveries under the name of p wait here to be written down
// as refused: no more than a quarter of those that are not proved, so that genuine ones
// have room beside them.
func refusalsWaiting(p *partners.Partner) int { return max(1, shareOf(p, unprovedAtOnce)/4) }

// place waits until p may have one more place, and gives what gives it back.
// patience is what is left of the time that it may wait; nil: as long as ctx.
func (g *Gateway) place(ctx context.Context, p *partners.Partner, to use, patience *time.Duration) (leave func(), err error) {
	a := &g.admission
	a.mu.Lock()
	if a.slots == 0 {
		a.slots = slotsOf(int(g.Pool.Stat().MaxConns()))
	}
	here := a.of(p.ID)
	here.most = connectionsOf(p, a.slots)
	leave = func() { a.leave(here, to) }
	if here.waiting[to] == 0 && a.may(here, to) {
		a.used[to]++
		here.held[to]++
		a.mu.Unlock()
		return leave, nil
	}
	if to == refusing && here.waiting[to] >= refusalsWaiting(p) {
		a.mu.Unlock()
		return nil, ErrCrowded
	}
	w := make(chan struct{})
	a.queue[to].push(p.ID, w)
	here.waiting[to]++
	a.mu.Unlock()

	since, late := time.Now(), (<-chan time.Time)(nil)
	if patience != nil {
		t := time.NewTimer(*patience)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-w:
	case <-late:
		err = ErrCrowded
	case <-ctx.Done():
		err = fmt.Errorf("wait for a turn: %w", ctx.Err())
	}
	if patience != nil {
		*patience = max(0, *patience-time.Since(since))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && a.queue[to].remove(p.ID, w) {
		here.waiting[to]--
		return nil, err
	}
	return leave, nil // it came at the last moment
}

// leave gives a place back, to whose turn it is.
func (a *admission) leave(here *presence, from use) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used[from]--
	here.held[from]--
	for to := range uses {
		for {
			var next *presence
			w, ok := a.queue[to].next(func(partner string) bool {
				next = a.by[partner]
				return a.may(next, to)
			})
			if !ok {
				break
			}
			a.used[to]++
			next.held[to]++
			next.waiting[to]--
			close(w)
		}
	}
}

// takeOff waits until no other delivery of this process is under way under a key
// of this one, and gives what lets the next one in.
func (g *Gateway) takeOff(in *intake) (leave func(), ok bool) {
	a, since := &g.admission, time.Now()
	a.mu.Lock()
	here := a.of(in.Partner.ID)
	here.copies++
	a.mu.Unlock()
	leave, ok = g.flight.enter(in.refs(), *in.mayWait)
	*in.mayWait = max(0, *in.mayWait-time.Since(since))
	a.mu.Lock()
	here.copies--
	a.mu.Unlock()
	return leave, ok
}

var (
	partnerConnections = prometheus.NewDesc("edigw_partner_connections", "Connections to the database that the partner's deliveries hold now.", []string{"partner"}, nil)
	partnerDeliveries  = prometheus.NewDesc("edigw_partner_deliveries", "Deliveries of the partner in this process now.", []string{"partner"}, nil)
	partnerUnproved    = prometheus.NewDesc("edigw_partner_unproved", "Deliveries in this process now that use the partner's name, and whose sender is not proved yet.", []string{"partner"}, nil)
	partnerMemory      = prometheus.NewDesc("edigw_partner_memory_bytes", "Memory that the partner's deliveries fill with their documents and comparisons now, about.", []string{"partner"}, nil)
	partnerWaiting     = prometheus.NewDesc("edigw_partner_waiting", "Deliveries of the partner that wait now: for the first copy of their message, for their turn, for memory, or to be committed with others.", []string{"partner", "for"}, nil)
)

// Describe implements prometheus.Collector.
func (g *Gateway) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{partnerConnections, partnerDeliveries, partnerUnproved, partnerMemory, partnerWaiting} {
		to <- d
	}
}

// Collect implements prometheus.Collector: what each partner has in this process.
func (g *Gateway) Collect(to chan<- prometheus.Metric) {
	a, commit, rooms := &g.admission, g.committers.queued(), g.rooms.taken()
	a.mu.Lock()
	defer a.mu.Unlock()
	gauge := func(d *prometheus.Desc, n int, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	for partner, here := range a.by {
		gauge(partnerConnections, here.held[lookUp]+here.held[transaction]+here.held[refusing], partner)
		gauge(partnerDeliveries, here.deliveries, partner)
		gauge(partnerUnproved, int(a.unproved.of(partner)), partner)
		gauge(partnerWaiting, here.copies, partner, "copy")
		gauge(partnerWaiting, here.waiting[lookUp]+here.waiting[transaction]+here.waiting[refusing]+here.waiting[work]+here.waiting[bulk], partner, "turn")
		gauge(partnerWaiting, commit[partner], partner, "commit")
		gauge(partnerWaiting, rooms[partner].waiting, partner, "memory")
		gauge(partnerMemory, int(rooms[partner].bytes), partner)
	}
}
