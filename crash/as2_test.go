//go:build linux

package crash_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKillAS2 kills a gateway at each point of a message whose MDN is in the response.
// The sender has none, and sends again: the same bytes, or signed and encrypted anew
// under the same Message-ID. What was committed is answered with the stored MDN, byte
// for byte.
func TestKillAS2(t *testing.T) {
	t.Parallel()
	const invoices = 3
	points := append(append(append([]string{}, beforeCommit...), commitSent), afterCommit...)
	s := newAS2Site(t, len(points)**runs)
	second := s.start(t)
	for i, point := range points {
		for n := range *runs {
			run(t, fmt.Sprintf("at %s/%d", point, n+1), func(t *testing.T) {
				p := s.site.partner(t)
				payload := p.interchange("REF1", numbers(invoices)...)
				m := s.compose(t, p, "m1", payload)
				first := s.start(t, "EDIGW_FAULT="+point+"=kill")
				a, err := m.post(first)
				first.killed(t)
				if err == nil {
					t.Fatalf("a whole MDN came out of a killed process: %d %s", a.status, a.body)
				}
				stored := s.stored(t, p)
				switch point {
				default:
					p.nothing(t, s.pool)
				case commitSent:
				case "response header", "mid body":
					if a.status != http.StatusOK || a.header.Get("Message-ID") == "" {
						t.Errorf("what came of the answer is %d %v", a.status, a.header)
					}
					fallthrough
				case "commit answered":
					s.once(t, m, invoices)
				}
				to := second
				if (i+n/2)%2 == 0 {
					to = s.start(t)
				}
				anew := s.compose(t, p, "m1", payload)
				for _, again := range []as2Message{[]as2Message{m, anew}[(i+n)%2], m, anew} {
					got := s.until(t, to, again).entity()
					if stored == "" {
						stored = s.stored(t, p)
					}
					if diff := cmp.Diff(stored, got); diff != "" {
						t.Errorf("not the stored MDN (-stored +answer):\n%s", diff)
					}
				}
				s.once(t, m, invoices)
			})
		}
	}
	second.noPanic(t)
}

// TestKillLaterMDN kills a gateway at each point of a message whose MDN is brought to
// an address. Whatever was committed is told without the sender's doing anything, by
// another process; what was not is told once he has sent again. A retry is brought the
// one MDN there is.
func TestKillLaterMDN(t *testing.T) {
	t.Parallel()
	const invoices = 3
	points := append(append(append([]string{}, beforeCommit...), commitSent), "commit answered", "response header") // 204 has no body
	s := newAS2Site(t, len(points)**runs)
	second := s.start(t)
	for _, point := range points {
		for n := range *runs {
			run(t, fmt.Sprintf("at %s/%d", point, n+1), func(t *testing.T) {
				p := s.site.partner(t)
				m := s.asynchronous(s.compose(t, p, "m1", p.interchange("REF1", numbers(invoices)...)))
				first := s.start(t, "EDIGW_FAULT="+point+"=kill")
				a, err := m.post(first)
				first.killed(t)
				if err == nil && point != "response header" { // it is the whole answer
					t.Fatalf("an answer came out of a killed process: %d %s", a.status, a.body)
				}
				switch point {
				default:
					p.nothing(t, s.pool)
				case commitSent:
				case "commit answered", "response header":
					s.brought(t, m, 1)
					s.once(t, m, invoices)
				}
				s.until(t, second, m)
				s.brought(t, m, 1)
				before := len(s.later.of(p))
				s.until(t, second, m)
				s.brought(t, m, before+1)
				s.once(t, m, invoices)
			})
		}
	}
	second.noPanic(t)
}

// TestKillWhileBringingAnMDN kills the gateway that has brought an MDN, before it was
// told that it has come: another brings the same one again.
func TestKillWhileBringingAnMDN(t *testing.T) {
	t.Parallel()
	s := newAS2Site(t, *runs)
	for n := range *runs {
		run(t, fmt.Sprint(n+1), func(t *testing.T) {
			p := s.site.partner(t)
			m := s.asynchronous(s.compose(t, p, "m1", p.interchange("REF1", numbers(2)...)))
			release := s.later.holds()
			first := s.start(t)
			s.until(t, first, m)
			s.brought(t, m, 1)
			first.kill(t)
			release()
			s.start(t)
			s.brought(t, m, 2)
			s.once(t, m, 2)
		})
	}
}

// TestCutMDN has the sender's connection end after COMMIT, before the MDN and in the
// middle of it. The gateway lives; the retry gets the stored MDN, byte for byte.
func TestCutMDN(t *testing.T) {
	t.Parallel()
	const invoices = 3
	points := []string{"commit answered", "response header", "mid body"}
	s := newAS2Site(t, 2*len(points)**runs)
	for _, point := range points {
		for n := range *runs {
			for _, asynchronous := range []bool{false, true} {
				if asynchronous && point == "mid body" { // 204 has none
					continue
				}
				run(t, fmt.Sprintf("at %s, asynchronous %t/%d", point, asynchronous, n+1), func(t *testing.T) {
					p := s.site.partner(t)
					payload := p.interchange("REF1", numbers(invoices)...)
					m, anew := s.compose(t, p, "m1", payload), s.compose(t, p, "m1", payload)
					if asynchronous {
						m, anew = s.asynchronous(m), s.asynchronous(anew)
					}
					to := s.start(t, "EDIGW_FAULT="+point+"=stop:1s")
					m.cut(t, to, func() { to.reached(t, point, 1) })
					stored := s.stored(t, p)
					if stored == "" {
						t.Fatal("no MDN is stored")
					}
					for _, again := range []as2Message{m, anew} {
						if a := s.until(t, to, again); !asynchronous {
							if diff := cmp.Diff(stored, a.entity()); diff != "" {
								t.Errorf("not the stored MDN (-stored +answer):\n%s", diff)
							}
						}
					}
					if asynchronous {
						s.brought(t, m, 1)
					}
					s.once(t, m, invoices)
					to.noPanic(t)
				})
			}
		}
	}
}

// TestCopiesAS2 sends one message many times at once, to two processes: one effect, and
// to each copy the one MDN or "try again", after which the retry gets it.
func TestCopiesAS2(t *testing.T) {
	t.Parallel()
	const invoices, copies = 3, 32
	s := newAS2Site(t, 3**runs)
	one, two := s.start(t), s.start(t)
	for n := range *runs {
		run(t, fmt.Sprintf("32 copies over two processes/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			list := s.copies(t, p, copies, invoices)
			s.sendAll(t, list, one, two)
			s.oneMDN(t, list, one, two)
			s.once(t, list[0], invoices)
		})
		run(t, fmt.Sprintf("32 copies that want their MDN brought/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			list := s.copies(t, p, copies, invoices)
			for i := range list {
				list[i] = s.asynchronous(list[i])
			}
			s.sendAll(t, list, one, two)
			for i, to := range []*program{one, two} {
				s.until(t, to, list[i])
			}
			s.brought(t, list[0], 1)
			s.once(t, list[0], invoices)
		})
		run(t, fmt.Sprintf("the first is held for 5 s: the others are told to come again/%d", n+1), func(t *testing.T) {
			p := s.site.partner(t)
			list := s.copies(t, p, copies, invoices)
			slow := s.start(t, "EDIGW_FAULT=claim=stop:5s")
			first := make(chan error, 1)
			go func() {
				a, err := list[0].post(slow)
				if err == nil {
					err = s.judge(list[0], a)
				}
				if err == nil && a.status != http.StatusOK {
					err = fmt.Errorf("it is told %d", a.status)
				}
				first <- err
			}()
			slow.reached(t, "claim", 1)
			if told := s.sendAll(t, list[1:], two, slow); told[http.StatusServiceUnavailable] == 0 {
				t.Errorf("told %v, want some 503", told)
			}
			if err := <-first; err != nil {
				t.Errorf("the first: %v", err)
			}
			s.oneMDN(t, list, slow, two)
			s.once(t, list[0], invoices)
		})
	}
	one.noPanic(t)
	two.noPanic(t)
}

// copies composes a message many times, every other one signed and encrypted anew.
func (s *as2Site) copies(t *testing.T, p partner, n, invoices int) []as2Message {
	t.Helper()
	payload := p.interchange("REF1", numbers(invoices)...)
	list := make([]as2Message, n)
	for i := range list {
		if list[i] = list[0]; i%2 == 0 {
			list[i] = s.compose(t, p, "m1", payload)
		}
	}
	return list
}

// sendAll posts messages at once, by turns to each program, and counts what they were
// told.
func (s *as2Site) sendAll(t *testing.T, list []as2Message, to ...*program) map[int]int {
	t.Helper()
	told := map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, m := range list {
		wg.Go(func() {
			a, err := m.post(to[i%len(to)])
			if err == nil {
				err = s.judge(m, a)
			}
			if err != nil {
				t.Errorf("copy %d: %v", i, err)
			}
			mu.Lock()
			told[a.status]++
			mu.Unlock()
		})
	}
	wg.Wait()
	return told
}

// oneMDN has every copy retried, until it is answered with the stored MDN.
func (s *as2Site) oneMDN(t *testing.T, list []as2Message, to ...*program) {
	t.Helper()
	for i, m := range list {
		if diff := cmp.Diff(s.stored(t, m.from), s.until(t, to[i%len(to)], m).entity()); diff != "" {
			t.Errorf("copy %d: not the stored MDN (-stored +answer):\n%s", i, diff)
		}
	}
}
