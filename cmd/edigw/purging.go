package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/purge"
)

// purgeFlags say when this process purges by itself.
type purgeFlags struct {
	PurgeEvery time.Duration `setting:"" default:"24h" placeholder:"TIME" help:"How often what its retention has passed is purged by one of the processes; 0 leaves it to others, and to edigw retention purge."`
	PurgeHours string        `setting:"" placeholder:"HH:MM-HH:MM" help:"Hours of the day, in UTC, in which purges that begin by themselves run, like 22:00-05:00; any if left out."`
}

const (
	leastPurgeEvery = time.Minute
	// purgeRest is how long a process that has started leaves the purge alone.
	purgeRest = 10 * time.Minute
	// purgeLook is how often the database's clock is looked at, and whether a run is due.
	purgeLook = time.Minute
)

var (
	errPurgeStops = errors.New("the process stops")
	errPurgeHours = errors.New("the hours of --purge-hours have passed; the next run goes on")
)

// hours are a stretch of each day; the zero value is all of it.
type hours struct{ from, to time.Duration }

func hoursOf(text string) (h hours, err error) {
	if text == "" {
		return h, nil
	}
	var fh, fm, th, tm int
	var rest string
	n, _ := fmt.Sscanf(text, "%d:%d-%d:%d%s", &fh, &fm, &th, &tm, &rest) // what it did not read it counts
	h.from = time.Duration(fh)*time.Hour + time.Duration(fm)*time.Minute
	h.to = time.Duration(th)*time.Hour + time.Duration(tm)*time.Minute
	if n != 4 || len(text) != len("22:00-05:00") || fh < 0 || fh > 23 || th < 0 || th > 23 || fm < 0 || fm > 59 || tm < 0 || tm > 59 || h.from == h.to {
		return h, usage("--purge-hours must be two times of the day like 22:00-05:00, not %q", text)
	}
	return h, nil
}

// left is how much of the hours is left at a time; 0 is outside of them.
func (h hours) left(t time.Time) time.Duration {
	if h == (hours{}) {
		return 24 * time.Hour
	}
	t = t.UTC()
	at := t.Sub(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC))
	to := h.to
	if to < h.from {
		if to += 24 * time.Hour; at < h.from {
			at += 24 * time.Hour
		}
	}
	if at < h.from || at >= to {
		return 0
	}
	return to - at
}

// purging runs purges in this process: those that are due, and those that a person asks
// for. Which process has the run is the database's to say.
type purging struct {
	*purge.Purger
	every time.Duration
	hours hours
	log   *slog.Logger

	ctx   context.Context
	abort context.CancelCauseFunc
	mu    sync.Mutex // of ended: nothing begins when it is waited for
	shut  bool
	ended sync.WaitGroup
}

// preparePurge makes the purge; it is started last.
func (s *started) preparePurge(c purgeFlags, g *gateway.Gateway, registry prometheus.Registerer) error {
	if c.PurgeEvery != 0 && c.PurgeEvery < leastPurgeEvery {
		return usage("--purge-every must be %v or more, or 0", leastPurgeEvery)
	}
	day, err := hoursOf(c.PurgeHours)
	if err != nil {
		return err
	}
	node, err := os.Hostname()
	if err != nil {
		node = "unknown host"
	}
	p := &purging{every: c.PurgeEvery, hours: day, log: s.log, Purger: &purge.Purger{Rest: purge.Gently,
		Pool: s.database.pool, Partners: s.admin.partners, NewID: g.NewID, Node: fmt.Sprintf("%s, process %d", node, os.Getpid()), Log: s.log,
		Hook: func(point string) {
			if g.Hook != nil {
				g.Hook("purge " + point)
			}
		},
	}}
	p.ctx, p.abort = context.WithCancelCause(context.Background())
	if err := registerPurge(registry, p.Purger, func(err error) { s.log.Warn("metrics of the purge are missing", "err", err) }); err != nil {
		return err
	}
	s.purging = p
	return nil
}

// run looks at the clock, and purges when it is time, until ctx ends.
func (p *purging) run(ctx context.Context) {
	rested := time.Now().Add(purgeRest)
	t := time.NewTicker(purgeLook)
	defer t.Stop()
	for {
		if err := p.Look(ctx); err != nil && ctx.Err() == nil {
			p.log.Error("whether the database's clock jumped is not known", "err", err)
		}
		if p.every > 0 && time.Now().After(rested) {
			p.whereDue(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// whereDue runs a purge where none ran as long as one is to, in the hours that it has.
func (p *purging) whereDue(ctx context.Context) {
	at, err := p.Standing(ctx)
	if err != nil {
		if ctx.Err() == nil {
			p.log.Error("whether a purge is due is not known", "err", err)
		}
		return
	}
	left := p.hours.left(at.Now)
	if left == 0 || !at.Due(p.every) {
		return
	}
	p.mu.Lock()
	if p.shut {
		p.mu.Unlock()
		return
	}
	p.ended.Add(1)
	p.mu.Unlock()
	defer p.ended.Done()
	within := p.ctx
	if p.hours != (hours{}) {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeoutCause(p.ctx, left, errPurgeHours)
		defer cancel()
	}
	// Run has logged and reported what became of it; another node may have been faster.
	_, _ = p.Run(within, "")
}

// begin begins a run for a person and leaves it to itself; it gives the report as it begins.
func (p *purging) begin(ctx context.Context, by string) (*purge.Report, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		return nil, errPurgeStops
	}
	r, err := p.Begin(ctx, by)
	if err != nil {
		return nil, err
	}
	told := *r
	p.ended.Go(func() { _ = p.Finish(p.ctx, r) }) // it has logged and reported what became of it
	return &told, nil
}

// stop ends a run between two of its transactions, and waits for that.
func (p *purging) stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.shut = true
	p.mu.Unlock()
	p.abort(errPurgeStops)
	p.ended.Wait()
}

// purge lets a person begin a run. What refuses it stands in the answer, and the audit log
// has who asked.
func (s *started) purge(ctx context.Context, by accounts.Identity) (*purge.Report, error) {
	e := accounts.Entry{Action: "retention.purge_asked", Subject: "retention", Who: by.Person, Role: by.Role, Detail: []byte("{}")}
	if err := s.admin.record(ctx, e); err != nil {
		return nil, err
	}
	return s.purging.begin(context.WithoutCancel(ctx), by.Person)
}
