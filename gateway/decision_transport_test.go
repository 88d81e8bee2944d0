package gateway_test

import (
	"context"
	"testing"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func TestDecisionsOnTransportDrifts(t *testing.T) {
	one, two := interchange("REF1", message{number: "R-1"}), interchange("REF2", message{number: "R-2"})
	drifted := func(t *testing.T, change ...func(*partners.Policy)) *rig {
		r := newRig(t)
		r.policy(alone)
		for _, c := range change {
			r.policy(c)
		}
		r.must("T", one, gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("T", two, gateway.Drift, r.told(), "T6")
		return r
	}
	t.Run("process: as if the id were unknown, and copies are told so under every id", func(t *testing.T) {
		r := drifted(t)
		if got := r.decide(gateway.ProcessPayload); got.Posted != 1 || got.State != "resolved" {
			t.Errorf("ruling %+v", got)
		}
		r.must("T", two, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		r.must("T", two, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		r.must("U", two, gateway.Duplicate, gateway.ToldAccepted, "T1 I2")
		r.must("T", one, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		if r.posted() != 2 || r.events("drift.decided") != 1 || r.events("document.created") != 2 {
			t.Errorf("posted %d", r.posted())
		}
		if n := r.count(`select count(*) from payload`); n != 2 {
			t.Errorf("%d payloads, want 2: it was kept already", n)
		}
		if n := r.count(`select count(*) from inbox where hold <> 0`); n != 0 {
			t.Error("a decided drift bars purging")
		}
	})
	t.Run("a copy that was looked up before it was processed is told what came of it", func(t *testing.T) {
		r := drifted(t)
		r.Hook = func(at string) {
			if at == "begin" { // the copy took it for an open drift
				r.Hook = nil
				if got := r.decide(gateway.ProcessPayload); got.Posted != 1 {
					t.Errorf("ruling %+v", got)
				}
			}
		}
		copied := r.must("T", two, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		if n := r.count(`select count(*) from acknowledgement where answer = $1`, []byte(copied.Items[0].JSON)); n != 1 {
			t.Errorf("its part of the receipt is stored %d times: %s", n, copied.Items[0].JSON)
		}
		again := r.must("T", two, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		if string(again.Rendered.Body) != string(copied.Rendered.Body) {
			t.Errorf("the next copy got another receipt:\n%s\n%s", copied.Rendered.Body, again.Rendered.Body)
		}
	})
	t.Run("process is decided at interchange level: there it may be a drift", func(t *testing.T) {
		r := drifted(t)
		r.policy(func(p *partners.Policy) { p.ControlReference = "unique" })
		r.exec(`update drift_copy set content = content || '\x00'`) // so that the next delivery does not close the alert
		r.must("U", interchange("REF2", message{number: "R-3"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		if got := r.decide(gateway.ProcessPayload); got.Posted != 0 || got.State != "resolved" {
			t.Errorf("ruling %+v", got)
		}
		if n := r.count(`select count(*) from drift_alert where kind = 'interchange' and state = 'open'`); n != 1 {
			t.Error("no drift of kind interchange")
		}
		r.must("T", two, gateway.Drift, gateway.ToldDrift, "T3 I7")
	})
	t.Run("reject: its stored answer, and the file goes through under another id", func(t *testing.T) {
		r := drifted(t)
		r.decide(gateway.RejectPayload)
		r.must("T", two, gateway.Duplicate, gateway.ToldDrift, "T2b")
		if r.posted() != 1 || r.events("notice.refused") != 0 {
			t.Errorf("posted %d, notices %d", r.posted(), r.events("notice.refused"))
		}
		r.must("U", two, gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("T", two, gateway.Duplicate, gateway.ToldDrift, "T2b")
	})
	t.Run("reject after a held drift sends a notice", func(t *testing.T) {
		r := drifted(t, func(p *partners.Policy) { p.OnDrift = "hold" })
		r.decide(gateway.RejectPayload)
		r.must("T", two, gateway.Duplicate, gateway.ToldDriftHeld, "T2b")
		if r.events("notice.refused") != 1 {
			t.Errorf("%d notices, want 1", r.events("notice.refused"))
		}
	})
	t.Run("with an invoice in it a second person approves", func(t *testing.T) {
		r := newRig(t)
		r.must("T", one, gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("T", two, gateway.Drift, gateway.ToldDrift, "T6")
		id := r.alert()
		got, err := r.Decide(context.Background(), gateway.Decision{Alert: id, Choice: gateway.ProcessPayload, Reason: "confirmed_with_partner", By: anna})
		if err != nil || got.State != "awaiting_approval" || r.posted() != 1 {
			t.Fatalf("%+v, %v; posted %d", got, err, r.posted())
		}
		if got, err = r.Approve(context.Background(), id, bert); err != nil || got.State != "resolved" || r.posted() != 2 {
			t.Fatalf("%+v, %v; posted %d", got, err, r.posted())
		}
	})
}
