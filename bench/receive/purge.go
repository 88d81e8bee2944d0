package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/bench/site"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/purge"
)

const (
	purgePartners = 20
	purgeClients  = 32
	purgeBar      = 0.8
)

// purging is receiving beside a purge, as a share of receiving without one.
type purging struct {
	b    *bench
	site *site.Site
	pool *pgxpool.Pool
	next int64

	filling *pgxpool.Conn
}

// purges fills a database with keys that are due and months that have passed, and measures
// receiving with and without a purge at work, in pairs. The purge is a process of its own;
// it is killed once, and gone on with by two at a time. What it removes has to be what was
// foreseen, to the row, and what has to stay has to be there.
func (b *bench) purges(ctx context.Context) (err error) {
	x := &purging{b: b, next: 1}
	if x.site, err = site.OpenWith(ctx, site.Options{Partners: partnersYAML(purgePartners)}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.site.Close(context.WithoutCancel(ctx))) }()
	if x.pool, err = pgxpool.New(ctx, x.site.URL()); err != nil {
		return err
	}
	defer x.pool.Close()
	if b.program == "" {
		if b.program, err = x.site.Build(ctx); err != nil {
			return err
		}
	}
	g, err := x.site.Start(ctx, b.program, "EDIGW_PURGE_EVERY=0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	if err := x.fill(ctx); err != nil {
		return err
	}
	kept, err := x.kept(ctx)
	if err != nil {
		return err
	}
	since := time.Now()
	foreseen, err := x.purger("foresees").Preview(ctx, nil)
	if err != nil {
		return err
	}
	fmt.Printf("foreseen in %.1f s: %s\n", time.Since(since).Seconds(), words(foreseen.Steps))
	if err := x.compare(ctx, g); err != nil {
		return err
	}
	return x.judge(ctx, foreseen.Steps, kept)
}

func (x *purging) purger(node string) *purge.Purger { return purgerOn(x.pool, node) }

func purgerOn(pool *pgxpool.Pool, node string) *purge.Purger {
	return &purge.Purger{Pool: pool, Partners: &partners.Store{Pool: pool}, Node: node, NewID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) },
		Rest: purge.Gently, Log: slog.New(slog.DiscardHandler)}
}

// purgeProcess is the purge as a process of its own: it tells how its run ended.
func purgeProcess(args []string) error {
	if len(args) != 2 {
		return errors.New("purge takes the database's URL and a name")
	}
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, args[0])
	if err != nil {
		return err
	}
	defer pool.Close()
	r, err := purgerOn(pool, args[1]).Run(ctx, "")
	switch {
	case errors.Is(err, purge.ErrElsewhere):
		fmt.Println(`"elsewhere"`)
		return nil
	case errors.Is(err, purge.ErrPaused), err == nil:
		return json.NewEncoder(os.Stdout).Encode(r.State)
	}
	return err
}

// worker is such a process.
type worker struct {
	cmd  *exec.Cmd
	out  strings.Builder
	done chan error
}

func (x *purging) worker(ctx context.Context, node string) (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w := &worker{cmd: exec.CommandContext(ctx, self, "purge", x.site.URL(), node), done: make(chan error, 1)}
	w.cmd.Stdout, w.cmd.Stderr = &w.out, os.Stderr
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { w.done <- w.cmd.Wait() }()
	return w, nil
}

// compare measures by turns, tells the median, and lets the purge go to its end.
func (x *purging) compare(ctx context.Context, g *site.Gateway) error {
	var ratios, idle, busy []float64
	elsewhere := 0
	var longest time.Duration // of a wait for a lock, of those that were seen
	for pair := 0; ; pair++ {
		without, _, err := x.rate(ctx, g)
		if err != nil {
			return err
		}
		if err := x.do(ctx, purge.ResumeTx); err != nil {
			return err
		}
		var workers []*worker
		for n := range min(pair+1, 2) { // two at once, but for the first time
			w, err := x.worker(ctx, fmt.Sprintf("purge-%d-%d", pair, n))
			if err != nil {
				return err
			}
			workers = append(workers, w)
		}
		if err := x.begun(ctx); err != nil {
			return err
		}
		with, waited, err := x.rate(ctx, g)
		if err != nil {
			return err
		}
		longest = max(longest, waited)
		running, err := x.running(ctx)
		if err != nil {
			return err
		}
		if running {
			ratios, idle, busy = append(ratios, with/without), append(idle, without), append(busy, with)
			fmt.Fprintf(os.Stderr, "pair %d: %.0f of %.0f msg/s, ratio %.2f\n", pair+1, with, without, with/without)
		}
		killed := pair == 0
		if killed {
			if err := workers[0].cmd.Process.Kill(); err != nil {
				return err
			}
		} else if err := x.do(ctx, func(ctx context.Context, tx pgx.Tx) (bool, error) {
			return purge.PauseTx(ctx, tx, "bench", "a measurement without it")
		}); err != nil {
			return err
		}
		over := false
		for _, w := range workers {
			err := <-w.done
			if killed {
				continue
			}
			if err != nil {
				return fmt.Errorf("a purge failed: %w", err)
			}
			switch state := strings.Trim(w.out.String(), "\"\n"); state {
			case "elsewhere":
				elsewhere++
			case purge.Done:
				over = true
			case purge.Stopped:
			default:
				return fmt.Errorf("a purge ended %s", state)
			}
		}
		if killed {
			fmt.Fprintln(os.Stderr, "the purge was killed; its lease has to run out")
			if _, err := x.pool.Exec(ctx, `select pg_sleep_until(coalesce(lease_until, now()) + interval '1 second') from purge`); err != nil {
				return err
			}
		}
		if over {
			break
		}
		if len(ratios) >= 4*x.b.rounds { // the rest goes without anybody who receives
			if err := x.rest(ctx); err != nil {
				return err
			}
			break
		}
	}
	if len(ratios) == 0 {
		fmt.Println("the purge was over before it could be measured: more -keys are needed")
	} else {
		fmt.Printf("%d clients, medians of %d pairs: %.0f msg/s beside a purge, %.0f msg/s without; ratio %.2f (%.2f to %.2f), bar %.1f\n",
			purgeClients, len(ratios), median(busy), median(idle), median(ratios), slices.Min(ratios), slices.Max(ratios), purgeBar)
	}
	fmt.Printf("killed once; second processes that were turned away: %d; longest wait for a lock that was seen: %d ms\n", elsewhere, longest.Milliseconds())
	return nil
}

// rest purges what is left.
func (x *purging) rest(ctx context.Context) error {
	if err := x.do(ctx, purge.ResumeTx); err != nil {
		return err
	}
	since := time.Now()
	w, err := x.worker(ctx, "purge-rest")
	if err != nil {
		return err
	}
	if err := <-w.done; err != nil {
		return fmt.Errorf("a purge failed: %w", err)
	}
	if state := strings.Trim(w.out.String(), "\"\n"); state != purge.Done {
		return fmt.Errorf("a purge ended %s", state)
	}
	fmt.Fprintf(os.Stderr, "the rest went in %.0f s\n", time.Since(since).Seconds())
	return nil
}

// begun waits until a run has the lease.
func (x *purging) begun(ctx context.Context) error {
	for range 500 {
		if running, err := x.running(ctx); err != nil || running {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil // it is over already
}

func (x *purging) running(ctx context.Context) (running bool, err error) {
	err = x.pool.QueryRow(ctx, `select exists (select from purge_run where state = 'running')`).Scan(&running)
	return running, err
}

func (x *purging) do(ctx context.Context, change func(context.Context, pgx.Tx) (bool, error)) error {
	return pgx.BeginFunc(ctx, x.pool, func(tx pgx.Tx) error {
		_, err := change(ctx, tx)
		return err
	})
}

// rate is messages a second, and the longest wait for a lock of a session that received.
func (x *purging) rate(ctx context.Context, g *site.Gateway) (rate float64, longest time.Duration, err error) {
	if err := x.site.Checkpoint(ctx); err != nil {
		return 0, 0, err
	}
	watch, stop := context.WithCancel(ctx)
	seen := make(chan time.Duration, 1)
	go func() {
		var most float64
		for watch.Err() == nil {
			var s float64
			if x.pool.QueryRow(watch, `
				select coalesce(max(extract(epoch from clock_timestamp() - l.waitstart)), 0)
				from pg_locks l join pg_stat_activity a on a.pid = l.pid
				where not l.granted and a.application_name like 'edigw%'`).Scan(&s) == nil {
				most = max(most, s)
			}
			time.Sleep(20 * time.Millisecond)
		}
		seen <- time.Duration(most * float64(time.Second))
	}()
	l := load{Address: g.Address, Clients: purgeClients, Seconds: x.b.seconds, From: x.next, Status: http.StatusCreated, Senders: purgePartners, Random: true}
	f, err := x.b.generated(ctx, l)
	stop()
	x.next = l.From + f.Messages + purgeClients
	return float64(f.Messages) / max(f.Seconds, 1e-9), <-seen, err
}

// judge holds what went against what was foreseen, and what has to be there against what
// was. What came meanwhile is not due.
func (x *purging) judge(ctx context.Context, foreseen []purge.Step, kept map[string]int64) error {
	runs, err := x.purger("reads").Reports(ctx, time.Time{}, 1000)
	if err != nil {
		return err
	}
	gone := map[string]int64{}
	for _, r := range runs {
		for _, s := range r.Steps {
			if s.Reason == "" {
				gone[s.Partner+" "+s.Kind] += s.Rows
			}
		}
	}
	differ := 0
	total := int64(0)
	for _, s := range foreseen {
		if s.Reason != "" {
			continue
		}
		total += s.Rows
		if k := s.Partner + " " + s.Kind; gone[k] != s.Rows {
			differ++
			fmt.Printf("DIFFERS: %d %s of %s were foreseen, %d went\n", s.Rows, s.Kind, s.Partner, gone[k])
		}
		delete(gone, s.Partner+" "+s.Kind)
	}
	for k, n := range gone {
		differ++
		fmt.Printf("DIFFERS: %d of %s went that were not foreseen\n", n, k)
	}
	now, err := x.kept(ctx)
	if err != nil {
		return err
	}
	for what, n := range kept {
		if now[what] != n {
			differ++
			fmt.Printf("DIFFERS: %d %s were to stay, %d are there\n", n, what, now[what])
		}
	}
	fmt.Printf("in %d runs went what was foreseen, %d rows; what has to stay is there: %v\n", len(runs), total, kept)
	if differ > 0 {
		return fmt.Errorf("%d counts differ", differ)
	}
	return nil
}

// words sums steps up by kind.
func words(steps []purge.Step) string {
	goes, stays := map[string]int64{}, map[string]int64{}
	for _, s := range steps {
		if s.Reason == "" {
			goes[s.Kind] += s.Rows
		} else {
			stays[s.Kind+" "+s.Reason] += s.Rows
		}
	}
	return fmt.Sprintf("%v go; %v stay", goes, stays)
}
