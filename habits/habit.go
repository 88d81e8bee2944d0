package habits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
)

// habit is a partner's row.
type habit struct {
	Mark        journal.Mark
	Evidence    Evidence
	Silence     string
	Heard       *time.Time
	CountedFrom *time.Time
	ExpectedAt  *time.Time
	ExpectedBy  *time.Time
	SilentSince *time.Time
	SilentEvent *uuid.UUID
}

const habitColumns = `partner_id, delivery_id, seq, evidence, silence, heard_at, counted_from, expected_at, expected_by, silent_since, silent_event`

func scanHabit(row pgx.CollectableRow) (h habit, err error) {
	err = row.Scan(&h.Mark.Partner, &h.Mark.ID, &h.Mark.Seq, &h.Evidence, &h.Silence, &h.Heard, &h.CountedFrom, &h.ExpectedAt, &h.ExpectedBy, &h.SilentSince, &h.SilentEvent)
	return h, err
}

// lockHabit gives a partner's row, and makes it where there is none.
func lockHabit(ctx context.Context, tx pgx.Tx, partner string, now time.Time) (h habit, err error) {
	if _, err := tx.Exec(ctx, `
		insert into habit (partner_id, delivery_id, seq, evidence, silence, counted_from) values ($1, $2, 0, '{}', '', $3)
		on conflict do nothing`, partner, uuid.Nil, now); err != nil {
		return h, fmt.Errorf("begin a habit: %w", err)
	}
	rows, err := tx.Query(ctx, `select `+habitColumns+` from habit where partner_id = $1 for update`, partner)
	if err != nil {
		return h, fmt.Errorf("read a habit: %w", err)
	}
	if h, err = pgx.CollectExactlyOneRow(rows, scanHabit); err != nil {
		return h, fmt.Errorf("read a habit: %w", err)
	}
	return h, nil
}

func (h *habit) write(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `
		update habit set delivery_id = $2, seq = $3, evidence = $4, silence = $5, heard_at = $6, counted_from = $7, expected_at = $8,
			expected_by = $9, silent_since = $10, silent_event = $11
		where partner_id = $1`,
		h.Mark.Partner, h.Mark.ID, h.Mark.Seq, h.Evidence, h.Silence, h.Heard, h.CountedFrom, h.ExpectedAt, h.ExpectedBy, h.SilentSince, h.SilentEvent)
	if err != nil {
		return fmt.Errorf("write a habit: %w", err)
	}
	return nil
}

// paused stands for a partner from whom nothing is taken: he is not expected.
const paused = "paused"

// wordOf is what a partner's expectation goes by.
func wordOf(p *partners.Partner) string {
	if !p.Active {
		return paused
	}
	return p.Policy.Silence.String()
}

// expect says anew when the partner is to be heard.
func (h *habit) expect(p *partners.Partner, down []Span) {
	h.ExpectedAt, h.ExpectedBy = nil, nil
	if !p.Active || p.Policy.Silence == partners.SilenceOff || h.CountedFrom == nil {
		return
	}
	from := *h.CountedFrom
	if h.Heard != nil {
		from = latest(from, *h.Heard)
	}
	u, ok := h.Evidence.Rhythm.expect(from, down)
	if hours := p.Policy.Silence.Every(); hours > 0 {
		u.By, ok = fixed(from, hours, down), true
	}
	if !ok {
		return
	}
	if !u.At.IsZero() {
		h.ExpectedAt = &u.At
	}
	h.ExpectedBy = &u.By
}

// settled brings a partner's expectation to his setting, and to when we were down.
func (w *Watcher) settled(ctx context.Context, p *partners.Partner, down []Span) error {
	return pgx.BeginFunc(ctx, w.Pool, func(tx pgx.Tx) error {
		now := w.Now()
		h, err := lockHabit(ctx, tx, p.ID, now)
		if err != nil {
			return err
		}
		word := wordOf(p)
		if h.Silence == paused && word != paused {
			h.CountedFrom = &now
		}
		if h.Silence != word && h.SilentSince != nil { // it is no longer by this that he is silent
			if err := w.heard(ctx, tx, p, &h, now, "the setting is "+word+" now"); err != nil {
				return err
			}
		}
		h.Silence = word
		h.expect(p, down)
		return h.write(ctx, tx)
	})
}

// silence says that a partner is silent whose time has come, unless something is there that
// was not looked at yet.
func (w *Watcher) silence(ctx context.Context, p *partners.Partner, now time.Time) error {
	return pgx.BeginFunc(ctx, w.Pool, func(tx pgx.Tx) error {
		h, err := lockHabit(ctx, tx, p.ID, now)
		if err != nil {
			return err
		}
		if h.SilentSince != nil || h.ExpectedBy == nil || h.ExpectedBy.After(now) {
			return nil
		}
		if there, err := journal.Behind(ctx, tx, h.Mark, now.Add(time.Hour), 1); err != nil || len(there) > 0 {
			return err
		}
		id := w.NewID()
		h.SilentSince, h.SilentEvent = &now, &id
		if err := queueEvent(ctx, tx, w.silentEvent(p, &h, id)); err != nil {
			return err
		}
		return h.write(ctx, tx)
	})
}

// heard ends a silence, for a delivery or a setting.
func (w *Watcher) heard(ctx context.Context, tx pgx.Tx, p *partners.Partner, h *habit, at time.Time, because string) error {
	if err := queueEvent(ctx, tx, w.heardEvent(p, h, at, because)); err != nil {
		return err
	}
	h.SilentSince, h.SilentEvent = nil, nil
	return nil
}

// ErrNoGap: there is no such gap, or it is closed.
var ErrNoGap = errors.New("there is no such open gap")
