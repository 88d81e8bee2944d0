package gateway_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func TestAdviceOnManyInterchangesOfOnePayload(t *testing.T) {
	const n = 4
	for x12, line := range map[bool]string{false: "APERAK accepted HELD R-%d", true: "824 accepted with errors 006 R-%d"} {
		t.Run(line[:6]+": each is told by one of its own, with a number of its own", func(t *testing.T) {
			r := advised(t, x12)
			var first, again string
			var want []string
			for i := range n {
				first += r.text(interchange(fmt.Sprintf("1%d", i), message{number: fmt.Sprintf("R-%d", i)}))
				again += r.text(interchange(fmt.Sprintf("2%d", i), message{number: fmt.Sprintf("R-%d", i), amount: "5.00"}))
				want = append(want, fmt.Sprintf(line, i))
			}
			for _, payload := range []string{first, again} {
				if _, err := r.deliver("acme", "", payload); err != nil {
					t.Fatal(err)
				}
			}
			got := r.advices()
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got %q", got)
			}
			if numbers := r.count(`select count(distinct reference) from functional_acknowledgement`); numbers != n {
				t.Errorf("%d numbers", numbers)
			}
		})
	}
}

// TestAllThatADeliveryFindsOfItself has one delivery find everything for which it starts
// again though nobody else has changed anything.
func TestAllThatADeliveryFindsOfItself(t *testing.T) {
	r := advised(t, false)
	r.must("", notices("D1", notice{number: "LS-1", units: []string{pallet}}), gateway.First, gateway.ToldAccepted, "I1b")
	r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
	drifted := interchange("REF2", message{number: "R-2"})
	r.must("id-1", interchange("REF0", message{number: "R-0"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
	r.must("id-1", drifted, gateway.Drift, gateway.ToldDrift, "T6")
	r.policy(func(p *partners.Policy) { p.Checks = partners.Checks{"sscc-elsewhere": "refuse"} })
	r.exec(`alter table document add constraint no_three check (number <> 'R-3')`)
	if _, err := r.deliver("acme", "", notices("D2", notice{number: "LS-2", units: []string{pallet}})+drifted+
		interchange("REF3", message{number: "R-3"})+interchange("REF4", message{number: "R-1", amount: "5.00"})); err != nil {
		t.Fatal(err)
	}
	r.isStates("D2", "rejected", "refused")
	r.isStates("REF2", "accepted", "posted")
	r.isStates("REF3", "rejected", "refused")
	r.isStates("REF4", "accepted", "held")
	r.isAdvised("APERAK accepted HELD R-1")
	if n := r.count(`select count(*) from drift_alert where kind = 'transport' and state = 'open'`); n != 0 {
		t.Errorf("%d drifts of a transport id are open", n)
	}
}
