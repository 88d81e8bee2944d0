//go:build linux

package crash_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestKillAS4 kills a gateway at each point of a message that is signed and encrypted.
// The sender has no receipt, and sends again: the same bytes, or signed anew under the
// same MessageId, to another process or to one that was started again.
func TestKillAS4(t *testing.T) {
	t.Parallel()
	const invoices = 3
	points := append(append(append([]string{}, beforeCommit...), commitSent), afterCommit...)
	s := newAS4Site(t, (len(points)+1)**runs)
	second := s.start(t)
	for i, point := range points {
		for n := range *runs {
			run(t, fmt.Sprintf("at %s/%d", point, n+1), func(t *testing.T) {
				p := s.site.partner(t)
				m := s.message(t, p, invoices)
				first := s.start(t, "EDIGW_FAULT="+point+"=kill")
				_, err := s.push(t.Context(), first, m.composed)
				first.killed(t)
				if err == nil {
					t.Fatal("a whole receipt came out of a killed process")
				}
				switch point {
				default:
					p.nothing(t, s.pool)
				case commitSent: // nobody can tell
				case "commit answered", "response header", "mid body":
					s.once(t, m)
					if p.receipt(t, s.pool, m.id) == "" {
						t.Error("no receipt was committed with the effect")
					}
				}
				to := second
				if (i+n/2)%2 == 0 {
					to = s.start(t)
				}
				s.again(t, to, m, (i+n)%2 == 1)
			})
		}
	}
	for n := range *runs {
		run(t, fmt.Sprintf("while a large part arrives: nothing is left in the spool either/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			m := s.message(t, p, invoices)
			m.plain = true
			m.payload += strings.Repeat("\r\n", 700<<10) // more than is held in memory
			m.composed = m.anew(t)
			spool := t.TempDir()
			first := s.start(t, fmt.Sprintf("EDIGW_FAULT=request body=kill@%d", 20+rand.IntN(10)), "EDIGW_SPOOL_DIR="+spool)
			if _, err := s.push(t.Context(), first, m.composed); err == nil {
				t.Fatal("a whole receipt came out of a killed process")
			}
			first.killed(t)
			p.nothing(t, s.pool)
			if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
				t.Errorf("left in the spool: %v, %v", left, err)
			}
			s.again(t, second, m, n%2 == 1)
		})
	}
	second.noPanic(t)
}
