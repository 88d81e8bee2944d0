package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

// shareOfPool is the default share of a pool of 20 connections.
const shareOfPool = 8

// poolOf20 is a pool as the program has it, with a shorter wait for locks.
func poolOf20(t *testing.T) *pgxpool.Pool {
	t.Helper()
	u, err := url.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("pool_max_conns", "20")
	q.Set("lock_timeout", "500ms")
	u.RawQuery = q.Encode()
	return pgtest.Pool(t, u.String())
}

// gate stops the first deliveries that come to a point of their transaction.
type gate struct {
	point   string
	left    atomic.Int64
	stopped atomic.Int64
	open    chan struct{}
	once    sync.Once
}

// stopAt makes a gateway's first n transactions stop at a point, until release.
func stopAt(t *testing.T, r *rig, point string, n int64) *gate {
	t.Helper()
	g := &gate{point: point, open: make(chan struct{})}
	g.left.Store(n)
	r.Hook = func(at string) {
		if at == g.point && g.left.Add(-1) >= 0 {
			g.stopped.Add(1)
			<-g.open
		}
	}
	t.Cleanup(g.release)
	return g
}

func (g *gate) release() { g.once.Do(func() { close(g.open) }) }

func (g *gate) reached(t *testing.T, n int64) {
	t.Helper()
	until(t, fmt.Sprintf("%d deliveries stop at %s", n, g.point), func() bool { return g.stopped.Load() == n })
}

// until asks until it holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// has reads a gauge of a partner; label is the value of for.
func (r *rig) has(metric, partner, label string) int {
	r.t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(r.Gateway)
	families, err := registry.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if f.GetName() == metric && labels["partner"] == partner && labels["for"] == label {
				return int(m.GetGauge().GetValue())
			}
		}
	}
	return 0
}

// boltSends sends n new messages of another partner, one after the other, each of
// which must be taken.
func (r *rig) boltSends(prefix string, n int, meanwhile func()) {
	r.t.Helper()
	for i := range n {
		ref := fmt.Sprintf("%s%d", prefix, i)
		text := strings.ReplaceAll(interchangeFrom("9520001000027:14", "261129:1015", ref, message{number: ref}), "NAD+SU+9520001000010", "NAD+SU+9520001000027")
		rec, err := r.deliver("bolt", "", text)
		if err != nil || rec.Answer != gateway.ToldAccepted {
			r.t.Fatalf("message %d of the other partner: %+v, %v", i, rec, err)
		}
		if meanwhile != nil {
			meanwhile()
		}
	}
}

// storm sends payloads of acme all at once and counts how they ended.
type storm struct {
	accepted, busy, crowded, failed atomic.Int64
	wg                              sync.WaitGroup
}

func (r *rig) storm(payloads ...string) *storm {
	s := &storm{}
	for _, p := range payloads {
		s.wg.Go(func() {
			switch _, err := r.deliver("acme", "", p); {
			case err == nil:
				s.accepted.Add(1)
			case errors.Is(err, gateway.ErrBusy):
				s.busy.Add(1)
			case errors.Is(err, gateway.ErrCrowded):
				s.crowded.Add(1)
			default:
				s.failed.Add(1)
				r.t.Errorf("neither busy nor crowded: %v", err)
			}
		})
	}
	return s
}

func copies(n int, payload string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = payload
	}
	return list
}

func TestAStormOfOnePartner(t *testing.T) {
	t.Run("256 copies of a message whose first copy is stopped inside its transaction", func(t *testing.T) {
		r := newRigOn(t, poolOf20(t))
		r.Wait = 300 * time.Millisecond
		gate := stopAt(t, r, "claim", 1)
		payload := interchange("STORM", message{number: "STORM"})
		first := r.storm(payload)
		gate.reached(t, 1)
		others := r.storm(copies(255, payload)...)
		until(t, "all others wait for the first", func() bool { return r.has("edigw_partner_waiting", "acme", "copy") == 255 })
		if n := r.has("edigw_partner_connections", "acme", ""); n != 0 {
			t.Errorf("who waits for the first copy holds %d connections", n)
		}
		r.boltSends("B", 40, func() {
			if n := r.has("edigw_partner_connections", "acme", ""); n > shareOfPool {
				t.Errorf("the stormer holds %d connections", n)
			}
		})
		others.wg.Wait()
		if n := others.busy.Load(); n != 255 {
			t.Errorf("%d of 255 copies were told that the first one runs", n)
		}
		gate.release()
		first.wg.Wait()
		if n := first.accepted.Load(); n != 1 || r.posted() != 41 {
			t.Errorf("the first: %d accepted; %d posted in all, want 41", n, r.posted())
		}
		r.must("", payload, gateway.Duplicate, gateway.ToldAccepted, "I2")
	})
	t.Run("copies of a message that another process holds", func(t *testing.T) {
		pool := poolOf20(t)
		r, other := newRigOn(t, pool), newRigOn(t, pool)
		r.Wait = 300 * time.Millisecond
		gate := stopAt(t, other, "claim", 1)
		payload := interchange("STORM", message{number: "STORM"})
		first := other.storm(payload)
		gate.reached(t, 1)
		copies := r.storm(copies(100, payload)...)
		until(t, "one of them waits for the lock", func() bool { return r.has("edigw_partner_connections", "acme", "") == 1 })
		r.boltSends("B", 20, func() {
			if n := r.has("edigw_partner_connections", "acme", ""); n > 1 {
				t.Errorf("copies of one message hold %d connections", n)
			}
		})
		copies.wg.Wait()
		if n := copies.busy.Load(); n != 100 {
			t.Errorf("%d of 100 copies were told that the first one runs", n)
		}
		gate.release()
		first.wg.Wait()
		r.must("", payload, gateway.Duplicate, gateway.ToldAccepted, "I2")
	})
	t.Run("different messages that another process holds wait within the share, and are told to come again", func(t *testing.T) {
		pool := poolOf20(t)
		r, other := newRigOn(t, pool), newRigOn(t, pool)
		r.Wait = 300 * time.Millisecond
		gate := stopAt(t, other, "claim", 1)
		var held []string
		for i := range 60 {
			held = append(held, interchange(fmt.Sprintf("S%d", i), message{number: fmt.Sprintf("S%d", i)}))
		}
		first := other.storm(strings.Join(held, "")) // one delivery, one transaction
		gate.reached(t, 1)
		storm := r.storm(held...)
		until(t, "its share is used up, and others wait", func() bool {
			return r.has("edigw_partner_connections", "acme", "") >= shareOfPool-1 && r.has("edigw_partner_waiting", "acme", "turn") > 0
		})
		r.boltSends("B", 40, func() {
			if n := r.has("edigw_partner_connections", "acme", ""); n > shareOfPool {
				t.Errorf("it holds %d connections, its share is %d", n, shareOfPool)
			}
		})
		storm.wg.Wait()
		if busy, crowded := storm.busy.Load(), storm.crowded.Load(); busy < shareOfPool-1 || crowded == 0 || busy+crowded != 60 {
			t.Errorf("%d were told that the first one runs, %d to come again", busy, crowded)
		}
		gate.release()
		first.wg.Wait()
		if n := first.accepted.Load(); n != 1 || r.posted() != 100 {
			t.Errorf("the first: %d accepted; %d posted in all, want 100", n, r.posted())
		}
		for _, p := range held[:3] {
			r.must("", p, gateway.Duplicate, gateway.ToldAccepted, "I2")
		}
	})
	t.Run("what is free goes past what is held", func(t *testing.T) {
		pool := poolOf20(t)
		r, other := newRigOn(t, pool), newRigOn(t, pool)
		gate := stopAt(t, other, "claim", 1)
		var held []string
		for i := range 20 {
			held = append(held, interchange(fmt.Sprintf("S%d", i), message{number: fmt.Sprintf("S%d", i)}))
		}
		first := other.storm(strings.Join(held, ""))
		gate.reached(t, 1)
		storm := r.storm(held...)
		until(t, "every transaction of its share waits for a lock", func() bool { return r.has("edigw_partner_waiting", "acme", "turn") > 0 })
		r.must("", interchange("FREE", message{number: "FREE"}), gateway.First, gateway.ToldAccepted, "I1b")
		if ended := storm.busy.Load() + storm.crowded.Load(); ended >= 20 {
			t.Error("it was kept waiting until the last of the others had ended")
		}
		gate.release()
		first.wg.Wait()
		storm.wg.Wait()
	})
	t.Run("a smaller share is held too", func(t *testing.T) {
		pool := poolOf20(t)
		r, other := newRigOn(t, pool), newRigOn(t, pool)
		r.set("acme", noAddress, func(p *partners.Partner) { p.Share = 20 }) // of 15: three, of which one is for look-ups
		r.Wait = 300 * time.Millisecond
		gate := stopAt(t, other, "claim", 1)
		var held []string
		for i := range 10 {
			held = append(held, interchange(fmt.Sprintf("S%d", i), message{number: fmt.Sprintf("S%d", i)}))
		}
		first := other.storm(strings.Join(held, ""))
		gate.reached(t, 1)
		storm := r.storm(held...)
		most := 0
		until(t, "others wait for a turn", func() bool {
			most = max(most, r.has("edigw_partner_connections", "acme", ""))
			return most >= 2 && r.has("edigw_partner_waiting", "acme", "turn") > 0
		})
		storm.wg.Wait()
		gate.release()
		first.wg.Wait()
		if most > 3 {
			t.Errorf("it held %d connections, its share is 3", most)
		}
	})
}

func TestStuckGroups(t *testing.T) {
	one := func(i int) string {
		return interchange(fmt.Sprintf("STUCK%d", i), message{number: fmt.Sprintf("STUCK%d", i)})
	}
	for _, stuck := range []int64{2, 4} {
		t.Run(fmt.Sprintf("%d groups are stuck, and others go on", stuck), func(t *testing.T) {
			r := newRigOn(t, poolOf20(t))
			r.Wait = 300 * time.Millisecond
			gate := stopAt(t, r, "claim", stuck)
			var storms []*storm
			for i := range stuck {
				storms = append(storms, r.storm(one(int(i))))
				gate.reached(t, i+1)
			}
			r.boltSends("B", 5, nil)
			gate.release()
			for i, s := range storms {
				if s.wg.Wait(); s.accepted.Load() != 1 {
					t.Errorf("what was stuck first as number %d is not accepted", i)
				}
			}
			everyone(t, 50, func(i int) error { _, err := r.deliver("acme", "", one(100+i)); return err })
			if n := r.posted(); n != int(stuck)+5+50 {
				t.Errorf("posted %d", n)
			}
		})
	}
}

func TestTurnsOfOne(t *testing.T) {
	t.Run("a partner with one connection goes through every path in its one turn", func(t *testing.T) {
		r := newRigOn(t, poolOf20(t))
		r.set("acme", noAddress, func(p *partners.Partner) { p.Share = 1 })
		r.exec(`alter table document add constraint no_seven check (number <> 'G7')`)
		sound := interchange("G1", message{number: "G1"})
		r.must("", sound, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", sound, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", interchange("G1", message{number: "G1", amount: "7.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		// What the database refuses is looked for in a second transaction.
		r.must("", interchange("G7", message{number: "G7"}), gateway.First, gateway.ToldRejected, "I1b")
		fault := &gateway.Delivery{Transport: "http", Partner: r.by["acme"], Payload: edi.Bytes([]byte(sound)), Received: time.Now(),
			Fault: &gateway.Rejection{Answer: gateway.ToldFaulty, Reason: "digest-mismatch"}}
		var told *gateway.Rejection
		if _, err := r.Receive(context.Background(), fault); !errors.As(err, &told) {
			t.Errorf("a faulty delivery: %v", err)
		}
		if n := r.has("edigw_partner_connections", "acme", ""); n != 0 {
			t.Errorf("%d connections are still held", n)
		}
	})
}
