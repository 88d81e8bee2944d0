package gateway

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Clock tells the database's time without asking it each time: it measures once
// and goes on with this process's monotonic clock, so that neither a step of the
// node's clock nor two nodes that disagree reach a date that is stored.
type Clock struct {
	at atomic.Pointer[reading]
}

type reading struct {
	database time.Time
	mono     time.Time // carries Go's monotonic reading
}

// Measure asks the database for its time.
func (c *Clock) Measure(ctx context.Context, pool *pgxpool.Pool) error {
	before := time.Now()
	var now time.Time
	if err := pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&now); err != nil {
		return fmt.Errorf("ask the database for its time: %w", err)
	}
	c.at.Store(&reading{now.Add(time.Since(before) / 2), time.Now()})
	return nil
}

// Now gives the database's time in UTC. Measure must have been called.
func (c *Clock) Now() time.Time {
	r := c.at.Load()
	return r.database.Add(time.Since(r.mono)).UTC()
}

// Run measures again every minute until ctx ends.
func (c *Clock) Run(ctx context.Context, pool *pgxpool.Pool) {
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_ = c.Measure(ctx, pool) // the last measure still holds; readiness tells of the database
		}
	}
}
