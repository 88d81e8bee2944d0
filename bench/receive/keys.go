package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/bench/site"
	"github.com/edigw/edigw/migrations"
	"github.com/edigw/edigw/partners"
)

const (
	keyPartners  = 100  // whose keys stand in the inbox, and who send
	bytesPerKey  = 1500 // of disk that is to be free, log included
	keysBar      = 0.8
	keysClients  = 32
	keysWarmedUp = 3000 // messages
)

// many is the comparison of an inbox of many keys with one that was empty, on one
// server, by one program each.
type many struct {
	b    *bench
	site *site.Site // whose database begins empty
	full *pgxpool.Pool
	url  string // of full
	next int64
}

// manyKeys fills a database's inbox and measures receiving into it beside another
// one, by turns. The server is started anew before: its buffers are cold in the
// first pair, which is told apart, and hold what receiving touches in the others.
func (b *bench) manyKeys(ctx context.Context) (err error) {
	x := &many{b: b, next: 1}
	if x.site, err = site.OpenWith(ctx, site.Options{Partners: partnersYAML(keyPartners)}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.site.Close(context.WithoutCancel(ctx))) }()
	var disk syscall.Statfs_t
	if err := syscall.Statfs(x.site.Dir, &disk); err != nil {
		return err
	}
	if free := int64(disk.Bavail) * disk.Bsize; free < b.keys*bytesPerKey {
		return fmt.Errorf("%d keys need %d MB, and %s has %d MB: set TMPDIR to a larger disk, or -keys", b.keys, b.keys*bytesPerKey>>20, x.site.Dir, free>>20)
	}
	if err := x.fill(ctx); err != nil {
		return err
	}
	if b.program == "" {
		if b.program, err = x.site.Build(ctx); err != nil {
			return err
		}
	}
	if err := x.site.StartServer(ctx); err != nil {
		return err
	}
	if x.full, err = pgxpool.New(ctx, x.url); err != nil {
		return err
	}
	defer x.full.Close()
	few, err := x.site.Start(ctx, b.program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, few.Stop()) }()
	lots, err := x.site.Start(ctx, b.program, "EDIGW_DATABASE_URL="+x.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lots.Stop()) }()
	return x.compare(ctx, few, lots)
}

// fill makes the database and its keys.
func (x *many) fill(ctx context.Context) (err error) {
	if x.url, err = x.site.Database(ctx, "full"); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, x.url)
	if err != nil {
		return err
	}
	defer pool.Close() // the server is started anew
	if err := migrations.Up(ctx, pool, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	specs, err := partners.Reader{}.Read("", []byte(partnersYAML(keyPartners)))
	if err != nil {
		return err
	}
	store := partners.Store{Pool: pool}
	if err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { _, err := store.Apply(ctx, tx, specs); return err }); err != nil {
		return err
	}
	since := time.Now()
	const writers, batch = 2, 50_000
	var left atomic.Int64
	left.Store(x.b.keys)
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			rows := newKeyRows(uint64(i))
			for errs[i] == nil {
				n := min(batch, left.Add(-batch)+batch)
				if n <= 0 {
					return
				}
				rows.left = n
				_, errs[i] = pool.CopyFrom(ctx, pgx.Identifier{"inbox"}, keyColumns, rows)
				if i == 0 {
					fmt.Fprintf(os.Stderr, "\r%d of %d keys, %.0f s ", x.b.keys-max(left.Load(), 0), x.b.keys, time.Since(since).Seconds())
				}
			}
		})
	}
	wg.Wait()
	fmt.Fprintln(os.Stderr)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("fill the inbox: %w", err)
	}
	for _, sql := range []string{`vacuum (freeze, analyze) inbox`, `checkpoint`} { // as if it had grown over a year
		if _, err := pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	var rows int64
	var heap, index, buffers string
	err = pool.QueryRow(ctx, `select (select count(*) from inbox), pg_size_pretty(pg_table_size('inbox')), pg_size_pretty(pg_indexes_size('inbox')), current_setting('shared_buffers')`).
		Scan(&rows, &heap, &index, &buffers)
	fmt.Printf("inbox: %d keys of %d partners, %s, indexes %s; shared_buffers %s\n", rows, keyPartners, heap, index, buffers)
	return err
}

// keyColumns are those of the inbox that a delivery of one interchange sets.
var keyColumns = []string{"partner_id", "message_id", "kind", "first_at", "last_at", "purge_on", "carried", "payload_sha256", "content_sha256", "content_version",
	"state", "answer", "messages", "delivery_id", "payload_id", "payload_month", "payload_length", "ack_id", "ack_month"}

// keyRows are the keys of deliveries over the last 400 days: a transport key that
// is random, as those of AS2 are, and that of its interchange, whose control
// reference rises. A tenth of the partners sends half of it.
type keyRows struct {
	random *rand.Rand
	left   int64
	refs   [keyPartners]int64
	row    []any
	after  []any // the interchange's, behind its transport key
}

func newKeyRows(writer uint64) *keyRows {
	r := &keyRows{random: rand.New(rand.NewPCG(writer, 0))}
	for i := range r.refs {
		r.refs[i] = int64(writer+1) * 1e11 // beyond what is sent while it is measured
	}
	return r
}

// Next implements pgx.CopyFromSource.
func (r *keyRows) Next() bool {
	if r.left == 0 {
		return false
	}
	r.left--
	if r.after != nil {
		r.row, r.after = r.after, nil
		return true
	}
	n := r.random.IntN(keyPartners)
	if r.random.IntN(2) == 0 {
		n /= 10
	}
	s := senderNumber(n)
	r.refs[n]++
	received := time.Now().Add(-time.Duration(r.random.Int64N(int64(400 * 24 * time.Hour)))).UTC()
	purge := received.AddDate(0, 0, 400)
	month := time.Date(received.Year(), received.Month()+4, 1, 0, 0, 0, 0, time.UTC)
	key := fmt.Sprintf("unb:%s:%s:%s:%s:%014d", s.address, invoic.Qualifier, invoic.Recipient, invoic.Qualifier, r.refs[n])
	sha, content := r.bytes(32), r.bytes(32)
	delivery, payload := r.id(received), r.id(received)
	row := func(id string, kind int16, carried []string, content []byte, version int16, messages []byte) []any {
		return []any{s.id, id, kind, received, received, purge, carried, sha, content, version,
			int16(2), int16(1), messages, delivery, payload, month, int64(invoic.Size()), r.id(received), month}
	}
	r.row = row("http:nordhafen:"+uuid.UUID(r.bytes(16)).String(), 1, []string{s.id + "\t" + key + "\t" + hex.EncodeToString(sha)}, nil, 0, []byte{})
	r.after = row(key, 2, nil, content, 1, r.bytes(44)) // one message
	return true
}

// Values implements pgx.CopyFromSource.
func (r *keyRows) Values() ([]any, error) { return r.row, nil }

// Err implements pgx.CopyFromSource.
func (r *keyRows) Err() error { return nil }

func (r *keyRows) bytes(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i++ {
		b[i] = byte(r.random.Uint32())
	}
	return b
}

// id is a UUIDv7 of that time.
func (r *keyRows) id(at time.Time) uuid.UUID {
	id := uuid.UUID(r.bytes(16))
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[8] = 0x70|id[6]&0x0f, 0x80|id[8]&0x3f
	return id
}

// compare measures both by turns, the one first that was second before.
func (x *many) compare(ctx context.Context, few, lots *site.Gateway) error {
	var ratios, few1, lots1 []float64
	for round := range x.b.rounds + 1 { // the first one is cold
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round, x.b.rounds)
		if err := x.empty(ctx); err != nil {
			return err
		}
		var rates [2]float64
		for turn := range 2 {
			which := (round + turn) % 2
			var err error
			if rates[which], err = x.rate(ctx, []*site.Gateway{few, lots}[which], round > 0); err != nil {
				return err
			}
		}
		ratio := rates[1] / rates[0]
		if round == 0 {
			fmt.Printf("cold, after the server's start: %.0f of %.0f msg/s, ratio %.2f\n", rates[1], rates[0], ratio)
			continue
		}
		ratios, few1, lots1 = append(ratios, ratio), append(few1, rates[0]), append(lots1, rates[1])
	}
	fmt.Printf("warm, %d clients of %d partners with random transport ids, medians of %d pairs:\n  %.0f msg/s with many keys, %.0f msg/s without; ratio %.2f (%.2f to %.2f), bar %.1f\n",
		keysClients, keyPartners, len(ratios), median(lots1), median(few1), median(ratios), slices.Min(ratios), slices.Max(ratios), keysBar)
	return nil
}

// empty takes away what was received, but for the inbox of many keys.
func (x *many) empty(ctx context.Context) error {
	if err := x.site.Empty(ctx); err != nil {
		return err
	}
	_, err := x.full.Exec(ctx, `truncate document_key, payload, acknowledgement, delivery, outbox, document, document_line, document_package`)
	return err
}

func (x *many) rate(ctx context.Context, g *site.Gateway, warm bool) (float64, error) {
	l := load{Address: g.Address, Clients: keysClients, Seconds: x.b.seconds, From: x.next, Status: http.StatusCreated, Senders: keyPartners, Random: true}
	if warm {
		l.Seconds, l.Most = 60, keysWarmedUp
		if _, err := x.b.generated(ctx, l); err != nil {
			return 0, err
		}
		l.From, l.Seconds, l.Most = l.From+keysWarmedUp+keysClients, x.b.seconds, 0
	}
	if err := x.site.Checkpoint(ctx); err != nil {
		return 0, err
	}
	f, err := x.b.generated(ctx, l)
	x.next = l.From + f.Messages + keysClients
	return float64(f.Messages) / f.Seconds, err
}
