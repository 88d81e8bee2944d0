package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/outbox"
)

// repeatable is a rig whose target may have an effect twice, as that of functional
// acknowledgements may.
func repeatable(t *testing.T) *rig {
	r := newRig(t)
	r.relay.Target.Attempts = 200
	r.relay.Target.Ask = func(context.Context, *outbox.Step) (outbox.Outcome, error) { return outbox.NotDone, nil }
	r.relay.Target.Failed = failed
	return r
}

// answers has the target end every try so.
func (r *rig) answers(how outbox.Ending) {
	r.relay.Target.Send = func(_ context.Context, s *outbox.Step) error { return s.End(errors.New("no"), how) }
}

func (r *rig) tries(n int) {
	r.t.Helper()
	for range n {
		r.soon()
		r.do(r.take())
	}
}

func TestRefusalsWithoutAReason(t *testing.T) {
	t.Run("twelve of them give it up, and failures of another kind do not count", func(t *testing.T) {
		r := repeatable(t)
		r.cause("acme")
		r.answers(outbox.TryOn)
		r.tries(30)
		r.answers(outbox.Unexplained)
		r.tries(11)
		r.stands(outbox.Pending, 41, 0)
		if n := events(t, r, "failed"); n != 0 {
			t.Errorf("%d events tell of it", n)
		}
		r.tries(1)
		r.stands(outbox.GivenUp, 41, 0)
		if n := events(t, r, "failed"); n != 1 {
			t.Errorf("%d events tell of it", n)
		}
	})
	t.Run("behind a try whose answer was lost nobody knows, whatever was said in between", func(t *testing.T) {
		r := repeatable(t)
		r.cause("acme")
		r.answers(outbox.Lost)
		r.tries(1)
		r.stands(outbox.Started, 1, 0)
		r.answers(outbox.TryOn)
		r.tries(2)
		r.stands(outbox.Started, 3, 0)
		r.answers(outbox.Unexplained)
		r.tries(11)
		r.stands(outbox.Started, 14, 0)
		r.tries(1)
		r.stands(outbox.Unknown, 14, 0)
		if n := events(t, r, "failed"); n != 1 {
			t.Errorf("%d events tell of it", n)
		}
	})
	t.Run("a process that died while it sent it leaves as much open", func(t *testing.T) {
		r := repeatable(t)
		r.cause("acme")
		r.take()
		r.dies()
		r.answers(outbox.Unexplained)
		r.tries(12)
		r.stands(outbox.Unknown, 11, 0)
	})
	t.Run("one that is repeated by hand is counted anew", func(t *testing.T) {
		r := repeatable(t)
		id := r.cause("acme")
		r.answers(outbox.Unexplained)
		r.tries(12)
		r.resolve(id, true, outbox.GivenUp)
		r.tries(11)
		r.stands(outbox.Pending, 11, 0)
	})
	t.Run("one whose event is gone meanwhile is left to who comes next", func(t *testing.T) {
		r := repeatable(t)
		r.cause("acme")
		r.relay.Target.Send = func(ctx context.Context, s *outbox.Step) error {
			if _, err := r.pool.Exec(ctx, `delete from outbox where event_id = $1`, s.Event); err != nil {
				t.Error(err)
			}
			return s.End(errors.New("no"), outbox.Unexplained)
		}
		if err := r.take().Do(t.Context()); !errors.Is(err, outbox.ErrNoEvent) {
			t.Errorf("got %v", err)
		}
		r.stands(outbox.Started, 0, 0)
	})
}

func TestWhoRefusesIsTriedOneAtATime(t *testing.T) {
	for name, how := range map[string]outbox.Ending{"for good": outbox.Refused, "without a reason": outbox.Unexplained} {
		t.Run(name+", each later than the one before", func(t *testing.T) {
			r := repeatable(t)
			for range 5 {
				r.cause("acme")
			}
			r.answers(how)
			for n := 1; n <= 4; n++ {
				r.do(r.take())
				r.effectsSoon()
				if r.take() != nil {
					t.Fatal("the next one follows at once")
				}
				var failures int
				if err := r.pool.QueryRow(t.Context(), `select failures from effect_pause`).Scan(&failures); err != nil || failures != n {
					t.Fatalf("%d in a row, want %d: %v", failures, n, err)
				}
				r.pauseOver()
			}
			if how == outbox.Refused {
				var given int
				if err := r.pool.QueryRow(t.Context(), `select count(*) from effect where state = 4`).Scan(&given); err != nil || given != 4 {
					t.Errorf("%d are given up: %v", given, err)
				}
			}
		})
	}
}

func TestAwaitedRefusalsWithoutAReason(t *testing.T) {
	ref := func(r *rig) outbox.EffectRef {
		return outbox.EffectRef{Partner: "acme", Event: r.cause("acme"), Target: "ledger"}
	}
	said := func(t *testing.T, r *rig, ref outbox.EffectRef) {
		t.Helper()
		a := outbox.Awaited{Pool: r.pool}
		s, err := a.Find(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Settle(t.Context(), s, fmt.Errorf("%w: no", outbox.ErrUnexplained), failed(s)); err != nil {
			t.Fatal(err)
		}
	}
	awaited := func(r *rig) {
		r.relay.Target.Send = func(context.Context, *outbox.Step) error {
			return &outbox.Later{In: time.Hour, Why: errors.New("it says so by itself")}
		}
	}
	t.Run("it is sent again soon, the same said twice counts once, and twelve give it up", func(t *testing.T) {
		r := repeatable(t)
		ref := ref(r)
		awaited(r)
		for n := range 11 {
			r.tries(1)
			said(t, r, ref)
			said(t, r, ref)
			r.stands(outbox.Pending, n+1, 0)
		}
		r.tries(1)
		said(t, r, ref)
		r.stands(outbox.GivenUp, 12, 0)
		if n := events(t, r, "failed"); n != 1 {
			t.Errorf("%d events tell of it", n)
		}
		r.resolveRef(ref, true, outbox.GivenUp)
		r.tries(1)
		said(t, r, ref)
		r.stands(outbox.Pending, 1, 0) // counted anew
	})
	t.Run("where nothing came of a try before, nobody knows", func(t *testing.T) {
		r := repeatable(t)
		ref := ref(r)
		awaited(r)
		r.tries(1)
		for range 12 {
			r.tries(1)
			said(t, r, ref)
		}
		r.stands(outbox.Unknown, 13, 0)
	})
	t.Run("what is said while it is being sent counts as a try", func(t *testing.T) {
		r := repeatable(t)
		ref := ref(r)
		r.relay.Target.Send = func(context.Context, *outbox.Step) error {
			said(t, r, ref)
			return &outbox.Later{In: time.Hour, Why: errors.New("it says so by itself")}
		}
		for range 12 {
			r.soon()
			if err := r.take().Do(t.Context()); !errors.Is(err, lease.ErrLost) {
				t.Fatalf("got %v", err)
			}
		}
		r.stands(outbox.GivenUp, 11, 0)
	})
}
