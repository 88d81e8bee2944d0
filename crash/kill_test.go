//go:build linux

package crash_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The points at which the program is killed, and what is then in the database.
var (
	beforeCommit = []string{"request body", "begin", "claim", "first document", "last document", "acknowledgement", "before commit"}
	afterCommit  = []string{"commit answered", "response header", "mid body"}
)

// commitSent is the one point at which nobody can tell.
const commitSent = "commit sent"

func TestKill(t *testing.T) {
	t.Parallel()
	points := append(append(append([]string{}, beforeCommit...), commitSent), afterCommit...)
	site := newSite(t, len(points)**runs+1)
	second := start(t, site.url)
	for i, point := range points {
		for n := range *runs {
			// By turns: with an id and without; to the second process and to one
			// that was started again.
			key := ""
			if (i+n)%2 == 0 {
				key = fmt.Sprintf("key-%d-%d", i, n)
			}
			to := second
			if (i+n/2)%2 == 0 {
				to = nil
			}
			run(t, fmt.Sprintf("at %s/%d", point, n+1), func(t *testing.T) { killAt(t, site, to, point, key) })
		}
	}
	second.noPanic(t)
}

// killAt kills a gateway at a point of one delivery. The partner then sends
// again, to a second process or to one that is started again.
func killAt(t *testing.T, site *site, second *program, point, key string) {
	const invoices = 3
	p := site.partner(t)
	payload := p.interchange("REF1", numbers(invoices)...)
	p.nothing(t, site.pool)

	first := start(t, site.url, "EDIGW_FAULT="+point+"=kill")
	got, err := p.send(first, payload, key)
	first.killed(t)
	if err == nil {
		t.Fatalf("a whole answer came out of a killed process: %d %s", got.status, got.body)
	}
	stored := p.receipt(t, site.pool, key)
	verdict := ""
	switch point {
	default:
		p.nothing(t, site.pool)
		verdict = "first"
	case commitSent:
	case "response header", "mid body":
		if got.status != http.StatusCreated {
			t.Errorf("status %d was sent, want 201", got.status)
		}
		fallthrough
	case "commit answered":
		p.once(t, site.pool, invoices, key)
		verdict = "duplicate"
	}

	if second == nil {
		second = start(t, site.url)
	}
	again := p.retry(t, second, payload, key)
	if verdict == "" {
		verdict = again.verdict
	}
	switch verdict {
	case "first":
		again.is(t, http.StatusCreated, "first")
		if stored != "" {
			t.Error("First, though a receipt was committed")
		}
	default:
		again.is(t, http.StatusOK, "duplicate")
		if stored == "" {
			stored = p.receipt(t, site.pool, key)
		}
	}
	if stored == "" {
		stored = p.receipt(t, site.pool, key)
	}
	again.gives(t, stored, key)
	p.once(t, site.pool, invoices, key)

	third := p.mustSend(t, second, payload, key)
	third.is(t, http.StatusOK, "duplicate")
	if third.body != again.body {
		t.Errorf("the third answer is another:\n%s\n%s", again.body, third.body)
	}
	p.once(t, site.pool, invoices, key)
}

// TestKillCorrection kills a gateway in a delivery under a key that is known,
// which takes its lock: the mended copy of an interchange that was rejected.
func TestKillCorrection(t *testing.T) {
	t.Parallel()
	points := []string{"begin", "claim", "last document", "acknowledgement", "before commit", commitSent, "commit answered"}
	site := newSite(t, len(points)**runs)
	second := start(t, site.url)
	for i, point := range points {
		for n := range *runs {
			key := ""
			if (i+n)%2 == 0 {
				key = "key"
			}
			run(t, fmt.Sprintf("at %s/%d", point, n+1), func(t *testing.T) {
				const invoices = 3
				p := site.partner(t)
				p.mustSend(t, second, p.wrong("REF1", invoices), key).is(t, http.StatusUnprocessableEntity, "first")
				rejected := p.rows(t, site.pool)
				mended := p.interchange("REF1", numbers(invoices)...)

				first := start(t, site.url, "EDIGW_FAULT="+point+"=kill")
				if a, err := p.send(first, mended, key); err == nil {
					t.Fatalf("a whole answer came out of a killed process: %d %s", a.status, a.body)
				}
				first.killed(t)
				verdict := "correction"
				switch point {
				default:
					if diff := cmp.Diff(rejected, p.rows(t, site.pool)); diff != "" {
						t.Errorf("what was not committed left rows (-want +got):\n%s", diff)
					}
				case "commit answered":
					verdict = "duplicate"
				case commitSent:
					verdict = ""
				}
				again := p.retry(t, second, mended, key)
				if verdict == "" {
					verdict = again.verdict
				}
				status := http.StatusCreated
				if verdict == "duplicate" {
					status = http.StatusOK
				}
				again.is(t, status, verdict)
				third := p.mustSend(t, second, mended, key)
				if third.is(t, http.StatusOK, "duplicate"); third.body != again.body {
					t.Errorf("the third answer is another:\n%s\n%s", again.body, third.body)
				}
				if rows := p.rows(t, site.pool); rows["document"] != invoices || rows["document_key"] != invoices {
					t.Errorf("posted %d documents with %d guards, want %d", rows["document"], rows["document_key"], invoices)
				}
				p.eachOnce(t, site.pool)
			})
		}
	}
	second.noPanic(t)
}
