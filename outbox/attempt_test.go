package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/edigw/edigw/outbox"
)

func TestAttemptsSayWhereTheyWent(t *testing.T) {
	r := newRig(t)
	at, fails := "https://old.example/edi", error(nil)
	r.relay.Target.Send = func(_ context.Context, s *outbox.Step) error {
		s.Toward(at)
		return fails
	}
	told := func(id uuid.UUID) []string {
		t.Helper()
		list, err := outbox.Effects{Pool: r.pool}.Attempts(t.Context(), outbox.EffectRef{Partner: "acme", Event: id, Target: "ledger"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range list {
			got = append(got, fmt.Sprintf("%s %q", a.Address, a.Failure))
		}
		return got
	}
	id := r.cause("acme")
	fails = fmt.Errorf("%w: it answered 502 Bad Gateway", outbox.ErrNotDone)
	r.do(r.take())
	at, fails = "https://new.example/edi", nil
	r.soon()
	r.do(r.take())
	want := []string{`https://old.example/edi "not done: it answered 502 Bad Gateway"`, `https://new.example/edi ""`}
	if diff := cmp.Diff(want, told(id)); diff != "" {
		t.Error(diff)
	}
	t.Run("of a process that died before it noted, the target's word is the attempt", func(t *testing.T) {
		id := r.cause("acme")
		r.take()
		r.dies()
		r.relay.Target.Ask = func(_ context.Context, s *outbox.Step) (outbox.Outcome, error) {
			s.Toward("/out/acme/1.edi")
			return outbox.WasDone, nil
		}
		r.soon()
		r.do(r.take())
		if diff := cmp.Diff([]string{`/out/acme/1.edi ""`}, told(id)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what is brought nowhere is not in the log", func(t *testing.T) {
		id := r.cause("acme")
		r.relay.Target.Send = func(context.Context, *outbox.Step) error { return errors.New("no address") }
		r.do(r.take())
		if got := told(id); got != nil {
			t.Errorf("%q", got)
		}
	})
	t.Run("they are forgotten with the effect", func(t *testing.T) {
		if _, err := r.pool.Exec(t.Context(), `update effect set event_month = '2020-01-01' where event_id = $1`, id); err != nil {
			t.Fatal(err)
		}
		if _, err := (outbox.Effects{Pool: r.pool}).Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := told(id); got != nil {
			t.Errorf("%q", got)
		}
	})
}
