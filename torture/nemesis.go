package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/edigw/edigw/bench/site"
)

// The kinds of faults.
const (
	killGateway   = "a gateway is killed"
	pointGateway  = "a gateway is killed, and its next one fails at a point"
	clockGateway  = "a gateway is killed, and the next one's clock is wrong"
	pauseGateway  = "a gateway is stopped and goes on"
	cutPartner    = "a partner's connection is cut"
	cutDatabase   = "a database connection is cut"
	muteDatabase  = "what a database connection says is lost"
	endBackends   = "backends are terminated"
	killBackend   = "a backend is killed"
	pausePostgres = "postgres is stopped and goes on"
	killPostgres  = "postgres is killed"
	fillDisk      = "the disk is full"
)

// weights say how often each is planned; postgres is killed as often as is asked
// for, and the disk is filled where it can be.
var weights = []struct {
	kind   string
	weight int
}{
	{killGateway, 9}, {pointGateway, 8}, {clockGateway, 5}, {pauseGateway, 8}, {cutPartner, 34}, {cutDatabase, 28}, {muteDatabase, 4},
	{endBackends, 10}, {killBackend, 2}, {pausePostgres, 3},
}

// fault is one step of the plan.
type fault struct {
	at     int // deliveries that were begun
	kind   string
	node   int
	which  int // connection
	cut    cut
	length time.Duration
	env    []string
	all    bool // of postgres, every process and not the postmaster alone
}

// points are those of cmd/edigw/faults.go.
var points = []string{
	"request body", "begin", "claim", "first document", "last document", "acknowledgement", "before commit", "commit sent", "commit answered", "response header", "mid body",
}

// plan says what fails after how many deliveries. It is the seed's alone.
func plan(rng *rand.Rand, deliveries, faults, kills, fills, nodes int) []fault {
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	var list []fault
	for range faults {
		f := fault{at: rng.IntN(deliveries), node: rng.IntN(nodes), which: rng.IntN(1 << 20)}
		at := rng.IntN(total)
		for _, w := range weights {
			if at -= w.weight; at < 0 {
				f.kind = w.kind
				break
			}
		}
		switch f.kind {
		case cutPartner:
			f.cut = cut{up: rng.IntN(2) == 0, after: int64(rng.IntN(1200))}
		case cutDatabase, muteDatabase:
			f.cut = cut{up: rng.IntN(2) == 0, after: int64(rng.IntN(6000)), silent: f.kind == muteDatabase}
		case pauseGateway, pausePostgres:
			f.length = time.Duration(200+rng.IntN(1800)) * time.Millisecond
		case clockGateway:
			off := []string{"-1080h", "-26h", "-2h", "2h", "26h", "1080h"}
			f.env = []string{"EDIGW_FAULT_CLOCK=" + off[rng.IntN(len(off))]}
		case pointGateway:
			do := []string{"kill", "stop:700ms*3", "panic"}[rng.IntN(3)]
			f.env = []string{fmt.Sprintf("EDIGW_FAULT=%s=%s@%d", points[rng.IntN(len(points))], do, 1+rng.IntN(60))}
		}
		list = append(list, f)
	}
	for i := range kills { // one in each part of the run
		list = append(list, fault{at: (deliveries*(2*i+1)/2 + rng.IntN(max(1, deliveries/4))) / kills, kind: killPostgres, all: rng.IntN(2) == 0})
	}
	for range fills {
		list = append(list, fault{at: rng.IntN(deliveries), kind: fillDisk, length: time.Duration(500+rng.IntN(1500)) * time.Millisecond})
	}
	slices.SortStableFunc(list, func(a, b fault) int { return cmp.Compare(a.at, b.at) })
	return list
}

// tally counts faults that were done, by kind.
type tally struct {
	mu sync.Mutex
	by map[string]int
}

func (t *tally) add(kind string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[string]int{}
	}
	t.by[kind] += n
}

func (t *tally) of(kind string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.by[kind]
}

func (t *tally) sum() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.by {
		n += k
	}
	return n
}

// String lists the kinds.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var kinds []string
	for kind, n := range t.by {
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, n))
	}
	slices.Sort(kinds)
	return strings.Join(kinds, ", ")
}

// nemesis carries the plan out, each step when so many deliveries have begun,
// and says at its end that all is well again.
func (r *run) nemesis(ctx context.Context, plan []fault) error {
	var under sync.WaitGroup // faults that take a while
	var mu sync.Mutex
	var failed error
	later := func(f func() error) {
		under.Go(func() {
			if err := f(); err != nil {
				mu.Lock()
				failed = cmp.Or(failed, err)
				mu.Unlock()
			}
		})
	}
	for _, f := range plan {
		for {
			if _, n := r.ledger.counts(); n >= f.at {
				break
			}
			select {
			case <-ctx.Done():
				under.Wait()
				return cmp.Or(failed, ctx.Err())
			case <-time.After(3 * time.Millisecond):
			}
		}
		mu.Lock()
		err := failed
		mu.Unlock()
		if err != nil {
			break
		}
		r.happen(ctx, f, later)
	}
	under.Wait()
	r.machine.ingress.heal()
	for _, n := range r.machine.nodes {
		n.database.heal()
		if g := n.gateway(); g != nil {
			failed = cmp.Or(failed, signalAll(syscall.SIGCONT, g.Pid))
		}
	}
	return cmp.Or(failed, r.machine.revive(ctx))
}

// happen does one fault. Cuts are counted by the relays, when they are made.
func (r *run) happen(ctx context.Context, f fault, later func(func() error)) {
	m, n := r.machine, r.machine.nodes[f.node]
	r.tell("%s (gateway %d) %v %v", f.kind, n.n, f.cut, f.env)
	switch f.kind {
	case killGateway, pointGateway, clockGateway:
		if n.kill(f.env...) {
			r.told.add(f.kind, 1)
		}
	case pauseGateway:
		if g := n.gateway(); g != nil && syscall.Kill(g.Pid, syscall.SIGSTOP) == nil {
			r.told.add(f.kind, 1)
			later(func() error {
				time.Sleep(f.length)
				return signalAll(syscall.SIGCONT, g.Pid)
			})
		}
	case cutPartner:
		m.ingress.cutNext(f.cut)
	case cutDatabase, muteDatabase:
		n.database.cutOpen(f.which, f.cut)
	case endBackends, killBackend:
		later(func() error { return r.backends(ctx, f) })
	case pausePostgres:
		r.told.add(f.kind, 1)
		later(func() error { return m.pauseServer(f.length) })
	case killPostgres:
		r.told.add(f.kind, 1)
		later(func() error { return m.killServer(ctx, f.all) })
	case fillDisk:
		r.told.add(f.kind, 1)
		later(func() error {
			if err := m.fill(f.length); err != nil {
				return err
			}
			return m.revive(ctx)
		})
	}
}

// backends ends some of the gateways' backends, those first that have begun a
// transaction. A database that is away has none.
func (r *run) backends(ctx context.Context, f fault) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if f.kind == endBackends {
		tag, err := r.machine.site.Pool.Exec(ctx, `
			select pg_terminate_backend(pid) from (
				select pid from pg_stat_activity where application_name = 'edigw'
				order by (xact_start is null), md5(pid::text || $1::text) limit 3) as some`, fmt.Sprint(f.which))
		if err == nil && tag.RowsAffected() > 0 {
			r.told.add(f.kind, 1)
		}
		return nil
	}
	var pid int
	err := r.machine.site.Pool.QueryRow(ctx, `
		select pid from pg_stat_activity where application_name = 'edigw' order by (xact_start is null), md5(pid::text || $1::text) limit 1`,
		fmt.Sprint(f.which)).Scan(&pid)
	if err != nil {
		return nil
	}
	children, err := site.Children(r.machine.site.Postmaster())
	if err != nil || !slices.Contains(children, pid) { // it has ended, and the number may be another's
		return nil
	}
	r.told.add(f.kind, 1)
	return signalAll(syscall.SIGKILL, pid)
}
