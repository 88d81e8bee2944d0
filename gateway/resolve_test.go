package gateway_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

func TestHandOver(t *testing.T) {
	text := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
	effects := `select count(*) from effect e join outbox o on o.partner_id = e.partner_id and o.event_id = e.event_id and o.purge_month = e.event_month
		where e.target = 'folder' and e.state = 1 and o.type = 'document.created'`
	t.Run("each posted document is to be handed over, once, under its event's id", func(t *testing.T) {
		for _, processing := range []string{"inline", "deferred"} {
			r := newRig(t)
			r.policy(func(p *partners.Policy) {
				p.HandOver, p.Processing = "folder", partners.Processing{"default": processing}
			})
			if _, err := r.deliver("acme", "", text); err != nil {
				t.Fatal(err)
			}
			r.work()
			if _, err := r.deliver("acme", "", text); err != nil {
				t.Fatal(err)
			}
			if n := r.count(effects); n != 2 || r.count(`select count(*) from effect`) != 2 {
				t.Errorf("%s: %d effects, want 2", processing, n)
			}
		}
	})
	t.Run("nothing is handed over of tests, of what is held, or where nobody asked for it", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF0", message{number: "R-1", amount: "5.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.policy(func(p *partners.Policy) { p.HandOver = "folder" })
		r.must("", strings.Replace(text, "+REF1'UNH", "+REF1++++++1'UNH", 1), gateway.First, gateway.ToldAccepted, "I1b")
		if n := r.count(effects); n != 0 {
			t.Fatalf("%d effects of a test", n)
		}
		r.must("", text, gateway.First, gateway.ToldAccepted, "I1b")
		if n := r.count(effects); n != 1 {
			t.Errorf("%d effects, want the one of R-2: R-1 is held", n)
		}
	})
}

func TestResolveEffect(t *testing.T) {
	ctx := t.Context()
	r := newRig(t)
	r.policy(func(p *partners.Policy) { p.HandOver = "folder" })
	r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
	var id uuid.UUID
	if err := r.Pool.QueryRow(ctx, `update effect set state = 4 returning event_id`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	ref := outbox.EffectRef{Partner: "acme", Event: id, Target: "folder"}
	before := r.count(`select count(*) from audit_entry`)
	r.refusal(r.ResolveEffect(ctx, ref, true, "", anna), gateway.NoReason, "")
	if err := r.ResolveEffect(ctx, outbox.EffectRef{Partner: "bolt", Event: id, Target: "folder"}, true, "found", anna); !errors.Is(err, outbox.ErrNotStuck) {
		t.Errorf("another partner's: %v", err)
	}
	if n := r.count(`select count(*) from audit_entry`); n != before {
		t.Errorf("%d audit lines of what was not done", n-before)
	}
	if err := r.ResolveEffect(ctx, ref, true, "the disk was full", anna); err != nil {
		t.Fatal(err)
	}
	if n := r.count(`select count(*) from effect where state = 1 and attempts = 0 and due_at <= now()`); n != 1 {
		t.Error("it is not tried again")
	}
	if n := r.count(`select count(*) from audit_entry where action = 'effect.resolved' and who = 'anna' and detail->>'was' = 'given_up' and detail->>'as' = 'repeat'
		and detail->>'note' = 'the disk was full'`); n != 1 {
		t.Errorf("%d audit lines", n)
	}
	if err := r.ResolveEffect(ctx, ref, false, "again", anna); !errors.Is(err, outbox.ErrNotStuck) {
		t.Errorf("resolved twice: %v", err)
	}
	t.Run("of an acknowledgement the audit log says by which way it leaves again", func(t *testing.T) {
		if _, err := r.Pool.Exec(ctx, `update effect set state = 3, target = 'acknowledgement-as2'`); err != nil {
			t.Fatal(err)
		}
		ref.Target = ""
		if err := r.ResolveEffect(ctx, ref, true, "they lost it", anna); err != nil {
			t.Fatal(err)
		}
		if n := r.count(`select count(*) from audit_entry where action = 'effect.resolved' and detail->>'was' = 'done' and detail->>'target' = 'acknowledgement-as2'`); n != 1 {
			t.Errorf("%d audit lines", n)
		}
	})
}
