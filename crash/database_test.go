//go:build linux

package crash_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/pgtest"
)

// TestDatabaseGone takes the database away in the middle of a delivery: 503,
// nothing stored, and the retry is First. A delivery that loses its connection in
// a group of several is tried a second time alone, so that it may succeed.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	const invoices = 3
	site := newSite(t, 20**runs)
	for n := range *runs {
		for _, point := range []string{"claim", "last document", "before commit"} {
			run(t, fmt.Sprintf("its backend is terminated at %s/%d", point, n+1), func(t *testing.T) {
				p := site.partner(t)
				payload := p.interchange("REF1", numbers(invoices)...)
				gateway := start(t, site.url, "EDIGW_FAULT="+point+"=stop:1s*2")
				terminate := site.terminateHeld(t)
				a := p.disturbed(t, gateway, point, payload, terminate, terminate)
				p.told503(t, site, a)
				p.retry(t, gateway, payload, "key").is(t, http.StatusCreated, "first")
				p.once(t, site.pool, invoices, "key")
				gateway.noPanic(t)
			})
		}
		run(t, fmt.Sprintf("its backend is terminated, and the second try succeeds/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(invoices)...)
			gateway := start(t, site.url, "EDIGW_FAULT=last document=stop:1s")
			a := p.disturbed(t, gateway, "last document", payload, site.terminateHeld(t))
			a.is(t, http.StatusCreated, "first")
			a.gives(t, p.receipt(t, site.pool, "key"), "key")
			p.once(t, site.pool, invoices, "key")
		})
		run(t, fmt.Sprintf("its backend is killed, and the server restarts all/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(invoices)...)
			gateway := start(t, site.url, "EDIGW_FAULT=last document=stop:1s")
			a := p.disturbed(t, gateway, "last document", payload, func() {
				var pid int
				if err := site.pool.QueryRow(context.Background(), `
					select pid from pg_stat_activity where state = 'idle in transaction' and application_name = 'edigw'`).Scan(&pid); err != nil {
					t.Error(err)
					return
				}
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			})
			site.reconnect(t)
			again := p.retry(t, gateway, payload, "key")
			if a.stands(t) {
				a.is(t, http.StatusCreated, "first")
				again.is(t, http.StatusOK, "duplicate")
			} else {
				again.is(t, http.StatusCreated, "first")
			}
			p.once(t, site.pool, invoices, "key")
		})
		run(t, fmt.Sprintf("it is stopped, and started again/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(invoices)...)
			gateway := start(t, site.url, "EDIGW_FAULT=last document=stop:1s")
			a := p.disturbed(t, gateway, "last document", payload, func() { pgtest.Stop(t, site.server) })
			a.tryAgain(t)
			if a := p.mustSend(t, gateway, payload, "key"); a.status != http.StatusServiceUnavailable {
				t.Errorf("without a database: %d, want 503", a.status)
			} else {
				a.tryAgain(t)
			}
			if got := gateway.ready(t); got != http.StatusServiceUnavailable {
				t.Errorf("/readyz says %d, want 503", got)
			}
			site.again(t)
			p.told503(t, site, a)
			p.retry(t, gateway, payload, "key").is(t, http.StatusCreated, "first")
			p.once(t, site.pool, invoices, "key")
			if got := gateway.ready(t); got != http.StatusOK {
				t.Errorf("/readyz says %d, want 200", got)
			}
			gateway.noPanic(t)
		})
		run(t, fmt.Sprintf("it hangs, before a delivery and at its COMMIT/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(invoices)...)
			gateway := start(t, site.url, "EDIGW_FAULT=before commit=stop:1s", "EDIGW_FAULT_PATIENCE=2s")
			a := p.disturbed(t, gateway, "before commit", payload, func() { site.signal(t, syscall.SIGSTOP) })
			a.tryAgain(t)
			b := p.mustSend(t, gateway, payload, "key")
			b.tryAgain(t)
			for _, a := range []answer{a, b} {
				// Its patience, then the question whether COMMIT was taken; and what
				// a busy machine adds.
				if bound := (2 + 3 + 4) * time.Second; a.took > bound {
					t.Errorf("waited for %v, the bound is %v", a.took, bound)
				}
			}
			site.signal(t, syscall.SIGCONT)
			// COMMIT was sent while nobody listened: it may be read now.
			again := p.retry(t, gateway, payload, "key")
			if again.verdict == "first" {
				again.is(t, http.StatusCreated, "first")
			} else {
				again.is(t, http.StatusOK, "duplicate")
			}
			again.gives(t, p.receipt(t, site.pool, "key"), "key")
			p.once(t, site.pool, invoices, "key")
			gateway.noPanic(t)
		})
		run(t, fmt.Sprintf("it hangs, and the gateway can be stopped all the same/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(invoices)...)
			gateway := start(t, site.url, "EDIGW_STOP_TIMEOUT=1s")
			p.mustSend(t, gateway, payload, "").is(t, http.StatusCreated, "first")
			p.mustSend(t, gateway, payload, "").is(t, http.StatusOK, "duplicate") // its journal row is written soon
			site.signal(t, syscall.SIGSTOP)
			defer site.signal(t, syscall.SIGCONT)
			begun := time.Now()
			gateway.terminate(t)
			gateway.ended(t)
			if took := time.Since(begun); took > 15*time.Second {
				t.Errorf("the stop took %v", took)
			}
		})
	}
}

// disturbed sends, and does something each time the delivery is held at a point.
// When it is answered before, the rest is not done.
func (p partner) disturbed(t *testing.T, to *program, point, payload string, do ...func()) answer {
	t.Helper()
	return disturb(t, to, point, func() answer {
		a, err := p.send(to, payload, "key")
		if err != nil {
			t.Errorf("send: %v", err)
		}
		return a
	}, do...)
}

// disturb is disturbed for whatever sends.
func disturb[A any](t *testing.T, to *program, point string, send func() A, do ...func()) A {
	t.Helper()
	done := make(chan A, 1)
	go func() { done <- send() }()
	for i := range do {
		var a *A
		eventually(t, "the delivery reaches "+point+" or is answered", func() bool {
			select {
			case early := <-done:
				a = &early
			default:
			}
			return a != nil || to.faults(point) > i
		})
		if a != nil {
			return *a
		}
		do[i]()
	}
	return <-done
}

// terminateHeld terminates the backends whose transactions are held.
func (s *site) terminateHeld(t *testing.T) func() {
	return func() {
		if _, err := s.pool.Exec(context.Background(), `
			select pg_terminate_backend(pid) from pg_stat_activity
			where state = 'idle in transaction' and application_name = 'edigw'`); err != nil {
			t.Error(err)
		}
	}
}

// told503 checks that the answer was 503 and nothing is stored.
func (p partner) told503(t *testing.T, s *site, a answer) {
	t.Helper()
	if a.tryAgain(t); a.status != http.StatusServiceUnavailable {
		t.Errorf("%d, want 503", a.status)
	}
	p.nothing(t, s.pool)
}

// again starts the server that was stopped.
func (s *site) again(t *testing.T) {
	t.Helper()
	server, err := embeddedpg.Start(context.Background(), embeddedpg.Options{DataDir: s.dir, Settings: s.settings})
	if err != nil {
		t.Fatal(err)
	}
	s.server = server
	s.reconnect(t)
}

// reconnect waits until the server takes the test's own connections again.
func (s *site) reconnect(t *testing.T) {
	t.Helper()
	s.pool.Reset()
	eventually(t, "the database answers", func() bool { return s.pool.Ping(context.Background()) == nil })
}

// signal sends a signal to every process of the server.
func (s *site) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	signalAll(t, s.server.Pid(), sig)
}

// signalAll sends a signal to a process and its children.
func signalAll(t testing.TB, parent int, sig syscall.Signal) {
	t.Helper()
	pids := []int{parent}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat") // pid (name) state ppid: proc(5)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil && err != syscall.ESRCH {
			t.Fatalf("signal process %d: %v", pid, err)
		}
	}
}
