package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// TestDecidedStories are the stories of outcomes.md in which an operator decides.
func TestDecidedStories(t *testing.T) {
	t.Run("a: 39 of 40 posted; mended and regenerated it is a drift, and complete posts the one", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		r.must("", interchange("REF1", forty("R", 7)...), gateway.First, gateway.ToldPartly, "I1b")
		again := forty("R", -1)
		for i := range again {
			again[i].ref = fmt.Sprint(100 + i)
		}
		regenerated := interchange("REF1", again...)
		r.must("", regenerated, gateway.Drift, gateway.ToldDrift, "I13")
		id := r.alert()
		got, err := r.Decide(context.Background(), gateway.Decision{Alert: id, Choice: gateway.CompleteWith, Reason: "corrected", By: anna})
		if err != nil || got.State != "awaiting_approval" {
			t.Fatalf("%+v, %v", got, err)
		}
		if got, err = r.Approve(context.Background(), id, bert); err != nil {
			t.Fatal(err)
		}
		if got.Posted+got.Absorbed != 40 || r.posted() != 40 || got.Cancelled+got.Replaced != 0 {
			t.Errorf("posted %d, ruling %+v", r.posted(), got)
		}
		r.must("", regenerated, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", interchange("REF1", forty("R", 7)...), gateway.Duplicate, gateway.ToldPartly, "I2")
	})
	t.Run("a: complete does not replace: other content is refused", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		r.must("", interchange("REF1", forty("R", 7)...), gateway.First, gateway.ToldPartly, "I1b")
		other := forty("R", -1)
		other[3].amount = "9.00"
		r.must("", interchange("REF1", other...), gateway.Drift, gateway.ToldDrift, "I13")
		no := r.refused(gateway.Decision{Choice: gateway.CompleteWith}, gateway.DoesNotPost)
		if len(no.Why) != 1 || !strings.Contains(no.Error(), "R-03") || !strings.Contains(no.Error(), "replace") {
			t.Errorf("why: %s", no)
		}
	})
	t.Run("c: a rejected drift sent again under new numbers is First, with possible_copy", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		drift := interchange("REF1", message{number: "R-1", amount: "177.00"})
		r.must("", drift, gateway.Drift, gateway.ToldDrift, "I13")
		r.decide(gateway.RejectAndNotify)
		rec := r.must("", interchange("REF2", message{number: "R-2", amount: "177.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		if !strings.Contains(string(rec.Items[0].JSON), "possible_copy") {
			t.Errorf("no finding possible_copy: %s", rec.Items[0].JSON)
		}
		if r.count(`select count(*) from drift_alert where state = 'resolved' and detail ? 'possible_copies'`) != 1 {
			t.Error("the refused drift does not know of the copy")
		}
		r.must("", drift, gateway.Duplicate, gateway.ToldDrift, "I8")
		if r.posted() != 2 {
			t.Errorf("posted %d, want 2", r.posted())
		}
	})
	t.Run("d: a transport id used for another file: under a new id it goes through, and nothing is left to decide", func(t *testing.T) {
		r := newRig(t)
		one, two := interchange("REF1", message{number: "R-1"}), interchange("REF2", message{number: "R-2"})
		r.must("T", one, gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("T", two, gateway.Drift, gateway.ToldDrift, "T6")
		id := r.alert()
		r.must("U", two, gateway.First, gateway.ToldAccepted, "T1 I1b")
		if got := r.alertState(id); got != "resolved" {
			t.Errorf("the alert is %s", got)
		}
		r.refused(gateway.Decision{Alert: id, Choice: gateway.ProcessPayload}, gateway.AlreadyDecided)
		r.must("T", two, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		if r.posted() != 2 {
			t.Errorf("posted %d, want 2", r.posted())
		}
	})
	t.Run("e: a constant reference: after the change of setting each of the drifts is decided, nothing posted twice", func(t *testing.T) {
		r := newRig(t)
		day := func(n int) string { return interchange("1", message{number: "R-" + string(rune('0'+n))}) }
		r.must("", day(1), gateway.First, gateway.ToldAccepted, "I1b")
		for n := 2; n <= 4; n++ {
			r.must("", day(n), gateway.Drift, gateway.ToldDrift, "I13")
		}
		if n := r.count(`select count(*) from drift_alert where proposal = 'control_reference: unreliable' and cardinality(digests) = 3`); n != 1 {
			t.Error("the alert does not propose the setting")
		}
		r.policy(func(p *partners.Policy) {
			p.Previous = &partners.KeySettings{ControlReference: "unique", Until: r.now.Add(400 * 24 * time.Hour)}
			p.ControlReference, p.FourEyes = "unreliable", "off"
		})
		id := r.alert()
		for n := 2; n <= 4; n++ {
			d := sha(day(n))
			if _, err := r.Decide(context.Background(), gateway.Decision{Alert: id, Choice: gateway.ProcessAsNew, Digest: d[:], Reason: "number_reused", By: anna}); err != nil {
				t.Fatalf("day %d: %v", n, err)
			}
		}
		if got := r.alertState(id); got != "resolved" {
			t.Errorf("the alert is %s", got)
		}
		for n := 1; n <= 4; n++ {
			r.must("", day(n), gateway.Duplicate, gateway.ToldAccepted, "I2")
		}
		r.must("", day(5), gateway.First, gateway.ToldAccepted, "I1b")
		if r.posted() != 5 {
			t.Errorf("posted %d, want 5", r.posted())
		}
	})
}
