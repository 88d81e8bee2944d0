package purge

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/outbox"
)

// Errors of changes that there was no need of.
var (
	ErrPausedAlready = errors.New("the purge is paused already")
	ErrNotPaused     = errors.New("the purge is not paused")
	ErrNotJumped     = errors.New("the database's clock did not jump")
)

// Pause is PauseTx for who writes an audit line beside it. The error wraps
// ErrPausedAlready.
func Pause(by, why string) outbox.Change {
	return orElse(ErrPausedAlready, func(ctx context.Context, tx pgx.Tx) (bool, error) { return PauseTx(ctx, tx, by, why) })
}

// Resume is ResumeTx likewise. The error wraps ErrNotPaused.
func Resume() outbox.Change { return orElse(ErrNotPaused, ResumeTx) }

// Confirm is ConfirmTx likewise. The error wraps ErrNotJumped.
func Confirm() outbox.Change { return orElse(ErrNotJumped, ConfirmTx) }

func orElse(not error, do func(context.Context, pgx.Tx) (bool, error)) outbox.Change {
	return func(ctx context.Context, tx pgx.Tx) error {
		done, err := do(ctx, tx)
		if err == nil && !done {
			return not
		}
		return err
	}
}
