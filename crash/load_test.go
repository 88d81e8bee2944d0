//go:build linux

package crash_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestKillUnderLoad kills a gateway, as it runs in production, at any moment
// while several partners send. Whatever was acknowledged is there, and is
// acknowledged again with the same bytes; the rest goes through once.
func TestKillUnderLoad(t *testing.T) {
	t.Parallel()
	const senders, invoices = 6, 2
	site := newSite(t, senders**runs)
	second := start(t, site.url)
	for n := range *runs {
		run(t, fmt.Sprint(n+1), func(t *testing.T) {
			first := start(t, site.url)
			histories := make([]*history, senders)
			var acknowledged atomic.Int64
			var wg sync.WaitGroup
			for i := range histories {
				h := &history{partner: site.partner(t), keyed: i%2 == 0, all: &acknowledged}
				histories[i] = h
				wg.Go(func() { h.sendUntilCut(first, invoices) })
			}
			eventually(t, "something is acknowledged", func() bool { return acknowledged.Load() > 0 })
			time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
			first.kill(t)
			wg.Wait()
			for _, h := range histories {
				h.sendAgain(t, second, invoices)
				if rows := h.partner.rows(t, site.pool); rows["document"] != invoices*h.sent {
					t.Errorf("posted %d documents, want %d", rows["document"], invoices*h.sent)
				}
				h.partner.eachOnce(t, site.pool)
			}
		})
	}
	second.noPanic(t)
}

// history is what a partner sent, one after the other, and what he was told.
type history struct {
	partner      partner
	keyed        bool
	sent         int
	acknowledged []string // receipts of the first ones sent
	refused      string   // an answer that should not have come
	all          *atomic.Int64
}

func (h *history) payload(i, invoices int) (payload, key string) {
	list := make([]string, invoices)
	for n := range list {
		list[n] = fmt.Sprintf("RG-%d-%d", i, n)
	}
	if h.keyed {
		key = fmt.Sprint("key-", i)
	}
	return h.partner.interchange(fmt.Sprint("REF", i), list...), key
}

func (h *history) sendUntilCut(to *program, invoices int) {
	for {
		payload, key := h.payload(h.sent, invoices)
		h.sent++
		a, err := h.partner.send(to, payload, key)
		if err != nil {
			return
		}
		if a.status != http.StatusCreated {
			h.refused = a.body
			return
		}
		h.acknowledged = append(h.acknowledged, a.body)
		h.all.Add(1)
	}
}

func (h *history) sendAgain(t *testing.T, to *program, invoices int) {
	t.Helper()
	if h.refused != "" {
		t.Errorf("not acknowledged: %s", h.refused)
	}
	for i := range h.sent {
		payload, key := h.payload(i, invoices)
		again := h.partner.retry(t, to, payload, key)
		if i >= len(h.acknowledged) {
			continue // was it committed? Nobody can tell
		}
		if again.is(t, http.StatusOK, "duplicate"); again.body != h.acknowledged[i] {
			t.Errorf("another receipt:\n%s\n%s", h.acknowledged[i], again.body)
		}
	}
}
