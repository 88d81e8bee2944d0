package gateway_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// refuseElsewhere is the policy under which a unit of another despatch advice refuses.
func refuseElsewhere(p *partners.Policy) { p.Checks = partners.Checks{"sscc-elsewhere": "refuse"} }

// shared has two despatch advices with one pallet stand, LS-1 and LS-2.
func shared(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.must("", notices("D1", notice{number: "LS-1", units: []string{pallet}}), gateway.First, gateway.ToldAccepted, "I1b")
	r.must("", notices("D2", notice{number: "LS-2", units: []string{pallet}}), gateway.First, gateway.ToldAccepted, "I1b")
	return r
}

// TestUnitsSaidAgain: a despatch advice that says what stands already is absorbed
// whatever its units are named by, and told nothing of them.
func TestUnitsSaidAgain(t *testing.T) {
	again := notices("D3", notice{number: "LS-1", units: []string{pallet}})
	absorbed := func(t *testing.T, r *rig, posted int) {
		t.Helper()
		r.isStates("D3", "accepted", "absorbed")
		if r.posted() != posted {
			t.Errorf("%d posted, want %d", r.posted(), posted)
		}
	}
	for name, policy := range map[string]func(*partners.Policy){"noted": func(*partners.Policy) {}, "refused": refuseElsewhere} {
		t.Run("where other notices are "+name+" it is absorbed without a finding", func(t *testing.T) {
			r := shared(t)
			r.policy(policy)
			if got := foundBy(t, r.must("", again, gateway.First, gateway.ToldAccepted, "I1b")); got != nil {
				t.Errorf("found: %v", got)
			}
			absorbed(t, r, 2)
		})
		t.Run("where other notices are "+name+" a worker absorbs it", func(t *testing.T) {
			r := shared(t)
			r.deferring()
			r.policy(policy)
			r.must("", again, gateway.First, gateway.ToldDeferred, "I1b")
			r.works(1)
			absorbed(t, r, 2)
		})
	}
	t.Run("beside one that is refused it is refused with it, and then absorbed alone", func(t *testing.T) {
		r := shared(t)
		r.policy(refuseElsewhere)
		both := notices("D3", notice{number: "LS-1", units: []string{pallet}}, notice{number: "LS-3", units: []string{pallet}})
		rec := r.must("", both, gateway.First, gateway.ToldRejected, "I1b")
		if got := foundBy(t, rec); len(got) != 1 || !strings.HasPrefix(got[0], "error sscc-elsewhere 26 in 2") {
			t.Errorf("found: %v", got)
		}
		r.must("", again, gateway.Correction, gateway.ToldAccepted, "I9")
		absorbed(t, r, 2)
	})
	t.Run("with other content it is refused before it is held", func(t *testing.T) {
		r := shared(t)
		r.policy(refuseElsewhere)
		r.policy(func(p *partners.Policy) { p.OnKnownDocument = map[string]string{"despatch": "hold"} })
		rec := r.must("", notices("D3", notice{number: "LS-1", units: []string{another, pallet}}), gateway.First, gateway.ToldRejected, "I1b")
		if got := foundBy(t, rec); len(got) != 1 || !strings.HasPrefix(got[0], "error sscc-elsewhere 26 in 1") {
			t.Errorf("found: %v", got)
		}
	})
}

// TestUnitsOnEveryWay: whatever posts a despatch advice looks for its units elsewhere.
func TestUnitsOnEveryWay(t *testing.T) {
	two := notices("D2", notice{number: "LS-2", units: []string{pallet}})
	dead := func(t *testing.T) (*rig, gateway.Letter) {
		r := newRig(t)
		r.must("", notices("D1", notice{number: "LS-1", units: []string{pallet}}), gateway.First, gateway.ToldAccepted, "I1b")
		r.fail = func(n string) bool { return n == "LS-2" }
		r.must("", two, gateway.First, gateway.ToldDead, "I1b")
		r.fail = nil
		return r, r.dead()[0]
	}
	t.Run("one that was dead is noted when it is replayed", func(t *testing.T) {
		r, l := dead(t)
		got, err := r.Replay(t.Context(), l, anna, false)
		if err != nil || got.Posted != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if diff := cmp.Diff([]string{"sscc-elsewhere"}, r.kept("LS-2")); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
		if got := foundBy(t, r.must("", two, gateway.Duplicate, gateway.ToldAccepted, "I2")); len(got) != 1 || !strings.HasPrefix(got[0], "note sscc-elsewhere in 1") {
			t.Errorf("told: %v", got)
		}
	})
	t.Run("one that was dead is refused when it is replayed, where the policy says so", func(t *testing.T) {
		r, l := dead(t)
		r.policy(refuseElsewhere)
		for _, dry := range []bool{true, false} {
			got, err := r.Replay(t.Context(), l, anna, dry)
			if err != nil || got.Posted != 0 || got.Refused != 1 || got.State != "rejected" || r.posted() != 1 {
				t.Fatalf("dry %v: %+v, %v; %d posted", dry, got, err, r.posted())
			}
		}
		if got := foundBy(t, r.must("", two, gateway.Duplicate, gateway.ToldRejected, "I6")); len(got) != 1 || !strings.HasPrefix(got[0], "error sscc-elsewhere 26 in 1") {
			t.Errorf("told: %v", got)
		}
	})
	t.Run("a retry of one that was dead is refused as well", func(t *testing.T) {
		r, _ := dead(t)
		r.policy(refuseElsewhere)
		r.must("", two, gateway.Retry, gateway.ToldRejected, "I4")
	})
	t.Run("what a person decides to post is noted, and not refused", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.policy(refuseElsewhere)
		r.must("", notices("D1", notice{number: "LS-1", units: []string{another}}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", notices("D2", notice{number: "LS-2", units: []string{pallet}}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", notices("D1", notice{number: "LS-1", units: []string{another, pallet}}), gateway.Drift, gateway.ToldDrift, "I13")
		if got := r.decide(gateway.Replace); got.Posted != 1 {
			t.Fatalf("ruling: %+v", got)
		}
		if diff := cmp.Diff([]string{"sscc-elsewhere"}, r.kept("LS-1")); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	})
	t.Run("what a decision takes the place of is no other despatch advice", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.policy(refuseElsewhere)
		r.must("", notices("D1", notice{number: "LS-1", units: []string{pallet}}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", notices("D1", notice{number: "LS-9", units: []string{pallet}}), gateway.Drift, gateway.ToldDrift, "I13")
		if got := r.decide(gateway.Replace); got.Posted != 1 || got.Cancelled != 1 || r.kept("LS-9") != nil {
			t.Errorf("ruling: %+v; kept: %v", got, r.kept("LS-9"))
		}
	})
	t.Run("one that is held is noted when a person has it posted", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) {
			p.FourEyes, p.OnKnownDocument = "off", map[string]string{"despatch": "hold"}
		})
		r.must("", notices("D1", notice{number: "LS-1", units: []string{another}}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", notices("D2", notice{number: "LS-2", units: []string{pallet}}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", notices("D3", notice{number: "LS-1", units: []string{pallet}}), gateway.First, gateway.ToldAccepted, "I1b")
		r.isStates("D3", "accepted", "held")
		r.policy(refuseElsewhere)
		if got := r.decide(gateway.Replace); got.Posted != 1 {
			t.Fatalf("ruling: %+v", got)
		}
		if diff := cmp.Diff([]string{"sscc-elsewhere"}, r.kept("LS-1")); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	})
	t.Run("a payload of another transport id is refused as any delivery when a person has it processed", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.must("T", notices("D1", notice{number: "LS-1", units: []string{pallet}}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("T", two, gateway.Drift, gateway.ToldDrift, "T6")
		r.policy(refuseElsewhere)
		if got := r.decide(gateway.ProcessPayload); got.Posted != 0 {
			t.Fatalf("ruling: %+v", got)
		}
		r.isStates("D2", "rejected", "refused")
	})
}
