package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/months"
)

// Table is the outbox, which is partitioned by the month of purge.
var Table = months.Table{Name: "outbox", ID: "event_id"}

// Needed is an event that must not go yet, and why.
type Needed struct {
	Partner string
	ID      uuid.UUID
	Reason  string // undelivered_effect, undelivered_event, unread_event
	Bytes   int64
}

// NeededIn gives events of a month that must not go, of each partner in order of id after
// one: an effect of theirs is not done, a subscription has them set aside, or has not come
// to them. A subscription reads the partners that are configured.
func NeededIn(ctx context.Context, q months.Querier, month time.Time, configured []string, afterPartner string, after uuid.UUID, limit int) ([]Needed, error) {
	rows, err := q.Query(ctx, `
		with passed as (
			select p.id, (select e.xid from (
				select coalesce(t.xid, s.from_xid) as xid
				from subscription s left join subscription_stream t on t.partner_id = p.id and t.subscription = s.name
				where coalesce(jsonb_array_length(nullif(s.spec->'partners', 'null')), 0) = 0 or s.spec->'partners' ? p.id) e order by e.xid limit 1) as at
			from unnest($2::text[]) as p (id)),
		needed as (
			select partner_id, event_id, 'undelivered_effect' as reason from effect where event_month = $1 and state <> 3
			union all
			select partner_id, event_id, 'undelivered_event' from subscription_event where event_month = $1
			union all
			select o.partner_id, o.event_id, 'unread_event'
			from passed p join outbox o on o.partner_id = p.id and o.purge_month = $1 and o.xid >= p.at
			where exists (
				select from subscription s left join subscription_stream t on t.partner_id = p.id and t.subscription = s.name
				where (coalesce(jsonb_array_length(nullif(s.spec->'partners', 'null')), 0) = 0 or s.spec->'partners' ? p.id)
					and (o.xid, o.event_id) > (coalesce(t.xid, s.from_xid), coalesce(t.event_id, '00000000-0000-0000-0000-000000000000'))))
		select n.partner_id, n.event_id, min(n.reason), (
			select pg_column_size(o.body) + 120 from outbox o where o.partner_id = n.partner_id and o.event_id = n.event_id and o.purge_month = $1)
		from needed n
		where (n.partner_id, n.event_id) > ($3 collate "C", $4)
			and exists (select from outbox o where o.partner_id = n.partner_id and o.event_id = n.event_id and o.purge_month = $1)
		group by n.partner_id, n.event_id order by n.partner_id, n.event_id limit $5`, month, configured, afterPartner, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read events that are needed: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n Needed, err error) {
		return n, row.Scan(&n.Partner, &n.ID, &n.Reason, &n.Bytes)
	})
	if err != nil {
		return nil, fmt.Errorf("read events that are needed: %w", err)
	}
	return list, nil
}

// MoveEvents moves events of a partner to another month, with what points at them there.
func MoveEvents(ctx context.Context, tx pgx.Tx, partner string, ids []uuid.UUID, from, to time.Time) (int64, error) {
	n, err := Table.Move(ctx, tx, partner, ids, from, to)
	if err != nil {
		return 0, err
	}
	for _, table := range []string{"effect", "subscription_event", "functional_acknowledgement"} {
		if _, err := tx.Exec(ctx, `
			update `+table+` set event_month = $4 where partner_id = $1 and event_id = any($2) and event_month = $3`, partner, ids, from, to); err != nil {
			return 0, fmt.Errorf("move events of %s: %w", partner, err)
		}
	}
	return n, nil
}

// NeededOf gives which of a partner's events must not go, whatever month they stand in.
func NeededOf(ctx context.Context, q months.Querier, partner string, configured bool, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	rows, err := q.Query(ctx, `
		select event_id from effect where partner_id = $1 and event_id = any($2) and state <> 3
		union
		select event_id from subscription_event where partner_id = $1 and event_id = any($2)
		union
		select o.event_id
		from outbox o cross join subscription s left join subscription_stream t on t.partner_id = $1 and t.subscription = s.name
		where $3 and o.partner_id = $1 and o.event_id = any($2)
			and (coalesce(jsonb_array_length(nullif(s.spec->'partners', 'null')), 0) = 0 or s.spec->'partners' ? $1)
			and (o.xid, o.event_id) > (coalesce(t.xid, s.from_xid), coalesce(t.event_id, '00000000-0000-0000-0000-000000000000'))`, partner, ids, configured)
	if err != nil {
		return nil, fmt.Errorf("read events of %s that are needed: %w", partner, err)
	}
	needed := map[uuid.UUID]bool{}
	var id uuid.UUID
	if _, err = pgx.ForEachRow(rows, []any{&id}, func() error {
		needed[id] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read events of %s that are needed: %w", partner, err)
	}
	return needed, nil
}

// Key names an interchange, or a transport id, that an acknowledgement answers.
type Key struct{ Partner, ID string }

// Undelivered gives which of these keys have an acknowledgement on its way, or one that
// waits for a person.
func Undelivered(ctx context.Context, q months.Querier, keys []Key) (map[Key]bool, error) {
	partners, ids := splitKeys(keys)
	rows, err := q.Query(ctx, `
		select distinct f.partner_id, f.message_id
		from unnest($1::text[], $2::text[]) as k (partner_id, message_id)
			join functional_acknowledgement f on f.partner_id = k.partner_id collate "C" and f.message_id = k.message_id collate "C"
			join effect e on e.partner_id = f.partner_id and e.event_id = f.event_id
		where e.state <> 3`, partners, ids)
	if err != nil {
		return nil, fmt.Errorf("read acknowledgements that are not delivered: %w", err)
	}
	found := map[Key]bool{}
	var k Key
	if _, err = pgx.ForEachRow(rows, []any{&k.Partner, &k.ID}, func() error {
		found[k] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read acknowledgements that are not delivered: %w", err)
	}
	return found, nil
}

func splitKeys(keys []Key) (partners, ids []string) {
	for _, k := range keys {
		partners, ids = append(partners, k.Partner), append(ids, k.ID)
	}
	return partners, ids
}

// ForgetAcknowledgements deletes what is remembered of acknowledgements of keys that go,
// and of the partner's answers to them; dry, it counts them. By partner: rows and bytes.
func ForgetAcknowledgements(ctx context.Context, q months.Querier, keys []Key, dry bool) (acks, answers map[string]months.Has, err error) {
	partners, ids := splitKeys(keys)
	const of = `
		from functional_acknowledgement f join unnest($1::text[], $2::text[]) as k (partner_id, message_id)
			on f.partner_id = k.partner_id collate "C" and f.message_id = k.message_id collate "C"`
	count := func(sql string) (map[string]months.Has, error) {
		rows, err := q.Query(ctx, sql, partners, ids)
		if err != nil {
			return nil, fmt.Errorf("purge sent acknowledgements: %w", err)
		}
		has := map[string]months.Has{}
		var partner string
		var h months.Has
		if _, err := pgx.ForEachRow(rows, []any{&partner, &h.Rows, &h.Bytes}, func() error {
			has[partner] = h
			return nil
		}); err != nil {
			return nil, fmt.Errorf("purge sent acknowledgements: %w", err)
		}
		return has, nil
	}
	if dry {
		if answers, err = count(`select t.partner_id, count(*), sum(pg_column_size(t.*))::bigint from functional_answer t
			where exists (select ` + of + ` where f.partner_id = t.partner_id and f.event_id = t.event_id) group by 1`); err != nil {
			return nil, nil, err
		}
		acks, err = count(`select f.partner_id, count(*), sum(pg_column_size(f.*))::bigint ` + of + ` group by 1`)
		return acks, answers, err
	}
	if answers, err = count(`with gone as (delete from functional_answer t
		where exists (select ` + of + ` where f.partner_id = t.partner_id and f.event_id = t.event_id) returning t.partner_id, pg_column_size(t.*) as bytes)
		select partner_id, count(*), sum(bytes)::bigint from gone group by 1`); err != nil {
		return nil, nil, err
	}
	acks, err = count(`with gone as (delete from functional_acknowledgement f using unnest($1::text[], $2::text[]) as k (partner_id, message_id)
		where f.partner_id = k.partner_id collate "C" and f.message_id = k.message_id collate "C" returning f.partner_id, pg_column_size(f.*) as bytes)
		select partner_id, count(*), sum(bytes)::bigint from gone group by 1`)
	return acks, answers, err
}
