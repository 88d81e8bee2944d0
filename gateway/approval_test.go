package gateway_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/edigw/edigw/gateway"
)

// proposed is a replacement of an invoice that waits for a second person.
func proposed(t *testing.T) (*rig, uuid.UUID, string) {
	t.Helper()
	r := newRig(t)
	r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
	changed := interchange("REF1", message{number: "R-1", amount: "177.00"})
	r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
	id := r.alert()
	got, err := r.Decide(context.Background(), gateway.Decision{Alert: id, Choice: gateway.Replace, Reason: "corrected", Note: "told by phone", By: anna})
	if err != nil {
		t.Fatal(err)
	}
	if got.State != "awaiting_approval" || r.alertState(id) != "awaiting_approval" {
		t.Fatalf("the ruling is %+v, the alert %s", got, r.alertState(id))
	}
	return r, id, changed
}

func TestFourEyes(t *testing.T) {
	ctx := context.Background()
	t.Run("a proposal changes nothing but the alert", func(t *testing.T) {
		r, _, changed := proposed(t)
		if n := r.count(`select count(*) from document`); n != 1 || r.events("drift.decided") != 0 {
			t.Errorf("%d documents", n)
		}
		if n := r.count(`select count(*) from document_key`); n != 1 {
			t.Errorf("%d guard keys", n)
		}
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I7")
	})
	t.Run("it needs one connection at a time", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF1", message{number: "R-1", amount: "177.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		id := r.alert()
		for range r.Pool.Config().MaxConns - 1 {
			c, err := r.Pool.Acquire(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Release()
		}
		got, err := r.Decide(ctx, gateway.Decision{Alert: id, Choice: gateway.Replace, Reason: "corrected", By: anna})
		if err != nil || got.State != "awaiting_approval" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("another person approves, once", func(t *testing.T) {
		r, id, changed := proposed(t)
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I7") // one more reception changes no fact
		got, err := r.Approve(ctx, id, bert)
		if err != nil || got.Posted != 1 || got.State != "resolved" {
			t.Fatalf("%+v, %v", got, err)
		}
		if n := r.count(`select count(*) from drift_alert where decided_by = 'anna' and approved_by = 'bert' and decided_note = 'told by phone'`); n != 1 {
			t.Error("who decided is not on the alert")
		}
		if n := r.count(`select count(*) from audit_entry where action in ('drift.proposed', 'drift.approved')`); n != 2 {
			t.Errorf("%d audit lines, want 2", n)
		}
		before := r.everything()
		_, err = r.Approve(ctx, id, bert)
		r.refusal(err, gateway.AlreadyDecided, before)
		r.must("", changed, gateway.Duplicate, gateway.ToldAccepted, "I2")
	})
	t.Run("the proposer does not, whatever his role and token", func(t *testing.T) {
		r, id, _ := proposed(t)
		before := r.everything()
		_, err := r.Approve(ctx, id, gateway.Person{Name: "Anna", Role: "admin"})
		r.refusal(err, gateway.SamePerson, before)
	})
	t.Run("while it waits nobody decides otherwise; withdrawn it is free", func(t *testing.T) {
		r, id, _ := proposed(t)
		r.refused(gateway.Decision{Choice: gateway.KeepOriginal, By: bert}, gateway.AwaitsApproval)
		if got, err := r.Withdraw(ctx, id, "not convinced", bert); err != nil || got.State != "open" {
			t.Fatalf("%+v, %v", got, err)
		}
		before := r.everything()
		_, err := r.Approve(ctx, id, bert)
		r.refusal(err, gateway.NothingToTake, before)
		r.decide(gateway.KeepOriginal)
	})
	t.Run("a third payload in review opens it again, and the proposal falls", func(t *testing.T) {
		r, id, _ := proposed(t)
		r.must("", interchange("REF1", message{number: "R-1", amount: "3.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		if got := r.alertState(id); got != "open" {
			t.Fatalf("the alert is %s", got)
		}
		before := r.everything()
		_, err := r.Approve(ctx, id, bert)
		no := r.refusal(err, gateway.FactsChanged, before)
		if !strings.Contains(no.Error(), "further payload") {
			t.Errorf("why: %s", no)
		}
	})
	t.Run("a document posted elsewhere since is a changed fact", func(t *testing.T) {
		r, id, _ := proposed(t)
		replacement := strings.Replace(interchangeFrom("9520001000010:14", "261129:1100", "REF7", message{number: "R-1", amount: "50.00"}), "BGM+380+R-1+9", "BGM+380+R-1+5", 1)
		r.must("", replacement, gateway.First, gateway.ToldAccepted, "I1b")
		before := r.everything()
		_, err := r.Approve(ctx, id, bert)
		var no *gateway.Refusal
		if !errors.As(err, &no) {
			t.Fatalf("approved on other facts: %v", err)
		}
		r.refusal(err, no.Code, before)
		if no.Code != gateway.FactsChanged && no.Code != gateway.DoesNotPost {
			t.Errorf("refused as %s", no.Code)
		}
	})
	t.Run("what posts no invoice needs one person", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF1", message{number: "R-1", amount: "177.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		r.decide(gateway.RejectAndNotify)
	})
	t.Run("assigned it is in review, and given back it is open", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF1", message{number: "R-1", amount: "177.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		id := r.alert()
		for _, step := range []struct{ to, state string }{{"anna", "in_review"}, {"", "open"}, {"bert", "in_review"}} {
			if _, err := r.Assign(ctx, id, step.to, anna); err != nil || r.alertState(id) != step.state {
				t.Errorf("assigned to %q it is %s, %v", step.to, r.alertState(id), err)
			}
		}
		r.decide(gateway.KeepOriginal)
	})
}

func TestTwoOperatorsAtOnce(t *testing.T) {
	r := newRig(t)
	r.policy(alone)
	r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
	changed := interchange("REF1", message{number: "R-1", amount: "177.00"})
	r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
	id := r.alert()
	choices := []gateway.Choice{gateway.Replace, gateway.KeepOriginal, gateway.Replace, gateway.RejectAndNotify}
	errs := make([]error, len(choices))
	var wg sync.WaitGroup
	for i, c := range choices {
		wg.Go(func() {
			_, errs[i] = r.Decide(context.Background(), gateway.Decision{Alert: id, Choice: c, Reason: "corrected", By: gateway.Person{Name: string(rune('a' + i))}})
		})
	}
	wg.Wait()
	taken := 0
	for i, err := range errs {
		var no *gateway.Refusal
		switch {
		case err == nil:
			taken++
		case errors.As(err, &no) && no.Code == gateway.AlreadyDecided:
		default:
			t.Errorf("%s: %v", choices[i], err)
		}
	}
	if taken != 1 || r.events("drift.decided") != 1 {
		t.Errorf("%d decisions taken, %d told, want one", taken, r.events("drift.decided"))
	}
	if r.posted() != 1 {
		t.Errorf("posted %d, want 1", r.posted())
	}
}
