package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/months"
)

// Held is the purge month of what must not be purged.
var Held = months.Held

// Month is the purge month of a row kept from now for keep: the first day of
// the month in which the row may go.
func Month(now time.Time, keep time.Duration) time.Time { return months.Of(now, keep) }

// The tables of the journal that are partitioned by the month of purge.
var (
	PayloadTable         = months.Table{Name: "payload", ID: "payload_id"}
	EvidenceTable        = months.Table{Name: "evidence", ID: "payload_id"}
	AcknowledgementTable = months.Table{Name: "acknowledgement", ID: "ack_id"}
	DeliveryTable        = months.Table{Name: "delivery", ID: "delivery_id"}
)

// Ahead is how many months of partitions are made ahead; a retention beyond
// them goes to the default partition and is moved when its month is made.
const Ahead = 16

// EnsurePartitions makes the month partitions of the tables partitioned by
// purge month, from this month on. Several processes may do it at once. A month
// for which rows already stand in the default partition is left to the purge.
func EnsurePartitions(ctx context.Context, pool *pgxpool.Pool, tables ...string) error {
	for _, table := range tables {
		for i := range Ahead {
			var exists bool
			var from time.Time
			err := pool.QueryRow(ctx, `
				select m.from_, to_regclass(format('%I', $1::text || to_char(m.from_, '_YYYYMM'))) is not null
				from (select (date_trunc('month', now() at time zone 'utc') + make_interval(months => $2))::date as from_) m`,
				table, i).Scan(&from, &exists)
			if err != nil {
				return fmt.Errorf("look for the partition of %s: %w", table, err)
			}
			if exists {
				continue
			}
			name := table + from.Format("_200601")
			sql := fmt.Sprintf(`create table if not exists %s partition of %s for values from ('%s') to ('%s')`,
				name, table, from.Format(time.DateOnly), from.AddDate(0, 1, 0).Format(time.DateOnly))
			if _, err := pool.Exec(ctx, sql); err != nil && !madeMeanwhile(err) {
				return fmt.Errorf("make partition %s: %w", name, err)
			}
		}
	}
	return nil
}
