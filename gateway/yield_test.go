package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// wrong is an invoice whose line does not give what its price does.
var wrong = message{number: "R-2", amount: "90.00"}

// TestPoliciesYield: what stands was posted before the policy refused what is wrong with
// it. It is absorbed when it is said again, as it was under the policy before.
func TestPoliciesYield(t *testing.T) {
	const (
		noted   = "warning line-amount in 2: line 1: 10 at 10.00 gives 100.00, the line says 90.00"
		refused = "error line-amount 12 in 2: line 1: 10 at 10.00 gives 100.00, the line says 90.00"
	)
	refusing := func(p *partners.Policy) { p.Checks = partners.Checks{"line-amount": "refuse"} }
	// stands has R-1 and the wrong R-2 stand, and then a policy that refuses R-2.
	stands := func(t *testing.T) *rig {
		t.Helper()
		r := newRig(t)
		r.policy(alone)
		r.must("", at("261129:1000", "REF1", message{number: "R-1"}, wrong), gateway.First, gateway.ToldAccepted, "I1b")
		r.policy(refusing)
		return r
	}
	is := func(t *testing.T, rec *gateway.Receipt, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, foundBy(t, rec)); diff != "" {
			t.Errorf("found (-want +got):\n%s", diff)
		}
	}
	regenerated := at("261129:1200", "REF2", message{number: "R-1"}, wrong)

	for _, acceptance := range []string{"interchange", "message"} {
		t.Run("regenerated under another reference it is absorbed, by acceptance: "+acceptance, func(t *testing.T) {
			r := stands(t)
			r.policy(func(p *partners.Policy) { p.Acceptance = acceptance })
			rec := r.must("", regenerated, gateway.First, gateway.ToldAccepted, "I1b")
			is(t, rec, noted)
			r.isStates("REF2", "accepted", "absorbed", "absorbed")
			if body := string(rec.Rendered.Body); r.posted() != 2 || !strings.Contains(body, "UCI+REF2+9520001000010:14+9520002000019:14+7'") {
				t.Errorf("%d posted: %s", r.posted(), body)
			}
		})
	}
	t.Run("it is foreseen so", func(t *testing.T) {
		r := stands(t)
		r.sees = true
		is(t, r.must("", regenerated, gateway.First, gateway.ToldAccepted, "I1b"), noted)
	})
	t.Run("what is off stays unsaid", func(t *testing.T) {
		r := newRig(t)
		odd := strings.ReplaceAll(interchange("REF1", wrong), "MOA+79:90.00", "MOA+79:91.00")
		r.must("", odd, gateway.First, gateway.ToldAccepted, "I1b")
		r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"line-amount": "off", "default": "refuse"} })
		rec := r.must("", strings.ReplaceAll(odd, "REF1", "REF2"), gateway.First, gateway.ToldAccepted, "I1b")
		for _, f := range foundBy(t, rec) {
			if strings.HasPrefix(f, "error") || strings.Contains(f, "line-amount") {
				t.Errorf("found: %s", f)
			}
		}
		r.isStates("REF2", "accepted", "absorbed")
	})
	t.Run("a worker absorbs it", func(t *testing.T) {
		r := stands(t)
		r.deferring()
		is(t, r.must("", regenerated, gateway.First, gateway.ToldDeferred, "I1b"), noted)
		r.works(1)
		r.isStates("REF2", "accepted", "absorbed", "absorbed")
	})
	t.Run("a payload that is not kept in memory is absorbed as well", func(t *testing.T) {
		r := stands(t)
		r.Retained = 1
		is(t, r.must("", regenerated, gateway.First, gateway.ToldAccepted, "I1b"), noted)
		r.isStates("REF2", "accepted", "absorbed", "absorbed")
	})
	t.Run("a replay absorbs it beside what was dead", func(t *testing.T) {
		r := stands(t)
		r.fail = func(n string) bool { return n == "R-3" }
		r.must("", at("261129:1200", "REF2", message{number: "R-3"}, wrong), gateway.First, gateway.ToldDead, "I1b")
		r.fail = nil
		if got, err := r.Replay(t.Context(), r.dead()[0], anna, false); err != nil || got.Posted != 1 || got.State != "accepted" {
			t.Fatalf("%+v, %v", got, err)
		}
		r.isStates("REF2", "accepted", "posted", "absorbed")
	})
	t.Run("a decision absorbs it", func(t *testing.T) {
		r := stands(t)
		r.must("", at("261129:1200", "REF1", message{number: "R-1", ref: "7"}, message{number: "R-2", amount: "90.00", ref: "8"}, message{number: "R-3"}), gateway.Drift, gateway.ToldDrift, "I13")
		if got := r.decide(gateway.CompleteWith); got.Posted != 1 || got.Absorbed != 2 {
			t.Errorf("ruling: %+v", got)
		}
	})
	t.Run("a decision that would post it is refused", func(t *testing.T) {
		r := stands(t)
		r.must("", at("261129:1200", "REF1", message{number: "R-2", amount: "90.00", ref: "8"}), gateway.Drift, gateway.ToldDrift, "I13")
		if why := r.refused(gateway.Decision{Choice: gateway.Replace}, gateway.DoesNotPost); !strings.Contains(why.Error(), "the line says 90.00") {
			t.Errorf("why: %s", why)
		}
	})
	t.Run("known by its number from a former gateway, it is absorbed", func(t *testing.T) {
		r := newRig(t)
		r.policy(refusing)
		if im, faults := r.importing()(gateway.ImportRow{Partner: "acme", Kind: "document", Class: "invoice", Type: "380", Number: "R-2", Date: "2026", ReceivedAt: "2026-01-01"}); im.Counts.Added != 1 {
			t.Fatalf("%+v", faults)
		}
		r.must("", interchange("REF2", wrong), gateway.First, gateway.ToldAccepted, "I1b")
		r.isStates("REF2", "accepted", "absorbed")
	})
	t.Run("a late copy of what was replaced is absorbed, and told that it is void", func(t *testing.T) {
		r := stands(t)
		r.must("", as("5", at("261129:1300", "REF3", message{number: "R-2"})), gateway.First, gateway.ToldAccepted, "I1b")
		rec := r.must("", regenerated, gateway.First, gateway.ToldAccepted, "I1b")
		is(t, rec, noted, "warning document-void in 2: Document R-2 was replaced or cancelled; this says what it said before, is not newer, and changes nothing.")
	})

	for name, text := range map[string]string{
		"other content":  at("261129:1200", "REF2", message{number: "R-1"}, message{number: "R-2", amount: "80.00"}),
		"another number": at("261129:1200", "REF2", message{number: "R-1"}, message{number: "R-3", amount: "90.00"}),
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			r := stands(t)
			r.must("", text, gateway.First, gateway.ToldRejected, "I1b")
			r.isStates("REF2", "rejected", "refused", "refused")
		})
	}
	t.Run("what would be posted again after its cancellation is refused", func(t *testing.T) {
		r := stands(t)
		r.policy(func(p *partners.Policy) { p.Checks = nil })
		r.must("", as("1", at("261129:1100", "REF3", wrong)), gateway.First, gateway.ToldAccepted, "I1b")
		r.policy(refusing)
		is(t, r.must("", regenerated, gateway.First, gateway.ToldRejected, "I1b"), refused)
	})
	t.Run("what is cancelled between the look and the lock is refused", func(t *testing.T) {
		for _, retained := range []int64{0, 1} {
			r := stands(t)
			r.Retained = retained
			r.Hook = func(at string) {
				if at == "begin" {
					r.Hook = nil
					r.exec(`update document set cancelled_by = document_id where number = 'R-2'`)
				}
			}
			is(t, r.must("", regenerated, gateway.First, gateway.ToldRejected, "I1b"), refused)
			r.isStates("REF2", "rejected", "refused", "refused")
		}
	})
	t.Run("a worker refuses what is cancelled before it works", func(t *testing.T) {
		r := stands(t)
		r.deferring()
		r.must("", regenerated, gateway.First, gateway.ToldDeferred, "I1b")
		r.exec(`update document set cancelled_by = document_id where number = 'R-2'`)
		r.works(1)
		r.isStates("REF2", "rejected", "refused", "refused")
	})
	t.Run("in X12 too", func(t *testing.T) {
		r := newRig(t)
		r.inX12()
		r.must("", interchange("REF1", wrong), gateway.First, gateway.ToldAccepted, "I1b")
		r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"invoice-total": "refuse"} })
		r.must("", interchange("REF3", message{number: "R-3", amount: "90.00"}), gateway.First, gateway.ToldRejected, "I1b")
		rec := r.must("", interchange("REF2", wrong), gateway.First, gateway.ToldAccepted, "I1b")
		if got := foundBy(t, rec); len(got) == 0 || !strings.HasPrefix(got[0], "warning invoice-total") {
			t.Errorf("found: %v", got)
		}
	})
}

// TestWhatYieldsIsLookedForTogether: a delivery holds its room while it looks, and may
// hold thousands of interchanges that a policy refuses.
func TestWhatYieldsIsLookedForTogether(t *testing.T) {
	m := newMeter(t)
	r := newRigOn(t, m.pool)
	payload := func(begin string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(interchange(fmt.Sprint(begin, i), message{number: fmt.Sprint("R-", i), amount: "90.00"}))
		}
		return b.String()
	}
	const many = 50
	r.must("", payload("A", many), gateway.First, gateway.ToldAccepted, strings.Repeat("I1b,", many-1)+"I1b")
	r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"line-amount": "refuse"} })
	trips := func(begin string, n int) int {
		c := m.count(func() {
			if rec, err := r.deliver("acme", "", payload(begin, n)); err != nil || rec.Answer != gateway.ToldAccepted || rec.Posted != 0 {
				t.Fatalf("%+v, %v", rec, err)
			}
		})
		return c.roundTrips - c.transaction
	}
	trips("B", many) // statements prepared
	few, all := trips("C", 2), trips("D", many)
	t.Logf("%d round trips before the transaction for 2 interchanges, %d for %d", few, all, many)
	if all > few+3 { // numbers are leased meanwhile
		t.Errorf("%d round trips before the transaction for 2 interchanges, %d for %d", few, all, many)
	}
	if n := r.posted(); n != many {
		t.Errorf("%d posted, want %d", n, many)
	}
}
