package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/pgtest"
)

// ledger is a target in memory: what happened, by event.
type ledger struct {
	happened map[uuid.UUID]int
	fails    error // of Send, before anything happens
	loses    error // of Send, when it has happened
	mute     bool  // it cannot say what became of a step
}

type rig struct {
	t      *testing.T
	pool   *pgxpool.Pool
	relay  *outbox.Relay
	ledger *ledger
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, pool: pgtest.New(t), ledger: &ledger{happened: map[uuid.UUID]int{}}}
	r.relay = &outbox.Relay{Pool: r.pool, NewID: func() uuid.UUID { return uuid.Must(uuid.NewV7()) }, Log: slog.New(slog.DiscardHandler),
		Target: outbox.Target{Name: "ledger", Send: r.ledger.send, Ask: r.ledger.ask, Attempts: 3}}
	return r
}

func (l *ledger) send(_ context.Context, s *outbox.Step) error {
	if l.fails != nil {
		return l.fails
	}
	l.happened[s.Event]++
	return l.loses
}

func (l *ledger) ask(_ context.Context, s *outbox.Step) (outbox.Outcome, error) {
	switch {
	case l.mute:
		return outbox.CannotKnow, nil
	case l.happened[s.Event] > 0:
		return outbox.WasDone, nil
	}
	return outbox.NotDone, nil
}

// cause writes an event with an effect at the target.
func (r *rig) cause(partner string) uuid.UUID {
	r.t.Helper()
	e := outbox.Event{Partner: partner, ID: uuid.Must(uuid.NewV7()), Month: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Kind: outbox.KindEvent,
		Type: outbox.DocumentCreated, Subject: partner + "/1", Data: map[string]any{"document_id": "x"}, Targets: []string{"ledger"}}
	var b pgx.Batch
	if err := outbox.QueueEvents(&b, []outbox.Event{e, {Partner: partner, ID: uuid.Must(uuid.NewV7()), Month: e.Month, Kind: outbox.KindEvent, Type: "other"}}); err != nil {
		r.t.Fatal(err)
	}
	if err := r.pool.SendBatch(context.Background(), &b).Close(); err != nil {
		r.t.Fatal(err)
	}
	return e.ID
}

func (r *rig) take() lease.Piece {
	r.t.Helper()
	p, err := r.relay.Source().Take(context.Background(), "acme", time.Minute)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// dies has another process go on, which knows nothing but what is stored.
func (r *rig) dies() {
	old := r.relay
	r.relay = &outbox.Relay{Pool: old.Pool, NewID: old.NewID, Log: old.Log, Target: old.Target}
}

// soon makes due what is put off or leased.
func (r *rig) soon() {
	r.t.Helper()
	r.effectsSoon()
	r.pauseOver()
}

// pauseOver makes who failed due to be tried.
func (r *rig) pauseOver() {
	r.t.Helper()
	if _, err := r.pool.Exec(context.Background(), `update effect_pause set due_at = now()`); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) effectsSoon() {
	r.t.Helper()
	if _, err := r.pool.Exec(context.Background(), `update effect set due_at = now() where state in (1, 2)`); err != nil {
		r.t.Fatal(err)
	}
}

// stands checks how the only effect stands.
func (r *rig) stands(state outbox.State, attempts int, happened int) {
	r.t.Helper()
	list, err := outbox.Effects{Pool: r.pool}.List(context.Background(), outbox.EffectFilter{Limit: 10})
	if err != nil || len(list) != 1 {
		r.t.Fatalf("%d effects, %v", len(list), err)
	}
	got := fmt.Sprintf("%s after %d failures, happened %d times", list[0].State, list[0].Attempts, r.ledger.happened[list[0].Event])
	if diff := cmp.Diff(fmt.Sprintf("%s after %d failures, happened %d times", state, attempts, happened), got); diff != "" {
		r.t.Fatalf("(-want +got)\n%s%s", diff, list[0].Failure)
	}
}

func (r *rig) do(p lease.Piece) {
	r.t.Helper()
	if p == nil {
		r.t.Fatal("nothing is due")
	}
	if err := p.Do(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}

func TestRelay(t *testing.T) {
	ctx := context.Background()
	t.Run("an effect is started, then done, and an event without targets has none", func(t *testing.T) {
		r := newRig(t)
		r.cause("acme")
		r.stands(outbox.Pending, 0, 0)
		p := r.take()
		r.stands(outbox.Started, 0, 0)
		r.do(p)
		r.stands(outbox.Done, 0, 1)
		if r.take() != nil {
			t.Error("taken again")
		}
	})
	t.Run("one that certainly failed is tried again until no attempt is left", func(t *testing.T) {
		r := newRig(t)
		r.cause("acme")
		r.ledger.fails = fmt.Errorf("%w: the door is shut", outbox.ErrNotDone)
		for n := 1; n <= 2; n++ {
			r.do(r.take())
			r.stands(outbox.Pending, n, 0)
			if r.take() != nil {
				t.Fatal("there is no back-off")
			}
			r.soon()
		}
		r.do(r.take())
		r.stands(outbox.GivenUp, 3, 0)
	})
	t.Run("what the target says in another charset counts as a failure all the same", func(t *testing.T) {
		r := newRig(t)
		r.cause("acme")
		r.relay.Target.Send = func(_ context.Context, s *outbox.Step) error {
			s.Toward("/out/\xe4")
			return fmt.Errorf("%w: malformed header line: \x00\xe4", outbox.ErrNotDone)
		}
		r.do(r.take())
		r.stands(outbox.Pending, 1, 0)
	})
	t.Run("one whose event is gone was not done where it was never started", func(t *testing.T) {
		r := newRig(t)
		id := r.cause("acme")
		if _, err := r.pool.Exec(context.Background(), `delete from outbox where event_id = $1`, id); err != nil {
			t.Fatal(err)
		}
		r.do(r.take())
		r.stands(outbox.GivenUp, 0, 0)
	})
	t.Run("one that the target refuses for good is given up at once", func(t *testing.T) {
		r := newRig(t)
		r.cause("acme")
		r.ledger.fails = fmt.Errorf("%w: not this one", outbox.ErrFinal)
		r.do(r.take())
		r.stands(outbox.GivenUp, 0, 0)
		if r.soon(); r.take() != nil {
			t.Error("it is tried again")
		}
	})
	t.Run("one whose answer was lost is asked for, not repeated", func(t *testing.T) {
		r := newRig(t)
		r.cause("acme")
		r.ledger.loses = errors.New("connection reset")
		r.do(r.take())
		r.stands(outbox.Started, 1, 1)
		r.soon()
		r.do(r.take())
		r.stands(outbox.Done, 1, 1)
	})
	t.Run("of one that had it when it died, the target says that nothing happened", func(t *testing.T) {
		r := newRig(t)
		r.cause("acme")
		r.take()
		r.soon()
		r.do(r.take())
		r.stands(outbox.Done, 0, 1)
	})
	for _, c := range []struct {
		name string
		mute func(*rig)
	}{
		{"a target that does not know", func(r *rig) { r.ledger.mute = true }},
		{"a target that cannot be asked", func(r *rig) { r.relay.Target.Ask = nil }},
	} {
		t.Run(c.name+" leaves it to an operator", func(t *testing.T) {
			r := newRig(t)
			c.mute(r)
			id := r.cause("acme")
			r.take() // and dies
			r.soon()
			r.do(r.take())
			r.stands(outbox.Unknown, 0, 0)
			if r.soon(); r.take() != nil {
				t.Fatal("it is repeated blindly")
			}
			r.resolve(id, true, outbox.Unknown)
			r.stands(outbox.Pending, 0, 0)
			r.do(r.take())
			r.stands(outbox.Done, 0, 1)
			r.resolve(id, false, 0) // it waits for nobody any more
		})
	}
	t.Run("another target of the same name does not take what it knows nothing of for not done", func(t *testing.T) {
		r := newRig(t)
		r.relay.Target.Place = "a"
		id := r.cause("acme")
		r.take() // and dies
		r.soon()
		r.relay.Target.Place = "b"
		r.do(r.take())
		r.stands(outbox.Unknown, 0, 0)
		r.resolve(id, true, outbox.Unknown)
		r.do(r.take())
		r.stands(outbox.Done, 0, 1)
	})
	t.Run("what certainly was not done may be done elsewhere, and is that one's to know then", func(t *testing.T) {
		r := newRig(t)
		r.relay.Target.Place, r.ledger.fails = "a", fmt.Errorf("%w: full", outbox.ErrNotDone)
		r.cause("acme")
		r.do(r.take())
		r.stands(outbox.Pending, 1, 0)
		r.relay.Target.Place, r.ledger.fails = "b", nil
		r.soon()
		r.take()
		r.dies()
		r.soon()
		r.do(r.take())
		r.stands(outbox.Done, 1, 1)
	})
	t.Run("what is done is forgotten with its event's month, what waits is told and stays", func(t *testing.T) {
		r := newRig(t)
		effects := outbox.Effects{Pool: r.pool}
		r.cause("acme")
		if since, err := effects.NotBegun(t.Context(), "ledger"); since <= 0 || err != nil {
			t.Errorf("waits for %v, %v", since, err)
		}
		r.do(r.take())
		if since, err := effects.NotBegun(t.Context(), "ledger"); since != 0 || err != nil {
			t.Errorf("waits for %v, %v", since, err)
		}
		if n, err := effects.Forget(t.Context()); n != 0 || err != nil {
			t.Errorf("forgot %d whose event is kept, %v", n, err)
		}
		if _, err := r.pool.Exec(t.Context(), `update effect set event_month = '2020-01-01'`); err != nil {
			t.Fatal(err)
		}
		stuck := r.cause("acme")
		if _, err := r.pool.Exec(t.Context(), `update effect set event_month = '2020-01-01', state = 5 where event_id = $1`, stuck); err != nil {
			t.Fatal(err)
		}
		if n, err := effects.Forget(t.Context()); n != 1 || err != nil {
			t.Errorf("forgot %d, %v, want the one that is done", n, err)
		}
		r.stands(outbox.Unknown, 0, 0)
	})
	t.Run("an operator says that it was done", func(t *testing.T) {
		r := newRig(t)
		r.ledger.mute = true
		id := r.cause("acme")
		r.take()
		r.soon()
		r.do(r.take())
		r.resolve(id, false, outbox.Unknown)
		r.stands(outbox.Done, 0, 0)
	})
	t.Run("one that slept until another had it notes nothing", func(t *testing.T) {
		r := newRig(t)
		r.cause("acme")
		slept := r.take()
		r.soon()
		r.do(r.take())
		r.ledger.fails = outbox.ErrNotDone
		if err := slept.Do(ctx); !errors.Is(err, lease.ErrLost) {
			t.Errorf("it ended with %v", err)
		}
		if kept, err := slept.Renew(ctx, time.Minute); kept || err != nil {
			t.Errorf("renewed: %v, %v", kept, err)
		}
		r.stands(outbox.Done, 0, 1)
	})
	t.Run("one that is given back stays started, and is asked for", func(t *testing.T) {
		r := newRig(t)
		r.cause("acme")
		if err := r.take().Return(ctx); err != nil {
			t.Fatal(err)
		}
		r.stands(outbox.Started, 0, 0)
		r.do(r.take())
		r.stands(outbox.Done, 0, 1)
	})
	t.Run("a panic of the target is an outcome that nobody knows", func(t *testing.T) {
		r := newRig(t)
		r.cause("acme")
		r.relay.Target.Send = func(context.Context, *outbox.Step) error { panic("boom") }
		r.do(r.take())
		r.stands(outbox.Started, 1, 0)
	})
	t.Run("partners with something due are found, each once", func(t *testing.T) {
		r := newRig(t)
		for _, p := range []string{"cord", "acme", "bolt", "acme", "bolt"} {
			r.cause(p)
		}
		r.take()
		due, err := r.relay.Source().Due(ctx)
		if diff := cmp.Diff([]string{"acme", "bolt", "cord"}, due); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
		open, err := outbox.Effects{Pool: r.pool}.Open(ctx)
		if err != nil || len(open) != 2 || open[0].Count+open[1].Count != 5 {
			t.Errorf("%+v, %v", open, err)
		}
	})
}

// resolve ends an effect by hand, which is expected to have stood in was.
func (r *rig) resolve(id uuid.UUID, repeat bool, was outbox.State) {
	r.t.Helper()
	r.resolveRef(outbox.EffectRef{Partner: "acme", Event: id, Target: "ledger"}, repeat, was)
}

func (r *rig) resolveRef(ref outbox.EffectRef, repeat bool, was outbox.State) {
	r.t.Helper()
	got := outbox.State(0)
	var b pgx.Batch
	outbox.QueueResolve(&b, ref, repeat, func(s outbox.State, _ string) { got = s })
	if err := r.pool.SendBatch(context.Background(), &b).Close(); err != nil || got != was {
		r.t.Fatalf("it stood as %v, want %v; %v", got, was, err)
	}
}

func TestAPartnerWhoFails(t *testing.T) {
	r := newRig(t)
	r.relay.Share = 2
	other := &outbox.Relay{Pool: r.relay.Pool, NewID: r.relay.NewID, Log: r.relay.Log, Target: r.relay.Target, Share: 2} // another process
	by := r.relay
	take := func(partner string) lease.Piece {
		t.Helper()
		p, err := by.Source().Take(t.Context(), partner, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	due := func(want ...string) {
		t.Helper()
		got, err := by.Source().Due(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, append([]string(nil), got...)); diff != "" {
			t.Errorf("due (-want +got)\n%s", diff)
		}
	}
	for range 6 {
		r.cause("acme")
	}
	r.cause("bolt")
	first, second := take("acme"), take("acme")
	if first == nil || second == nil || take("acme") != nil {
		t.Fatal("a partner has more than his share at once, or less")
	}
	due("bolt")
	r.ledger.fails = fmt.Errorf("%w: timeout", outbox.ErrNotDone)
	r.do(first)
	r.do(second)
	t.Run("all of his effects are put off in every process, and nobody else's", func(t *testing.T) {
		r.effectsSoon()
		for _, by = range []*outbox.Relay{r.relay, other} {
			due("bolt")
			if take("acme") != nil {
				t.Error("he is tried before his back-off is over")
			}
		}
	})
	t.Run("then one is tried at a time, by one process", func(t *testing.T) {
		r.pauseOver()
		by = other
		due("acme", "bolt")
		one := take("acme")
		if one == nil || take("acme") != nil {
			t.Fatal("not one")
		}
		by = r.relay
		if take("acme") != nil {
			t.Error("another process tries him too")
		}
		due("bolt")
		if kept, err := one.Renew(t.Context(), time.Hour); !kept || err != nil {
			t.Errorf("not renewed: %v", err)
		}
		r.do(one)
		due("bolt")
		var failures int
		if err := r.pool.QueryRow(t.Context(), `select failures from effect_pause where partner_id = 'acme' and due_at < now() + interval '5 seconds'`).Scan(&failures); err != nil || failures != 2 {
			t.Errorf("%d rounds of failures in a row, want 2: %v", failures, err)
		}
	})
	t.Run("who dies trying leaves him to the others when his lease is over", func(t *testing.T) {
		r.pauseOver()
		r.effectsSoon()
		by = other
		if take("acme") == nil {
			t.Fatal("not taken")
		}
		r.effectsSoon()
		by = r.relay
		if take("acme") != nil {
			t.Error("another process tries him before")
		}
		r.pauseOver()
		if p := take("acme"); p == nil {
			t.Error("nobody tries him")
		} else {
			r.do(p)
		}
	})
	t.Run("one that is done ends it", func(t *testing.T) {
		r.soon()
		r.ledger.fails = nil
		r.do(take("acme"))
		r.effectsSoon()
		for n := range 2 {
			if take("acme") == nil {
				t.Errorf("of his share %d came back", n)
			}
		}
	})
}
