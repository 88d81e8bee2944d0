package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// EffectAttempt is one try to bring an effect to its target.
type EffectAttempt struct {
	At      time.Time `json:"at"`
	Address string    `json:"address"`           // URL, or path of the file, at that time
	Failure string    `json:"failure,omitempty"` // "" is done
}

// Toward notes where Send brings the step: settings change, and what is told of it later
// is where it went. Nothing is noted of a step that is brought nowhere.
func (s *Step) Toward(address string) { s.address = storable(address) }

// note writes an attempt, where the target said where to. What cannot be written is no
// reason to send again what was sent.
func (p *passage) note(ctx context.Context, s *Step, why error) {
	if s.address == "" {
		return
	}
	failure := ""
	if why != nil {
		failure = firstLine(why)
	}
	if _, err := p.relay.Pool.Exec(context.WithoutCancel(ctx), `
		insert into effect_attempt (partner_id, attempt_id, event_id, target, address, failure)
		values ($1, $2, $3, $4, $5, left($6, 1000))`, s.Partner, p.relay.NewID(), s.Event, s.Target, s.address, failure); err != nil {
		p.relay.Log.Warn("an attempt is not in the log", "effect", p, "address", s.address, "err", err)
	}
}

// Attempts gives the tries to bring an event to a target, the first one first, as long as
// the effect is kept.
func (s Effects) Attempts(ctx context.Context, r EffectRef) ([]EffectAttempt, error) {
	rows, err := s.Pool.Query(ctx, `
		select at, address, failure from effect_attempt
		where partner_id = $1 and event_id = $2 and target = $3
		order by at, attempt_id`, r.Partner, r.Event, r.Target)
	if err != nil {
		return nil, fmt.Errorf("attempts of %s: %w", r.Event, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a EffectAttempt, err error) {
		err = row.Scan(&a.At, &a.Address, &a.Failure)
		a.At = a.At.UTC()
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("attempts of %s: %w", r.Event, err)
	}
	return list, nil
}
