package gateway_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/purge"
)

var firstDay = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

const short = `retention: {dedup_window: 40d, retry_window: 10d, payloads: 20d, acknowledgements: 20d, quarantine: 20d, deliveries: 40d, documents: {invoice: 30d}}`

func TestWhatIsDueGoes(t *testing.T) {
	a := newAged(t, firstDay, short)
	_, key := a.invoice("t1")
	a.days(41) // a row may be a day behind
	a.purge()
	if !a.has(key) {
		t.Fatal("a key went on the last day of its window")
	}
	if n := a.count(`select count(*) from document`); n != 0 {
		t.Fatalf("%d documents are there after 41 days of 30", n)
	}
	a.days(1)
	r := a.purge()
	if a.has(key) || went(r, "keys", "") != 2 {
		t.Fatalf("a key of 40 days is there after 42: %+v", r.Steps)
	}
	a.days(60)
	r = a.purge()
	for _, table := range append([]string{"inbox", "variant", "document_key", "document"}, wideTables...) {
		if n := a.count(`select count(*) from ` + table); n != 0 {
			t.Errorf("%d rows of %s are left after 102 days\n%+v", n, table, r.Steps)
		}
	}
}

// What stays whose day has passed, and goes when the reason is gone.
func TestWhatStays(t *testing.T) {
	gone := func(t *testing.T, a *aged, key string) {
		t.Helper()
		for range 4 { // looked at again by and by
			a.days(31)
			a.purge()
		}
		if row, payload, n := a.keeps(key); row || payload || n != 0 {
			t.Fatalf("row %v, payload %v and %d deliveries are there though nothing keeps them", row, payload, n)
		}
	}
	kept := func(t *testing.T, a *aged, key, reason string, payload bool) {
		t.Helper()
		seen := int64(0)
		for range 4 {
			a.days(31)
			seen += went(a.purge(), "keys", reason)
		}
		row, has, _ := a.keeps(key)
		if !row || payload && !has || seen == 0 {
			t.Fatalf("row %v, payload %v; the report says %d times that it stays by %s", row, has, seen, reason)
		}
	}
	t.Run("a message that a person holds stays with its payload and its deliveries", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		_, key := a.invoice("t1")
		a.legally(key, true)
		kept(t, a, key, "legal_hold", true)
		if _, _, n := a.keeps(key); n == 0 {
			t.Error("its deliveries are gone")
		}
		a.legally(key, false)
		if _, err := a.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone(t, a, key)
	})
	t.Run("all of a partner under legal hold stays, what came before it too", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		_, key := a.invoice("t1")
		a.configure("acme", "9520001000010", short[:len(short)-1]+", legal_hold: true}")
		_, later := a.invoice("t2")
		kept(t, a, key, "legal_hold", true)
		for _, table := range []string{"payload", "acknowledgement", "delivery", "outbox", "document"} {
			if n := a.count(`select count(*) from ` + table); n < 2 {
				t.Errorf("%d rows of %s are there of two invoices", n, table)
			}
		}
		a.configure("acme", "9520001000010", short)
		if _, err := a.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone(t, a, key)
		gone(t, a, later)
	})
	t.Run("an open drift stays, with both payloads", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		text, key := a.invoice("")
		other := strings.Replace(text, "MOA+79:100.00", "MOA+79:120.00", 1)
		if _, err := a.deliver("acme", "", other); err != nil {
			t.Fatal(err)
		}
		kept(t, a, key, "open_drift", false)
		if n := a.count(`select count(*) from payload`); n == 0 {
			t.Error("the payload of an open drift is gone")
		}
		a.decide(gateway.KeepOriginal)
		gone(t, a, key)
	})
	t.Run("a dead message stays until it is discarded", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		a.fail = func(string) bool { return true }
		_, key := a.invoice("")
		kept(t, a, key, "dead_message", true)
	})
}

func TestWindowsInForce(t *testing.T) {
	long := `retention: {dedup_window: 100d, retry_window: 10d, payloads: 90d, acknowledgements: 90d, deliveries: 100d}`
	t.Run("a longer window keeps what is here at once", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		_, key := a.invoice("t1")
		a.days(19)
		a.configure("acme", "9520001000010", long)
		a.days(60)
		a.purge()
		if row, payload, n := a.keeps(key); !row || !payload || n == 0 {
			t.Fatalf("after 79 days of 90 and 100 the row is there: %v, the payload: %v, deliveries: %d", row, payload, n)
		}
		a.days(23)
		a.purge()
		if a.has(key) {
			t.Error("a key of 100 days is there after 102")
		}
	})
	t.Run("a shorter one after its grace", func(t *testing.T) {
		a := newAged(t, firstDay, long)
		_, key := a.invoice("t1")
		a.days(60)
		a.configure("acme", "9520001000010", short)
		a.days(6)
		a.purge()
		if row, payload, _ := a.keeps(key); !row || !payload {
			t.Fatal("what was to be kept for 90 days went within the grace of a change")
		}
		a.days(2)
		r := a.purge()
		if row, payload, _ := a.keeps(key); row || payload {
			t.Fatalf("it is there after the grace: %+v", r.Steps)
		}
	})
	t.Run("twice changed within the grace, nothing goes before the longest", func(t *testing.T) {
		a := newAged(t, firstDay, long)
		_, key := a.invoice("t1")
		a.days(60)
		a.configure("acme", "9520001000010", short)
		a.days(4)
		a.configure("acme", "9520001000010", strings.Replace(short, "40d", "41d", 1))
		a.days(2)
		a.purge()
		if !a.has(key) {
			t.Fatal("a key went six days after its window was made shorter, of seven")
		}
	})
	t.Run("a stored window that is not understood refuses the purge", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		_, key := a.invoice("t1")
		a.days(60)
		for _, set := range []string{`"embargo": "10d"`, `"dedup_window": "10 fortnights"`} {
			if _, err := a.Pool.Exec(t.Context(), `update partner_revision set spec = jsonb_set(spec, '{retention}', (spec->'retention') || $1::jsonb)`, "{"+set+"}"); err != nil {
				t.Fatal(err)
			}
			r, err := a.purger.Run(t.Context(), "")
			if err != nil || r.State != purge.Refused || !strings.Contains(r.Reason, "acme") || !a.has(key) {
				t.Fatalf("%+v, %v", r, err)
			}
		}
	})
}

// Case 98b: the clock forward 400 days, a purge, and back.
func TestTheClockJumped(t *testing.T) {
	a := newAged(t, firstDay, short)
	_, key := a.invoice("t1")
	jump := func(to time.Time) {
		t.Helper()
		a.clock.Set(to)
		a.now = to
		r, err := a.purger.Run(t.Context(), "")
		if err != nil || r.State != purge.Refused || !strings.Contains(r.Reason, "jumped") {
			t.Fatalf("at %s: %+v, %v", a.clock, r, err)
		}
	}
	jump(firstDay.AddDate(0, 0, 400))
	jump(firstDay.AddDate(0, 0, 401)) // going on does not make it right
	jump(firstDay.AddDate(0, 0, 1))
	if !a.has(key) {
		t.Fatal("a key is lost")
	}
	if err := pgx.BeginFunc(t.Context(), a.Pool, func(tx pgx.Tx) error {
		was, err := purge.ConfirmTx(t.Context(), tx)
		if err == nil && !was {
			err = errors.New("nothing was confirmed")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	a.purge()
	a.days(60)
	a.purge()
	if a.has(key) {
		t.Error("a key of 40 days is there after 61")
	}
}

func TestOneNodePurges(t *testing.T) {
	a := newAged(t, firstDay, short)
	var keys []string
	for range 30 {
		_, key := a.invoice("")
		keys = append(keys, key)
	}
	a.days(60)
	foreseen, err := a.purger.Preview(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	first, other := *a.purger, *a.purger
	other.Node = "two"
	first.Batch, other.Batch = 5, 5
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	batches := 0
	first.Hook = func(point string) {
		if point == "committed" && a.count(`select count(*) from inbox`) < 60 {
			if r, err := other.Run(t.Context(), ""); !errors.Is(err, purge.ErrElsewhere) {
				t.Errorf("a second node purges beside the first: %+v, %v", r, err)
			}
			if batches++; batches == 3 {
				kill()
				runtime.Goexit() // as a process that is killed
			}
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = first.Run(ctx, "") // never returns
	}()
	<-done
	if n := a.count(`select count(*) from inbox`); n == 0 || n == len(keys) {
		t.Fatalf("%d keys are left: it was not killed in the middle", n)
	}
	if _, err := other.Run(t.Context(), ""); !errors.Is(err, purge.ErrElsewhere) {
		t.Fatalf("the lease of a node that was killed ended at once: %v", err)
	}
	a.clock.Advance(3 * time.Minute)
	r, err := other.Run(t.Context(), "")
	if err != nil || r.State != purge.Done || r.Resumes == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	reports, err := a.purger.Reports(t.Context(), time.Time{}, 10)
	if err != nil || len(reports) != 2 || reports[1].State != purge.Stopped {
		t.Fatalf("%+v, %v", reports, err)
	}
	sum := map[purge.Step]int64{}
	for _, r := range reports {
		for _, s := range r.Steps {
			sum[purge.Step{Partner: s.Partner, Kind: s.Kind, Reason: s.Reason}] += s.Rows
		}
	}
	for _, s := range foreseen.Steps {
		if got := sum[purge.Step{Partner: s.Partner, Kind: s.Kind, Reason: s.Reason}]; got != s.Rows {
			t.Errorf("%s %s: %d went in both runs, %d were foreseen", s.Kind, s.Reason, got, s.Rows)
		}
	}
}

func TestPausedInTheMiddle(t *testing.T) {
	a := newAged(t, firstDay, short)
	for range 10 {
		a.invoice("")
	}
	a.days(60)
	a.purger.Batch = 3
	pause := func(do func(context.Context, pgx.Tx) (bool, error)) {
		t.Helper()
		if err := pgx.BeginFunc(t.Context(), a.Pool, func(tx pgx.Tx) error { _, err := do(t.Context(), tx); return err }); err != nil {
			t.Error(err)
		}
	}
	once := false
	a.purger.Hook = func(point string) {
		if point == "committed" && !once && a.count(`select count(*) from inbox`) < 10 {
			once = true
			pause(func(ctx context.Context, tx pgx.Tx) (bool, error) { return purge.PauseTx(ctx, tx, "olga", "month end") })
		}
	}
	r, err := a.purger.Run(t.Context(), "")
	if !errors.Is(err, purge.ErrPaused) || r.State != purge.Stopped {
		t.Fatalf("%+v, %v", r, err)
	}
	if n := a.count(`select count(*) from inbox`); n == 0 || n == 10 {
		t.Fatalf("%d keys are left", n)
	}
	if _, err := a.purger.Run(t.Context(), ""); !errors.Is(err, purge.ErrPaused) {
		t.Fatalf("a paused purge runs: %v", err)
	}
	pause(purge.ResumeTx)
	a.purge()
	if n := a.count(`select count(*) from inbox`); n != 0 {
		t.Fatalf("%d keys are left", n)
	}
}

// A message whose key is purged at that moment is processed exactly once.
func TestReceivedWhilePurged(t *testing.T) {
	a := newAged(t, firstDay, short)
	var texts []string
	for range 40 {
		text, _ := a.invoice("")
		texts = append(texts, text)
	}
	a.days(60)
	a.purger.Batch = 2
	var wg sync.WaitGroup
	var mu sync.Mutex
	next := 0
	a.purger.Hook = func(point string) {
		if point != "batch" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for range 2 { // of those that are gone, that are being purged, and that are not yet
			if next < len(texts) {
				text := texts[(next*7)%len(texts)]
				next++
				wg.Go(func() {
					if _, err := a.deliver("acme", "", text); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
	if r, err := a.purger.Run(t.Context(), ""); err != nil || r.State != purge.Done {
		t.Fatalf("%+v, %v", r, err)
	}
	wg.Wait()
	if n := a.count(`select count(*) from (select number from document where state = 'live' group by number having count(*) > 1) d`); n != 0 {
		t.Errorf("%d invoices were posted twice", n)
	}
	if n := a.count(`select count(*) from inbox where purge_on < (now() at time zone 'utc')::date - 1 and hold = 0`); n != 0 {
		t.Errorf("%d keys are due still", n)
	}
}

// What a shorter window has moved, a longer one gives back: a payload is kept as long as the
// windows in force say, whatever they were in between.
func TestWindowsThereAndBack(t *testing.T) {
	long := `retention: {dedup_window: 100d, retry_window: 10d, payloads: 90d, acknowledgements: 90d, deliveries: 100d}`
	a := newAged(t, firstDay, long)
	_, key := a.invoice("t1")
	a.days(5)
	a.configure("acme", "9520001000010", `retention: {dedup_window: 60d, retry_window: 10d, payloads: 50d, acknowledgements: 50d, deliveries: 60d}`)
	a.days(9)
	a.purge() // settles it under the shorter windows
	a.configure("acme", "9520001000010", long)
	for range 7 {
		a.days(10)
		a.purge()
	}
	if row, payload, n := a.keeps(key); !row || !payload || n == 0 {
		t.Fatalf("after 84 days of 90 and 100 the row is there: %v, the payload: %v, deliveries: %d", row, payload, n)
	}
	if n := a.count(`select count(*) from acknowledgement`); n == 0 {
		t.Error("its answers went after 84 days of 90")
	}
}

// An event is kept as long as the longest window that may be its own says.
func TestShorterPayloadsKeepAcknowledgements(t *testing.T) {
	a := newAged(t, firstDay, `retention: {payloads: 90d, acknowledgements: 90d}`)
	a.invoice("t1")
	events := a.count(`select count(*) from outbox`)
	a.configure("acme", "9520001000010", `retention: {payloads: 14d, acknowledgements: 90d}`)
	a.days(50)
	a.purge()
	if n := a.count(`select count(*) from outbox`); n != events {
		t.Errorf("%d of %d events are there after 50 days, of 90 for acknowledgements", n, events)
	}
	if n := a.count(`select count(*) from payload`); n != 0 {
		t.Errorf("%d payloads are there after 50 days of 14", n)
	}
}
