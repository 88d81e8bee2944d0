package purge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
)

// Errors that end a run before it has done all.
var (
	ErrElsewhere = errors.New("another node purges")
	ErrPaused    = errors.New("the purge is paused")
	ErrLost      = errors.New("the lease of the purge was lost")
	ErrBusy      = errors.New("somebody reads what was to be dropped, as a dump of the database does; the next run drops it")
)

// How far the clock may move between two looks before it is taken to have jumped: back a
// little, as a correction does, and forward as long as all nodes may have been off.
const (
	backAtMost    = `interval '5 minutes'`
	forwardAtMost = `interval '3 days'`
)

// jumpedNow says of the row of table purge that the clock moved further since it was seen.
const jumpedNow = `(now() < seen_at - ` + backAtMost + ` or now() > seen_at + ` + forwardAtMost + `)`

// leaseTerm is how long a run may be silent before another node takes over.
const leaseTerm = `interval '2 minutes'`

// State is how the purge stands.
type State struct {
	Run        *uuid.UUID `json:"run_id,omitempty"` // that has the lease
	Node       string     `json:"node,omitempty"`
	LeaseUntil *time.Time `json:"lease_until,omitempty"`
	PausedAt   *time.Time `json:"paused_at,omitempty"`
	PausedBy   string     `json:"paused_by,omitempty"`
	PausedFor  string     `json:"paused_for,omitempty"`
	JumpedFrom *time.Time `json:"clock_jumped_from,omitempty"`
	JumpedTo   *time.Time `json:"clock_jumped_to,omitempty"`
	OldestDue  *time.Time `json:"oldest_due,omitempty"` // the day that the key has which is due longest
}

// State reads it.
func (p *Purger) State(ctx context.Context) (s State, err error) {
	err = p.Pool.QueryRow(ctx, `
		select case when lease_until > now() then run_id end, case when lease_until > now() then node else '' end,
			case when lease_until > now() then lease_until end, paused_at, paused_by, paused_for, jumped_from, jumped_to
		from purge`).Scan(&s.Run, &s.Node, &s.LeaseUntil, &s.PausedAt, &s.PausedBy, &s.PausedFor, &s.JumpedFrom, &s.JumpedTo)
	if err == nil {
		s.OldestDue, err = dedup.OldestDue(ctx, p.Pool)
	}
	if err != nil {
		return s, fmt.Errorf("read how the purge stands: %w", err)
	}
	return s, nil
}

// Look compares the database's clock with what it was when somebody looked last. A jump is
// remembered until a person has said that the clock is right: Confirm.
func (p *Purger) Look(ctx context.Context) error {
	if _, err := p.Pool.Exec(ctx, `
		update purge set
			jumped_from = case when jumped_at then coalesce(jumped_from, seen_at) else jumped_from end,
			jumped_to = case when jumped_at then now() else jumped_to end,
			seen_at = now()
		from (select `+jumpedNow+` as jumped_at from purge) j`); err != nil {
		return fmt.Errorf("look at the clock: %w", err)
	}
	return nil
}

// ConfirmTx says that the clock is right as it is. False: it had not jumped.
func ConfirmTx(ctx context.Context, tx pgx.Tx) (bool, error) {
	tag, err := tx.Exec(ctx, `update purge set jumped_from = null, jumped_to = null, seen_at = now() where jumped_from is not null`)
	if err != nil {
		return false, fmt.Errorf("confirm the clock: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// PauseTx stops the purge between two transactions, and keeps it from beginning, until
// ResumeTx. False: it was paused already.
func PauseTx(ctx context.Context, tx pgx.Tx, by, why string) (bool, error) {
	tag, err := tx.Exec(ctx, `update purge set paused_at = now(), paused_by = $1, paused_for = $2 where paused_at is null`, by, why)
	if err != nil {
		return false, fmt.Errorf("pause the purge: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// ResumeTx ends a pause. False: there was none.
func ResumeTx(ctx context.Context, tx pgx.Tx) (bool, error) {
	tag, err := tx.Exec(ctx, `update purge set paused_at = null, paused_by = '', paused_for = '' where paused_at is not null`)
	if err != nil {
		return false, fmt.Errorf("resume the purge: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// Begin takes the lease and opens the report of a run. A run that had it and did not end
// is the one that this resumes. ErrElsewhere and ErrPaused open none; a clock that jumped
// is noted as refused.
func (p *Purger) Begin(ctx context.Context, by string) (*Report, error) {
	if err := p.Look(ctx); err != nil {
		return nil, err
	}
	r := &Report{ID: p.NewID(), Node: p.Node, By: by, State: Running}
	err := pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
		var last *uuid.UUID
		var leased, paused bool
		var from, to *time.Time
		var node string
		if err := tx.QueryRow(ctx, `
			select run_id, coalesce(lease_until > now(), false), node, paused_at is not null, jumped_from, jumped_to, now() from purge for update`,
		).Scan(&last, &leased, &node, &paused, &from, &to, &r.Started); err != nil {
			return err
		}
		switch {
		case leased:
			return fmt.Errorf("%w: %s", ErrElsewhere, node)
		case paused:
			return ErrPaused
		case from != nil:
			r.State, r.Reason = Refused, fmt.Sprintf("the database's clock jumped from %s to %s: a person has to look whether it is right, and say so", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
		}
		if last != nil {
			var id uuid.UUID
			err := tx.QueryRow(ctx, `
				update purge_run set state = 'stopped', ended_at = now(), reason = 'it ended without a word'
				where run_id = $1 and state = 'running' returning run_id`, *last).Scan(&id)
			if err == nil {
				r.Resumes = last
			} else if !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
		}
		if r.State == Refused {
			r.Ended = &r.Started
		} else if _, err := tx.Exec(ctx, `update purge set run_id = $1, node = $2, lease_until = now() + `+leaseTerm, r.ID, p.Node); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			insert into purge_run (run_id, ended_at, state, node, started_by, resumes, reason) values ($1, $2, $3, $4, $5, $6, $7)`,
			r.ID, r.Ended, r.State, r.Node, r.By, r.Resumes, r.Reason)
		return err
	})
	if errors.Is(err, ErrElsewhere) || errors.Is(err, ErrPaused) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("begin a purge: %w", err)
	}
	return r, nil
}

// keep renews the run's lease in the transaction that does something under it: who lost it
// commits nothing. Nor does anybody where the clock jumped since the run began: days pass
// by it.
func (p *Purger) keep(ctx context.Context, tx pgx.Tx, run uuid.UUID) error {
	var mine, paused, jumped bool
	err := tx.QueryRow(ctx, `
		update purge set lease_until = case when run_id = $1 then now() + `+leaseTerm+` else lease_until end
		returning coalesce(run_id = $1, false), paused_at is not null, jumped_from is not null or `+jumpedNow, run).Scan(&mine, &paused, &jumped)
	switch {
	case err != nil:
		return fmt.Errorf("keep the lease: %w", err)
	case !mine:
		return ErrLost
	case paused:
		return ErrPaused
	case jumped:
		return &Refusal{"the database's clock jumped while the run was at work: a person has to look whether it is right, and say so"}
	}
	return nil
}

// end closes the report and gives the lease back.
func (p *Purger) end(ctx context.Context, r *Report) error {
	err := pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `update purge set lease_until = null where run_id = $1`, r.ID); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `
			update purge_run set state = $2, reason = $3, ended_at = now() where run_id = $1 returning ended_at`, r.ID, r.State, r.Reason).Scan(&r.Ended)
	})
	if err != nil {
		return fmt.Errorf("end a purge: %w", err)
	}
	return nil
}
