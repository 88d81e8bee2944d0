package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// mayLeave is the condition under which anything is taken to be sent: nobody holds what
// leaves, and the row that says so is the one that was written here. A restored row has
// another xmin than the one written in it, a copied database another oid. It stands in
// the statements that take, so that every process goes by it at once, whatever each was
// told at its start.
const mayLeave = `not exists (
	select from outgoing
	where held_since is not null or row_xid <> xmin or table_oid <> tableoid
		or database_oid <> (select d.oid from pg_database d where d.datname = current_database()))`

// identity are the columns that say where the row of outgoing was written, and here
// their values. The transaction that writes them must not do so within a savepoint,
// whose id the row would have.
const (
	identity = `database_oid, table_oid, row_xid`
	here     = `(select d.oid from pg_database d where d.datname = current_database()), 'outgoing'::regclass::oid, pg_current_xact_id()::xid`
)

// Outgoing says whether anything may leave: after a restore only when a person has
// confirmed it.
type Outgoing struct {
	Pool *pgxpool.Pool
}

// Hold is how what leaves stands.
type Hold struct {
	Held        bool       `json:"held"`
	Since       *time.Time `json:"held_since,omitempty"`
	By          string     `json:"held_by,omitempty"` // "" where the gateway did it
	Reason      string     `json:"reason,omitempty"`
	ConfirmedAt *time.Time `json:"confirmed_at,omitempty"` // the last time
	ConfirmedBy string     `json:"confirmed_by,omitempty"`
}

// ErrNotHeld: nothing is held that could be confirmed.
var ErrNotHeld = errors.New("what leaves is not held: there is nothing to confirm")

// Standing says how what leaves stands, for all processes.
func (o Outgoing) Standing(ctx context.Context) (h Hold, err error) {
	err = o.Pool.QueryRow(ctx, `
		select not `+mayLeave+`, held_since, held_by, reason, confirmed_at, confirmed_by from outgoing`,
	).Scan(&h.Held, &h.Since, &h.By, &h.Reason, &h.ConfirmedAt, &h.ConfirmedBy)
	if errors.Is(err, pgx.ErrNoRows) {
		return Hold{}, nil
	}
	if err != nil {
		return h, fmt.Errorf("look whether anything may leave: %w", err)
	}
	if h.Held && h.Since == nil { // seen by the statements, and by no look yet
		h.Reason = RestoredReason
	}
	return h, nil
}

// HoldTx keeps everything from leaving until ConfirmTx; what is on its way still arrives.
// One that holds already goes on as it was.
func HoldTx(ctx context.Context, tx pgx.Tx, by, reason string) error {
	_, err := tx.Exec(ctx, `
		insert into outgoing as o (`+identity+`, held_since, held_by, reason)
		values (`+here+`, now(), $1, $2)
		on conflict (id) do update set (`+identity+`) = row (`+here+`), held_since = coalesce(o.held_since, now()),
			held_by = case when o.held_since is null then $1 else o.held_by end,
			reason = case when o.held_since is null then $2 else o.reason end`, by, reason)
	if err != nil {
		return fmt.Errorf("hold what leaves: %w", err)
	}
	return nil
}

// ConfirmTx lets everything leave from here: this is the database that others are to hear
// of. ErrNotHeld.
func ConfirmTx(ctx context.Context, tx pgx.Tx, by string) error {
	system, err := systemIdentifier(ctx, tx)
	if err != nil {
		return fmt.Errorf("confirm what leaves: %w", err)
	}
	tag, err := tx.Exec(ctx, `
		update outgoing set (`+identity+`) = row (`+here+`), system_identifier = $2,
			held_since = null, held_by = '', reason = '', confirmed_at = now(), confirmed_by = $1
		where not `+mayLeave, by, system)
	if err != nil {
		return fmt.Errorf("confirm what leaves: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNotHeld
	}
	return nil
}

// HoldAll keeps everything from leaving.
func HoldAll(by, reason string) Change {
	return func(ctx context.Context, tx pgx.Tx) error { return HoldTx(ctx, tx, by, reason) }
}

// Confirm lets everything leave.
func Confirm(by string) Change {
	return func(ctx context.Context, tx pgx.Tx) error { return ConfirmTx(ctx, tx, by) }
}

// Hold keeps everything from leaving, by the gateway itself.
func (o Outgoing) Hold(ctx context.Context, reason string) error {
	return pgx.BeginFunc(ctx, o.Pool, func(tx pgx.Tx) error { return HoldTx(ctx, tx, "", reason) })
}

// queryer is a pool or a transaction.
type queryer interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// SeesCluster reports whether this role may read which cluster it works in. Where it may
// not, a database that comes into another cluster with all its files, as pg_upgrade does
// it, is not noticed; a dump is.
func (o Outgoing) SeesCluster(ctx context.Context) (bool, error) {
	id, err := systemIdentifier(ctx, o.Pool)
	if err != nil {
		return false, fmt.Errorf("look which cluster this is: %w", err)
	}
	return id != nil, nil
}

// systemIdentifier is the cluster's, or nil where the role may not read it.
func systemIdentifier(ctx context.Context, q queryer) (id *int64, err error) {
	var may bool
	if err := q.QueryRow(ctx, `select has_function_privilege('pg_control_system()', 'execute')`).Scan(&may); err != nil || !may {
		return nil, err
	}
	err = q.QueryRow(ctx, `select system_identifier from pg_control_system()`).Scan(&id)
	return id, err
}
