//go:build linux

package crash_test

import (
	"fmt"
	"net/http"
	"testing"
)

// TestFailedThenResent is case 46: the same bytes after a first try that failed.
func TestFailedThenResent(t *testing.T) {
	t.Parallel()
	site := newSite(t, 2**runs)
	gateway := start(t, site.url)
	for n := range *runs {
		run(t, fmt.Sprintf("rolled back: the resend is processed/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.file(t, "46-failed-then-resent.edi")
			// A panic rolls back and leaves the process, its connections and what
			// waits on the key in it. It comes twice: in the group of deliveries,
			// and again when this one goes alone.
			broken := start(t, site.url, "EDIGW_FAULT=last document=panic*2")
			if a, err := p.send(broken, payload, "key"); err == nil {
				t.Fatalf("%d, want no answer: %s", a.status, a.body)
			}
			p.nothing(t, site.pool)
			p.mustSend(t, broken, payload, "key").is(t, http.StatusCreated, "first")
			p.mustSend(t, gateway, payload, "key").is(t, http.StatusOK, "duplicate")
			p.once(t, site.pool, 1, "key")
		})
		run(t, fmt.Sprintf("rejected: the resend gets the same negative answer/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.wrong("REF1", 3)
			first := p.mustSend(t, gateway, payload, "key")
			first.is(t, http.StatusUnprocessableEntity, "first")
			for range 2 {
				again := p.mustSend(t, gateway, payload, "key")
				if again.is(t, http.StatusUnprocessableEntity, "duplicate"); again.body != first.body {
					t.Errorf("another answer:\n%s\n%s", first.body, again.body)
				}
			}
			if rows := p.rows(t, site.pool); rows["document"] != 0 || rows["document_key"] != 0 {
				t.Errorf("of a rejected interchange there is %v", rows)
			}
		})
	}
	gateway.noPanic(t)
}
