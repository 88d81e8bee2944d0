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
// not have it, and tell says so to others, if it is not nil; anything else is noted, and
// the step is waited for as before. What is done stays done, whatever is said later.
func (s Awaited) Settle(ctx context.Context, step *Step, said error, tell *Event) error {
	state, failure := Done, ""
	switch {
	case errors.Is(said, ErrFinal):
		state, failure = GivenUp, firstLine(said)
	case said != nil:
		state, failure = Started, firstLine(said)
	}
	err := pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			update effect set failure = left($5, 1000),
				state = case when $6 then state else $4::int2 end,
				lease_id = case when $6 then lease_id end,
				ended_at = case when $4::int2 = 3 then now() else ended_at end
			where partner_id = $1 and event_id = $2 and target = $3 and state <> 3 and ($4::int2 = 3 or state <> 4)`,
			step.Partner, step.Event, step.Target, int16(state), failure, said != nil && state != GivenUp)
		if err != nil || tag.RowsAffected() == 0 || state != GivenUp || tell == nil {
			return err
		}
		var b pgx.Batch
		if err := QueueEvents(&b, []Event{*tell}); err != nil {
			return err
		}
		return tx.SendBatch(ctx, &b).Close()
	})
	if err != nil {
		return fmt.Errorf("note what was said of %s: %w", step.Event, err)
	}
	return nil
}
