package outbox_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/outbox"
)

func TestARestoredDatabaseLosesNoEvent(t *testing.T) {
	ctx := context.Background()
	p := newPost(t, hook())
	p.write("acme", "1", "2")
	p.run()
	p.arrived("acme 1", "acme 2")
	p.write("acme", "3") // in the backup, and not sent before it
	if was, err := outbox.Restored(ctx, p.pool); was || err != nil {
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
	if was, err := outbox.Restored(ctx, p.pool); !was || err != nil {
		t.Fatalf("it is not taken for restored: %v", err)
	}
	p.run()
	p.arrived("acme 1", "acme 2") // paused until a person says so
	s, err := outbox.Subscriptions{Pool: p.pool}.Get(ctx, "erp")
	if err != nil || s.Paused == nil || s.Reason != outbox.RestoredReason {
		t.Errorf("%+v, %v", s, err)
	}
	place := outbox.Place{XID: 1_000_000}
	if _, err := (outbox.Feed{Pool: p.pool}).Read(ctx, outbox.FeedFilter{Types: outbox.Types, Limit: 1, After: place}); !errors.Is(err, outbox.ErrAhead) {
		t.Errorf("the feed goes on from a cursor of the former cluster: %v", err)
	}
	if was, err := outbox.Restored(ctx, p.pool); was || err != nil {
		t.Errorf("restored twice: %v", err)
	}
	p.must(func(tx pgx.Tx) error { return outbox.ResumeTx(ctx, tx, "erp", "") })
	p.run()
	p.write("acme", "5")
	p.run()
	p.arrived("acme 1", "acme 2", "acme 3", "acme 4", "acme 5")
}
