package gateway_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/pgtest"
)

// The write budget of a committed INVOIC of 20 lines,
// counted and not timed. Where it breaks, look for the row, index or statement
// that came in; the numbers stay.
const (
	budgetRows         = 30
	budgetIndexEntries = 60
	budgetRoundTrips   = 2        // of the transaction; the look-up before it is one more
	budgetWAL          = 16 << 10 // bytes, of pages that are in the log already
)

func TestWriteBudget(t *testing.T) {
	m := newMeter(t)
	r := newRigOn(t, m.pool)
	send := func(n int64) func() {
		return func() {
			if _, err := r.deliver("acme", fmt.Sprintf("key-%d", n), string(invoic.TwentyLines(n))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n := range int64(20) { // statements prepared, control numbers leased, pages in the log
		send(n)()
	}

	t.Run("an invoice of 20 lines", func(t *testing.T) {
		c := m.least(send(100), send(101), send(102), send(103), send(104))
		t.Logf("%d rows, %d index entries, %d round trips in the transaction and %d before it, %d bytes of WAL\n%s",
			c.rows, c.entries, c.transaction, c.roundTrips-c.transaction, c.wal, c.tables)
		if c.rows > budgetRows || c.entries > budgetIndexEntries {
			t.Errorf("%d rows and %d index entries, at most %d and %d are allowed:\n%s", c.rows, c.entries, budgetRows, budgetIndexEntries, c.tables)
		}
		if c.rows < 27 { // inbox twice, document, lines, document_key, payload, acknowledgement, delivery, outbox
			t.Errorf("only %d rows were counted: the count is wrong", c.rows)
		}
		if c.transaction != budgetRoundTrips || c.roundTrips != budgetRoundTrips+1 {
			t.Errorf("%d round trips, %d of them in the transaction; want %d, %d", c.roundTrips, c.transaction, budgetRoundTrips+1, budgetRoundTrips)
		}
		if c.wal > budgetWAL || c.wal == 0 {
			t.Errorf("%d bytes of WAL, at most %d are allowed", c.wal, budgetWAL)
		}
	})
	t.Run("a plain duplicate", func(t *testing.T) {
		c := m.least(send(100), send(101), send(102), send(103), send(104))
		t.Logf("%d round trips, %d bytes of WAL", c.roundTrips, c.wal)
		if c.rows != 0 || c.wal != 0 || c.transaction != 0 {
			t.Errorf("%d rows and %d bytes of WAL were written, in a transaction of %d round trips; want none\n%s", c.rows, c.wal, c.transaction, c.tables)
		}
		if c.roundTrips > 2 {
			t.Errorf("%d round trips, at most 2 are allowed", c.roundTrips)
		}
	})
}

// meter counts what deliveries cost a database of its own.
type meter struct {
	t     *testing.T
	pool  *pgxpool.Pool // of one connection, so that its statistics are told when asked for
	trips trips
}

// cost is what one delivery did.
type cost struct {
	rows, entries           int
	roundTrips, transaction int
	wal                     int64
	tables                  string
}

func newMeter(t *testing.T) *meter {
	m := &meter{t: t}
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error { return documents.Register(conn) }
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return &countedConn{Conn: c, trips: &m.trips}, err
	}
	if m.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.pool.Close)
	return m
}

// least runs each and gives the cost of the cheapest: what other tests, a
// checkpoint or a page split cost is no delivery's.
func (m *meter) least(each ...func()) cost {
	m.t.Helper()
	var all []cost
	for _, f := range each {
		all = append(all, m.count(f))
	}
	return slices.MinFunc(all, func(a, b cost) int { return cmp.Or(cmp.Compare(a.wal, b.wal), cmp.Compare(a.roundTrips, b.roundTrips)) })
}

func (m *meter) count(f func()) cost {
	m.t.Helper()
	before, walBefore := m.written(), m.wal()
	m.trips.all.Store(0)
	m.trips.inside.Store(0)
	f()
	c := cost{roundTrips: int(m.trips.all.Load()), transaction: int(m.trips.inside.Load()), wal: m.wal() - walBefore}
	after := m.written()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		w := after[name]
		w.rows -= before[name].rows
		w.entries -= before[name].entries
		c.rows += w.rows
		c.entries += w.entries
		if w.rows > 0 {
			c.tables += fmt.Sprintf("  %-28s %3d rows %3d index entries\n", name, w.rows, w.entries)
		}
	}
	return c
}

func (m *meter) wal() (bytes int64) {
	m.t.Helper()
	if err := m.pool.QueryRow(context.Background(), `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint`).Scan(&bytes); err != nil {
		m.t.Fatal(err)
	}
	return bytes
}

type written struct{ rows, entries int }

// written gives, for each table and partition, how many rows were written and
// how many index entries: one an index and row, of a partial index where its
// condition holds.
func (m *meter) written() map[string]written {
	m.t.Helper()
	ctx := context.Background()
	if _, err := m.pool.Exec(ctx, `select pg_stat_force_next_flush()`); err != nil {
		m.t.Fatal(err)
	}
	rows, err := m.pool.Query(ctx, `
		select s.relname, s.n_tup_ins + s.n_tup_upd + s.n_tup_del, s.n_tup_ins + s.n_tup_upd - s.n_tup_hot_upd,
			count(x.indexrelid) filter (where x.indpred is null), coalesce(array_agg(pg_get_expr(x.indpred, x.indrelid)) filter (where x.indpred is not null), '{}')
		from pg_stat_all_tables s left join pg_index x on x.indrelid = s.relid
		where s.schemaname in ('public', 'pg_toast')
		group by s.relid, s.relname, s.n_tup_ins, s.n_tup_upd, s.n_tup_hot_upd, s.n_tup_del`)
	if err != nil {
		m.t.Fatal(err)
	}
	all := map[string]written{}
	partial := map[string][]string{}
	var name string
	var n, entered, full int
	var conditions []string
	if _, err := pgx.ForEachRow(rows, []any{&name, &n, &entered, &full, &conditions}, func() error {
		all[name] = written{n, entered * full}
		if len(conditions) > 0 {
			partial[name] = slices.Clone(conditions)
		}
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
	for name, conditions := range partial {
		for _, condition := range conditions {
			var fit int
			if err := m.pool.QueryRow(ctx, `select count(*) from `+name+` where `+condition).Scan(&fit); err != nil {
				m.t.Fatal(err)
			}
			w := all[name]
			w.entries += fit
			all[name] = w
		}
	}
	return all
}

// trips counts how often the server had answered all it was asked: its
// ReadyForQuery messages, and those of them that came inside a transaction or
// ended one.
type trips struct{ all, inside atomic.Int64 }

// countedConn reads along what the server says (PostgreSQL documentation,
// "Message Formats").
type countedConn struct {
	net.Conn
	trips *trips
	head  []byte // of the message at hand, as far as it was read
	skip  int    // bytes of its body still to come
	open  bool   // the server said it is in a transaction
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	for read := b[:n]; len(read) > 0; {
		if c.skip > 0 && len(c.head) == 5 && c.head[0] != 'Z' {
			k := min(c.skip, len(read))
			read, c.skip = read[k:], c.skip-k
			if c.skip == 0 {
				c.head = c.head[:0]
			}
			continue
		}
		c.head, read = append(c.head, read[0]), read[1:]
		switch {
		case len(c.head) == 5:
			if c.skip = int(binary.BigEndian.Uint32(c.head[1:])) - 4; c.skip == 0 {
				c.head = c.head[:0]
			}
		case len(c.head) == 6: // ReadyForQuery: I outside a transaction, T in one, E in a failed one
			open := c.head[5] != 'I'
			c.trips.all.Add(1)
			if open || c.open {
				c.trips.inside.Add(1)
			}
			c.open, c.skip, c.head = open, 0, c.head[:0]
		}
	}
	return n, err
}

func TestRoundTripsAreCounted(t *testing.T) {
	m := newMeter(t)
	ctx := context.Background()
	var b pgx.Batch
	for range 3 {
		b.Queue(`select 1`)
	}
	for range 2 { // the first time it is prepared
		m.trips.all.Store(0)
		if err := m.pool.SendBatch(ctx, &b).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.trips.all.Load(); n != 1 {
		t.Errorf("a batch of known statements counts %d round trips, want 1", n)
	}
	tx, err := m.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if n := m.trips.inside.Load(); n != 2 {
		t.Errorf("begin and rollback count %d round trips of a transaction, want 2", n)
	}
}
