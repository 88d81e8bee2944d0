package gateway_test

import (
	"testing"

	"github.com/edigw/edigw/gateway"
)

func TestDecisionsOnHeldDocuments(t *testing.T) {
	again := interchange("REF2", message{number: "R-1", amount: "5.00"}, message{number: "R-2"})
	held := func(t *testing.T) *rig {
		r := newRig(t)
		r.policy(alone)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", again, gateway.First, gateway.ToldAccepted, "I1b")
		return r
	}
	standing := func(r *rig, want int) {
		r.t.Helper()
		if r.posted() != want {
			r.t.Errorf("posted %d, want %d", r.posted(), want)
		}
		if n := r.count(`select count(*) from inbox where hold <> 0`); n != 0 {
			r.t.Error("a decided document bars purging")
		}
		if n := r.count(`select count(*) from drift_alert where state <> 'resolved'`); n != 0 {
			r.t.Error("the alert is not resolved")
		}
		r.must("", again, gateway.Duplicate, gateway.ToldAccepted, "I2")
	}
	t.Run("replace posts it as the next revision", func(t *testing.T) {
		r := held(t)
		if got := r.decide(gateway.Replace); got.Posted != 1 || got.Replaced != 1 {
			t.Errorf("ruling %+v", got)
		}
		standing(r, 2)
		if n := r.count(`select count(*) from document where number = 'R-1' and revision = 2 and superseded_by is null`); n != 1 {
			t.Error("no second revision stands")
		}
		if r.events("document.superseded") != 1 || r.events("drift.decided") != 1 || r.events("document.created") != 3 {
			t.Error("not one event for each")
		}
		r.must("", interchange("REF3", message{number: "R-1", amount: "5.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		standing(r, 2)
	})
	t.Run("process_as_new posts it beside the first", func(t *testing.T) {
		r := held(t)
		r.decide(gateway.ProcessAsNew)
		standing(r, 3)
		if n := r.events("document.superseded"); n != 0 {
			t.Errorf("%d superseded", n)
		}
	})
	for _, c := range []gateway.Choice{gateway.KeepOriginal, gateway.RejectAndNotify} {
		t.Run(string(c)+" closes it: held for good, with a notice", func(t *testing.T) {
			r := held(t)
			r.decide(c)
			standing(r, 2)
			if n := r.count(`select count(*) from outbox where type = 'notice.refused' and body->'documents' ? 'R-1'`); n != 1 {
				t.Errorf("%d notices, want 1", n)
			}
			r.must("", interchange("REF3", message{number: "R-1", amount: "6.00"}), gateway.First, gateway.ToldAccepted, "I1b")
			if n := r.count(`select count(*) from drift_alert where state = 'open'`); n != 1 {
				t.Error("a third content is not held again")
			}
		})
	}
	t.Run("the same content posted meanwhile is absorbed", func(t *testing.T) {
		r := held(t)
		first := r.alert()
		replacement := interchange("REF4", message{number: "R-1", amount: "5.00"})
		r.must("", replacement, gateway.First, gateway.ToldAccepted, "I1b")
		r.decide(gateway.Replace) // of the second alert
		if id := r.alert(); id != first {
			t.Fatal("the first alert is decided")
		}
		if got := r.decide(gateway.Replace); got.Posted != 0 {
			t.Errorf("posted again: %+v", got)
		}
		standing(r, 2)
	})
	t.Run("replacing the interchange closes what it held and the new one lacks", func(t *testing.T) {
		r := held(t)
		first := r.alert()
		r.must("", interchange("REF2", message{number: "R-2", amount: "7.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		if got := r.decide(gateway.Replace); got.Posted != 1 || got.Replaced != 1 {
			t.Errorf("ruling %+v", got)
		}
		if got := r.alertState(first); got != "resolved" {
			t.Errorf("the held document's alert is %s", got)
		}
		standing(r, 2)
	})
}
