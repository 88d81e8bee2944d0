package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// size is how much of everything a seed has.
type size struct {
	messages, deliveries int // at least
	faults, kills, fills int // planned
	gateways, senders    int
}

// run is one seed.
type run struct {
	ctx      context.Context
	seed     uint64
	size     size
	company  []*partner
	machine  *machine
	ledger   *ledger
	findings *findings
	online   *online
	told     *tally
	tokens   []string

	mu      sync.Mutex
	happens []string // what the nemesis did, with times
}

// result is what a seed gave.
type result struct {
	seed                 uint64
	messages, deliveries int
	faults, kills        int
	violations           int
	byKind               string
	took                 time.Duration
	report               string // of violations
}

// tell keeps what happened for the report.
func (r *run) tell(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.happens = append(r.happens, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// torture runs a seed with a program and checks it.
func torture(ctx context.Context, program string, seed uint64, z size) (_ *result, err error) {
	begun := time.Now()
	r := &run{ctx: ctx, seed: seed, size: z, company: company(), ledger: newLedger(), findings: &findings{}, told: &tally{}}
	r.online = &online{r}
	if r.machine, err = newMachine(ctx, program, r.company, z.gateways, z.fills > 0, r.told); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.machine.close()) }()
	if err := r.hire(); err != nil {
		return nil, err
	}
	if r.machine.volume == "" {
		z.faults, z.fills = z.faults+z.fills, 0
	}
	steps := plan(rand.New(rand.NewPCG(seed, 0)), z.deliveries, z.faults, z.kills, z.fills, z.gateways)
	failed := make(chan error, 1)
	go func() { failed <- r.nemesis(ctx, steps) }()
	r.tellStories()
	if err := <-failed; err != nil {
		return nil, fmt.Errorf("seed %d: the nemesis: %w", seed, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := r.drain(); err != nil {
		return nil, err
	}
	if err := r.machine.settle(); err != nil {
		return nil, fmt.Errorf("seed %d: %w", seed, err)
	}
	conn, err := pgx.Connect(ctx, r.machine.site.URL())
	if err != nil {
		return nil, err
	}
	rows, err := readRows(ctx, conn)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return nil, fmt.Errorf("seed %d: %w", seed, err)
	}
	check(r.findings, r.ledger, rows)

	r.told.add(cutPartner, int(r.machine.ingress.fired.Load()))
	for _, n := range r.machine.nodes {
		r.told.add(cutDatabase, int(n.database.fired.Load()))
	}
	out := &result{seed: seed, faults: r.told.sum(), kills: r.told.of(killPostgres), violations: r.findings.count(), byKind: r.told.String(), took: time.Since(begun)}
	out.messages, out.deliveries = r.ledger.counts()
	if out.violations > 0 {
		out.report = r.report(rows)
	}
	return out, nil
}

// tellStories tells one after the other, several at once, until enough was sent
// and the plan of faults is through.
func (r *run) tellStories() {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range r.size.senders {
		wg.Go(func() {
			for r.ctx.Err() == nil {
				if m, d := r.ledger.counts(); m >= r.size.messages && d >= r.size.deliveries {
					return
				}
				r.tellStory(int(next.Add(1)))
			}
		})
	}
	wg.Wait()
}

// report tells each violation with the history of its key.
func (r *run) report(rows *rows) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d violations\n", r.seed, r.findings.count())
	shown := map[ref]bool{}
	for _, v := range r.findings.list {
		fmt.Fprintf(&b, "\n[invariant %s] %s: %s\n", v.invariant, v.key, v.text)
		if v.key == (ref{}) || shown[v.key] || len(shown) > 12 {
			continue
		}
		shown[v.key] = true
		r.history(&b, rows, v.key)
	}
	b.WriteString("\nfaults:\n")
	for _, line := range r.happens {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}

// history tells all that is known of a key.
func (r *run) history(b *strings.Builder, rows *rows, k ref) {
	for _, d := range r.ledger.deliveries {
		ours := d.id != "" && d.transportKey() == k
		for _, c := range d.contents {
			ours = ours || c.key() == k
		}
		if ours {
			fmt.Fprintf(b, "  %s\n", d)
		}
	}
	for _, a := range r.ledger.acts {
		if a.key == k {
			fmt.Fprintf(b, "  %s asked %s for %s on %.8s: %d %s\n", a.asked.Format("15:04:05.000"), a.person, a.decision, a.alert, a.status, a.state)
		}
	}
	show := func(k ref) {
		row := rows.keys[k]
		if row == nil {
			return
		}
		for _, v := range row.variants {
			fates := make([]string, len(v.messages))
			for i, m := range v.messages {
				fates[i] = m.Fate.String()
			}
			fmt.Fprintf(b, "  stored: %s, epoch %d, %s is %v, answer %d %.8s, by delivery %s: %s\n", k, v.epoch, short(v.digest), v.state, v.answer, v.ack, v.delivery, strings.Join(fates, " "))
		}
	}
	show(k)
	for _, d := range rows.documents {
		if d.partner == k.partner && d.key == k.id {
			fmt.Fprintf(b, "  document %s, message %s %s, over %v\n", d.number, d.reference, short(d.sha256), d.over)
		}
	}
	for _, j := range rows.journal {
		if j.partner == k.partner && j.key == k.id {
			fmt.Fprintf(b, "  journal: delivery %s under %s: %s by %s of %.8s\n", j.delivery, j.transportID, j.verdict, j.rule, j.digest)
		}
	}
}
