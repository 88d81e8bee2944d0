package gateway_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/edigw/edigw/gateway"
)

func TestGroups(t *testing.T) {
	t.Run("deliveries that arrive together are committed together, each with its own answer", func(t *testing.T) {
		r := newRig(t)
		bodies := map[string]string{}
		var mu sync.Mutex
		everyone(t, 120, func(i int) error {
			ref := fmt.Sprintf("G%d", i)
			rec, err := r.deliver("acme", "id-"+ref, interchange(ref, message{number: ref}))
			if err == nil && (rec.Verdict != gateway.First || rec.Answer != gateway.ToldAccepted) {
				err = fmt.Errorf("%s: %s", ref, rec.Rendered.Body)
			}
			if err == nil {
				mu.Lock()
				bodies[ref] = string(rec.Rendered.Body)
				mu.Unlock()
			}
			return err
		})
		if n := r.posted(); n != 120 {
			t.Errorf("posted %d, want 120", n)
		}
		if n := r.count(`select count(distinct xid::text) from outbox`); n >= 120 {
			t.Errorf("%d transactions for 120 deliveries: nothing was grouped", n)
		}
		for ref, body := range bodies {
			rec, err := r.deliver("acme", "id-"+ref, interchange(ref, message{number: ref}))
			if err != nil || string(rec.Rendered.Body) != body {
				t.Errorf("the repeat of %s got another answer: %v", ref, err)
			}
		}
	})
	t.Run("members that meet a known key, a known document or each other go alone", func(t *testing.T) {
		r := newRig(t)
		second := newRigOn(t, r.Pool)
		everyone(t, 160, func(i int) error {
			by := r
			if i%2 == 1 {
				by = second
			}
			ref := fmt.Sprintf("G%d", i/2)       // both processes get each interchange
			number := fmt.Sprintf("N%d", i/2%40) // and each document comes in two interchanges
			_, err := by.deliver("acme", "", interchange(ref, message{number: number}))
			return err
		})
		if n := r.posted(); n != 40 {
			t.Errorf("posted %d, want 40", n)
		}
		if n := r.count(`select count(*) from inbox where state = 2`); n != 80 {
			t.Errorf("%d accepted keys, want 80", n)
		}
		if n := r.count(`select count(*) from outbox where type = 'document.created'`); n != 40 {
			t.Errorf("%d events, want 40", n)
		}
	})
	t.Run("one document the database refuses does not take the others with it", func(t *testing.T) {
		r := newRig(t)
		r.exec(`alter table document add constraint no_seven check (number <> 'G7')`)
		everyone(t, 40, func(i int) error {
			ref := fmt.Sprintf("G%d", i)
			rec, err := r.deliver("acme", "", interchange(ref, message{number: ref}))
			want := gateway.ToldAccepted
			if i == 7 {
				want = gateway.ToldRejected
			}
			if err == nil && rec.Answer != want {
				err = fmt.Errorf("%s: told %s", ref, rec.Answer.Told().Word)
			}
			return err
		})
		if n := r.posted(); n != 39 {
			t.Errorf("posted %d, want 39", n)
		}
	})
}

// everyone runs f n times at once.
func everyone(t *testing.T, n int, f func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			if err := f(i); err != nil {
				t.Errorf("delivery %d: %v", i, err)
			}
		})
	}
	close(start)
	wg.Wait()
}
