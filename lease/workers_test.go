package lease_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/lease"
)

// shop is a Source in memory.
type shop struct {
	mu       sync.Mutex
	pieces   map[string]int // that nobody has, by partner
	done     []string       // partners, in the order in which their pieces were begun
	lasts    time.Duration  // of one piece
	lost     bool           // the lease of what is being done
	renewals int
	returned int
	ended    error // of the last Do
}

func (s *shop) source() lease.Source {
	return lease.Source{Name: "test", Due: s.due, Take: s.take}
}

func (s *shop) due(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for p, n := range s.pieces {
		if n > 0 {
			list = append(list, p)
		}
	}
	return list, nil
}

func (s *shop) take(_ context.Context, partner string, _ time.Duration) (lease.Piece, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pieces[partner] == 0 {
		return nil, nil
	}
	s.pieces[partner]--
	s.done = append(s.done, partner)
	return &piece{s, partner}, nil
}

type piece struct {
	s       *shop
	partner string
}

func (p *piece) String() string { return p.partner }

func (p *piece) Do(ctx context.Context) (err error) {
	select {
	case <-time.After(p.s.lasts):
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.ended = err
	return err
}

func (p *piece) Renew(context.Context, time.Duration) (bool, error) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.renewals++
	return !p.s.lost, nil
}

func (p *piece) Return(context.Context) error {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.returned++
	p.s.pieces[p.partner]++
	return nil
}

func (s *shop) workers(count int) *lease.Workers {
	w := &lease.Workers{Source: s.source(), Count: count, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	w.Start()
	return w
}

func TestWorkersAreFair(t *testing.T) {
	t.Run("a partner with many pieces does not keep one with few waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{lasts: time.Second, pieces: map[string]int{"acme": 10_000, "bolt": 2, "cord": 1}}
			w := s.workers(2)
			time.Sleep(5 * time.Second)
			w.Stop(t.Context())
			for partner, n := range map[string]int{"bolt": 2, "cord": 1} {
				if i := slices.Index(s.done[:6], partner); i < 0 || count(s.done[:8], partner) != n {
					t.Errorf("%s was not served in turn: %v", partner, s.done)
				}
			}
		})
	})
	t.Run("who comes later waits for the end of one piece, not of all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{lasts: time.Second, pieces: map[string]int{"acme": 10_000}}
			w := s.workers(2)
			time.Sleep(10*time.Second + time.Millisecond)
			s.mu.Lock()
			s.pieces["zeta"] = 1
			s.mu.Unlock()
			time.Sleep(3 * time.Second)
			w.Stop(t.Context())
			if count(s.done, "zeta") != 1 {
				t.Errorf("not served: %v", s.done)
			}
		})
	})
	t.Run("alone, a partner has all workers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{lasts: time.Second, pieces: map[string]int{"acme": 100}}
			w := s.workers(4)
			time.Sleep(9*time.Second + 500*time.Millisecond)
			w.Stop(t.Context())
			if len(s.done) != 40 {
				t.Errorf("%d pieces in ten rounds of four", len(s.done))
			}
		})
	})
}

func count(list []string, s string) (n int) {
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

func TestWorkers(t *testing.T) {
	t.Run("they wait until they are woken", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{pieces: map[string]int{}}
			w := &lease.Workers{Source: s.source(), Count: 2, Poll: time.Hour, Log: slog.New(slog.DiscardHandler)}
			w.Wake() // nobody is there to hear it
			w.Start()
			synctest.Wait()
			s.mu.Lock()
			s.pieces["acme"] = 1
			s.mu.Unlock()
			w.Wake()
			synctest.Wait()
			if len(s.done) != 1 {
				t.Error("not woken")
			}
			w.Stop(t.Context())
		})
	})
	t.Run("the lease of what takes long is renewed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{lasts: time.Minute + time.Second, pieces: map[string]int{"acme": 1}}
			w := s.workers(1)
			time.Sleep(2 * time.Minute)
			w.Stop(t.Context())
			if s.renewals != 6 || s.ended != nil {
				t.Errorf("%d renewals in a minute with leases of half a minute, want 6; ended with %v", s.renewals, s.ended)
			}
		})
	})
	t.Run("work whose lease is another's is broken off, and not given back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{lasts: time.Hour, lost: true, pieces: map[string]int{"acme": 1}}
			w := s.workers(1)
			time.Sleep(time.Minute)
			w.Stop(t.Context())
			if !errors.Is(s.ended, lease.ErrLost) || s.returned != 0 {
				t.Errorf("ended with %v, given back %d times", s.ended, s.returned)
			}
		})
	})
	t.Run("stopping waits for what is being done", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{lasts: 10 * time.Second, pieces: map[string]int{"acme": 5}}
			w := s.workers(1)
			time.Sleep(time.Second)
			w.Stop(t.Context())
			if len(s.done) != 1 || s.ended != nil || s.returned != 0 {
				t.Errorf("begun %d, ended with %v, given back %d", len(s.done), s.ended, s.returned)
			}
		})
	})
	t.Run("what cannot be ended in time is given back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{lasts: time.Hour, pieces: map[string]int{"acme": 1}}
			w := s.workers(1)
			time.Sleep(time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			w.Stop(ctx)
			if s.ended == nil || s.returned != 1 || s.pieces["acme"] != 1 {
				t.Errorf("ended with %v, given back %d", s.ended, s.returned)
			}
		})
	})
	t.Run("what is due and yet nobody's to take is asked for once a poll, and keeps nobody from stopping", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			asked, tried := 0, 0
			source := lease.Source{Name: "test",
				Due: func(context.Context) ([]string, error) {
					asked++
					return []string{"acme"}, nil
				},
				Take: func(context.Context, string, time.Duration) (lease.Piece, error) {
					tried++
					time.Sleep(time.Millisecond) // the database's
					return nil, nil
				}}
			w := &lease.Workers{Source: source, Count: 1, Poll: time.Second, Log: slog.New(slog.DiscardHandler)}
			w.Start()
			time.Sleep(10*time.Second + 500*time.Millisecond)
			since := time.Now()
			w.Stop(context.Background()) // which never ends
			if asked > 11 || tried > 11 || time.Since(since) > 0 {
				t.Errorf("asked %d times and tried %d times in ten seconds; stopped after %v", asked, tried, time.Since(since))
			}
			if asked < 10 {
				t.Errorf("asked %d times in ten seconds: it is to be looked for again", asked)
			}
		})
	})
	t.Run("where one partner's work cannot be taken, the next one's is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{pieces: map[string]int{"bolt": 1}}
			source := s.source()
			source.Due = func(ctx context.Context) ([]string, error) {
				due, err := s.due(ctx)
				return append(due, "acme"), err
			}
			w := &lease.Workers{Source: source, Count: 1, Poll: time.Hour, Log: slog.New(slog.DiscardHandler)}
			w.Start()
			synctest.Wait()
			w.Stop(t.Context())
			if diff := cmp.Diff([]string{"bolt"}, s.done); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("a source that fails is asked again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var log strings.Builder
			failures := 2
			s := &shop{pieces: map[string]int{"acme": 1}}
			source := s.source()
			source.Due = func(ctx context.Context) ([]string, error) {
				if failures--; failures >= 0 {
					return nil, fmt.Errorf("no database")
				}
				return s.due(ctx)
			}
			w := &lease.Workers{Source: source, Count: 1, Log: slog.New(slog.NewTextHandler(&log, nil))}
			w.Start()
			time.Sleep(5 * time.Second)
			w.Stop(t.Context())
			if len(s.done) != 1 || strings.Count(log.String(), "no database") != 2 {
				t.Errorf("done %d, log:\n%s", len(s.done), log.String())
			}
		})
	})
}

func TestBackoffDoublesUpToItsMost(t *testing.T) {
	var within []bool
	for n, most := range []time.Duration{0, 5, 10, 20, 40, 60, 60, 60} {
		if n == 0 {
			continue
		}
		ok := true
		for range 200 {
			d := lease.Backoff(n, 5*time.Second, time.Minute)
			ok = ok && d >= most*time.Second/2 && d <= most*time.Second
		}
		within = append(within, ok)
	}
	if diff := cmp.Diff([]bool{true, true, true, true, true, true, true}, within); diff != "" {
		t.Error(diff)
	}
}
