package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Holder says which transaction holds events back now, the one that has run longest in all
// of the cluster: who it is and what ends it. "" where none does. A prepared transaction
// has no session that could be seen in pg_stat_activity.
func (s Subscriptions) Holder(ctx context.Context) (holder string, err error) {
	err = s.Pool.QueryRow(ctx, `
		with oldest as (select pg_snapshot_xmin(pg_current_snapshot())::xid as xid)
		select format('process %s of %s in database %s, %s: select pg_terminate_backend(%s) ends it', a.pid, coalesce(nullif(a.application_name, ''), a.usename, 'somebody'), a.datname,
			coalesce('open since ' || date_trunc('second', a.xact_start) at time zone 'utc' || 'Z', 'of another role'), a.pid)
		from pg_stat_activity a join oldest o on o.xid = a.backend_xid
		where a.pid <> pg_backend_pid()
		union all
		select format('the prepared transaction %L of %s in database %s, since %s: rollback prepared or commit prepared ends it', p.gid, p.owner, p.database,
			date_trunc('second', p.prepared) at time zone 'utc' || 'Z')
		from pg_prepared_xacts p join oldest o on o.xid = p.transaction
		limit 1`).Scan(&holder)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look which transaction holds events back: %w", err)
	}
	return holder, nil
}
