//go:build linux

package crash_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestStandbyGone cancels the wait of a COMMIT for its synchronous standby:
// PostgreSQL then answers COMMIT with a warning, and the commit is not durable
// there. That is no acknowledgement.
func TestStandbyGone(t *testing.T) {
	t.Parallel()
	const invoices = 3
	site := newSite(t, *runs)
	gateway := start(t, site.url)
	for n := range *runs {
		run(t, fmt.Sprint(n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(invoices)...)
			site.standby(t, "gone")
			for _, attempt := range []string{"first", "second"} { // the second finds what the first left, and waits as well
				answered := make(chan answer, 1)
				go func() {
					a, err := p.send(gateway, payload, "key")
					if err != nil {
						t.Errorf("send: %v", err)
					}
					answered <- a
				}()
				eventually(t, "COMMIT waits for the standby", func() bool {
					site.cancelWaiting(t, "edigw")
					select {
					case a := <-answered:
						answered <- a
						return true
					default:
						return false
					}
				})
				if a := <-answered; a.status != http.StatusServiceUnavailable {
					t.Errorf("the %s attempt: %d, want 503: %s", attempt, a.status, a.body)
				}
			}
			site.standby(t, "")
			again := p.retry(t, gateway, payload, "key")
			again.is(t, http.StatusOK, "duplicate")
			again.gives(t, p.receipt(t, site.pool, "key"), "key")
			p.once(t, site.pool, invoices, "key")
		})
	}
	gateway.noPanic(t)
}

// standby names the synchronous standby that COMMIT waits for, until it does;
// "" is none.
func (s *site) standby(t *testing.T, name string) {
	t.Helper()
	for _, sql := range []string{`alter system set synchronous_standby_names = '` + name + `'`, `select pg_reload_conf()`} {
		if _, err := s.pool.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	// Not our session decides whether COMMIT waits, but what the checkpointer has
	// read.
	eventually(t, "COMMIT knows its standby", func() bool {
		done := make(chan error, 1)
		go func() {
			_, err := s.pool.Exec(context.Background(), `select pg_logical_emit_message(true, 'probe', '')`)
			done <- err
		}()
		for {
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				return name == ""
			case <-time.After(10 * time.Millisecond):
			}
			if s.cancelWaiting(t, "") > 0 {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				return name != ""
			}
		}
	})
}

// cancelWaiting cancels the wait for a standby of every backend of an
// application, and counts them.
func (s *site) cancelWaiting(t *testing.T, application string) (cancelled int) {
	t.Helper()
	if err := s.pool.QueryRow(context.Background(), `
		select count(*) filter (where pg_cancel_backend(pid)) from pg_stat_activity
		where wait_event = 'SyncRep' and application_name = $1`, application).Scan(&cancelled); err != nil {
		t.Fatal(err)
	}
	return cancelled
}
