package outbox_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/outbox"
)

func TestHealthOfSubscriptions(t *testing.T) {
	ctx := context.Background()
	p := newPost(t, hook())
	p.receiver.fails["1"] = errors.New("connection refused")
	p.write("acme", "1")
	p.write("bolt", "2")
	p.run()
	stands := func(streams, failing int, waits bool) {
		t.Helper()
		h, err := outbox.Subscriptions{Pool: p.pool}.Health(ctx)
		if err != nil || h.Streams != streams || h.Failing != failing || h.Oldest > 0 != waits {
			t.Errorf("%+v, %v", h, err)
		}
	}
	stands(2, 1, true)
	t.Run("a partner whom the subscription no longer names does not fail for ever", func(t *testing.T) {
		p.put(hook(func(s *outbox.Spec) { s.Partners = []string{"bolt"} }))
		stands(1, 0, false)
	})
	t.Run("named again, he fails as before", func(t *testing.T) {
		p.put(hook(func(s *outbox.Spec) { s.Partners = []string{"acme", "bolt"} }))
		stands(2, 1, true)
	})
	t.Run("without the subscription there is nothing to count", func(t *testing.T) {
		p.must(func(tx pgx.Tx) error { return outbox.DeleteTx(ctx, tx, "erp") })
		stands(0, 0, false)
	})
}
