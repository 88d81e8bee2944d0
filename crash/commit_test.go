//go:build linux

package crash_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"
)

// lostCommits are the ways in which the connection to the database is cut around
// COMMIT.
var lostCommits = []struct {
	name string
	do   func(*passage)
	// What the answer may be, and the verdict of the retry; "" is either.
	status  int
	verdict string
}{
	{"sent and committed, its answer lost, the database can be asked: the receipt", func(c *passage) {
		c.cutAfter(c.forward, c.settle)
	}, http.StatusCreated, "duplicate"},
	{"sent and committed, its answer lost, nobody can be asked: 503, then the receipt", func(c *passage) {
		c.proxy.refuse(true)
		c.cutAfter(c.forward, c.settle, c.proxy.cutAll)
	}, http.StatusServiceUnavailable, "duplicate"},
	{"cut before the server has it: 503, then First", func(c *passage) {
		c.cut()
	}, http.StatusServiceUnavailable, "first"},
	{"cut, and it arrives late: 503, then the receipt", func(c *passage) {
		c.settle() // pgx cancels what is still running when it loses a connection
		c.cut()
		time.Sleep(400 * time.Millisecond)
		c.forward()
		c.settle()
	}, http.StatusServiceUnavailable, "duplicate"},
	{"cut at any moment", func(c *passage) {
		go c.forward()
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		c.cut()
		_ = c.server.Close() // at any moment, too
	}, 0, ""},
}

// TestLostCommit cuts the connection to the database around COMMIT. The answer
// is 503 or the committed receipt; the retry gets that receipt, or is First.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	const invoices = 3
	const several = 8
	site := newSite(t, (len(lostCommits)+several)**runs)
	proxy, url := newProxy(t, site)
	gateway := start(t, url)
	seen := map[string]int{}
	for _, c := range lostCommits {
		for n := range *runs {
			run(t, fmt.Sprintf("%s/%d", c.name, n+1), func(t *testing.T) {
				p := site.partner(t)
				key := ""
				if n%2 == 0 {
					key = "key"
				}
				payload := p.interchange("REF1", numbers(invoices)...)
				proxy.next(c.do)
				a := p.mustSend(t, gateway, payload, key)
				if c.status != 0 && a.status != c.status {
					t.Errorf("%d, want %d: %s", a.status, c.status, a.body)
				}
				if a.stands(t) {
					a.is(t, http.StatusCreated, "first")
					p.once(t, site.pool, invoices, key)
					a.gives(t, p.receipt(t, site.pool, key), key)
				}
				proxy.refuse(false)
				again := p.retry(t, gateway, payload, key)
				if c.verdict != "" && again.verdict != c.verdict {
					t.Errorf("the retry is %s, want %s", again.verdict, c.verdict)
				}
				if again.verdict == "first" {
					if a.status == http.StatusCreated {
						t.Error("First, though the receipt was given")
					}
					again.is(t, http.StatusCreated, "first")
				} else {
					again.is(t, http.StatusOK, "duplicate")
				}
				again.gives(t, p.receipt(t, site.pool, key), key)
				p.once(t, site.pool, invoices, key)
				seen[again.verdict]++
			})
		}
	}
	for n := range *runs {
		run(t, fmt.Sprintf("several deliveries in it/%d", n+1), func(t *testing.T) {
			proxy.next(lostCommits[n%len(lostCommits)].do)
			var wg sync.WaitGroup
			senders := make([]partner, several)
			for i := range senders {
				p := site.partner(t)
				senders[i] = p
				wg.Go(func() {
					payload := p.interchange("REF1", numbers(invoices)...)
					a, err := p.send(gateway, payload, "key")
					if err != nil {
						t.Errorf("send: %v", err)
						return
					}
					proxy.refuse(false)
					again, err := p.again(gateway, payload, "key")
					if err != nil {
						t.Error(err)
					}
					if a.status == http.StatusCreated && (again.verdict != "duplicate" || again.body != a.body) {
						t.Errorf("acknowledged, then %s:\n%s\n%s", again.verdict, a.body, again.body)
					}
				})
			}
			wg.Wait()
			for _, p := range senders {
				p.once(t, site.pool, invoices, "key")
			}
		})
	}
	if seen["first"] == 0 || seen["duplicate"] == 0 {
		t.Errorf("retries: %v, want both", seen)
	}
	gateway.noPanic(t)
}

// cutAfter does all of that and only then lets the gateway know.
func (c *passage) cutAfter(first ...func()) {
	c.silence()
	for _, do := range first {
		do()
	}
	c.cut()
}
