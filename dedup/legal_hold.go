package dedup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/months"
)

// LegalHold keeps a key, and all that hangs on it, from being purged until a person
// releases it.
type LegalHold struct {
	Partner   string    `json:"partner"`
	MessageID string    `json:"message_id"`
	Reason    string    `json:"reason"`
	By        string    `json:"held_by"`
	At        time.Time `json:"held_at"`
}

// ErrNoSuchKey: there is no key of that name to be held.
var ErrNoSuchKey = errors.New("there is no such message")

// HoldTx holds a key. One that is held already goes on as it was: false. The error wraps
// ErrNoSuchKey where there is none. The key's lock keeps a purge from deleting it meanwhile.
func HoldTx(ctx context.Context, tx pgx.Tx, h LegalHold) (bool, error) {
	there, err := LockKey(ctx, tx, Ref{h.Partner, h.MessageID})
	if err != nil {
		return false, err
	}
	if !there {
		return false, fmt.Errorf("%s of %s: %w", h.MessageID, h.Partner, ErrNoSuchKey)
	}
	tag, err := tx.Exec(ctx, `
		insert into legal_hold (partner_id, message_id, reason, held_by) values ($1, $2, $3, $4)
		on conflict do nothing`, h.Partner, h.MessageID, h.Reason, h.By)
	if err != nil {
		return false, fmt.Errorf("hold %s of %s: %w", h.MessageID, h.Partner, err)
	}
	return tag.RowsAffected() == 1, nil
}

// ReleaseTx ends a hold; false where there is none.
func ReleaseTx(ctx context.Context, tx pgx.Tx, r Ref) (bool, error) {
	tag, err := tx.Exec(ctx, `delete from legal_hold where partner_id = $1 and message_id = $2`, r.Partner, r.ID)
	if err != nil {
		return false, fmt.Errorf("release %s of %s: %w", r.ID, r.Partner, err)
	}
	return tag.RowsAffected() == 1, nil
}

// LegalHolds lists what is held, after one, in order; of one partner, or of all.
func (s Inbox) LegalHolds(ctx context.Context, partner string, after Ref, limit int) ([]LegalHold, error) {
	rows, err := s.Pool.Query(ctx, `
		select partner_id, message_id, reason, held_by, held_at from legal_hold
		where ($1 = '' or partner_id = $1) and (partner_id, message_id) > ($2 collate "C", $3 collate "C")
		order by partner_id, message_id limit $4`, partner, after.Partner, after.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("list legal holds: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h LegalHold, err error) {
		return h, row.Scan(&h.Partner, &h.MessageID, &h.Reason, &h.By, &h.At)
	})
	if err != nil {
		return nil, fmt.Errorf("list legal holds: %w", err)
	}
	return list, nil
}

// HoldsMark changes whenever a hold comes: it is of all there are.
type HoldsMark struct {
	Rows, Of int64
}

// MarkHolds reads it.
func MarkHolds(ctx context.Context, q months.Querier) (m HoldsMark, err error) {
	if err := q.QueryRow(ctx, `
		select count(*), coalesce(sum(hashtextextended(partner_id || e'\t' || message_id, extract(epoch from held_at)::bigint)::numeric) % 9223372036854775807, 0)::bigint
		from legal_hold`).Scan(&m.Rows, &m.Of); err != nil {
		return m, fmt.Errorf("read legal holds: %w", err)
	}
	return m, nil
}

// Errors of holds that there was no need of.
var (
	ErrHeldAlready = errors.New("the message is held already")
	ErrNotHeld     = errors.New("the message is not held")
)

// Hold is HoldTx for who writes an audit line beside it. The error wraps ErrHeldAlready or
// ErrNoSuchKey.
func Hold(h LegalHold) func(context.Context, pgx.Tx) error {
	return func(ctx context.Context, tx pgx.Tx) error {
		done, err := HoldTx(ctx, tx, h)
		if err == nil && !done {
			return ErrHeldAlready
		}
		return err
	}
}

// Release is ReleaseTx likewise. The error wraps ErrNotHeld.
func Release(r Ref) func(context.Context, pgx.Tx) error {
	return func(ctx context.Context, tx pgx.Tx) error {
		done, err := ReleaseTx(ctx, tx, r)
		if err == nil && !done {
			return ErrNotHeld
		}
		return err
	}
}
