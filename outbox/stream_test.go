package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/pgtest"
)

// receiver is a sink in memory: what arrived, in order, as "partner subject".
type receiver struct {
	mu      sync.Mutex
	arrived []string
	fails   map[string]error // by subject, before it arrives
	loses   map[string]int   // by subject: how often its answer is lost after it arrived
}

func (r *receiver) send(_ context.Context, batch []*outbox.Record) (int, []outbox.Attempt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range batch {
		if err := r.fails[e.Subject]; err != nil {
			return i, []outbox.Attempt{{Event: e.ID, At: time.Now(), Failure: err.Error()}}, err
		}
		r.arrived = append(r.arrived, e.Partner+" "+e.Subject)
		if r.loses[e.Subject] > 0 {
			r.loses[e.Subject]--
			return i, nil, errors.New("connection reset")
		}
	}
	return len(batch), nil, nil
}

func (r *receiver) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.arrived)
}

// post is a database with events and one subscription, taken by hand.
type post struct {
	t        *testing.T
	pool     *pgxpool.Pool
	receiver *receiver
	streams  *outbox.Streams
}

func newPost(t *testing.T, spec outbox.Spec) *post {
	t.Helper()
	p := &post{t: t, pool: pgtest.New(t), receiver: &receiver{fails: map[string]error{}, loses: map[string]int{}}}
	p.put(spec)
	p.streams = p.open(spec)
	return p
}

func (p *post) open(spec outbox.Spec) *outbox.Streams {
	p.t.Helper()
	if err := spec.Complete(); err != nil {
		p.t.Fatal(err)
	}
	return &outbox.Streams{Pool: p.pool, Spec: spec, Sink: outbox.Sink{Send: p.receiver.send}, NewID: newID,
		Partners: func() []string { return []string{"acme", "bolt", "cord"} }, Log: slog.New(slog.DiscardHandler)}
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// hook is a subscription that wants everything, from the beginning.
func hook(change ...func(*outbox.Spec)) outbox.Spec {
	s := outbox.Spec{Name: "erp", From: outbox.FromBeginning, Webhook: &outbox.WebhookSpec{URL: "https://erp.example/edigw", Secrets: []string{"erp"}}}
	for _, f := range change {
		f(&s)
	}
	return s
}

func (p *post) tx(f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(context.Background(), p.pool, f)
}

func (p *post) put(spec outbox.Spec) {
	p.t.Helper()
	if err := p.tx(func(tx pgx.Tx) error { _, err := outbox.PutTx(context.Background(), tx, spec); return err }); err != nil {
		p.t.Fatal(err)
	}
}

func (p *post) must(f func(tx pgx.Tx) error) {
	p.t.Helper()
	if err := p.tx(f); err != nil {
		p.t.Fatal(err)
	}
}

// batch is where events are queued: a transaction or a pool.
type batch interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

func write(t testing.TB, in batch, partner, typ, subject string) uuid.UUID {
	t.Helper()
	kind := outbox.KindEvent
	if typ == outbox.AlertOpened {
		kind = outbox.KindNotice
	}
	e := outbox.Event{Partner: partner, ID: newID(), Month: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Kind: kind, Type: typ, Subject: subject, Data: map[string]any{"n": subject}}
	var b pgx.Batch
	if err := outbox.QueueEvents(&b, []outbox.Event{e}); err != nil {
		t.Error(err)
	}
	if err := in.SendBatch(context.Background(), &b).Close(); err != nil {
		t.Error(err)
	}
	return e.ID
}

func (p *post) write(partner string, subjects ...string) (last uuid.UUID) {
	p.t.Helper()
	for _, s := range subjects {
		last = write(p.t, p.pool, partner, outbox.DocumentCreated, s)
	}
	return last
}

// run does all that is due now, once for each partner.
func (p *post) run() {
	p.t.Helper()
	ctx := context.Background()
	due, err := p.streams.Source().Due(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, partner := range due {
		piece, err := p.streams.Source().Take(ctx, partner, time.Minute)
		if err != nil || piece == nil {
			p.t.Fatalf("%s is due and not to be had: %v", partner, err)
		}
		if err := piece.Do(ctx); err != nil {
			p.t.Fatal(err)
		}
	}
}

// soon makes due what is put off or leased.
func (p *post) soon() {
	p.t.Helper()
	for _, sql := range []string{`update subscription_stream set due_at = now()`, `update subscription_event set due_at = now()`} {
		if _, err := p.pool.Exec(context.Background(), sql); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *post) arrived(want ...string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.receiver.list()); diff != "" {
		p.t.Fatalf("what arrived (-want +got):\n%s", diff)
	}
}

func (p *post) stream(partner string) *outbox.Stream {
	p.t.Helper()
	list, err := outbox.Subscriptions{Pool: p.pool}.Streams(context.Background(), "erp")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, s := range list {
		if s.Partner == partner {
			return s
		}
	}
	p.t.Fatalf("%s has no stream", partner)
	return nil
}

func TestStreams(t *testing.T) {
	ctx := context.Background()
	t.Run("each partner's events arrive in order, once", func(t *testing.T) {
		p := newPost(t, hook())
		p.write("acme", "1", "2", "3")
		p.write("bolt", "4")
		p.run()
		p.arrived("acme 1", "acme 2", "acme 3", "bolt 4")
		p.write("acme", "5")
		p.run()
		p.run()
		p.arrived("acme 1", "acme 2", "acme 3", "bolt 4", "acme 5")
		if s := p.stream("acme"); s.Sent != 4 || s.OldestUnsent != nil || s.Failure != "" {
			t.Errorf("%+v", s)
		}
	})
	t.Run("an event that does not arrive holds its partner's later ones, and nobody else's", func(t *testing.T) {
		p := newPost(t, hook())
		p.write("acme", "1", "2", "3")
		p.write("bolt", "4")
		p.receiver.fails["2"] = errors.New("no answer")
		for n := 1; n <= 4; n++ {
			p.run()
			p.arrived("acme 1", "bolt 4")
			if s := p.stream("acme"); s.Attempts != n || s.FailingSince == nil || s.Failure != "no answer" || s.Next == nil {
				t.Fatalf("%+v", s)
			}
			if due, err := p.streams.Source().Due(ctx); len(due) != 0 || err != nil {
				t.Fatalf("there is no back-off: %v, %v", due, err)
			}
			p.soon()
		}
		delete(p.receiver.fails, "2")
		p.run()
		p.arrived("acme 1", "bolt 4", "acme 2", "acme 3")
		if s := p.stream("acme"); s.Attempts != 0 || s.FailingSince != nil || s.Failure != "" {
			t.Errorf("%+v", s)
		}
	})
	t.Run("one whose answer was lost comes again", func(t *testing.T) {
		p := newPost(t, hook())
		p.write("acme", "1", "2")
		p.receiver.loses["1"] = 1
		p.run()
		p.soon()
		p.run()
		p.arrived("acme 1", "acme 1", "acme 2")
	})
	t.Run("what a transaction may still write before it holds an event back", func(t *testing.T) {
		p := newPost(t, hook())
		slow, err := p.pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		write(t, slow, "acme", outbox.DocumentCreated, "slow")
		p.write("acme", "fast")
		p.run()
		p.arrived()
		if err := slow.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		p.run()
		p.arrived("acme slow", "acme fast")
	})
	t.Run("one that is refused is set aside after a while, for a person who has it sent again", func(t *testing.T) {
		p := newPost(t, hook(func(s *outbox.Spec) { s.Refusals = 2 }))
		id := p.write("acme", "1")
		p.write("acme", "2")
		p.receiver.fails["1"] = fmt.Errorf("%w: 422", outbox.ErrRefused)
		p.run()
		p.arrived()
		p.soon()
		p.run()
		p.arrived("acme 2")
		subs := outbox.Subscriptions{Pool: p.pool}
		list, err := subs.Asides(ctx, outbox.AsideFilter{Limit: 10})
		if err != nil || len(list) != 1 || list[0].Event != id || list[0].State != outbox.SetAside || list[0].Failure == "" {
			t.Fatalf("%+v, %v", list, err)
		}
		if log, err := subs.Attempts(ctx, "acme", id); err != nil || len(log) != 2 {
			t.Errorf("delivery log %+v, %v", log, err)
		}
		p.must(func(tx pgx.Tx) error { return outbox.ResendTx(ctx, tx, "erp", "acme", id) })
		p.run() // refused again
		p.arrived("acme 2")
		if s := p.stream("acme"); s.SetAside != 1 {
			t.Errorf("%+v", s)
		}
		delete(p.receiver.fails, "1")
		p.must(func(tx pgx.Tx) error {
			n, err := outbox.ResendAllTx(ctx, tx, "erp", "")
			if n != 1 {
				t.Errorf("%d are sent again", n)
			}
			return err
		})
		p.soon()
		p.run()
		p.run()
		p.arrived("acme 2", "acme 1")
	})
	t.Run("a target that refuses everything has the subscription paused, and not each event set aside", func(t *testing.T) {
		p := newPost(t, hook(func(s *outbox.Spec) { s.Refusals = 1 }))
		const all = 9
		for i := range all {
			name := string(rune('1' + i))
			p.write([]string{"acme", "bolt"}[i%2], name) // the fault is the target's, not a partner's
			p.receiver.fails[name] = outbox.ErrRefused
		}
		for range 12 {
			p.run()
			p.soon()
		}
		subs := outbox.Subscriptions{Pool: p.pool}
		s, err := subs.Get(ctx, "erp")
		if err != nil || s.Paused == nil || !strings.Contains(s.Reason, "refused 5 events") {
			t.Fatalf("%+v, %v", s, err)
		}
		if list, err := subs.Asides(ctx, outbox.AsideFilter{Limit: 100}); err != nil || len(list) != 5 {
			t.Errorf("%d are set aside, %v", len(list), err)
		}
		p.must(func(tx pgx.Tx) error { return outbox.ResumeTx(ctx, tx, "erp", "") })
		p.run() // nothing was mended
		if s, err := subs.Get(ctx, "erp"); err != nil || s.Paused == nil {
			t.Errorf("it goes on: %+v, %v", s, err)
		}
		clear(p.receiver.fails)
		p.must(func(tx pgx.Tx) error {
			_, err := outbox.ResendAllTx(ctx, tx, "erp", "")
			return errors.Join(err, outbox.ResumeTx(ctx, tx, "erp", ""))
		})
		for range 3 {
			p.run()
			p.soon()
		}
		if got := p.receiver.list(); len(got) != all {
			t.Errorf("%d of %d arrived: %v", len(got), all, got)
		}
	})
	t.Run("one that was set aside can be given up", func(t *testing.T) {
		p := newPost(t, hook(func(s *outbox.Spec) { s.Refusals = 1 }))
		id := p.write("acme", "1")
		p.receiver.fails["1"] = outbox.ErrRefused
		p.run()
		p.must(func(tx pgx.Tx) error { return outbox.DismissTx(ctx, tx, "erp", "acme", id) })
		if err := p.tx(func(tx pgx.Tx) error { return outbox.DismissTx(ctx, tx, "erp", "acme", id) }); !errors.Is(err, outbox.ErrNotSetAside) {
			t.Error(err)
		}
	})
	t.Run("an event that arrived can be sent once more, and one that is not there cannot", func(t *testing.T) {
		p := newPost(t, hook())
		id := p.write("acme", "1")
		p.run()
		p.must(func(tx pgx.Tx) error { return outbox.ResendTx(ctx, tx, "erp", "acme", id) })
		p.run()
		p.run()
		p.arrived("acme 1", "acme 1")
		if err := p.tx(func(tx pgx.Tx) error { return outbox.ResendTx(ctx, tx, "erp", "acme", newID()) }); !errors.Is(err, outbox.ErrNoSuchEvent) {
			t.Error(err)
		}
		if err := p.tx(func(tx pgx.Tx) error { return outbox.ResendTx(ctx, tx, "other", "acme", id) }); !errors.Is(err, outbox.ErrNoSubscription) {
			t.Error(err)
		}
	})
	t.Run("a target that wants nothing any more pauses the subscription", func(t *testing.T) {
		p := newPost(t, hook())
		p.write("acme", "1")
		p.receiver.fails["1"] = fmt.Errorf("%w: 410", outbox.ErrGone)
		p.run()
		p.soon()
		if due, err := p.streams.Source().Due(ctx); len(due) != 0 || err != nil {
			t.Fatal(due, err)
		}
		s, err := outbox.Subscriptions{Pool: p.pool}.Get(ctx, "erp")
		if err != nil || s.Paused == nil || s.Reason == "" {
			t.Errorf("%+v, %v", s, err)
		}
		delete(p.receiver.fails, "1")
		p.must(func(tx pgx.Tx) error { return outbox.ResumeTx(ctx, tx, "erp", "") })
		p.run()
		p.arrived("acme 1")
	})
	t.Run("one partner can be paused alone, even before it had an event", func(t *testing.T) {
		p := newPost(t, hook())
		p.must(func(tx pgx.Tx) error { return outbox.PauseTx(ctx, tx, "erp", "acme", "vera", "their ERP moves") })
		p.write("acme", "1")
		p.write("bolt", "2")
		p.run()
		p.arrived("bolt 2")
		p.must(func(tx pgx.Tx) error { return outbox.ResumeTx(ctx, tx, "erp", "acme") })
		p.run()
		p.arrived("bolt 2", "acme 1")
	})
	t.Run("a paused subscription goes on where it stands", func(t *testing.T) {
		p := newPost(t, hook())
		p.write("acme", "1")
		p.run()
		p.must(func(tx pgx.Tx) error { return outbox.PauseTx(ctx, tx, "erp", "", "vera", "") })
		p.write("acme", "2")
		p.run()
		if piece, err := p.streams.Source().Take(ctx, "acme", time.Minute); piece != nil || err != nil {
			t.Fatal("taken though it is paused", err)
		}
		p.must(func(tx pgx.Tx) error { return outbox.ResumeTx(ctx, tx, "erp", "") })
		p.run()
		p.arrived("acme 1", "acme 2")
	})
	t.Run("a new one begins now, with what is being written, or at the beginning", func(t *testing.T) {
		p := newPost(t, hook())
		p.write("acme", "before")
		running, err := p.pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		write(t, running, "acme", outbox.DocumentCreated, "running")
		late := hook(func(s *outbox.Spec) { s.Name, s.From = "late", outbox.FromNow })
		p.put(late)
		if err := running.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		p.write("acme", "after")
		p.streams = p.open(late)
		p.run()
		p.arrived("acme running", "acme after")
		p.streams = p.open(hook())
		p.run()
		p.arrived("acme running", "acme after", "acme before", "acme running", "acme after")
	})
	t.Run("only the partners and types that it wants", func(t *testing.T) {
		p := newPost(t, hook(func(s *outbox.Spec) { s.Partners, s.Types = []string{"bolt"}, []string{"document.*", "alert.opened"} }))
		p.write("acme", "1")
		for i, typ := range []string{outbox.MessageReceived, outbox.DocumentCreated, outbox.AlertOpened, outbox.DocumentSuperseded, outbox.DriftOpened} {
			write(t, p.pool, "bolt", typ, fmt.Sprint(i))
		}
		p.run()
		p.run()
		p.arrived("bolt 1", "bolt 2", "bolt 3")
		if s := p.stream("bolt"); s.Sent != 3 || s.OldestUnsent != nil {
			t.Errorf("%+v", s)
		}
	})
	t.Run("more than is read at once, in batches that end in the middle", func(t *testing.T) {
		p := newPost(t, hook())
		p.streams.Sink.Batch = 30
		var want []string
		for n := range 250 {
			typ := outbox.DocumentCreated
			if n%3 == 0 {
				typ = outbox.AlertOpened // nobody wants it
			} else {
				want = append(want, fmt.Sprint("acme ", n))
			}
			write(t, p.pool, "acme", typ, fmt.Sprint(n))
		}
		p.receiver.fails["100"] = errors.New("down")
		p.run()
		delete(p.receiver.fails, "100")
		p.soon()
		p.run()
		p.arrived(want...)
	})
	t.Run("events are gathered while the sink rests", func(t *testing.T) {
		p := newPost(t, hook())
		p.streams.Sink.Batch, p.streams.Sink.Rest = 10, time.Hour
		p.write("acme", "1")
		p.run()
		p.write("acme", "2", "3")
		p.run()
		p.arrived("acme 1")
		p.soon()
		p.run()
		p.arrived("acme 1", "acme 2", "acme 3")
	})
	t.Run("in a storm a full batch is followed by the next, and the rest comes behind the last", func(t *testing.T) {
		p := newPost(t, hook())
		p.streams.Sink.Batch, p.streams.Sink.Rest = 10, time.Hour
		var sizes []int
		p.streams.Sink.Send = func(ctx context.Context, batch []*outbox.Record) (int, []outbox.Attempt, error) {
			sizes = append(sizes, len(batch))
			return p.receiver.send(ctx, batch)
		}
		var want []string
		for n := range 500 {
			typ := outbox.AlertOpened // nobody wants it
			if n%20 == 0 {
				typ = outbox.DocumentCreated
				want = append(want, fmt.Sprint("acme ", n))
			}
			write(t, p.pool, "acme", typ, fmt.Sprint(n))
		}
		p.run()
		p.arrived(want...)
		if diff := cmp.Diff([]int{10, 10, 5}, sizes); diff != "" {
			t.Error(diff)
		}
		p.write("acme", "late")
		p.run()
		p.arrived(want...)
	})
	t.Run("who slept until another had the stream notes nothing", func(t *testing.T) {
		p := newPost(t, hook())
		p.write("acme", "1")
		slept, err := p.streams.Source().Take(ctx, "acme", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		p.soon()
		p.run()
		if err := slept.Do(ctx); !errors.Is(err, lease.ErrLost) {
			t.Errorf("it ended with %v", err)
		}
		if kept, err := slept.Renew(ctx, time.Minute); kept || err != nil {
			t.Errorf("renewed: %v, %v", kept, err)
		}
		if s := p.stream("acme"); s.Sent != 1 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("what is given back is due at once", func(t *testing.T) {
		p := newPost(t, hook())
		p.write("acme", "1")
		piece, err := p.streams.Source().Take(ctx, "acme", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := piece.Return(ctx); err != nil {
			t.Fatal(err)
		}
		p.run()
		p.arrived("acme 1")
	})
	t.Run("what a target says in another charset is noted, and nothing comes again for it", func(t *testing.T) {
		p := newPost(t, hook())
		said := "550 Empf\xe4nger unbekannt\x00"
		sent := 0
		p.streams.Sink.Send = func(_ context.Context, batch []*outbox.Record) (int, []outbox.Attempt, error) {
			sent += len(batch)
			return len(batch), []outbox.Attempt{{Event: batch[0].ID, At: time.Now(), Status: 250, Answer: said}}, nil
		}
		id := p.write("acme", "1")
		p.run()
		p.soon()
		p.run()
		if sent != 1 {
			t.Errorf("sent %d times", sent)
		}
		p.streams.Sink.Send = func(_ context.Context, batch []*outbox.Record) (int, []outbox.Attempt, error) {
			return 0, []outbox.Attempt{{Event: batch[0].ID, At: time.Now(), Failure: said}}, errors.New(said)
		}
		p.write("acme", "2")
		p.run()
		if s := p.stream("acme"); s.Attempts != 1 || s.Failure != "550 Empf?nger unbekannt?" {
			t.Errorf("%+v", s)
		}
		log, err := outbox.Subscriptions{Pool: p.pool}.Attempts(ctx, "acme", id)
		if err != nil || len(log) != 1 || log[0].Answer != "550 Empf?nger unbekannt?" {
			t.Errorf("%+v, %v", log, err)
		}
	})
	t.Run("a sink that panics has failed", func(t *testing.T) {
		p := newPost(t, hook())
		p.write("acme", "1")
		p.streams.Sink.Send = func(context.Context, []*outbox.Record) (int, []outbox.Attempt, error) { panic("boom") }
		p.run()
		if s := p.stream("acme"); s.Attempts != 1 || s.Failure != "panic: boom" {
			t.Errorf("%+v", s)
		}
	})
	t.Run("a subscription that is deleted leaves nothing but its delivery log", func(t *testing.T) {
		p := newPost(t, hook(func(s *outbox.Spec) { s.Refusals = 1 }))
		p.write("acme", "1")
		p.receiver.fails["1"] = outbox.ErrRefused
		p.run()
		p.must(func(tx pgx.Tx) error { return outbox.DeleteTx(ctx, tx, "erp") })
		for table, want := range map[string]int{"subscription": 0, "subscription_stream": 0, "subscription_event": 0, "subscription_attempt": 1} {
			var n int
			if err := p.pool.QueryRow(ctx, `select count(*) from `+table).Scan(&n); err != nil || n != want {
				t.Errorf("%s has %d rows, want %d, %v", table, n, want, err)
			}
		}
		if err := p.tx(func(tx pgx.Tx) error { return outbox.DeleteTx(ctx, tx, "erp") }); !errors.Is(err, outbox.ErrNoSubscription) {
			t.Error(err)
		}
	})
}
