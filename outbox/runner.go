package outbox

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/lease"
)

// Runner has this process work for every subscription there is: one that is added,
// changed or removed anywhere is so here some seconds later. Each has workers of its
// own, so that none waits for another.
type Runner struct {
	Pool     *pgxpool.Pool
	Open     func(Spec) (Sink, error) // makes the sink of a subscription
	Partners func() []string          // all that are configured
	NewID    func() uuid.UUID
	Log      *slog.Logger
	Hook     func(point string)                        // of fault tests; nil otherwise
	Sent     func(subscription, partner string, n int) // counts; nil: nobody does

	Workers int           // for each subscription, at once; 0 is 4
	Term    time.Duration // of a lease; 0 is lease.Workers' own
	Look    time.Duration // how often it is looked for changes; 0 is 2 seconds

	mu      sync.Mutex
	running map[string]*runningSubscription
	ended   chan struct{}
	cancel  context.CancelFunc
}

type runningSubscription struct {
	revision int
	workers  *lease.Workers
	sink     Sink
}

// Start begins to look for subscriptions and to work for them.
func (r *Runner) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.ended, r.running = cancel, make(chan struct{}), map[string]*runningSubscription{}
	look := r.Look
	if look == 0 {
		look = 2 * time.Second
	}
	go func() {
		defer close(r.ended)
		t := time.NewTicker(look)
		defer t.Stop()
		looked := false
		for {
			if looked = looked || r.lookWhetherRestored(ctx); looked {
				r.follow(ctx)
			}
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
		}
	}()
}

// lookWhetherRestored reports whether it is known that what leaves is this database's to
// send; nothing is sent before.
func (r *Runner) lookWhetherRestored(ctx context.Context) bool {
	was, err := Outgoing{r.Pool}.Look(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Error("no event is sent: whether the database was restored is not known", "err", err)
		}
		return false
	}
	if was {
		r.Log.Error("nothing leaves", "because", RestoredReason)
	}
	return true
}

// Stop takes nothing more, and waits for what is on its way as long as ctx.
func (r *Runner) Stop(ctx context.Context) {
	if r.cancel == nil {
		return
	}
	r.cancel()
	<-r.ended
	r.mu.Lock()
	defer r.mu.Unlock()
	var all sync.WaitGroup
	for _, run := range r.running {
		all.Go(func() { run.stop(ctx) })
	}
	all.Wait()
	r.running = nil
}

func (run *runningSubscription) stop(ctx context.Context) {
	if run.workers == nil {
		return
	}
	run.workers.Stop(ctx)
	if run.sink.Close != nil {
		run.sink.Close()
	}
}

// stopTime is how long events on their way may take when a subscription changes.
const stopTime = 10 * time.Second

// follow brings what runs to what there is.
func (r *Runner) follow(ctx context.Context) {
	list, err := Subscriptions{r.Pool}.List(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Error("which subscriptions there are is not known", "err", err)
		}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	there := map[string]*Subscription{}
	for _, s := range list {
		there[s.Name] = s
	}
	for _, name := range slices.Collect(maps.Keys(r.running)) {
		run := r.running[name]
		if s := there[name]; s != nil && s.Revision == run.revision && run.workers != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, stopTime)
		run.stop(ctx)
		cancel()
		delete(r.running, name)
	}
	for _, s := range list {
		if r.running[s.Name] == nil && ctx.Err() == nil {
			r.running[s.Name] = r.open(ctx, s)
		}
	}
}

// open starts the workers of a subscription; where its target cannot be opened it is
// noted, and tried again.
func (r *Runner) open(ctx context.Context, s *Subscription) *runningSubscription {
	sink, err := r.Open(s.Spec)
	failure := ""
	if err != nil {
		failure = firstLine(err)
	}
	if failure != s.Failure {
		if failure != "" {
			r.Log.Error("a subscription cannot be opened", "subscription", s.Name, "err", err)
		}
		if err := (Subscriptions{r.Pool}).note(ctx, s.Name, s.Revision, failure); err != nil && ctx.Err() == nil {
			r.Log.Error("that is not noted", "err", err)
		}
	}
	if err != nil {
		return &runningSubscription{revision: s.Revision}
	}
	count := r.Workers
	if count == 0 {
		count = 4
	}
	streams := &Streams{Pool: r.Pool, Spec: s.Spec, Sink: sink, Partners: r.Partners, NewID: r.NewID, Log: r.Log, Hook: r.Hook}
	if r.Sent != nil {
		streams.Sent = func(partner string, n int) { r.Sent(s.Name, partner, n) }
	}
	w := &lease.Workers{Source: streams.Source(), Count: count, Term: r.Term, Log: r.Log}
	w.Start()
	return &runningSubscription{revision: s.Revision, workers: w, sink: sink}
}
