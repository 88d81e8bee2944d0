package outbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/pgtest"
)

func TestWhoHoldsEventsBackIsNamed(t *testing.T) {
	pool := pgtest.New(t)
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if err := tx.QueryRow(t.Context(), `select pg_backend_pid() where pg_current_xact_id() is not null`).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	// Other tests write in this cluster: their transactions end.
	for {
		holder, err := outbox.Subscriptions{Pool: pool}.Holder(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(holder, fmt.Sprintf("select pg_terminate_backend(%d)", pid)) && strings.Contains(holder, "open since 2") {
			break
		}
	}
	if err := tx.Rollback(context.Background()); err != nil {
		t.Fatal(err)
	}
}
