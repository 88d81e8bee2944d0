package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/partners"
)

// Deferred is the work on pending messages, for lease.Workers.
func (g *Gateway) Deferred() lease.Source {
	jobs := dedup.Jobs{Pool: g.Pool}
	return lease.Source{Name: "deferred messages", Due: jobs.Due, Take: func(ctx context.Context, partner string, term time.Duration) (lease.Piece, error) {
		j, err := jobs.Take(ctx, partner, g.NewID(), term)
		if j == nil || err != nil {
			return nil, err
		}
		g.reached("job taken")
		return &deferredJob{g: g, job: j, jobs: jobs}, nil
	}}
}

// wakeFor tells the workers of this process what a delivery has left to them.
func (g *Gateway) wakeFor(in *intake) {
	if g.Wake == nil {
		return
	}
	for _, p := range in.parts {
		if k := in.keys[p.key]; k != nil && pending(k) {
			g.Wake()
			return
		}
	}
}

// reached is a point of a fault test outside of a transaction.
func (g *Gateway) reached(point string) {
	if g.Hook != nil {
		g.Hook(point)
	}
}

// deferredJob is a job on its way: what Receive left pending is judged again, posted and
// acknowledged as it would have been there, in one transaction under the key's
// lock, in which the lease is checked.
type deferredJob struct {
	g    *Gateway
	job  *dedup.Job
	jobs dedup.Jobs

	owner *partners.Partner
	in    *intake
	key   *dedup.Key
	v     *dedup.Variant
	ended bool // nothing is pending any more

	outlasted bool // the run is counted for failing too often in a row on what should pass
}

// String names the payload.
func (x *deferredJob) String() string {
	return fmt.Sprintf("%s/%s %x", x.job.Partner, x.job.ID, x.job.SHA256[:6])
}

// Renew makes the lease last.
func (x *deferredJob) Renew(ctx context.Context, term time.Duration) (bool, error) {
	return x.jobs.Renew(ctx, x.job, term)
}

// Return gives the job back.
func (x *deferredJob) Return(ctx context.Context) error { return x.jobs.Return(ctx, x.job) }

const (
	// How long after a run that failed a job is tried again: doubled each time.
	firstRetry = 5 * time.Second
	lastRetry  = time.Hour
	// How long after what passes, of which no run counts, doubled each time too.
	firstPassing = 2 * time.Second
	lastPassing  = 5 * time.Minute
	// tooOftenPassing is how often in a row that may happen, in more than an hour,
	// until it is asked whether it does pass.
	tooOftenPassing = 20
	// tooOftenLost is how many processes may die on a job before it is failed
	// without being run: one of them may be its content's doing.
	tooOftenLost = 20
)

// Do runs the handlers on what is pending. A run that fails is counted with the
// messages and put off, and the last one leaves them dead. What is ours and
// passing counts nothing, unless it goes on while the database takes other work.
func (x *deferredJob) Do(ctx context.Context) (err error) {
	defer func() { x.in.close() }()
	err = x.run(ctx)
	switch {
	case err == nil || errors.Is(err, lease.ErrLost):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !passes(err) || x.lasts(ctx, err):
		x.g.Log.Error("a deferred message could not be processed", "partner", x.job.Partner, "message_id", x.job.ID, "err", err)
		failed := x.fail(ctx, err)
		if failed == nil || errors.Is(failed, lease.ErrLost) {
			return errors.Join(err, failed)
		}
		err = errors.Join(err, failed)
	}
	x.g.Log.Warn("a deferred message is tried again", "partner", x.job.Partner, "message_id", x.job.ID, "in_a_row", x.job.Passing+1, "err", err)
	return errors.Join(err, x.jobs.PutOff(ctx, x.job, lease.Backoff(x.job.Passing+1, firstPassing, lastPassing), oneLine(err)))
}

// lasts reports whether what should pass has failed too many runs of this job in a
// row, and the database commits meanwhile: then it is the job's own. What others
// cause for as long as they like is not.
func (x *deferredJob) lasts(ctx context.Context, err error) bool {
	if x.job.Passing+1 < tooOftenPassing || sqlState(err) == diskFull {
		return false
	}
	for _, others := range []error{ErrBusy, errUnsettled, errUnknownCommit, errNotConfigured, ErrSpoolFull} {
		if errors.Is(err, others) {
			return false
		}
	}
	x.outlasted = x.g.settled(ctx) == nil
	return x.outlasted
}

const diskFull = "53100"

// errNotConfigured: this process does not know the partner yet, or any more.
var errNotConfigured = errors.New("the partner is not configured")

// passes reports whether the job may be tried again without counting a run.
func passes(err error) bool {
	if errors.Is(err, errTooLong) {
		return false
	}
	for _, e := range []error{ErrBusy, errUnsettled, errUnknownCommit, errNotConfigured, ErrSpoolFull} {
		if errors.Is(err, e) {
			return true
		}
	}
	return isPassing(err)
}

// run does the work, from the start where the key was not left alone.
func (x *deferredJob) run(ctx context.Context) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("panic: %v\n%s", e, debug.Stack())
		}
	}()
	if x.owner = x.g.Partner(x.job.Partner); x.owner == nil {
		return fmt.Errorf("%w: partner %s", errNotConfigured, x.job.Partner)
	}
	if x.job.Lost >= tooOftenLost {
		return fmt.Errorf("%d processes ended while they worked on it", x.job.Lost)
	}
	for range startsAgain {
		err := x.once(ctx)
		if !errors.Is(err, errStartAgain) {
			return x.g.wrote(err)
		}
	}
	return errUnsettled
}

func (x *deferredJob) once(ctx context.Context) error {
	ref := x.job.Ref
	keys, err := dedup.Load(ctx, x.g.Pool, []dedup.Ref{ref})
	if err != nil {
		return err
	}
	if !x.find(keys[ref]) {
		if dropped, err := x.jobs.Drop(ctx, x.job); dropped || err != nil {
			return err
		}
		return lease.ErrLost // whoever has taken it has ended it
	}
	ctx, timely, cancel := inTime(ctx, x.v.Length)
	defer cancel()
	return timely(x.under(ctx))
}

// under reads the payload, and does the work under the key's lock.
func (x *deferredJob) under(ctx context.Context) (err error) {
	if x.in == nil {
		if x.in, err = x.g.intakeOf(ctx, x.key, x.v, x.owner, true); err != nil {
			return err
		}
		x.in.Transport = "worker"
		x.in.parts[0].arrival.Worker = true
		x.g.reached("job prepared")
	}
	s, err := x.begin(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	if err := x.process(ctx, s); err != nil {
		return err
	}
	if x.ended {
		x.g.released(ctx, x.key)
	}
	return nil
}

// find reports whether there is something pending for the job under its key.
func (x *deferredJob) find(k *dedup.Key) bool {
	if k == nil {
		return false
	}
	x.key, x.v = k, k.Find(x.job.SHA256)
	return x.v != nil && x.v.State == dedup.Received
}

// begin begins the transaction that ends a run: the key's lock, then the job's,
// whose lease must still be this one's. Discard takes them in the same order.
func (x *deferredJob) begin(ctx context.Context) (*session, error) {
	s, err := x.g.begin(ctx)
	if err != nil {
		return nil, err
	}
	if s.hook != nil {
		s.hook = func(point string) { x.g.reached("job " + point) }
	}
	if err := x.lock(ctx, s); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (x *deferredJob) lock(ctx context.Context, s *session) error {
	in := x.in
	if in == nil { // nothing could be read of it
		in = &intake{Delivery: &Delivery{Partner: x.owner}, now: x.g.Now()}
	}
	if err := x.g.lock(ctx, s, in, []dedup.Ref{x.job.Ref}); err != nil {
		return err
	}
	var have *dedup.Job
	dedup.QueueJobLock(s.batch, x.job.Ref, x.job.SHA256, func(j *dedup.Job) { have = j })
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("lock the job: %w", err)
	}
	if have == nil || have.Lease != x.job.Lease {
		return lease.ErrLost
	}
	if !x.find(in.keys[x.job.Ref]) {
		return fmt.Errorf("nothing is pending of %s, for which there is a job", x)
	}
	x.key.Quietly()
	return nil
}
