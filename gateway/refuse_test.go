package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/pgtest"
)

// TestQuarantine has two processes refuse at once what fails verification under one name.
func TestQuarantine(t *testing.T) {
	const cap = 1000
	pool := pgtest.New(t)
	one, two := newRigOn(t, pool), newRigOn(t, pool)
	fill := func(n int, bytes int64) {
		one, two = newRigOn(t, pool), newRigOn(t, pool) // which remember nothing
		one.now, two.now = time.Now(), time.Now()       // the day is the database's
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
		fill(0, 0)
		storm("x")
		if n := kept(); n != 32 {
			t.Errorf("%d lines, want 32", n)
		}
	})
	if n := one.count(`select count(*) from inbox`); n != 0 {
		t.Errorf("%d keys", n)
	}
}

// TestForgeries refuses what anybody sends under the name of a partner, who has much to do.
func TestForgeries(t *testing.T) {
	forgery := func(r *rig) error {
		_, err := r.Receive(context.Background(), &gateway.Delivery{Transport: "as2", Partner: r.by["acme"], Payload: edi.Bytes([]byte("x")), Received: r.now,
			TransportID: "as2:ours:x", Fault: &gateway.Rejection{Answer: gateway.ToldUnproven, Reason: "authentication-failed"}})
		return err
	}
	refused := func(err error) bool {
		told := (*gateway.Rejection)(nil)
		return errors.As(err, &told) && told.Reason == "authentication-failed"
	}
	// traced is a rig, and what it sends to the database.
	traced := func(t *testing.T) (*rig, *tracer) {
		t.Helper()
		config, err := pgxpool.ParseConfig(pgtest.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		x := &tracer{sent: map[string][]any{}}
		config.ConnConfig.Tracer = x
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		r := newRigOn(t, pool)
		r.now = time.Now()
		return r, x
	}
	const rows = `insert into delivery (partner_id, delivery_id, seq, purge_month, received_at, transport, transport_id, message_id, verdict, outcome, status)
		select 'acme', (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || lpad(n::text, 20, '0'))::uuid, 0, current_date, now(), 'as2', 'as2:ours:' || n, 'unb:' || n, $2, 'x', 200
		from generate_series($1::int, $1 + $3 - 1) n`

	t.Run("the partner's other deliveries of the day are not looked at for one", func(t *testing.T) {
		r, x := traced(t)
		r.exec(rows, 0, "first", 20_000)
		r.exec(rows, 20_000, "refused", 20)
		x.during(func() {
			if err := forgery(r); !refused(err) {
				t.Errorf("told %v", err)
			}
		})
		asked := 0
		for _, state := range []string{"reset all", "vacuum analyze delivery"} {
			r.exec(state)
			for sql, args := range x.sent {
				if !strings.HasPrefix(sql, "select") || !strings.Contains(sql, "from delivery") {
					continue
				}
				asked++
				var plan []struct {
					Plan struct {
						Hit  int `json:"Shared Hit Blocks"`
						Read int `json:"Shared Read Blocks"`
					}
				}
				if err := r.Pool.QueryRow(t.Context(), "explain (analyze, buffers, format json) "+sql, args...).Scan(&plan); err != nil {
					t.Fatal(err)
				}
				if n := plan[0].Plan.Hit + plan[0].Plan.Read; n > 60 {
					t.Errorf("%d pages are read for\n%s", n, sql)
				}
			}
		}
		if asked != 4 {
			t.Errorf("%d statements were looked at, want a count, and the first of the day, each twice", asked)
		}
	})
	t.Run("beyond the cap nothing is asked of the database, until the next day", func(t *testing.T) {
		r, x := traced(t)
		r.exec(rows, 0, "refused", 1000)
		sent := func() int {
			x.sent = map[string][]any{}
			return x.during(func() {
				if err := forgery(r); !refused(err) {
					t.Errorf("told %v", err)
				}
			})
		}
		if n := sent(); n != 1 {
			t.Errorf("%d statements for the first one beyond it, want a count", n)
		}
		if n := sent(); n != 0 {
			t.Errorf("%d statements for the next, want none", n)
		}
		r.now = r.now.Add(24 * time.Hour)
		if n := sent(); n != 1 {
			t.Errorf("%d statements on the next day, want a count", n)
		}
	})
	t.Run("genuine deliveries have their turn beside a storm of them", func(t *testing.T) {
		r := newRigOn(t, poolOf20(t))
		gate := stopAt(t, r, "refuse", 1)
		var storm sync.WaitGroup
		told := make(chan error, 300)
		for range cap(told) {
			storm.Go(func() { told <- forgery(r) })
		}
		gate.reached(t, 1)
		until(t, "all others wait for the first, or are told to come again", func() bool { return len(told)+r.has("edigw_partner_waiting", "acme", "turn") == cap(told)-1 })
		if n := r.has("edigw_partner_waiting", "acme", "turn"); n > 32 {
			t.Errorf("%d wait, and keep room that genuine ones need", n)
		}
		for i := range 20 {
			if n := r.has("edigw_partner_connections", "acme", ""); n != 1 {
				t.Errorf("forgeries hold %d connections", n)
			}
			ref := fmt.Sprintf("GENUINE%d", i)
			r.must("", interchange(ref, message{number: ref}), gateway.First, gateway.ToldAccepted, "I1b")
		}
		gate.release()
		storm.Wait()
		close(told)
		for err := range told {
			if !refused(err) && !errors.Is(err, gateway.ErrCrowded) {
				t.Errorf("a forgery is told %v", err)
			}
		}
		if n := r.has("edigw_partner_connections", "acme", ""); n != 0 {
			t.Errorf("%d connections are still held", n)
		}
	})
}
