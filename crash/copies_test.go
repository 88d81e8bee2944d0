//go:build linux

package crash_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// waitBound is how long a copy may wait for the first one: two seconds in its
// own process, then two for the lock of another; and what a busy machine adds.
const waitBound = 4*time.Second + 4*time.Second

// sendAll sends n copies at once, by turns to each program.
func (p partner) sendAll(t *testing.T, n int, payload, key string, to ...*program) []answer {
	t.Helper()
	answers := make([]answer, n)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			a, err := p.send(to[i%len(to)], payload, key)
			if err != nil {
				t.Errorf("copy %d: %v", i, err)
			}
			answers[i] = a
		})
	}
	wg.Wait()
	return answers
}

// same checks that every answer is the one receipt, or "try again"; and counts
// what they were.
func same(t *testing.T, answers []answer) (verdicts map[string]int, body string) {
	t.Helper()
	verdicts = map[string]int{}
	for i, a := range answers {
		if a.took > waitBound {
			t.Errorf("copy %d waited for %v, the bound is %v", i, a.took, waitBound)
		}
		if !a.stands(t) {
			verdicts[http.StatusText(a.status)]++
			continue
		}
		verdicts[a.verdict]++
		if body == "" {
			body = a.body
		}
		if a.body != body {
			t.Errorf("copy %d got another receipt:\n%s\n%s", i, a.body, body)
		}
	}
	return verdicts, body
}

// TestCopies sends one interchange many times at once.
func TestCopies(t *testing.T) {
	t.Parallel()
	const invoices, copies = 3, 64
	site := newSite(t, 10**runs)
	one, two := start(t, site.url), start(t, site.url)
	for n := range *runs {
		key := ""
		if n%2 == 1 {
			key = "key"
		}
		run(t, fmt.Sprintf("64 copies over two processes have one effect/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(invoices)...)
			verdicts, body := same(t, p.sendAll(t, copies, payload, key, one, two))
			if verdicts["first"] != 1 {
				t.Errorf("verdicts %v, want one first", verdicts)
			}
			if again := p.retry(t, two, payload, key); again.body != body {
				t.Errorf("later another receipt:\n%s\n%s", body, again.body)
			}
			p.once(t, site.pool, invoices, key)
		})
		run(t, fmt.Sprintf("the first is held for 5 s/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(invoices)...)
			slow := start(t, site.url, "EDIGW_FAULT=claim=stop:5s")
			first := make(chan answer, 1)
			go func() {
				a, err := p.send(slow, payload, key)
				if err != nil {
					t.Errorf("the first: %v", err)
				}
				first <- a
			}()
			slow.reached(t, "claim", 1)
			answers := p.sendAll(t, copies-1, payload, key, two, slow)
			a := <-first
			a.is(t, http.StatusCreated, "first")
			verdicts, body := same(t, answers)
			if verdicts["first"] != 0 || verdicts["Conflict"] == 0 || body != "" && body != a.body {
				t.Errorf("verdicts %v, want conflicts and duplicates:\n%s\n%s", verdicts, a.body, body)
			}
			if again := p.retry(t, two, payload, key); again.body != a.body {
				t.Errorf("later another receipt:\n%s\n%s", a.body, again.body)
			}
			p.once(t, site.pool, invoices, key)
		})
		// Case 44. Whoever waits for one that fails may take over, and only one.
		run(t, fmt.Sprintf("the first is held and rolls back: one of those who wait takes over/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.file(t, "44-concurrent-duplicate.edi")
			slow := start(t, site.url, "EDIGW_FAULT=claim=stop:1s,last document=kill")
			first := make(chan error, 1)
			go func() {
				_, err := p.send(slow, payload, key)
				first <- err
			}()
			slow.reached(t, "claim", 1)
			verdicts, body := same(t, p.sendAll(t, 20, payload, key, two, one))
			if err := <-first; err == nil {
				t.Error("a killed process answered")
			}
			slow.killed(t)
			if verdicts["first"] != 1 {
				t.Errorf("verdicts %v, want one first", verdicts)
			}
			if again := p.retry(t, two, payload, key); again.body != body {
				t.Errorf("later another receipt:\n%s\n%s", body, again.body)
			}
			p.once(t, site.pool, 1, key)
		})
	}
	one.noPanic(t)
	two.noPanic(t)
}

// TestTwice sends two of what may have an effect under a known key at once, to
// two processes.
func TestTwice(t *testing.T) {
	t.Parallel()
	rounds := 3 * *runs
	site := newSite(t, 3*rounds)
	one, two := start(t, site.url), start(t, site.url)
	broken := start(t, site.url, "EDIGW_FAULT_HANDLER=RG-2")
	for n := range rounds {
		key := ""
		if n%2 == 1 {
			key = "key"
		}
		run(t, fmt.Sprintf("two retries of a dead message/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			payload := p.interchange("REF1", numbers(3)...)
			dead := p.mustSend(t, broken, payload, key)
			dead.is(t, http.StatusAccepted, "first")
			if rows := p.rows(t, site.pool); rows["document"] != 0 || rows["document_key"] != 0 {
				t.Errorf("of a dead interchange there is %v", rows)
			}
			verdicts, body := same(t, p.sendAll(t, 2, payload, key, one, two))
			if verdicts["retry"] != 1 {
				t.Errorf("verdicts %v, want one retry", verdicts)
			}
			last := p.retry(t, one, payload, key)
			if last.is(t, http.StatusOK, "duplicate"); last.body != body {
				t.Errorf("later another receipt:\n%s\n%s", body, last.body)
			}
			if rows := p.rows(t, site.pool); rows["document"] != 3 {
				t.Errorf("posted %d documents, want 3", rows["document"])
			}
			p.eachOnce(t, site.pool)
		})
		run(t, fmt.Sprintf("two copies of a correction/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			p.mustSend(t, one, p.wrong("REF1", 3), key).is(t, http.StatusUnprocessableEntity, "first")
			payload := p.interchange("REF1", numbers(3)...)
			verdicts, body := same(t, p.sendAll(t, 2, payload, key, one, two))
			if verdicts["correction"] != 1 {
				t.Errorf("verdicts %v, want one correction", verdicts)
			}
			if last := p.retry(t, one, payload, key); last.body != body {
				t.Errorf("later another receipt:\n%s\n%s", body, last.body)
			}
			if rows := p.rows(t, site.pool); rows["document"] != 3 {
				t.Errorf("posted %d documents, want 3", rows["document"])
			}
			p.eachOnce(t, site.pool)
		})
		run(t, fmt.Sprintf("two different corrections: one is a drift/%d", n+1), func(t *testing.T) {
			p := site.partner(t)
			p.mustSend(t, one, p.wrong("REF1", 3), "").is(t, http.StatusUnprocessableEntity, "first")
			payloads := []string{p.interchange("REF1", numbers(3)...), p.amounts("REF1", "7.00", numbers(3)...)}
			verdicts := make([]string, 2)
			var wg sync.WaitGroup
			for i, to := range []*program{one, two} {
				wg.Go(func() { verdicts[i] = p.retry(t, to, payloads[i], "").verdict })
			}
			wg.Wait()
			if v := verdicts[0] + " " + verdicts[1]; v != "correction drift" && v != "drift correction" {
				t.Errorf("verdicts %s, want a correction and a drift", v)
			}
			if rows := p.rows(t, site.pool); rows["document"] != 3 || rows["drift_alert"] != 1 {
				t.Errorf("rows %v, want 3 documents and 1 alert", rows)
			}
			p.eachOnce(t, site.pool)
		})
	}
	one.noPanic(t)
	two.noPanic(t)
}
