//go:build linux

package crash_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/pgtest"
)

// TestKillWithItsDatabase kills a gateway that runs PostgreSQL itself: both go
// down at once, as in a power cut but for the disk, and both come back.
func TestKillWithItsDatabase(t *testing.T) {
	t.Parallel()
	const invoices = 3
	points := []string{"last document", "commit sent", "commit answered"}
	dir := pgtest.Dir(t)
	first := startIn(t, dir)
	url, err := embeddedpg.URL(filepath.Join(dir, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{url: url, pool: pgtest.Pool(t, url)}
	s.connect(t, len(points)**runs)
	first.kill(t)
	for n := range *runs {
		for _, point := range points {
			run(t, fmt.Sprintf("at %s/%d", point, n+1), func(t *testing.T) {
				p := s.partner(t)
				payload := p.interchange("REF1", numbers(invoices)...)
				killed := startIn(t, dir, "EDIGW_FAULT="+point+"=kill")
				if a, err := p.send(killed, payload, "key"); err == nil {
					t.Fatalf("a whole answer came out of a killed process: %d %s", a.status, a.body)
				}
				killed.killed(t)

				again := startIn(t, dir)
				s.reconnect(t)
				stored := p.receipt(t, s.pool, "key")
				switch point {
				case "last document":
					p.nothing(t, s.pool)
				case "commit answered":
					p.once(t, s.pool, invoices, "key")
				}
				a := p.retry(t, again, payload, "key")
				if stored == "" {
					a.is(t, http.StatusCreated, "first")
				} else {
					a.is(t, http.StatusOK, "duplicate")
					a.gives(t, stored, "key")
				}
				p.once(t, s.pool, invoices, "key")
				again.noPanic(t)
			})
		}
	}
}
