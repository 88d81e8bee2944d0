package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/pgtest"
)

// TestQuarantine has two processes refuse at once what fails verification under one name.
func TestQuarantine(t *testing.T) {
	const cap = 1000
	pool := pgtest.New(t)
	one, two := newRigOn(t, pool), newRigOn(t, pool)
	one.now, two.now = time.Now(), time.Now() // the day is the database's
	fill := func(n int, bytes int64) {
		one.exec(`truncate delivery, payload`)
		one.exec(`insert into delivery (partner_id, delivery_id, seq, purge_month, received_at, transport, verdict, outcome, status, bytes, payload_id)
			select 'acme', (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || lpad(n::text, 20, '0'))::uuid, 0, current_date, now(), 'as2', 'refused', 'x', 200, $2, gen_random_uuid()
			from generate_series(1, $1::int) n`, n, bytes)
	}
	kept := func() int { return one.count(`select count(*) from delivery where outcome = 'integrity-check-failed'`) }
	storm := func(payload string) {
		var wg sync.WaitGroup
		for i := range 32 {
			r := one
			if i%2 == 0 {
				r = two
			}
			wg.Go(func() {
				d := (&signed{rig: r}).delivery(fmt.Sprint("id-", i), "mic", payload)
				d.Fault = &gateway.Rejection{Answer: gateway.ToldFaulty, Reason: "integrity-check-failed", Detail: "It was changed."}
				d.Elsewhere = &gateway.Elsewhere{Type: "MDN", Target: "as2-mdn", Address: "http://mdn.acme.example/"}
				_, err := r.Receive(context.Background(), d)
				if told := (*gateway.Rejection)(nil); !errors.As(err, &told) || told.Reason != "integrity-check-failed" {
					t.Errorf("told %v", err)
				}
			})
		}
		wg.Wait()
	}
	t.Run("as many lines are kept as the cap leaves, with an answer on its way each", func(t *testing.T) {
		fill(cap-5, 0)
		storm("x")
		if n, answers := kept(), one.count(`select count(*) from outbox where type = 'receipt.due'`); n != 5 || answers != 5 {
			t.Errorf("%d lines and %d answers, want 5", n, answers)
		}
	})
	t.Run("as many bytes are kept as the cap leaves; the lines go on", func(t *testing.T) {
		fill(1, 64<<20-10)
		storm("xyz")
		if n, payloads := kept(), one.count(`select count(*) from payload`); n != 32 || payloads != 3 {
			t.Errorf("%d lines with %d payloads, want 32 and 3", n, payloads)
		}
	})
	t.Run("from none, all are kept", func(t *testing.T) {
		one.exec(`truncate delivery, payload`)
		storm("x")
		if n := kept(); n != 32 {
			t.Errorf("%d lines, want 32", n)
		}
	})
	if n := one.count(`select count(*) from inbox`); n != 0 {
		t.Errorf("%d keys", n)
	}
}
