package outbox

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/edigw/edigw/lease"
)

// sharing knows how many of each partner's effects this process tries now: a target that
// hangs would else have all workers wait for it while the others' effects are due.
//
// A partner whose target fails is put off as a whole, for all processes, and then tried
// with one effect at a time by one of them: that stands in effect_pause. What is put off
// beyond that stands with each effect.
type sharing struct {
	mu sync.Mutex
	by map[string]int
}

// free reports whether one more effect of the partner's may be tried; most bounds those at
// once, 0 does not.
func (s *sharing) free(partner string, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return most == 0 || s.by[partner] < most
}

// begin counts an effect as being tried where one may be.
func (s *sharing) begin(partner string, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if most > 0 && s.by[partner] >= most {
		return false
	}
	if s.by == nil {
		s.by = map[string]int{}
	}
	s.by[partner]++
	return true
}

// end counts it out.
func (s *sharing) end(partner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[partner]--; s.by[partner] == 0 {
		delete(s.by, partner)
	}
}

// trial is how an attempt went for the partner's target.
type trial int

const (
	untold trial = iota // it was not reached, for a reason of ours
	succeeded
	failed
)

// told notes how an attempt went, for all processes: one that was done ends the partner's
// back-off, one that failed makes it longer, and one of which nothing is known leaves it
// to who tries next. before is how many failed in a row when it was taken; a partner who
// does not fail costs nothing.
func (r *Relay) told(ctx context.Context, partner string, t trial, before int) error {
	sql, args := "", []any{partner, r.Target.Name}
	switch {
	case t == failed:
		first, most := r.Target.pauses()
		sql = `
			insert into effect_pause as p (partner_id, target, failures, due_at)
			values ($1, $2, $3, now() + $4)
			on conflict (partner_id, target) do update set failures = greatest(p.failures, $3), due_at = now() + $4`
		args = append(args, before+1, lease.Backoff(before+1, first, most))
	case before == 0:
		return nil
	case t == succeeded:
		sql = `delete from effect_pause where partner_id = $1 and target = $2`
	default:
		sql = `update effect_pause set due_at = now() where partner_id = $1 and target = $2`
	}
	if _, err := r.Pool.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("note whether %s takes the effects of %s: %w", r.Target.Name, partner, err)
	}
	return nil
}

// tryLonger keeps others from trying a partner who fails while this process does.
func (r *Relay) tryLonger(ctx context.Context, partner string, term time.Duration) error {
	_, err := r.Pool.Exec(ctx, `
		update effect_pause set due_at = greatest(due_at, now() + $3) where partner_id = $1 and target = $2`, partner, r.Target.Name, term)
	if err != nil {
		return fmt.Errorf("go on trying the effects of %s: %w", partner, err)
	}
	return nil
}
