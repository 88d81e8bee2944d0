package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// RestoredReason is why subscriptions are paused after a restore.
const RestoredReason = "the database was restored into another cluster: what was sent after the backup may be sent again; resume when its events are to go out from here"

// earlier is the transaction id that events of a former cluster get: lower than any that
// this one gives.
const earlier = 3

// Restored looks whether a cursor or an event stands ahead of every transaction of this cluster. That
// is so where a dump was restored into another cluster, whose ids began anew: what is
// written next would stand behind the cursors, and never be sent. Then events and
// cursors of before are moved behind all that comes, each cursor before the first event
// that it had not passed, and every subscription is paused: a person says that this is
// the database that others are to hear of. It reports whether that was so.
func Restored(ctx context.Context, pool *pgxpool.Pool) (was bool, err error) {
	const ahead = `
		with recursive whose as (
			(select o.partner_id as id from outbox o order by o.partner_id limit 1)
			union all
			select (select o.partner_id from outbox o where o.partner_id > p.id order by o.partner_id limit 1)
			from whose p where p.id is not null)
		select exists (select from subscription where from_xid > pg_snapshot_xmax(pg_current_snapshot()))
			or exists (select from subscription_stream where xid > pg_snapshot_xmax(pg_current_snapshot()))
			or exists (select from whose p cross join lateral ( -- there may be no subscription, and readers of the feed
				select o.xid from outbox o where o.partner_id = p.id order by o.xid desc, o.event_id desc limit 1) as last
				where last.xid > pg_snapshot_xmax(pg_current_snapshot()))`
	if err := pool.QueryRow(ctx, ahead).Scan(&was); err != nil || !was {
		return false, restoredError(err)
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `lock table subscription in exclusive mode`); err != nil { // one process does it
			return err
		}
		if err := tx.QueryRow(ctx, ahead).Scan(&was); err != nil || !was {
			return err
		}
		return moveBehind(ctx, tx)
	})
	return was, restoredError(err)
}

func restoredError(err error) error {
	if err != nil {
		return fmt.Errorf("look whether the database was restored: %w", err)
	}
	return nil
}

// moveBehind gives events and cursors of a former cluster their places in this one.
func moveBehind(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `
		select t.partner_id, t.subscription,
			(select min(o.event_id::text) from outbox o where o.partner_id = t.partner_id and (o.xid, o.event_id) > (t.xid, t.event_id))
		from subscription_stream t for update`)
	if err != nil {
		return err
	}
	type stream struct {
		Partner, Name string
		Unsent        *string // the first event that was not passed, as ids go
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stream])
	if err != nil {
		return err
	}
	var b pgx.Batch
	b.Queue(`update outbox set xid = $1 where xid > pg_snapshot_xmax(pg_current_snapshot())`, uint64(earlier))
	for _, s := range list {
		at := uuid.Max
		if s.Unsent != nil {
			id, err := uuid.Parse(*s.Unsent)
			if err != nil {
				return err
			}
			at = before(id)
		}
		b.Queue(`
			update subscription_stream set xid = $3, event_id = $4, lease_id = null, due_at = now()
			where partner_id = $1 and subscription = $2`, s.Partner, s.Name, uint64(earlier), at)
	}
	b.Queue(`
		update subscription set from_xid = least(from_xid, pg_snapshot_xmin(pg_current_snapshot())),
			paused_at = coalesce(paused_at, now()), paused_by = '', reason = $1`, RestoredReason)
	return tx.SendBatch(ctx, &b).Close()
}

// before is the id before id.
func before(id uuid.UUID) uuid.UUID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]--; id[i] != 0xff {
			break
		}
	}
	return id
}
