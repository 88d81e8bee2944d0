//go:build linux

package crash_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/pgtest"
)

// TestDatabaseGoneAS2 takes the database away in the middle of a message: 503 and no
// MDN, in the response or later, and nothing stored; then one effect, and its MDN.
func TestDatabaseGoneAS2(t *testing.T) {
	t.Parallel()
	const invoices = 3
	s := newAS2Site(t, 5**runs)
	for n := range *runs {
		for _, asynchronous := range []bool{false, true} {
			run(t, fmt.Sprintf("its backend is terminated, asynchronous %t/%d", asynchronous, n+1), func(t *testing.T) {
				p := s.site.partner(t)
				m := s.compose(t, p, "m1", p.interchange("REF1", numbers(invoices)...))
				if asynchronous {
					m = s.asynchronous(m)
				}
				to := s.start(t, "EDIGW_FAULT=last document=stop:1s*2") // what fails in a group is tried alone
				terminate := s.terminateHeld(t)
				s.told503(t, m, s.disturbed(t, m, to, "last document", terminate, terminate))
				p.nothing(t, s.pool)
				s.acknowledged(t, m, to)
				s.once(t, m, invoices)
				to.noPanic(t)
			})
			run(t, fmt.Sprintf("it is stopped, and started again, asynchronous %t/%d", asynchronous, n+1), func(t *testing.T) {
				p := s.site.partner(t)
				m := s.compose(t, p, "m1", p.interchange("REF1", numbers(invoices)...))
				if asynchronous {
					m = s.asynchronous(m)
				}
				to := s.start(t, "EDIGW_FAULT=last document=stop:1s")
				s.told503(t, m, s.disturbed(t, m, to, "last document", func() { pgtest.Stop(t, s.server) }))
				for _, away := range []as2Message{m, m.forged()} { // what cannot be journalled is not told
					a, err := away.post(to)
					if err != nil {
						t.Fatal(err)
					}
					s.told503(t, away, a)
				}
				s.again(t)
				p.nothing(t, s.pool)
				if n := len(s.later.of(p)); n > 0 {
					t.Errorf("%d MDNs were brought of what is not stored", n)
				}
				s.acknowledged(t, m, to)
				s.once(t, m, invoices)
				to.noPanic(t)
			})
		}
		run(t, fmt.Sprintf("who is nobody is told so without it/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			m := s.compose(t, p, "m1", p.interchange("REF1", numbers(invoices)...))
			to := s.start(t)
			pgtest.Stop(t, s.server)
			r, err := m.request(to)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("AS2-From", "NOBODY")
			a, err := posted(r)
			if err != nil || a.status != http.StatusOK || !strings.Contains(a.body, "processed/error: unknown-trading-partner") {
				t.Errorf("%d %s, %v", a.status, a.body, err)
			}
			s.again(t)
		})
	}
}

// TestLostCommitAS2 cuts the connection to the database around COMMIT. The answer is
// the stored MDN, or 503 and then the stored MDN.
func TestLostCommitAS2(t *testing.T) {
	t.Parallel()
	const invoices = 3
	s := newAS2Site(t, 2*len(lostCommits)**runs)
	proxy, url := newProxy(t, s.site)
	to := s.startOn(t, url)
	for _, c := range lostCommits {
		for n := range *runs {
			for _, asynchronous := range []bool{false, true} {
				run(t, fmt.Sprintf("%s, asynchronous %t/%d", c.name, asynchronous, n+1), func(t *testing.T) {
					p := s.site.partner(t)
					m := s.compose(t, p, "m1", p.interchange("REF1", numbers(invoices)...))
					if asynchronous {
						m = s.asynchronous(m)
					}
					proxy.next(c.do)
					a, err := m.post(to)
					if err != nil {
						t.Fatal(err)
					}
					stands := s.stands(t, m, a)
					if c.status != 0 && stands != (c.status == http.StatusCreated) {
						t.Errorf("told %d", a.status)
					}
					if stands {
						s.once(t, m, invoices)
					}
					proxy.refuse(false)
					s.acknowledged(t, m, to)
					if stands && !asynchronous && a.entity() != s.stored(t, p) {
						t.Errorf("the first answer is not the stored MDN:\n%s", a.entity())
					}
					s.once(t, m, invoices)
				})
			}
		}
	}
	to.noPanic(t)
}

// disturbed posts a message, and does something each time it is held at a point. When
// it is answered before, the rest is not done.
func (s *as2Site) disturbed(t *testing.T, m as2Message, to *program, point string, do ...func()) answer {
	t.Helper()
	return disturb(t, to, point, func() answer {
		a, err := m.post(to)
		if err != nil {
			t.Errorf("post: %v", err)
		}
		return a
	}, do...)
}

func (s *as2Site) told503(t *testing.T, m as2Message, a answer) {
	t.Helper()
	if s.stands(t, m, a) {
		t.Errorf("%d, want 503", a.status)
	}
}

// acknowledged sends until there is an MDN, in the response or brought.
func (s *as2Site) acknowledged(t *testing.T, m as2Message, to *program) {
	t.Helper()
	if a := s.until(t, to, m); m.to != "" {
		s.brought(t, m, 1)
	} else if diff := cmp.Diff(s.stored(t, m.from), a.entity()); diff != "" {
		t.Errorf("not the stored MDN (-stored +answer):\n%s", diff)
	}
}

// forged is a message as somebody else would send it under the name.
func (m as2Message) forged() as2Message {
	m.Composed.ContentType, m.Encoding, m.Body = "application/EDIFACT", "", []byte("UNB+UNOC:3+X+Y+261129:1015+1'UNZ+0+1'")
	return m
}
