//go:build linux

package crash_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

func (p *program) terminate(t testing.TB) {
	t.Helper()
	if err := p.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	const invoices = 3
	site := newSite(t, 2**runs)
	second := start(t, site.url)
	for n := range *runs {
		run(t, fmt.Sprintf("a request in flight is answered, then the process ends with 0/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(invoices)...)
			gateway := start(t, site.url, "EDIGW_FAULT=claim=stop:1s")
			// A connection that is kept for the next request is not waited for.
			idle := http.Client{Transport: &http.Transport{}}
			response, err := idle.Get(gateway.ingress)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil {
				t.Fatal(err)
			}
			defer idle.CloseIdleConnections()
			first := make(chan answer, 1)
			go func() {
				a, err := p.send(gateway, payload, "key")
				if err != nil {
					t.Errorf("the request in flight: %v", err)
				}
				first <- a
			}()
			gateway.reached(t, "claim", 1)
			begun := time.Now()
			gateway.terminate(t)
			eventually(t, "nothing new is taken", func() bool {
				c, err := net.Dial("tcp", strings.TrimPrefix(gateway.ingress, "http://"))
				if err == nil {
					_ = c.Close() // it said nothing
				}
				return err != nil
			})
			a := <-first
			a.is(t, http.StatusCreated, "first")
			gateway.ended(t)
			if code := gateway.state.ExitCode(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("the stop took %v", took)
			}
			p.once(t, site.pool, invoices, "key")
			if again := p.mustSend(t, second, payload, "key"); again.body != a.body {
				t.Errorf("another receipt:\n%s\n%s", a.body, again.body)
			}
		})
		run(t, fmt.Sprintf("one that outlasts the stop is cut off, and its retry has the effect once/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(invoices)...)
			gateway := start(t, site.url, "EDIGW_FAULT=claim=stop:20s", "EDIGW_STOP_TIMEOUT=300ms")
			first := make(chan error, 1)
			go func() {
				_, err := p.send(gateway, payload, "key")
				first <- err
			}()
			gateway.reached(t, "claim", 1)
			gateway.terminate(t)
			if err := <-first; err == nil {
				t.Error("it was answered")
			}
			gateway.ended(t)
			if code := gateway.state.ExitCode(); code == 0 {
				t.Error("exit code 0, though a request was cut off")
			}
			p.retry(t, second, payload, "key").is(t, http.StatusCreated, "first")
			p.once(t, site.pool, invoices, "key")
		})
	}
}
