package dedup

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DriftStanding counts the alerts of one class and severity that nobody has decided.
type DriftStanding struct {
	Class, Severity string
	Count           int
	Oldest          time.Duration // since the oldest was opened
}

// Undecided says how drift stands, of all partners. Test messages are left out: nobody
// is to be woken for them.
func (a Alerts) Undecided(ctx context.Context) ([]DriftStanding, error) {
	rows, err := a.Pool.Query(ctx, `
		select class, severity, count(*), extract(epoch from now() - min(opened_at))
		from drift_alert
		where state in ('open', 'in_review', 'awaiting_approval') and not test
		group by class, severity
		order by class, severity`)
	if err != nil {
		return nil, fmt.Errorf("count undecided drift: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d DriftStanding, err error) {
		var seconds float64
		err = row.Scan(&d.Class, &d.Severity, &d.Count, &seconds)
		d.Oldest = time.Duration(seconds * float64(time.Second))
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("count undecided drift: %w", err)
	}
	return list, nil
}

// DeadKeys counts the keys under which a message is dead, of all partners: those that
// `edigw deadletters list` shows.
func DeadKeys(ctx context.Context, pool *pgxpool.Pool) (count int, err error) {
	// The condition is that of the partial index.
	if err := pool.QueryRow(ctx, `select count(*) from inbox where (hold::int & 8) <> 0`).Scan(&count); err != nil {
		return 0, fmt.Errorf("count dead letters: %w", err)
	}
	return count, nil
}
