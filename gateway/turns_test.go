package gateway

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/partners"
)

func TestTurns(t *testing.T) {
	drain := func(q *turns[string]) (got []string) {
		for {
			x, ok := q.next(everyone)
			if !ok {
				return got
			}
			got = append(got, x)
		}
	}
	filled := func() *turns[string] {
		q := &turns[string]{}
		for _, x := range []string{"a1", "a2", "a3", "a4", "b1", "c1", "c2"} {
			q.push(x[:1], x)
		}
		return q
	}
	t.Run("partners take turns, and each one's go in the order of arrival", func(t *testing.T) {
		if diff := cmp.Diff([]string{"a1", "b1", "c1", "a2", "c2", "a3", "a4"}, drain(filled())); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("who may not have a turn keeps its place", func(t *testing.T) {
		q := filled()
		x, ok := q.next(func(partner string) bool { return partner != "a" })
		if x != "b1" || !ok {
			t.Errorf("got %s, %v", x, ok)
		}
		if diff := cmp.Diff([]string{"a1", "c1", "a2", "c2", "a3", "a4"}, drain(q)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("who gave up is left out, once", func(t *testing.T) {
		q := filled()
		for _, x := range []string{"a2", "b1"} {
			if !q.remove(x[:1], x) || q.remove(x[:1], x) {
				t.Errorf("%s was there once", x)
			}
		}
		if q.size != 5 {
			t.Errorf("%d wait", q.size)
		}
		if diff := cmp.Diff([]string{"a1", "c1", "a3", "c2", "a4"}, drain(q)); diff != "" {
			t.Error(diff)
		}
		if q.size != 0 {
			t.Errorf("%d wait in an empty queue", q.size)
		}
	})
}

func TestGroupsTakeTurns(t *testing.T) {
	q := &committers{running: committersAtOnce}
	add := func(partner string, bytes int) {
		q.add(&member{in: &intake{Delivery: &Delivery{Partner: &partners.Partner{ID: partner}, Payload: edi.Bytes(make([]byte, bytes))}}})
	}
	by := func(ms []*member) map[string]int {
		n := map[string]int{}
		for _, m := range ms {
			n[m.in.Partner.ID]++
		}
		return n
	}
	t.Run("who waits behind a hundred of another partner goes with the next group", func(t *testing.T) {
		for range 100 {
			add("acme", 4000)
		}
		add("bolt", 4000)
		add("bolt", 4000)
		for _, want := range []map[string]int{{"acme": groupBeside, "bolt": 2}, {"acme": groupMembers}, {"acme": 100 - groupBeside - groupMembers}} {
			if diff := cmp.Diff(want, by(q.take())); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("two that both have many waiting go half and half", func(t *testing.T) {
		for range 40 {
			add("acme", 4000)
			add("bolt", 4000)
		}
		for _, n := range []int{groupMembers / 2, 40 - groupMembers/2} {
			if diff := cmp.Diff(map[string]int{"acme": n, "bolt": n}, by(q.take())); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("large ones do not make a group that keeps the others waiting", func(t *testing.T) {
		for range 20 {
			add("acme", groupPayload)
		}
		if diff := cmp.Diff(map[string]int{"acme": groupBytes / groupPayload}, by(q.take())); diff != "" {
			t.Error(diff)
		}
	})
}

func TestShares(t *testing.T) {
	for _, c := range []struct{ connections, share, want int }{
		{20, 0, 8}, {20, 100, 15}, {20, 1, 2}, {20, 34, 6}, {4, 0, 2}, {4, 100, 3}, {8, 0, 2}, {100, 0, 48},
	} {
		t.Run(fmt.Sprintf("%d%% of a pool of %d", c.share, c.connections), func(t *testing.T) {
			if got := connectionsOf(&partners.Partner{Share: c.share}, slotsOf(c.connections)); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
	t.Run("a share is of look-ups and transactions together, and its last connection is for look-ups", func(t *testing.T) {
		acme, ctx := &partners.Partner{ID: "acme"}, t.Context()
		for name, c := range map[string]struct {
			take []use
			then map[use]bool // what there is another place for
		}{
			"transactions":              {slices.Repeat([]use{transaction}, 7), map[use]bool{transaction: false, lookUp: true}},
			"transactions and look-ups": {append(slices.Repeat([]use{transaction}, 6), lookUp, lookUp), map[use]bool{transaction: false, lookUp: false}},
			"look-ups":                  {slices.Repeat([]use{lookUp}, 8), map[use]bool{transaction: false, lookUp: false}},
			"some of both":              {[]use{transaction, lookUp, transaction, lookUp}, map[use]bool{transaction: true, lookUp: true}},
		} {
			g := &Gateway{admission: admission{slots: slotsOf(20)}}
			place := func(p *partners.Partner, to use) (func(), bool) {
				leave, err := g.place(ctx, p, to, new(time.Duration))
				return leave, err == nil
			}
			var leave []func()
			for _, to := range c.take {
				l, ok := place(acme, to)
				if !ok {
					t.Fatalf("%s: only %d were let in", name, len(leave))
				}
				leave = append(leave, l)
			}
			for to, want := range c.then {
				l, ok := place(acme, to)
				if ok != want {
					t.Errorf("%s: another of %d is let in: %v", name, to, ok)
				}
				if ok {
					l()
				}
			}
			if _, ok := place(&partners.Partner{ID: "bolt"}, transaction); !ok {
				t.Errorf("%s: another partner waits", name)
			}
			for _, l := range leave {
				l()
			}
			if here := g.admission.of("acme"); here.held != [uses]int{} || here.waiting != [uses]int{} || g.admission.used[lookUp] != 0 || g.admission.used[transaction] != 1 {
				t.Errorf("%s: in the end it has %+v of %v", name, here, g.admission.used)
			}
		}
	})
	t.Run("of the places for large deliveries one is left for another partner", func(t *testing.T) {
		g, acme, ctx := &Gateway{admission: admission{slots: slotsOf(20)}}, &partners.Partner{ID: "acme"}, t.Context()
		most := max(2, runtime.GOMAXPROCS(0))
		var leave func()
		for range most - 1 {
			l, err := g.place(ctx, acme, bulk, new(time.Duration))
			if err != nil {
				t.Fatal(err)
			}
			leave = l
		}
		if _, err := g.place(ctx, acme, bulk, new(time.Duration)); !errors.Is(err, ErrCrowded) {
			t.Errorf("it has all of them: %v", err)
		}
		if _, err := g.place(ctx, &partners.Partner{ID: "bolt"}, bulk, new(time.Duration)); err != nil {
			t.Errorf("another partner: %v", err)
		}
		if _, err := g.place(ctx, acme, work, new(time.Duration)); err != nil {
			t.Errorf("a small one of its own: %v", err)
		}
		leave()
		if _, err := g.place(ctx, acme, bulk, new(time.Duration)); err != nil {
			t.Errorf("one has left, and none is let in: %v", err)
		}
	})
	t.Run("a partner has its share of deliveries, and gets back what ended", func(t *testing.T) {
		g, acme := &Gateway{}, &partners.Partner{ID: "acme", Share: 1}
		var leave []func()
		for range shareOf(acme, deliveriesAtOnce) {
			l, ok := g.Admit(acme)
			if !ok {
				t.Fatalf("refused after %d", len(leave))
			}
			leave = append(leave, l)
		}
		if _, ok := g.Admit(acme); ok || len(leave) != 11 {
			t.Errorf("another one was let in after %d", len(leave))
		}
		if _, ok := g.Admit(&partners.Partner{ID: "bolt"}); !ok {
			t.Error("another partner is refused")
		}
		leave[0]()
		if _, ok := g.Admit(acme); !ok {
			t.Error("one has left, and none is let in")
		}
	})
}

func TestSpoilers(t *testing.T) {
	q := &committers{}
	t.Run("who sends what is known once stays in groups, who goes on goes alone", func(t *testing.T) {
		for _, want := range []bool{false, true, true} {
			q.suspect("acme")
			if got := q.goesAlone("acme"); got != want {
				t.Errorf("goes alone: %v, want %v", got, want)
			}
		}
	})
	t.Run("who has a group fail at its end goes alone at once", func(t *testing.T) {
		q.avoid("bolt")
		if !q.goesAlone("bolt") {
			t.Error("it stays in groups")
		}
	})
	t.Run("others do not", func(t *testing.T) {
		if q.goesAlone("cord") {
			t.Error("it goes alone")
		}
	})
}
