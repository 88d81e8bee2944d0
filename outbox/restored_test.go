package outbox_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/outbox"
)

func TestARestoredFeedLosesNoEvent(t *testing.T) {
	ctx := context.Background()
	p := newPost(t, hook())
	p.must(func(tx pgx.Tx) error { return outbox.DeleteTx(ctx, tx, "erp") })
	p.write("acme", "1")
	p.write("bolt", "2")
	if was, err := (outbox.Outgoing{Pool: p.pool}).Look(ctx); was || err != nil {
		t.Fatalf("it is taken for restored: %v", err)
	}
	// Only the second partner's event stands ahead of what this cluster gives.
	if _, err := p.pool.Exec(ctx, `update outbox set xid = (xid::text::bigint + 1000000)::text::xid8 where partner_id = 'bolt'`); err != nil {
		t.Fatal(err)
	}
	if was, err := (outbox.Outgoing{Pool: p.pool}).Look(ctx); !was || err != nil {
		t.Fatalf("without a subscription it is not taken for restored: %v", err)
	}
	p.write("acme", "3")
	page, err := outbox.Feed{Pool: p.pool}.Read(ctx, outbox.FeedFilter{Types: outbox.Types, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, r := range page.Events {
		got[r.Partner+" "+r.Subject] = true
	}
	if diff := cmp.Diff(map[string]bool{"acme 1": true, "bolt 2": true, "acme 3": true}, got); diff != "" {
		t.Errorf("the feed (-want +got)\n%s", diff)
	}
}

func TestARestoredDatabaseLosesNoEvent(t *testing.T) {
	ctx := context.Background()
	p := newPost(t, hook())
	p.write("acme", "1", "2")
	p.run()
	p.arrived("acme 1", "acme 2")
	p.write("acme", "3") // in the backup, and not sent before it
	if was, err := (outbox.Outgoing{Pool: p.pool}).Look(ctx); was || err != nil {
		t.Fatalf("it is taken for restored: %v", err)
	}
	// The cluster of the backup had given far more ids than this one.
	for _, sql := range []string{
		`update outbox set xid = (xid::text::bigint + 1000000)::text::xid8`,
		`update subscription_stream set xid = (xid::text::bigint + 1000000)::text::xid8`,
	} {
		if _, err := p.pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	p.write("acme", "4")
	if was, err := (outbox.Outgoing{Pool: p.pool}).Look(ctx); !was || err != nil {
		t.Fatalf("it is not taken for restored: %v", err)
	}
	p.run()
	p.arrived("acme 1", "acme 2") // held until a person says so
	h, err := outbox.Outgoing{Pool: p.pool}.Standing(ctx)
	if err != nil || !h.Held || h.Since == nil || h.Reason != outbox.RestoredReason {
		t.Errorf("%+v, %v", h, err)
	}
	place := outbox.Place{XID: 1_000_000}
	if _, err := (outbox.Feed{Pool: p.pool}).Read(ctx, outbox.FeedFilter{Types: outbox.Types, Limit: 1, After: place}); !errors.Is(err, outbox.ErrAhead) {
		t.Errorf("the feed goes on from a cursor of the former cluster: %v", err)
	}
	if was, err := (outbox.Outgoing{Pool: p.pool}).Look(ctx); was || err != nil {
		t.Errorf("restored twice: %v", err)
	}
	p.must(func(tx pgx.Tx) error { return outbox.ConfirmTx(ctx, tx, "p. admin") })
	p.run()
	p.write("acme", "5")
	p.run()
	p.arrived("acme 1", "acme 2", "acme 3", "acme 4", "acme 5")
}

// lines counts what is logged, and tells of each.
type lines struct {
	slog.Handler
	logged chan string
}

func (l lines) Handle(_ context.Context, r slog.Record) error {
	select {
	case l.logged <- r.Message:
	default: // nobody waits for more
	}
	return nil
}

func (l lines) Enabled(context.Context, slog.Level) bool { return true }

func TestNothingIsSentBeforeItIsKnownWhetherTheDatabaseWasRestored(t *testing.T) {
	ctx := context.Background()
	p := newPost(t, hook())
	rename := func(from, to string) {
		t.Helper()
		if _, err := p.pool.Exec(ctx, `alter table `+from+` rename to `+to); err != nil {
			t.Fatal(err)
		}
	}
	rename("outbox", "outbox_elsewhere") // so that the look fails
	var opened atomic.Int32
	open := make(chan struct{}, 1)
	log := lines{slog.DiscardHandler, make(chan string, 3)}
	r := &outbox.Runner{Pool: p.pool, NewID: newID, Log: slog.New(log), Look: time.Millisecond, Workers: 1,
		Partners: func() []string { return []string{"acme"} },
		Open: func(outbox.Spec) (outbox.Sink, error) {
			opened.Add(1)
			open <- struct{}{}
			return outbox.Sink{Send: p.receiver.send}, nil
		}}
	r.Start()
	defer r.Stop(ctx)
	for range 3 {
		if line := <-log.logged; !strings.Contains(line, "whether the database was restored is not known") {
			t.Errorf("it says %q", line)
		}
	}
	if n := opened.Load(); n != 0 {
		t.Errorf("%d subscriptions were opened", n)
	}
	rename("outbox_elsewhere", "outbox")
	<-open // the look succeeds, and they are
}
