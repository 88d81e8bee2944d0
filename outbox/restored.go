package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// RestoredReason is why nothing leaves after a restore.
const RestoredReason = "the database was restored from a backup, copied or moved: what was sent from the one before may be sent again; confirm when this is the one that others are to hear of"

// earlier is the transaction id that events of a former cluster get: lower than any that
// this one gives.
const earlier = 3

// ahead tells whether a cursor or an event stands ahead of every transaction of this
// cluster. That is so where a dump was restored into another cluster, whose ids began
// anew: what is written next would stand behind the cursors, and never be sent.
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

// Look finds out whether this database was restored, copied or moved since a gateway last
// looked, and then holds all that leaves until a person confirms it. Events and cursors of
// another cluster are moved behind all that comes, each cursor before the first event that
// it had not passed. It reports whether that was so. It is to be asked when a process
// starts and now and then: a database may be replaced beneath one that runs.
func (o Outgoing) Look(ctx context.Context) (was bool, err error) {
	found, err := o.look(ctx, o.Pool)
	if err != nil || found == sound {
		return false, lookError(err)
	}
	err = pgx.BeginFunc(ctx, o.Pool, func(tx pgx.Tx) error {
		// Ten million events are moved within minutes, once; no gateway starts before.
		if _, err := tx.Exec(ctx, `set local statement_timeout = 0; set local lock_timeout = 0`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `lock table subscription in exclusive mode`); err != nil { // one process does it
			return err
		}
		if found, err = o.look(ctx, tx); err != nil {
			return err
		}
		switch found {
		case sound:
			return nil
		case unknown:
			return o.write(ctx, tx)
		case moved:
			if err := moveBehind(ctx, tx); err != nil {
				return err
			}
		}
		was = true
		return HoldTx(ctx, tx, "", RestoredReason)
	})
	return was && err == nil, lookError(err)
}

func lookError(err error) error {
	if err != nil {
		return fmt.Errorf("look whether the database was restored: %w", err)
	}
	return nil
}

// finding is what a look at the database gives.
type finding int

const (
	sound    finding = iota
	unknown          // no gateway has looked before, or it could not read all
	replaced         // the row of outgoing was written elsewhere
	moved            // ids of transactions are those of another cluster
)

// look compares where the row of outgoing was written with where it is.
func (o Outgoing) look(ctx context.Context, q queryer) (found finding, err error) {
	system, err := systemIdentifier(ctx, q)
	if err != nil {
		return 0, err
	}
	var rows int
	var ids, other, incomplete, held bool
	err = q.QueryRow(ctx, `
		select count(*), coalesce(bool_or(held_since is not null), false),
			coalesce(bool_or(row_xid <> xmin or table_oid <> tableoid or database_oid <> (select d.oid from pg_database d where d.datname = current_database())
				or system_identifier <> $1), false),
			coalesce(bool_or(system_identifier is null and $1 is not null), false)
		from outgoing`, system).Scan(&rows, &held, &other, &incomplete)
	if err != nil {
		return 0, err
	}
	if err := q.QueryRow(ctx, ahead).Scan(&ids); err != nil {
		return 0, err
	}
	switch {
	case ids:
		return moved, nil
	case other && !held: // what is held waits for its person already
		return replaced, nil
	case rows == 0 || incomplete && !held:
		return unknown, nil
	}
	return sound, nil
}

// write notes where the database is.
func (o Outgoing) write(ctx context.Context, tx pgx.Tx) error {
	system, err := systemIdentifier(ctx, tx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		insert into outgoing (`+identity+`, system_identifier) values (`+here+`, $1)
		on conflict (id) do update set (`+identity+`) = row (`+here+`), system_identifier = $1`, system)
	return err
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
	b.Queue(`update subscription set from_xid = least(from_xid, pg_snapshot_xmin(pg_current_snapshot()))`)
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
