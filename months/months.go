// Package months works on tables that are partitioned by the month in which their rows
// may go: what stands in a month that has passed, whose rows they are, moving rows from
// one month to another, and dropping a month whole. It knows no table by name; the
// stores hand over theirs.
//
// A table has a partition for each month, named payload_202701, one for what is held,
// payload_held, and one for months that have none, payload_default. Its rows are named
// by partner_id and an id; several rows may have one id.
package months

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Held is the month of what must not be purged.
var Held = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Of is the month of a row kept from t for keep: the first day of the month in which the
// row may go. The month goes whole when it has passed.
func Of(t time.Time, keep time.Duration) time.Time {
	y, m, _ := t.UTC().Add(keep).Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
}

// Table is a partitioned one.
type Table struct {
	Name string
	ID   string // the column that names a row, beside partner_id
}

func (t Table) sanitized() string { return pgx.Identifier{t.Name}.Sanitize() }

// Partition is a month of a table.
type Partition struct {
	Table Table
	Name  string
	Month time.Time
}

// Querier is a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Passed gives the months of a table that have passed for now, the oldest first. Those of
// which rows stand in the default partition are among them, under its name.
func Passed(ctx context.Context, q Querier, t Table, now time.Time) (list []Partition, err error) {
	this := Of(now, 0)
	rows, err := q.Query(ctx, `
		select c.relname::text, to_date(right(c.relname, 6), 'YYYYMM')
		from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = to_regclass($1) and c.relname ~ '_[0-9]{6}$' and to_date(right(c.relname, 6), 'YYYYMM') < $2::date
		order by 2`, t.Name, this)
	if err != nil {
		return nil, fmt.Errorf("list the months of %s: %w", t.Name, err)
	}
	var p Partition
	if _, err := pgx.ForEachRow(rows, []any{&p.Name, &p.Month}, func() error {
		list = append(list, Partition{t, p.Name, p.Month})
		return nil
	}); err != nil {
		return nil, fmt.Errorf("list the months of %s: %w", t.Name, err)
	}
	name := t.Name + "_default"
	rows, err = q.Query(ctx, `select distinct purge_month from `+pgx.Identifier{name}.Sanitize()+` where purge_month < $1 order by 1`, this)
	if err != nil {
		return nil, fmt.Errorf("list the months in %s: %w", name, err)
	}
	if _, err := pgx.ForEachRow(rows, []any{&p.Month}, func() error {
		list = append(list, Partition{t, name, p.Month})
		return nil
	}); err != nil {
		return nil, fmt.Errorf("list the months in %s: %w", name, err)
	}
	return list, nil
}

// Default reports whether the month has no partition of its own.
func (p Partition) Default() bool { return p.Name == p.Table.Name+"_default" }

// Has is how much there is.
type Has struct {
	Rows, Bytes int64
}

// Plus adds.
func (h Has) Plus(o Has) Has { return Has{h.Rows + o.Rows, h.Bytes + o.Bytes} }

// Minus takes away.
func (h Has) Minus(o Has) Has { return Has{h.Rows - o.Rows, h.Bytes - o.Bytes} }

// Count gives the rows of each partner in a month, and the bytes of their columns as they
// are stored.
func (p Partition) Count(ctx context.Context, q Querier) (map[string]Has, error) {
	rows, err := q.Query(ctx, `
		select partner_id, count(*), sum(`+p.Table.size()+`)::bigint
		from `+pgx.Identifier{p.Name}.Sanitize()+` as t
		where purge_month = $1 group by partner_id`, p.Month)
	if err != nil {
		return nil, fmt.Errorf("count %s: %w", p.Name, err)
	}
	has := map[string]Has{}
	var partner string
	var h Has
	_, err = pgx.ForEachRow(rows, []any{&partner, &h.Rows, &h.Bytes}, func() error {
		has[partner] = h
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("count %s: %w", p.Name, err)
	}
	return has, nil
}

// size is an expression for the bytes of row t. The size of a column that is stored
// elsewhere is read from its pointer, not by reading it.
func (t Table) size() string {
	switch t.Name {
	case "payload", "evidence":
		return `pg_column_size(t.body) + 80`
	case "acknowledgement":
		return `coalesce(pg_column_size(t.receipt), 0) + coalesce(pg_column_size(t.answer), 0) + coalesce(pg_column_size(t.functional), 0) + 80`
	case "outbox":
		return `pg_column_size(t.body) + 120`
	}
	return `pg_column_size(t.*)`
}

// lockPatience is how long a drop waits for its lock: who receives waits behind it so
// long at most.
const lockPatience = 200 * time.Millisecond

// underLock is how long one statement may take while the lock is held: who receives waits
// for all of them.
const underLock = 300 * time.Millisecond

// Drop drops a month. check is called in the transaction that drops, when nobody can read
// or write the month any more, and keeps it by an error. Where somebody else reads the table
// all the time, as a dump of the database does, it gives up after so many tries, between
// which it rests, and the error is Busy.
func (p Partition) Drop(ctx context.Context, pool *pgxpool.Pool, tries int, check func(tx pgx.Tx) error) error {
	for try := 1; ; try++ {
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			// The parent first, as every statement that finds the month through it does.
			for _, sql := range []string{
				fmt.Sprintf(`set local lock_timeout = %d`, lockPatience.Milliseconds()),
				fmt.Sprintf(`set local statement_timeout = %d`, underLock.Milliseconds()),
				`lock table only ` + p.Table.sanitized() + ` in access exclusive mode`,
				`lock table ` + pgx.Identifier{p.Name}.Sanitize() + ` in access exclusive mode`,
			} {
				if _, err := tx.Exec(ctx, sql); err != nil {
					return err
				}
			}
			if err := check(tx); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `drop table `+pgx.Identifier{p.Name}.Sanitize())
			return err
		})
		if err == nil || !Busy(err) || try >= tries {
			if err != nil {
				err = fmt.Errorf("drop %s: %w", p.Name, err)
			}
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100*time.Millisecond + rand.N(400*time.Millisecond)):
		}
	}
}

// Busy reports whether err is of a transaction that was in somebody's way, or waited for
// somebody too long: done again it may succeed.
func Busy(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "55P03" || pg.Code == "40P01" || pg.Code == "57014") // lock_not_available, deadlock_detected, query_canceled
}

// Row names rows of one id, and the month they stand in.
type Row struct {
	ID    uuid.UUID
	Month time.Time
	Has
}

// Page gives the ids of a partner in order after one, with the month they stand in; those
// of one month alone where it is not zero.
func (t Table) Page(ctx context.Context, q Querier, partner string, month time.Time, after uuid.UUID, limit int) ([]Row, error) {
	where, args := `partner_id = $1 and `+t.ID+` > $2`, []any{partner, after, limit}
	if !month.IsZero() {
		where, args = where+` and purge_month = $4`, append(args, month)
	}
	rows, err := q.Query(ctx, `
		select `+t.ID+`, purge_month, count(*), sum(`+t.size()+`)::bigint
		from `+t.sanitized()+` as t
		where `+where+`
		group by `+t.ID+`, purge_month order by `+t.ID+`, purge_month limit $3`, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", t.Name, partner, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Row, err error) {
		return r, row.Scan(&r.ID, &r.Month, &r.Rows, &r.Bytes)
	})
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", t.Name, partner, err)
	}
	return list, nil
}

// Move moves rows of a partner from one month to another. It costs what writing them did.
func (t Table) Move(ctx context.Context, q Querier, partner string, ids []uuid.UUID, from, to time.Time) (int64, error) {
	tag, err := q.Exec(ctx, `update `+t.sanitized()+` set purge_month = $4 where partner_id = $1 and `+t.ID+` = any($2) and purge_month = $3`, partner, ids, from, to)
	if err != nil {
		return 0, fmt.Errorf("move %s of %s: %w", t.Name, partner, err)
	}
	return tag.RowsAffected(), nil
}

// Delete deletes rows of a partner from a month.
func (t Table) Delete(ctx context.Context, q Querier, partner string, ids []uuid.UUID, month time.Time) (int64, error) {
	tag, err := q.Exec(ctx, `delete from `+t.sanitized()+` where partner_id = $1 and `+t.ID+` = any($2) and purge_month = $3`, partner, ids, month)
	if err != nil {
		return 0, fmt.Errorf("delete %s of %s: %w", t.Name, partner, err)
	}
	return tag.RowsAffected(), nil
}

// PartnersHeld gives who has rows in the partition held.
func (t Table) PartnersHeld(ctx context.Context, q Querier) ([]string, error) {
	rows, err := q.Query(ctx, `
		with recursive whose as (
			(select partner_id as id from `+pgx.Identifier{t.Name + "_held"}.Sanitize()+` order by partner_id limit 1)
			union all
			select (select h.partner_id from `+pgx.Identifier{t.Name + "_held"}.Sanitize()+` h where h.partner_id > w.id order by h.partner_id limit 1)
			from whose w where w.id is not null)
		select id from whose where id is not null`)
	if err != nil {
		return nil, fmt.Errorf("list whose %s are held: %w", t.Name, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list whose %s are held: %w", t.Name, err)
	}
	return list, nil
}

// CountOf counts rows of a partner in a month.
func (t Table) CountOf(ctx context.Context, q Querier, partner string, ids []uuid.UUID, month time.Time) (h Has, err error) {
	if err := q.QueryRow(ctx, `
		select count(*), coalesce(sum(`+t.size()+`), 0)::bigint from `+t.sanitized()+` as t
		where partner_id = $1 and `+t.ID+` = any($2) and purge_month = $3`, partner, ids, month).Scan(&h.Rows, &h.Bytes); err != nil {
		return h, fmt.Errorf("count %s of %s: %w", t.Name, partner, err)
	}
	return h, nil
}

// Pages hands on the rows of a query in pages, by a cursor in tx: between two of them the
// connection is free for other statements.
func Pages[T any](ctx context.Context, tx pgx.Tx, query string, args []any, page int, scan pgx.RowToFunc[T], each func([]T) error) error {
	if _, err := tx.Exec(ctx, `declare pages no scroll cursor for `+query, args...); err != nil {
		return fmt.Errorf("read in pages: %w", err)
	}
	for {
		rows, err := tx.Query(ctx, fmt.Sprintf(`fetch %d from pages`, page), pgx.QueryExecModeExec)
		if err != nil {
			return fmt.Errorf("read a page: %w", err)
		}
		list, err := pgx.CollectRows(rows, scan)
		if err != nil {
			return fmt.Errorf("read a page: %w", err)
		}
		if len(list) == 0 {
			break
		}
		if err := each(list); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, `close pages`); err != nil {
		return fmt.Errorf("read in pages: %w", err)
	}
	return nil
}

// In gives which of these ids of a partner stand in a month.
func (t Table) In(ctx context.Context, q Querier, partner string, ids []uuid.UUID, month time.Time) ([]Row, error) {
	rows, err := q.Query(ctx, `
		select `+t.ID+`, purge_month, count(*), sum(`+t.size()+`)::bigint from `+t.sanitized()+` as t
		where partner_id = $1 and `+t.ID+` = any($2) and purge_month = $3
		group by `+t.ID+`, purge_month order by `+t.ID, partner, ids, month)
	if err != nil {
		return nil, fmt.Errorf("look for %s of %s: %w", t.Name, partner, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Row, err error) {
		return r, row.Scan(&r.ID, &r.Month, &r.Rows, &r.Bytes)
	})
	if err != nil {
		return nil, fmt.Errorf("look for %s of %s: %w", t.Name, partner, err)
	}
	return list, nil
}
