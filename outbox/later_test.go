package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/outbox"
)

func TestLater(t *testing.T) {
	ctx := t.Context()
	awaiting := func(t *testing.T) (*rig, outbox.Awaited, outbox.EffectRef) {
		t.Helper()
		r := newRig(t)
		r.ledger.loses = &outbox.Later{In: time.Hour, Why: errors.New("it says so by itself")}
		r.relay.Target.Ask = func(context.Context, *outbox.Step) (outbox.Outcome, error) { return outbox.NotDone, nil }
		r.relay.Target.Failed = func(s *outbox.Step) *outbox.Event { return failed(s) }
		return r, outbox.Awaited{Pool: r.pool}, outbox.EffectRef{Partner: "acme", Event: r.cause("acme"), Target: "ledger"}
	}
	find := func(t *testing.T, a outbox.Awaited, ref outbox.EffectRef) *outbox.Step {
		t.Helper()
		s, err := a.Find(ctx, ref)
		if err != nil || s == nil {
			t.Fatal(s, err)
		}
		return s
	}
	nothingDue := func(t *testing.T, r *rig) {
		t.Helper()
		if due, err := r.relay.Source().Due(ctx); err != nil || len(due) != 0 {
			t.Errorf("%v are due, %v", due, err)
		}
	}
	t.Run("what was taken stays started, and is due again when its time is over", func(t *testing.T) {
		r, a, ref := awaiting(t)
		r.do(r.take())
		r.stands(outbox.Started, 1, 1)
		nothingDue(t, r)
		if s := find(t, a, ref); s.Failure != "it says so by itself" || time.Until(s.DueAt) < 50*time.Minute {
			t.Errorf("%+v", s.Effect)
		}
		r.effectsSoon()
		r.do(r.take())
		r.stands(outbox.Started, 2, 2)
		r.effectsSoon()
		r.do(r.take())
		r.stands(outbox.Unknown, 3, 3) // for an operator: no attempt is left
		if n := events(t, r, "failed"); n != 1 {
			t.Errorf("%d events tell of it", n)
		}
	})
	t.Run("what the answer has to say is kept with the event", func(t *testing.T) {
		_, a, ref := awaiting(t)
		for range 2 {
			if err := a.Expect(ctx, find(t, a, ref), []string{"abc, sha-256", "def, sha-256"}); err != nil {
				t.Fatal(err)
			}
		}
		var body struct {
			DocumentID string   `json:"document_id"`
			Checks     []string `json:"checks"`
		}
		if err := json.Unmarshal(find(t, a, ref).Body, &body); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"x", "abc, sha-256", "def, sha-256"}, append([]string{body.DocumentID}, body.Checks...)); diff != "" {
			t.Error(diff)
		}
		gone := find(t, a, ref)
		gone.Event = uuid.Nil
		if err := a.Expect(ctx, gone, nil); !errors.Is(err, outbox.ErrNoEvent) {
			t.Errorf("of none: %v", err)
		}
	})
	t.Run("what is nobody's is not found", func(t *testing.T) {
		_, a, ref := awaiting(t)
		for _, other := range []outbox.EffectRef{{Partner: "bolt", Event: ref.Event, Target: "ledger"}, {Partner: "acme", Event: uuid.Nil, Target: "ledger"}, {Partner: "acme", Event: ref.Event, Target: "folder"}} {
			if s, err := a.Find(ctx, other); s != nil || err != nil {
				t.Errorf("%v: %v, %v", other, s, err)
			}
		}
	})
	said := func(t *testing.T, r *rig, a outbox.Awaited, ref outbox.EffectRef, why error) {
		t.Helper()
		s := find(t, a, ref)
		if err := a.Settle(ctx, s, why, failed(s)); err != nil {
			t.Fatal(err)
		}
	}
	no := fmt.Errorf("%w: they will not have it", outbox.ErrFinal)
	t.Run("it ends by what the target says", func(t *testing.T) {
		r, a, ref := awaiting(t)
		r.do(r.take())
		said(t, r, a, ref, nil)
		r.stands(outbox.Done, 1, 1)
		if s := find(t, a, ref); s.Failure != "" || s.Ended == nil {
			t.Errorf("%+v", s.Effect)
		}
		said(t, r, a, ref, no)
		r.stands(outbox.Done, 1, 1) // what is done stays so
		if n := events(t, r, "failed"); n != 0 {
			t.Errorf("%d events tell that it failed", n)
		}
	})
	t.Run("it is given up, told once, and done if they say so later", func(t *testing.T) {
		r, a, ref := awaiting(t)
		r.do(r.take())
		said(t, r, a, ref, no)
		said(t, r, a, ref, no)
		r.stands(outbox.GivenUp, 1, 1)
		if n := events(t, r, "failed"); n != 1 {
			t.Errorf("%d events tell of it", n)
		}
		r.effectsSoon()
		nothingDue(t, r)
		said(t, r, a, ref, nil)
		r.stands(outbox.Done, 1, 1)
	})
	t.Run("what proves nothing is noted, and it is waited for", func(t *testing.T) {
		r, a, ref := awaiting(t)
		r.do(r.take())
		said(t, r, a, ref, errors.New("nobody signed it"))
		r.stands(outbox.Started, 1, 1)
		if s := find(t, a, ref); s.Failure != "nobody signed it" || time.Until(s.DueAt) < 50*time.Minute {
			t.Errorf("%+v", s.Effect)
		}
	})
	t.Run("what is said while it is being sent counts", func(t *testing.T) {
		r, a, ref := awaiting(t)
		p := r.take()
		r.relay.Target.Send = func(context.Context, *outbox.Step) error {
			said(t, r, a, ref, nil)
			return &outbox.Later{In: time.Hour, Why: errors.New("it says so by itself")}
		}
		if err := p.Do(ctx); !errors.Is(err, lease.ErrLost) {
			t.Errorf("got %v", err)
		}
		r.stands(outbox.Done, 0, 0)
	})
	t.Run("an operator need not wait", func(t *testing.T) {
		r, _, ref := awaiting(t)
		if _, err := r.pool.Exec(ctx, `update effect set target = 'acknowledgement-as2'`); err != nil {
			t.Fatal(err)
		}
		r.relay.Target.Name = outbox.AcknowledgementAS2
		r.do(r.take())
		ref.Target = ""
		r.resolveRef(ref, true, outbox.Started)
		r.do(r.take())
		r.stands(outbox.Started, 1, 2)
	})
}

func failed(s *outbox.Step) *outbox.Event {
	return &outbox.Event{Partner: s.Partner, ID: uuid.Must(uuid.NewV7()), Month: s.Month, Kind: outbox.KindEvent, Type: "failed", Subject: s.Subject}
}

func events(t *testing.T, r *rig, kind string) (n int) {
	t.Helper()
	if err := r.pool.QueryRow(t.Context(), `select count(*) from outbox where type = $1`, kind).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
