package pgtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Clock is a database whose time a test sets: now() and clock_timestamp() give it, in
// statements and in the defaults of columns, to every connection. What takes the time by
// other words (current_date, 'now') is not reached.
type Clock struct {
	Pool *pgxpool.Pool
	URL  string

	t  testing.TB
	mu sync.Mutex
	at time.Time
	n  uint32 // of ids in the millisecond
}

// NewClock makes a migrated database for t alone that stands at a time.
func NewClock(t testing.TB, at time.Time) *Clock {
	t.Helper()
	c := &Clock{t: t, URL: URL(t)}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }() // it only prepared the database
	for _, sql := range []string{
		`create schema clock`,
		`create table clock.at (t timestamptz not null)`,
		`insert into clock.at values (clock_timestamp())`,
		`create function clock.now() returns timestamptz language sql stable as 'select t from clock.at'`,
		`create function clock.clock_timestamp() returns timestamptz language sql volatile as 'select t from clock.at'`,
		`do $$ begin execute format('alter database %I set search_path = clock, pg_catalog, public', current_database()); end $$`,
		// Defaults are bound to a function when they are made. A partitioned table's are
		// its partitions' only where these are made later.
		`do $$ declare c record; begin
			for c in select d.adrelid::regclass as tab, a.attname, pg_get_expr(d.adbin, d.adrelid) as was
				from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
				where pg_get_expr(d.adbin, d.adrelid) in ('now()', 'clock_timestamp()') loop
				execute format('alter table %s alter column %I set default clock.now()', c.tab, c.attname);
			end loop; end $$`,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("pgtest: make a clock: %v\n%s", err, sql)
		}
	}
	c.Pool = Pool(t, c.URL)
	c.Set(at)
	return c
}

// Set moves the clock, forward or back.
func (c *Clock) Set(at time.Time) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.Pool.Exec(context.Background(), `update clock.at set t = $1`, at); err != nil {
		c.t.Fatal(err)
	}
	c.at = at
}

// Advance moves it forward.
func (c *Clock) Advance(d time.Duration) {
	c.t.Helper()
	c.Set(c.Now().Add(d))
}

// Now is the time it stands at.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// NewID gives a UUIDv7 of that time: ids are in the order in which they were made.
func (c *Clock) NewID() uuid.UUID {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := uuid.New() // its last bytes are random
	for i, ms := 5, c.at.UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	c.n++
	id[6], id[7], id[8], id[9] = 0x70|byte(c.n>>20)&0x0f, byte(c.n>>12), 0x80|byte(c.n>>6)&0x3f, byte(c.n)<<2
	return id
}

// String shows it.
func (c *Clock) String() string { return fmt.Sprint(c.Now().Format(time.DateTime)) }
