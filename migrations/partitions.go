package migrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// IndexPartitions gives indexes of partitioned tables to the partitions that were there
// before the index was: a migration cannot, since it does not know their names, and PostgreSQL
// makes no such index concurrently. It mends the indexes of every table that were broken
// off. It does not stop deliveries, and may be broken off.
//
// Of a partition of many millions it takes minutes, for which the time limits of other
// statements are lifted; what another process is at is left to it.
func IndexPartitions(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("index partitions: %w", err)
	}
	defer conn.Release()
	// outbox_order of outbox becomes outbox_202701_order.
	rows, err := conn.Query(ctx, `
		select i.relname::text, c.relname::text, c.relname || regexp_replace(i.relname, '^' || t.relname || '_?', '_'), substring(pg_get_indexdef(i.oid) from ' USING .*$')
		from pg_class i join pg_index x on x.indexrelid = i.oid join pg_class t on t.oid = x.indrelid
			join pg_inherits h on h.inhparent = t.oid join pg_class c on c.oid = h.inhrelid
		where i.relkind = 'I' and i.relnamespace = 'public'::regnamespace and not x.indisunique
			and not exists (
				select from pg_index y join pg_inherits k on k.inhrelid = y.indexrelid
				where y.indrelid = c.oid and k.inhparent = i.oid)
			and not exists (select from pg_stat_progress_create_index p where p.relid = c.oid)
		order by c.relname, i.relname`)
	if err != nil {
		return fmt.Errorf("look for partitions without an index: %w", err)
	}
	var of, partition, index, what string
	var makes []func() error
	if _, err := pgx.ForEachRow(rows, []any{&of, &partition, &index, &what}, func() error {
		parent, table, name, definition := pgx.Identifier{of}.Sanitize(), pgx.Identifier{partition}.Sanitize(), pgx.Identifier{index}.Sanitize(), what
		makes = append(makes, func() error {
			err := atLeisure(ctx, conn,
				`drop index concurrently if exists `+name, // one that was broken off is not valid
				`create index concurrently `+name+` on `+table+definition)
			if err == nil {
				_, err = conn.Exec(ctx, `alter index `+parent+` attach partition `+name)
			}
			if err != nil {
				return fmt.Errorf("give %s its index %s: %w", table, name, err)
			}
			return nil
		})
		return nil
	}); err != nil {
		return fmt.Errorf("look for partitions without an index: %w", err)
	}
	for _, make := range makes {
		if err := make(); err != nil {
			return err
		}
	}
	return mendIndexes(ctx, conn)
}

// mendIndexes makes those indexes anew that are not valid: a migration that was broken
// off leaves one, which is written and not read, and the next start takes it for what is
// to be made. What a making anew that was broken off has left beside them goes. Tables
// that are somebody else's are left alone, and one index that cannot be made, as a unique
// one of a person's over rows that are not, keeps no other from it.
func mendIndexes(ctx context.Context, conn *pgxpool.Conn) error {
	rows, err := conn.Query(ctx, `
		select c.relname::text, c.relname ~ '_cc(new|old)[0-9]*$'
		from pg_index x join pg_class c on c.oid = x.indexrelid
		where c.relkind = 'i' and c.relnamespace = 'public'::regnamespace and not x.indisvalid
			and pg_has_role(c.relowner, 'usage') -- who makes an index anew has to own it
			and not exists (select from pg_stat_progress_create_index p where p.relid = x.indrelid)
		order by 1`)
	if err != nil {
		return fmt.Errorf("look for indexes that were broken off: %w", err)
	}
	var name string
	var beside bool
	var makes []func() error
	if _, err := pgx.ForEachRow(rows, []any{&name, &beside}, func() error {
		index, statement := pgx.Identifier{name}.Sanitize(), `reindex index concurrently `
		if beside {
			statement = `drop index concurrently if exists `
		}
		makes = append(makes, func() error {
			if err := atLeisure(ctx, conn, statement+index); err != nil {
				return fmt.Errorf("%s%s, which is not valid: %w", statement, index, err)
			}
			return nil
		})
		return nil
	}); err != nil {
		return fmt.Errorf("look for indexes that were broken off: %w", err)
	}
	var failed []error
	for _, make := range makes {
		if err := make(); ctx.Err() != nil {
			return err
		} else if err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// atLeisure runs statements that keep nobody waiting, however long they take themselves.
func atLeisure(ctx context.Context, conn *pgxpool.Conn, statements ...string) (err error) {
	defer func() { // of a connection that has ended there is nothing to take back
		if _, e := conn.Exec(context.WithoutCancel(ctx), `reset statement_timeout; reset lock_timeout`); !conn.Conn().IsClosed() {
			err = errors.Join(err, e)
		}
	}()
	for _, sql := range append([]string{`set statement_timeout = 0`, `set lock_timeout = 0`}, statements...) {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
