package gateway

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Clock tells the database's time without asking it each time: it measures once
// and goes on with this process's monotonic clock, so that neither a step of the
// node's clock nor two nodes that disagree reach a date that is stored.
type Clock struct {
	at   atomic.Pointer[reading]
	last atomic.Int64 // of NewID: milliseconds since 1970 with 12 more bits
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

// NewID makes a UUIDv7 (RFC 9562 §5.7) of the database's time, so that rows stand
// in the order of arrival though the clocks of nodes step or disagree. Those of
// one process only grow (§6.2, method 3).
func (c *Clock) NewID() uuid.UUID {
	now := c.Now().UnixNano()
	at := now/1e6<<12 | now%1e6<<12/1e6
	for {
		last := c.last.Load()
		at = max(at, last+1)
		if c.last.CompareAndSwap(last, at) {
			break
		}
	}
	id := uuid.New() // 62 of its bits stay random
	for i := range 6 {
		id[i] = byte(at >> (52 - 8*i))
	}
	id[6], id[7] = 0x70|byte(at>>8)&0x0f, byte(at)
	return id
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
