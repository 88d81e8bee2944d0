package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/lease"
)

// Target is something outside the database that effects happen at.
type Target struct {
	Name string
	// Place tells this target from others of its name that know nothing of what it
	// did: of a folder its own id. "" where there is but one.
	Place string
	// Send makes the effect happen. nil: it has. An error that is ErrNotDone:
	// certainly nothing happened. A *Later: the target says so by itself. With any other
	// nobody knows.
	Send func(ctx context.Context, s *Step) error
	// Ask says what became of a step that was started; nil where the target cannot
	// be asked, so that an operator has to find out. After NotDone nothing that was
	// started before may happen any more.
	Ask func(ctx context.Context, s *Step) (Outcome, error)

	// Failed is the event that tells others that an effect was given up or that nobody
	// knows of; nil: nobody is told.
	Failed func(s *Step) *Event

	Attempts int           // that may fail before it is given up; 0 is 12
	First    time.Duration // before the second attempt, doubled each time; 0 is 2 seconds
	Most     time.Duration // between two; 0 is an hour
}

// What Send may say of a failure.
var (
	// ErrNotDone: the effect certainly did not happen, and may be tried again.
	ErrNotDone = errors.New("not done")
	// ErrFinal: it reached the target, which will not have it however often it comes: it
	// is given up at once.
	ErrFinal = errors.New("refused for good")
	// ErrUnexplained: it reached the target, which will not have it, and does not say
	// whether for good: it is tried on, and given up where that is said again and again.
	ErrUnexplained = errors.New("refused without a reason")
)

// Outcome is what a target says about a step that was started.
type Outcome int

// The outcomes of a step.
const (
	CannotKnow Outcome = iota
	WasDone
	NotDone
)

// Step is an effect on its way to its target.
type Step struct {
	Effect
	Caused
	// Doubtful: it was started before, and nobody knows what became of that.
	Doubtful bool

	still   func(ctx context.Context) error
	address string // see Toward
}

// NewStep makes a step for a Send outside of a Relay. still is what Still asks;
// nil says that it is.
func NewStep(e Effect, c Caused, still func(ctx context.Context) error) *Step {
	return &Step{Effect: e, Caused: c, still: still}
}

// Still fails where another process has taken the step since, or may have: a
// process that slept finds out. It is to be asked last before what cannot be taken
// back.
func (s *Step) Still(ctx context.Context) error {
	if s.still == nil {
		return nil
	}
	return s.still(ctx)
}

// Relay brings effects to one target: pending → started → done. Its Source is for
// lease.Workers, which give it the leases.
type Relay struct {
	Pool   *pgxpool.Pool
	Target Target
	NewID  func() uuid.UUID
	Log    *slog.Logger
	Hook   func(point string) // of fault tests; nil otherwise
	Share  int                // of one partner's effects at once here; 0 is as many as there are workers

	sharing sharing
}

// Source is the work of the relay.
func (r *Relay) Source() lease.Source {
	return lease.Source{Name: "effects of " + r.Target.Name, Due: r.due, Take: r.take}
}

func (r *Relay) due(ctx context.Context) ([]string, error) {
	rows, err := r.Pool.Query(ctx, `
		with recursive first (partner_id, due_at) as (
			(select partner_id, due_at from effect where target = $1 and state in (1, 2) order by partner_id, due_at limit 1)
			union all
			select n.partner_id, n.due_at
			from first f cross join lateral (
				select e.partner_id, e.due_at from effect e
				where e.target = $1 and e.state in (1, 2) and e.partner_id > f.partner_id
				order by e.partner_id, e.due_at limit 1) as n)
		select partner_id from first f
		where due_at <= now() and `+mayLeave+`
			and not exists (select from effect_pause p where p.partner_id = f.partner_id and p.target = $1 and p.due_at > now())`, r.Target.Name)
	if err != nil {
		return nil, fmt.Errorf("look for effects that are due: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for effects that are due: %w", err)
	}
	return slices.DeleteFunc(list, func(partner string) bool { return !r.sharing.free(partner, r.Share) }), nil
}

// take leases the partner's effect that is due longest, and says in the same
// statement that it is started: the target may be reached from now on.
func (r *Relay) take(ctx context.Context, partner string, term time.Duration) (lease.Piece, error) {
	if !r.sharing.begin(partner, r.Share) {
		return nil, nil
	}
	p, err := r.lease(ctx, partner, term)
	if p == nil {
		r.sharing.end(partner)
		return nil, err
	}
	r.reached("effect started")
	return p, nil
}

// lease takes nothing of a partner who is put off, and of one who failed one effect in
// all processes: who first puts the next try off has it.
func (r *Relay) lease(ctx context.Context, partner string, term time.Duration) (*passage, error) {
	p := &passage{relay: r, term: term}
	rows, err := r.Pool.Query(ctx, `
		with pause as materialized (
			select failures, due_at from effect_pause where target = $1 and partner_id = $2),
		due as materialized ( -- once, whatever the plan: a subquery may be run again for each row
			select event_id, state from effect
			where target = $1 and partner_id = $2 and state in (1, 2) and due_at <= now() and `+mayLeave+`
				and not exists (select from pause where due_at > now())
			order by due_at limit 1
			for update skip locked),
		tries as (
			update effect_pause set due_at = now() + $4
			where target = $1 and partner_id = $2 and due_at <= now() and exists (select from due)
			returning failures)
		update effect as e set lease_id = $3, due_at = now() + $4, state = 2, started_at = coalesce(e.started_at, now()),
			place = case when due.state = 2 then e.place else $5 end -- what was started stays where it was
		from due
		where e.partner_id = $2 and e.event_id = due.event_id and e.target = $1
			and (not exists (select from pause) or exists (select from tries))
		returning `+effectColumns+`, due.state, coalesce((select failures from tries), 0)`, r.Target.Name, partner, r.NewID(), term, r.Target.Place)
	if err != nil {
		return nil, fmt.Errorf("take an effect of %s: %w", partner, err)
	}
	p.effect, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (*Effect, error) { return scanEffect(row, &p.was, &p.failures) })
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("take an effect of %s: %w", partner, err)
	}
	return p, nil
}

func (r *Relay) reached(point string) {
	if r.Hook != nil {
		r.Hook(point)
	}
}

// passage is one effect that was taken.
type passage struct {
	relay  *Relay
	effect *Effect
	was    State // before it was taken
	step   *Step // nil until its event was read
	term   time.Duration
	went   trial

	failures int // of the partner's target in a row, when it was taken
}

// String names the effect.
func (p *passage) String() string {
	return fmt.Sprintf("%s/%s at %s", p.effect.Partner, p.effect.Event, p.effect.Target)
}

// Do reconciles what was started before, then sends. Every end of it is one
// statement that asks whether the lease is still its own.
func (p *passage) Do(ctx context.Context) (err error) {
	defer func() {
		p.relay.sharing.end(p.effect.Partner)
		if told := p.relay.told(context.WithoutCancel(ctx), p.effect.Partner, p.went, p.failures); told != nil {
			p.relay.Log.Warn("a target is tried sooner or later than it should be", "effect", p, "err", told)
		}
	}()
	defer func() {
		if e := recover(); e != nil {
			err = p.unsure(ctx, fmt.Errorf("panic: %v\n%s", e, debug.Stack()))
		}
	}()
	caused, err := Effects{p.relay.Pool}.caused(ctx, p.effect)
	if errors.Is(err, ErrNoEvent) {
		if p.was == Pending { // nothing was sent
			return p.end(ctx, GivenUp, err)
		}
		return p.end(ctx, Unknown, err)
	}
	if err != nil {
		return err // the lease runs out, and it is reconciled
	}
	s := &Step{Effect: *p.effect, Caused: *caused, Doubtful: p.was == Started, still: p.still}
	p.step = s
	if p.was == Started {
		if again, err := p.reconcile(ctx, s); !again || err != nil {
			return err
		}
	}
	err = p.relay.Target.Send(ctx, s)
	p.relay.reached("effect sent")
	if !errors.Is(err, lease.ErrLost) {
		p.note(ctx, s, err)
	}
	later, awaited := errors.AsType[*Later](err)
	switch {
	case err == nil:
		p.went = succeeded
		return p.end(ctx, Done, nil)
	case errors.Is(err, lease.ErrLost):
		return err
	case awaited:
		return p.wait(ctx, later)
	case errors.Is(err, ErrFinal):
		p.went = failed // he may refuse all that comes behind it too: one at a time tells
		return p.end(ctx, GivenUp, err)
	case errors.Is(err, ErrUnexplained):
		return p.unexplained(ctx, err)
	case errors.Is(err, ErrNotDone):
		return p.failed(ctx, Pending, GivenUp, err)
	}
	return p.unsure(ctx, err)
}

// reconcile asks what became of a step that somebody else started, and reports
// whether it is to be sent.
func (p *passage) reconcile(ctx context.Context, s *Step) (again bool, err error) {
	if p.relay.Target.Ask == nil {
		return false, p.end(ctx, Unknown, errors.New("it was started, and the target cannot be asked what became of it"))
	}
	if p.effect.Place != p.relay.Target.Place {
		return false, p.end(ctx, Unknown, fmt.Errorf("it was started at another %s than the one of this process, which does not know what became of it", p.effect.Target))
	}
	outcome, err := p.relay.Target.Ask(ctx, s)
	switch {
	case errors.Is(err, lease.ErrLost):
		return false, err
	case err != nil:
		return false, p.failed(ctx, Started, Unknown, fmt.Errorf("ask what became of it: %w", err))
	case outcome == WasDone:
		p.note(ctx, s, nil)
		return false, p.end(ctx, Done, nil)
	case outcome == NotDone:
		return true, nil
	}
	return false, p.end(ctx, Unknown, errors.New("it was started, and the target does not know what became of it"))
}

// unsure leaves a step started whose outcome nobody knows: the next who takes it
// asks the target.
func (p *passage) unsure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.went = failed
	if p.relay.Target.Ask == nil {
		return p.end(ctx, Unknown, err)
	}
	return p.failed(ctx, Started, Unknown, err)
}

const (
	defaultAttempts = 12
	defaultFirst    = 2 * time.Second
	defaultMost     = time.Hour
)

// pauses are the first and the longest between two attempts.
func (t *Target) pauses() (first, most time.Duration) {
	first, most = t.First, t.Most
	if first == 0 {
		first = defaultFirst
	}
	if most == 0 {
		most = defaultMost
	}
	return first, most
}

// failed counts an attempt and leaves the effect in a state to be tried again, or,
// where no attempt is left, in last.
func (p *passage) failed(ctx context.Context, next, last State, why error) error {
	p.went = failed
	attempts := p.relay.Target.Attempts
	if attempts == 0 {
		attempts = defaultAttempts
	}
	first, most := p.relay.Target.pauses()
	n := p.effect.Attempts + 1
	if n >= attempts {
		next = last
	}
	p.relay.Log.Warn("an effect failed", "effect", p, "attempts", n, "left", max(0, attempts-n), "err", why)
	return p.leave(ctx, `
		update effect set state = $5::int2, attempts = $6, due_at = now() + $7, failure = left($8, 1000), lease_id = null,
			place = case when $5::int2 = 2 then place else '' end
		where partner_id = $1 and event_id = $2 and target = $3 and lease_id = $4`,
		next == last, int16(next), n, lease.Backoff(n, first, most), firstLine(why))
}

// end writes the state in which the relay leaves the effect.
func (p *passage) end(ctx context.Context, s State, why error) error {
	failure := p.effect.Failure
	if why != nil {
		failure = firstLine(why)
		p.relay.Log.Error("an effect waits for an operator", "effect", p, "state", s, "err", why)
	}
	return p.leave(ctx, `
		update effect set state = $5::int2, failure = left($6, 1000), lease_id = null, ended_at = case when $5::int2 = 3 then now() end
		where partner_id = $1 and event_id = $2 and target = $3 and lease_id = $4`, s != Done, int16(s), failure)
}

// leave writes the state, and, where it is one that waits for a person, the event that
// tells others.
func (p *passage) leave(ctx context.Context, sql string, stuck bool, args ...any) error {
	if !stuck || p.step == nil || p.relay.Target.Failed == nil {
		return p.write(ctx, sql, args...)
	}
	event := p.relay.Target.Failed(p.step)
	if event == nil {
		return p.write(ctx, sql, args...)
	}
	return pgx.BeginFunc(ctx, p.relay.Pool, func(tx pgx.Tx) error {
		e := p.effect
		tag, err := tx.Exec(ctx, sql, append([]any{e.Partner, e.Event, e.Target, e.Lease}, args...)...)
		if err != nil {
			return fmt.Errorf("note what became of %s: %w", p, err)
		}
		if tag.RowsAffected() == 0 {
			return lease.ErrLost
		}
		var b pgx.Batch
		if err := QueueEvents(&b, []Event{*event}); err != nil {
			return err
		}
		if err := tx.SendBatch(ctx, &b).Close(); err != nil {
			return fmt.Errorf("tell that %s failed: %w", p, err)
		}
		return nil
	})
}

func (p *passage) write(ctx context.Context, sql string, args ...any) error {
	e := p.effect
	tag, err := p.relay.Pool.Exec(ctx, sql, append([]any{e.Partner, e.Event, e.Target, e.Lease}, args...)...)
	if err != nil {
		return fmt.Errorf("note what became of %s: %w", p, err)
	}
	if tag.RowsAffected() == 0 {
		return lease.ErrLost
	}
	return nil
}

// still renews the lease, which tells whether it is still this process's.
func (p *passage) still(ctx context.Context) error {
	kept, err := p.Renew(ctx, p.term)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotDone, err)
	}
	if !kept {
		return lease.ErrLost
	}
	return nil
}

// Renew makes the lease last.
func (p *passage) Renew(ctx context.Context, term time.Duration) (bool, error) {
	err := p.write(ctx, `
		update effect set due_at = greatest(due_at, now() + $5)
		where partner_id = $1 and event_id = $2 and target = $3 and lease_id = $4`, term)
	if errors.Is(err, lease.ErrLost) {
		return false, nil
	}
	if err == nil && p.failures > 0 {
		err = p.relay.tryLonger(ctx, p.effect.Partner, term)
	}
	return err == nil, err
}

// Return gives it back as it stands: started.
func (p *passage) Return(ctx context.Context) error {
	err := p.write(ctx, `
		update effect set due_at = now(), lease_id = null
		where partner_id = $1 and event_id = $2 and target = $3 and lease_id = $4`)
	if errors.Is(err, lease.ErrLost) {
		return nil
	}
	return err
}
