package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Feed reads events of all partners for whoever asks: in the order of the transactions
// that wrote them.
type Feed struct {
	Pool *pgxpool.Pool
}

// FeedFilter narrows Read.
type FeedFilter struct {
	Partner string   // "" is all
	Types   []string // exact ones
	After   Place    // cursor: those after it
	Limit   int      // events that are looked at
}

// FeedPage is what a reader gets at once.
type FeedPage struct {
	Events []*Record
	Next   Place // to ask from next
	More   bool  // there may be more at once
}

// Read gives the events after a place. What a running transaction may still commit
// before an event holds that event back until it has ended: a reader who asks from the
// place he was given has missed nothing.
//
// Whose events there are is read with them: a process that does not know a new partner
// yet would else go past his events. Each partner's are read from the partner's own
// place in the index, then the first of all. Where more partners have some than are asked
// for, no event is among the first that stands behind the first one of so many partners:
// up to there is read, and not so many of each of ten thousand.
func (f Feed) Read(ctx context.Context, a FeedFilter) (FeedPage, error) {
	rows, err := f.Pool.Query(ctx, `
		with recursive whose as (
			(select o.partner_id as id from outbox o where $1 = '' or o.partner_id = $1 order by o.partner_id limit 1)
			union all
			select (select o.partner_id from outbox o where o.partner_id > p.id order by o.partner_id limit 1)
			from whose p where p.id is not null and $1 = ''),
		first as materialized (
			select p.id, e.xid, e.event_id
			from whose p cross join lateral (
				select xid, event_id from outbox
				where partner_id = p.id and (xid, event_id) > ($2, $3) and xid < pg_snapshot_xmin(pg_current_snapshot())
				order by xid, event_id limit 1) as e
			where p.id is not null),
		last as materialized (
			select coalesce(l.xid, '18446744073709551615') as xid, coalesce(l.event_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') as event_id
			from (values (1)) as one left join (select xid, event_id from first order by xid, event_id offset $5::bigint - 1 limit 1) as l on true)
		select e.partner_id, e.event_id, e.xid, e.purge_month, e.kind, e.type, e.subject, e.created_at,
			case when e.type = any($4) then e.body end
		from last l join first f on (f.xid, f.event_id) <= (l.xid, l.event_id) cross join lateral (
			select partner_id, event_id, xid, purge_month, kind, type, subject, created_at, body
			from outbox
			where partner_id = f.id and (xid, event_id) between (f.xid, f.event_id) and (l.xid, l.event_id) and xid < pg_snapshot_xmin(pg_current_snapshot())
			order by xid, event_id limit $5::bigint) as e
		order by e.xid, e.event_id limit $5::bigint`, a.Partner, a.After.XID, a.After.ID, a.Types, a.Limit)
	if err != nil {
		return FeedPage{}, fmt.Errorf("read the feed: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Record, error) {
		var r Record
		err := row.Scan(&r.Partner, &r.ID, &r.Place.XID, &r.Month, &r.Kind, &r.Type, &r.Subject, &r.At, &r.Body)
		r.Place.ID = r.ID
		return &r, err
	})
	if err != nil {
		return FeedPage{}, fmt.Errorf("read the feed: %w", err)
	}
	if len(all) == 0 {
		if err := f.known(ctx, a.After); err != nil {
			return FeedPage{}, err
		}
	}
	page := FeedPage{Next: a.After, More: len(all) == a.Limit}
	for _, r := range all {
		page.Next = r.Place
		if r.Body != nil {
			page.Events = append(page.Events, r)
		}
	}
	return page, nil
}

// ErrAhead: the cursor is none of this database's: it stands ahead of all that was ever
// written here, since the database was restored from a backup.
var ErrAhead = errors.New("the cursor stands ahead of the database, which was restored from a backup; begin anew, and pass over the ids that you have")

// known reports ErrAhead of a place where nothing can stand yet.
func (f Feed) known(ctx context.Context, p Place) error {
	var ahead bool
	if err := f.Pool.QueryRow(ctx, `select $1::xid8 > pg_snapshot_xmax(pg_current_snapshot())`, p.XID).Scan(&ahead); err != nil {
		return fmt.Errorf("read the feed: %w", err)
	}
	if ahead {
		return ErrAhead
	}
	return nil
}

// EventTypes gives the exact types of patterns like document.*; nil and the pattern
// that stands for nothing, where one does not.
func EventTypes(patterns ...string) (types []string, unknown string) {
	for _, pattern := range patterns {
		list := typesOf(strings.TrimPrefix(pattern, TypePrefix))
		if len(list) == 0 {
			return nil, pattern
		}
		types = append(types, list...)
	}
	return types, ""
}
