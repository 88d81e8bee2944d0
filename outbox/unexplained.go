package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Refusals without a reason are said of a content by some, and of their own database by
// others. What is refused so this often, tried about an hour long, is not of the moment.
const (
	unexplainedMost  = 12
	unexplainedPause = 5 * time.Minute // before what was refused by itself is sent again
)

// countRefusal notes one with the event, under `refusals` in its body, and gives how many
// there are since the effect was begun with; before are the attempts that failed before.
func countRefusal(ctx context.Context, q queryer, s *Step, before int) (n int, err error) {
	err = q.QueryRow(ctx, `
		update outbox set body = jsonb_set(body, '{refusals}', to_jsonb(case when $4::int = 0 then 1 else coalesce((body->>'refusals')::int, 0) + 1 end))
		where partner_id = $1 and event_id = $2 and purge_month = $3
		returning (body->>'refusals')::int`, s.Partner, s.Event, s.Month, before).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrNoEvent
	}
	if err != nil {
		return 0, fmt.Errorf("count what refuses %s: %w", s.Event, err)
	}
	return n, nil
}

// unexplained tries on, and gives up in the end. Where an earlier try may have arrived,
// this is what some say of a second copy: nobody knows then.
func (p *passage) unexplained(ctx context.Context, why error) error {
	next, last := Pending, GivenUp
	if p.step.Doubtful {
		next, last = Started, Unknown
	}
	n, err := countRefusal(ctx, p.relay.Pool, p.step, p.step.Attempts)
	if err != nil {
		return err // the lease runs out, and it comes again
	}
	if n >= unexplainedMost {
		p.went = failed
		return p.end(ctx, last, why)
	}
	return p.failed(ctx, next, last, why)
}
