package purge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/months"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// Purger runs purges. Pool, Partners and NewID have to be set.
type Purger struct {
	Pool     *pgxpool.Pool
	Partners *partners.Store
	NewID    func() uuid.UUID
	Node     string // who it is, for people
	Log      *slog.Logger
	Batch    int                // keys of one transaction; 0 is 500
	Rest     int                // after a transaction the run rests so many times as long as that took: see Gently
	Tries    int                // of a drop, before it is left to the next run; 0 is 50: half a minute
	Gone     func(Step)         // hears what went, when it has gone; nil: nobody does
	Hook     func(point string) // of fault tests; nil otherwise
}

// Gently is how much a purge rests beside a gateway that receives: two thirds of the time.
// Nobody waits for a purge to end, and who receives has the processor and the disk.
const Gently = 2

func (p *Purger) batch() int {
	if p.Batch > 0 {
		return p.Batch
	}
	return 500
}

func (p *Purger) tries() int {
	if p.Tries > 0 {
		return p.Tries
	}
	return 50
}

func (p *Purger) reached(point string) {
	if p.Hook != nil {
		p.Hook(point)
	}
}

// Refusal is why nothing may be purged now: a person has to do something first.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

// run is one at work. Where dry is set, nothing is written.
type run struct {
	*Purger
	id      uuid.UUID
	dry     bool
	windows windows
	read    time.Time // when windows were
	tally   tally     // of a dry one
	passed  func()    // of the transaction at work: goes on behind what it did, when it has committed
	busy    []string  // months that somebody reads: they go with the next run
}

// Run purges all that is due. The report says what went and what stayed; its State is
// Refused where nothing may be purged now. The error wraps ErrElsewhere or ErrPaused where
// no run was begun; any other says why the run ended before it had done all, which stands
// in the report too.
func (p *Purger) Run(ctx context.Context, by string) (*Report, error) {
	r, err := p.Begin(ctx, by)
	if err != nil {
		return nil, err
	}
	return r, p.Finish(ctx, r)
}

// Finish does what Begin has begun, and completes its report. Who begins a run finishes
// it: until its lease has run out nobody else may.
func (p *Purger) Finish(ctx context.Context, r *Report) error {
	if r.State == Refused {
		return p.tell(ctx, r)
	}
	w := &run{Purger: p, id: r.ID}
	beating, stop := context.WithCancel(ctx)
	go p.beat(beating, r.ID)
	err := w.all(ctx)
	stop()
	var no *Refusal
	switch {
	case err == nil:
		r.State = Done
	case errors.As(err, &no):
		r.State, r.Reason, err = Refused, no.Reason, nil
	case ctx.Err() != nil:
		r.State, r.Reason = Stopped, context.Cause(ctx).Error()
	case errors.Is(err, ErrPaused), errors.Is(err, ErrLost), errors.Is(err, ErrBusy):
		r.State, r.Reason = Stopped, err.Error()
	default:
		r.State, r.Reason = Failed, err.Error()
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if e := p.end(end, r); e != nil {
		return errors.Join(err, e)
	}
	if e := p.tell(end, r); e != nil {
		return errors.Join(err, e)
	}
	return err
}

// beatEvery is how often a run renews its lease beside its transactions: reading a large
// month lasts longer than the lease.
const beatEvery = 30 * time.Second

// beat renews the lease until ctx ends. What it fails at the run finds out by itself.
func (p *Purger) beat(ctx context.Context, run uuid.UUID) {
	t := time.NewTicker(beatEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_, _ = p.Pool.Exec(ctx, `update purge set lease_until = now() + `+leaseTerm+` where run_id = $1 and lease_until > now()`, run) // see above
		}
	}
}

// tell completes the report with its steps, and logs it.
func (p *Purger) tell(ctx context.Context, r *Report) (err error) {
	if r.Steps, err = p.stepsOf(ctx, r.ID); err != nil {
		return err
	}
	var rows, bytes int64
	for _, s := range r.Steps {
		if s.Reason == "" {
			rows, bytes = rows+s.Rows, bytes+s.Bytes
		}
	}
	log := p.Log
	if log == nil {
		log = slog.Default()
	}
	level := slog.LevelInfo
	if r.State == Refused || r.State == Failed {
		level = slog.LevelError
	}
	log.Log(ctx, level, "purge", "run", r.ID, "state", r.State, "reason", r.Reason, "rows", rows, "bytes", bytes)
	return nil
}

// all is every step of a run, in order: what goes with a key is looked for before what
// points at it.
func (w *run) all(ctx context.Context) error {
	if err := w.fresh(ctx, w.Pool); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		w.settle, w.keys, w.guards, w.documents, w.copies, w.months, w.sweep, w.forgetReports,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if len(w.busy) > 0 {
		return fmt.Errorf("%w: %s", ErrBusy, strings.Join(w.busy, ", "))
	}
	return nil
}

// windowsFor is how long windows are gone by before they are read again where nobody
// changed them: days pass, and graces end.
const windowsFor = time.Minute

// fresh sees to it that the windows are those that are in force, and that nothing forbids
// the purge: it is asked in every transaction.
func (w *run) fresh(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) error {
	counter, err := partners.Counter(ctx, q)
	if err != nil {
		return err
	}
	if w.windows.Retentions != nil && counter == w.windows.Counter && time.Since(w.read) < windowsFor {
		return nil
	}
	read := time.Now()
	all, err := w.Partners.Retentions(ctx)
	if errors.Is(err, partners.ErrUnknownRetention) {
		return &Refusal{err.Error()}
	}
	if err != nil {
		return err
	}
	hold, err := outbox.Outgoing{Pool: w.Pool}.Standing(ctx)
	if err != nil {
		return err
	}
	if hold.Held {
		return &Refusal{fmt.Sprintf("what leaves is held (%s): a person has to confirm it before anything is purged", hold.Reason)}
	}
	w.windows, w.read = windows{all}, read
	return nil
}

// statementsEnd is how long one statement of a purge may last, and how long it waits for a
// lock.
const statementsEnd = `set local statement_timeout = '60s'; set local lock_timeout = '1s'`

// batchTries are made of a transaction that is in somebody's way.
const batchTries = 10

// batched runs one transaction of the run: under its lease, by the windows in force. What
// do adds to t stands in the report with it. Where somebody was in its way for a second it
// is done again.
func (w *run) batched(ctx context.Context, do func(tx pgx.Tx, t tally) error) error {
	for try := 1; ; try++ {
		err := w.oneBatch(ctx, do)
		if err == nil || !months.Busy(err) || try == batchTries || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50*time.Millisecond + rand.N(200*time.Millisecond)):
		}
	}
}

func (w *run) oneBatch(ctx context.Context, do func(tx pgx.Tx, t tally) error) error {
	t, began := tally{}, time.Now()
	// Windows are read on a connection of their own: before this one is taken.
	if err := w.fresh(ctx, w.Pool); err != nil {
		return err
	}
	w.passed = nil
	if err := pgx.BeginFunc(ctx, w.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, statementsEnd); err != nil {
			return fmt.Errorf("begin a batch: %w", err)
		}
		if err := w.keep(ctx, tx, w.id); err != nil {
			return err
		}
		if counter, err := partners.Counter(ctx, tx); err != nil {
			return err
		} else if counter != w.windows.Counter {
			return errChanged
		}
		if err := do(tx, t); err != nil {
			return err
		}
		if err := t.note(ctx, tx, w.id); err != nil {
			return err
		}
		w.reached("batch")
		return nil
	}); err != nil {
		return err
	}
	if w.passed != nil {
		w.passed()
	}
	w.gone(t)
	w.reached("committed")
	if w.Rest == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(time.Duration(w.Rest)*time.Since(began), longestRest)):
		return nil
	}
}

// longestRest is far below the term of the lease.
const longestRest = 10 * time.Second

// gone tells what a transaction that was committed removed.
func (p *Purger) gone(t tally) {
	if p.Gone == nil {
		return
	}
	for _, s := range t.steps() {
		if s.Reason == "" {
			p.Gone(s)
		}
	}
}

// errChanged: a setting changed between reading it and the transaction that goes by it.
var errChanged = errors.New("a setting changed meanwhile")

// again runs batches until one says that there is no more. What changed meanwhile makes it
// begin anew.
func (w *run) again(ctx context.Context, do func(tx pgx.Tx, t tally) (more bool, err error)) error {
	for {
		more := false
		err := w.batched(ctx, func(tx pgx.Tx, t tally) (err error) {
			more, err = do(tx, t)
			return err
		})
		switch {
		case errors.Is(err, errChanged):
			continue
		case err != nil:
			return err
		case !more:
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
