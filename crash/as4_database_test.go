//go:build linux

package crash_test

import (
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/pgtest"
)

// TestLostCommitAS4 cuts the connection to the database around COMMIT. The sender has
// the receipt that was committed, or is told to come again; his retry has a receipt.
func TestLostCommitAS4(t *testing.T) {
	t.Parallel()
	const invoices = 3
	s := newAS4Site(t, len(lostCommits)**runs)
	proxy, url := newProxy(t, s.site)
	gateway := s.startOn(t, url)
	for i, c := range lostCommits {
		for n := range *runs {
			run(t, fmt.Sprintf("%s/%d", c.name, n+1), func(t *testing.T) {
				p := s.site.partner(t)
				m := s.message(t, p, invoices)
				proxy.next(c.do)
				receipt, err := s.push(t.Context(), gateway, m.composed)
				switch {
				case err == nil && c.status != http.StatusServiceUnavailable:
					s.once(t, m)
					if stored := p.receipt(t, s.pool, m.id); string(receipt) != stored {
						t.Errorf("acknowledged by what is not stored:\n%s\n%s", receipt, stored)
					}
				case !saysAgain(err) || c.status == http.StatusCreated:
					t.Errorf("told %v, want %d", err, c.status)
				case c.verdict == "first":
					p.nothing(t, s.pool)
				}
				proxy.refuse(false)
				s.again(t, gateway, m, (i+n)%2 == 1)
			})
		}
	}
	gateway.noPanic(t)
}

// TestDatabaseGoneAS4 takes the database away in the middle of a message: EBMS:0202
// with 503, which is no receipt; nothing is stored, and the retry is First.
func TestDatabaseGoneAS4(t *testing.T) {
	t.Parallel()
	const invoices = 3
	s := newAS4Site(t, 6**runs)
	pushed := func(t *testing.T, to *program, c *as4.Composed) func() error {
		return func() error {
			_, err := s.push(t.Context(), to, c)
			return err
		}
	}
	for n := range *runs {
		for i, point := range []string{"claim", "last document", "before commit"} {
			run(t, fmt.Sprintf("its backend is terminated at %s/%d", point, n+1), func(t *testing.T) {
				p := s.site.partner(t)
				m := s.message(t, p, invoices)
				gateway := s.start(t, "EDIGW_FAULT="+point+"=stop:1s*2")
				terminate := s.terminateHeld(t)
				if err := disturb(t, gateway, point, pushed(t, gateway, m.composed), terminate, terminate); !saysAgain(err) {
					t.Errorf("not \"try again\": %v", err)
				}
				p.nothing(t, s.pool)
				s.again(t, gateway, m, (i+n)%2 == 1)
				gateway.noPanic(t)
			})
		}
		run(t, fmt.Sprintf("it is stopped, and started again/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			m := s.message(t, p, invoices)
			gateway := s.start(t, "EDIGW_FAULT=last document=stop:1s")
			if err := disturb(t, gateway, "last document", pushed(t, gateway, m.composed), func() { pgtest.Stop(t, s.server) }); !saysAgain(err) {
				t.Errorf("not \"try again\": %v", err)
			}
			// Without a database nothing is taken, and nothing is refused either, since a
			// refusal could not be journalled.
			s.tryAgain(t, gateway, m.composed)
			s.tryAgain(t, gateway, s.forged(t, p))
			s.secured.again(t)
			p.nothing(t, s.pool)
			s.again(t, gateway, m, n%2 == 1)
			gateway.noPanic(t)
		})
		run(t, fmt.Sprintf("it hangs, before a message and at its COMMIT/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			m := s.message(t, p, invoices)
			gateway := s.start(t, "EDIGW_FAULT=before commit=stop:1s", "EDIGW_FAULT_PATIENCE=2s")
			if err := disturb(t, gateway, "before commit", pushed(t, gateway, m.composed), func() { s.signal(t, syscall.SIGSTOP) }); !saysAgain(err) {
				t.Errorf("not \"try again\": %v", err)
			}
			s.tryAgain(t, gateway, m.composed)
			s.signal(t, syscall.SIGCONT)
			// COMMIT was sent while nobody listened: it may be read now.
			s.again(t, gateway, m, n%2 == 1)
			gateway.noPanic(t)
		})
	}
}

// forged is a message in the partner's name that somebody else has signed.
func (s *as4Site) forged(t *testing.T, p partner) *as4.Composed {
	t.Helper()
	other := *s.secured
	other.cert = s.ours // which is not the partner's
	return (&as4Site{&other}).message(t, p, 1).composed
}

// TestCopiesAS4 sends one message many times at once, to two processes.
func TestCopiesAS4(t *testing.T) {
	t.Parallel()
	const invoices, copies = 3, 32
	s := newAS4Site(t, 3**runs)
	to := []*program{s.start(t), s.start(t)}
	// all pushes every copy at once, each second one signed anew, by turns to each program;
	// the same bytes have the same receipt.
	all := func(t *testing.T, p partner, m *as4Message, to ...*program) (receipts int) {
		t.Helper()
		var list []*as4.Composed
		for i := range copies {
			if i%2 == 0 {
				list = append(list, m.composed)
			} else {
				list = append(list, m.anew(t))
			}
		}
		got := make([][]byte, copies)
		var wg sync.WaitGroup
		for i, c := range list {
			wg.Go(func() {
				var err error
				if got[i], err = s.push(t.Context(), to[i/2%len(to)], c); err != nil && !saysAgain(err) {
					t.Errorf("copy %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		for _, receipt := range got {
			if receipt != nil {
				receipts++
			}
		}
		for i, c := range list { // whoever was told to come again does
			if got[i] == nil {
				got[i] = s.until(t, to[len(to)-1], c)
			}
		}
		// Whose bytes are those of the first one has its receipt, and nobody else.
		stored, firsts := p.receipt(t, s.pool, m.id), map[*as4.Composed]bool{}
		for i, c := range list {
			if string(got[i]) == stored {
				firsts[c] = true
			}
		}
		for i, c := range list {
			if firsts[c] != (string(got[i]) == stored) {
				t.Errorf("copy %d has another receipt than the same bytes had", i)
			}
		}
		if len(firsts) > 1 {
			t.Errorf("%d messages that are signed apart have one receipt", len(firsts))
		}
		s.once(t, m)
		return receipts
	}
	for n := range *runs {
		run(t, fmt.Sprintf("32 copies over two processes have one effect, and a receipt each/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			if receipts := all(t, p, s.message(t, p, invoices), to...); receipts == 0 {
				t.Error("no copy had a receipt at once")
			}
		})
		run(t, fmt.Sprintf("the first is held: the others have its receipt, or come again/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			m := s.message(t, p, invoices)
			slow := s.start(t, "EDIGW_FAULT=claim=stop:5s")
			first := make(chan error, 1)
			go func() {
				_, err := s.push(t.Context(), slow, m.composed)
				first <- err
			}()
			slow.reached(t, "claim", 1)
			all(t, p, m, to[0], slow, to[1])
			if err := <-first; err != nil {
				t.Errorf("the first: %v", err)
			}
		})
		run(t, fmt.Sprintf("the first is killed: one of those who wait takes over/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			m := s.message(t, p, invoices)
			slow := s.start(t, "EDIGW_FAULT=claim=stop:1s,last document=kill")
			first := make(chan error, 1)
			go func() {
				_, err := s.push(t.Context(), slow, m.composed)
				first <- err
			}()
			slow.reached(t, "claim", 1)
			all(t, p, m, to...)
			if err := <-first; err == nil {
				t.Error("a killed process answered")
			}
			slow.killed(t)
		})
	}
	for _, p := range to {
		p.noPanic(t)
	}
}
