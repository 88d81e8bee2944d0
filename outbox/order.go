package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// IndexPartitions gives the index by which events are read in order to partitions that
// were there before the index was. It does not stop deliveries, and may be broken off.
//
// Of a partition of many millions it takes minutes, for which the time limits of other
// statements are lifted; what another process is at is left to it.
func IndexPartitions(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("give the outbox its order: %w", err)
	}
	defer conn.Release()
	without, err := relations(ctx, conn, `
		select c.relname::text from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = 'outbox'::regclass and not exists (
				select from pg_index x join pg_inherits h on h.inhrelid = x.indexrelid
				where x.indrelid = c.oid and h.inhparent = 'outbox_order'::regclass)
			and not exists (select from pg_stat_progress_create_index p where p.relid = c.oid)`)
	if err != nil {
		return err
	}
	for _, name := range without {
		index := pgx.Identifier{name + "_order"}.Sanitize()
		err := atLeisure(ctx, conn,
			`drop index concurrently if exists `+index, // one that was broken off is not valid
			`create index concurrently `+index+` on `+pgx.Identifier{name}.Sanitize()+` (partner_id, xid, event_id)`)
		if err == nil {
			_, err = conn.Exec(ctx, `alter index outbox_order attach partition `+index)
		}
		if err != nil {
			return fmt.Errorf("give %s its order: %w", name, err)
		}
	}
	return mendOrder(ctx, conn)
}

// mendOrder makes those of the order's indexes anew that are not valid: a migration that
// was broken off leaves one, and who reads events would go through the whole table.
func mendOrder(ctx context.Context, conn *pgxpool.Conn) error {
	invalid, err := relations(ctx, conn, `
		select c.relname::text from pg_inherits h join pg_index x on x.indexrelid = h.inhrelid join pg_class c on c.oid = x.indexrelid
		where h.inhparent = 'outbox_order'::regclass and not x.indisvalid
			and not exists (select from pg_stat_progress_create_index p where p.relid = x.indrelid)`)
	if err != nil {
		return err
	}
	for _, name := range invalid {
		if err := atLeisure(ctx, conn, `reindex index concurrently `+pgx.Identifier{name}.Sanitize()); err != nil {
			return fmt.Errorf("make %s anew: %w", name, err)
		}
	}
	return nil
}

func relations(ctx context.Context, conn *pgxpool.Conn, sql string) ([]string, error) {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("look for partitions of the outbox without order: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for partitions of the outbox without order: %w", err)
	}
	return names, nil
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
