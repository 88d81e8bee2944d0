package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Later is the error of Send where the target took an effect, and says by itself what
// became of it: an asynchronous MDN. The step stays started; if nothing came in the time
// given, it is asked for, or sent again.
type Later struct {
	In  time.Duration
	Why error
}

// Error says what is waited for.
func (l *Later) Error() string { return l.Why.Error() }

// Unwrap gives it.
func (l *Later) Unwrap() error { return l.Why }

// wait leaves a step started until its target says what became of it.
func (p *passage) wait(ctx context.Context, l *Later) error {
	p.went = succeeded // who took it is there
	attempts := p.relay.Target.Attempts
	if attempts == 0 {
		attempts = defaultAttempts
	}
	n, state := p.effect.Attempts+1, Started
	if n >= attempts {
		state = Unknown
	}
	return p.leave(ctx, `
		update effect set state = $5::int2, attempts = $6, due_at = now() + $7, failure = left($8, 1000), lease_id = null
		where partner_id = $1 and event_id = $2 and target = $3 and lease_id = $4`, state == Unknown, int16(state), n, l.In, firstLine(l))
}

// Awaited are effects whose target says by itself what became of them.
type Awaited struct {
	Pool *pgxpool.Pool
}

// Expect keeps with a step's event, in its body under `checks`, what the target has to say
// of it. It comes before the step is sent: the answer may be here before Send has ended.
func (s Awaited) Expect(ctx context.Context, step *Step, checks []string) error {
	tag, err := s.Pool.Exec(ctx, `
		update outbox set body = jsonb_set(body, '{checks}', to_jsonb($4::text[]))
		where partner_id = $1 and event_id = $2 and purge_month = $3`, step.Partner, step.Event, step.Month, checks)
	if err == nil && tag.RowsAffected() == 0 { // it went to another month since the step was taken
		tag, err = s.Pool.Exec(ctx, `
			update outbox set body = jsonb_set(body, '{checks}', to_jsonb($3::text[]))
			where partner_id = $1 and event_id = $2`, step.Partner, step.Event, checks)
	}
	if err != nil {
		return fmt.Errorf("keep what the answer to %s has to say: %w", step.Event, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoEvent
	}
	return nil
}

// Find gives a step however it stands; nil where there is none, or its event is no longer
// kept.
func (s Awaited) Find(ctx context.Context, r EffectRef) (*Step, error) {
	rows, err := s.Pool.Query(ctx, `
		select `+effectColumns+` from effect e
		where e.partner_id = $1 and e.event_id = $2 and e.target = $3`, r.Partner, r.Event, r.Target)
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", r.Event, err)
	}
	e, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (*Effect, error) { return scanEffect(row) })
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", r.Event, err)
	}
	caused, err := Effects(s).caused(ctx, e)
	if errors.Is(err, ErrNoEvent) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return NewStep(*e, *caused, nil), nil
}

// Settle ends a step by what its target said: nil, it was done; ErrFinal, the target will
// not have it; ErrUnexplained, it says no more than that, and is asked again until it has
// said so often. Anything else is noted, and the step is waited for as before. tell, if it
// is not nil, says to others that it ended and was not done. What is done stays done,
// whatever is said later.
func (s Awaited) Settle(ctx context.Context, step *Step, said error, tell *Event) error {
	err := pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		switch {
		case said == nil:
			_, err := settle(ctx, tx, step, Done, nil)
			return err
		case errors.Is(said, ErrFinal):
			return giveUp(ctx, tx, step, GivenUp, said, tell)
		case errors.Is(said, ErrUnexplained):
			return s.unexplained(ctx, tx, step, said, tell)
		}
		_, err := tx.Exec(ctx, `
			update effect set failure = left($4, 1000)
			where partner_id = $1 and event_id = $2 and target = $3 and state not in (3, 4)`, step.Partner, step.Event, step.Target, firstLine(said))
		return err
	})
	if err != nil {
		return fmt.Errorf("note what was said of %s: %w", step.Event, err)
	}
	return nil
}

// settle writes how a step ends, and reports whether that is news.
func settle(ctx context.Context, tx pgx.Tx, step *Step, end State, why error) (news bool, err error) {
	failure := ""
	if why != nil {
		failure = firstLine(why)
	}
	tag, err := tx.Exec(ctx, `
		update effect set state = $4::int2, failure = left($5, 1000), lease_id = null, ended_at = case when $4::int2 = 3 then now() else ended_at end
		where partner_id = $1 and event_id = $2 and target = $3 and state <> 3 and ($4::int2 = 3 or state not in (4, $4::int2))`,
		step.Partner, step.Event, step.Target, int16(end), failure)
	return tag.RowsAffected() > 0, err
}

// giveUp settles what was not done, or nobody knows of, and tells so.
func giveUp(ctx context.Context, tx pgx.Tx, step *Step, end State, why error, tell *Event) error {
	news, err := settle(ctx, tx, step, end, why)
	if err != nil || !news || tell == nil {
		return err
	}
	var b pgx.Batch
	if err := QueueEvents(&b, []Event{*tell}); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &b).Close()
}

// unexplained puts off a step that was refused without a reason. One that is not waited
// for says nothing: it may be the same answer another time.
func (s Awaited) unexplained(ctx context.Context, tx pgx.Tx, step *Step, why error, tell *Event) error {
	var attempts int
	err := tx.QueryRow(ctx, `
		select attempts + case when lease_id is null then 0 else 1 end from effect
		where partner_id = $1 and event_id = $2 and target = $3 and state = 2
		for update`, step.Partner, step.Event, step.Target).Scan(&attempts) // with the one that is being sent
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	n, err := countRefusal(ctx, tx, step, attempts-1)
	switch {
	case err != nil:
		return err
	case n >= unexplainedMost && attempts > n: // the answer to one of them is not here
		return giveUp(ctx, tx, step, Unknown, why, tell)
	case n >= unexplainedMost:
		return giveUp(ctx, tx, step, GivenUp, why, tell)
	}
	_, err = tx.Exec(ctx, `
		update effect set state = 1, attempts = $4, due_at = now() + $5, failure = left($6, 1000), lease_id = null, place = ''
		where partner_id = $1 and event_id = $2 and target = $3`, step.Partner, step.Event, step.Target, attempts, unexplainedPause, firstLine(why))
	return err
}
