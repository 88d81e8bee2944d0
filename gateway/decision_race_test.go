package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/gateway"
)

// TestTheProposerNeverApproves: who acts is a person, whatever proves him.
func TestTheProposerNeverApproves(t *testing.T) {
	for name, by := range map[string]gateway.Person{
		"with another token":         {Name: "anna", Role: "approver"},
		"as an administrator":        {Name: "anna", Role: "admin"},
		"written in another case":    {Name: "ANNA", Role: "approver"},
		"with space around his name": {Name: " anna ", Role: "approver"},
	} {
		t.Run(name, func(t *testing.T) {
			r, id, _ := proposed(t)
			before := r.everything()
			_, err := r.Approve(context.Background(), id, by)
			r.refusal(err, gateway.SamePerson, before)
			if _, err := r.Approve(context.Background(), id, bert); err != nil {
				t.Errorf("another person: %v", err)
			}
		})
	}
}

func TestAThirdPayloadInReview(t *testing.T) {
	ctx := context.Background()
	one := interchange("REF1", message{number: "R-1"})
	second := interchange("REF1", message{number: "R-1", amount: "177.00"})
	third := interchange("REF1", message{number: "R-1", amount: "3.00"})
	reviewed := func(t *testing.T) (*rig, uuid.UUID) {
		r := newRig(t)
		r.policy(alone)
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", second, gateway.Drift, gateway.ToldDrift, "I13")
		id := r.alert()
		if _, err := r.Assign(ctx, id, "anna", anna); err != nil {
			t.Fatal(err)
		}
		return r, id
	}
	t.Run("it opens the alert again, and what is decided is named", func(t *testing.T) {
		r, id := reviewed(t)
		r.must("", third, gateway.Drift, gateway.ToldDrift, "I13")
		if got := r.alertState(id); got != "open" {
			t.Errorf("the alert is %s", got)
		}
		r.refused(gateway.Decision{Choice: gateway.Replace}, gateway.WhichPayload)
		d := sha(second)
		if _, err := r.Decide(ctx, gateway.Decision{Alert: id, Choice: gateway.Replace, Digest: d[:], Reason: "corrected", By: anna}); err != nil {
			t.Fatal(err)
		}
		r.must("", second, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", third, gateway.Drift, gateway.ToldDrift, "I7")
		r.must("", one, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.consistent()
	})
	t.Run("while it is being decided: it waits, and is before an operator then", func(t *testing.T) {
		for range 5 {
			r, id := reviewed(t)
			var decided error
			together(t,
				func() error {
					_, decided = r.Decide(ctx, gateway.Decision{Alert: id, Choice: gateway.Replace, Reason: "corrected", By: anna})
					return nil
				},
				func() error { _, err := r.deliver("acme", "", third); return err })
			r.must("", third, gateway.Drift, gateway.ToldDrift, "I7")
			if n := r.count(`select count(*) from drift_alert where state = 'open' and $1 = any(digests)`, shaOf(third)); n != 1 {
				t.Errorf("the third payload waits under %d alerts", n)
			}
			var no *gateway.Refusal
			switch {
			case decided == nil:
				r.must("", second, gateway.Duplicate, gateway.ToldAccepted, "I2")
			case errors.As(decided, &no) && no.Code == gateway.WhichPayload:
				r.must("", second, gateway.Drift, gateway.ToldDrift, "I7")
			default:
				t.Errorf("decided: %v", decided)
			}
			if r.posted() != 1 {
				t.Errorf("%d documents stand", r.posted())
			}
			r.consistent()
		}
	})
}

func TestADecisionOnWhatIsPurged(t *testing.T) {
	ctx := context.Background()
	one := interchange("REF1", message{number: "R-1"})
	changed := interchange("REF1", message{number: "R-1", amount: "177.00"})
	drifted := func(t *testing.T) *rig {
		r := newRig(t)
		r.policy(alone)
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		return r
	}
	t.Run("the original's payload: replace works from digests", func(t *testing.T) {
		r := drifted(t)
		r.exec(`delete from payload where purge_month <> '9999-01-01'`)
		if got := r.decide(gateway.Replace); got.Posted != 1 || got.Replaced != 1 {
			t.Errorf("ruling %+v", got)
		}
		r.must("", changed, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", one, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.consistent()
	})
	t.Run("its stored answer: a copy is answered afresh from the outcome", func(t *testing.T) {
		r := drifted(t)
		r.decide(gateway.Replace)
		r.exec(`delete from acknowledgement`)
		rec := r.must("", one, gateway.Duplicate, gateway.ToldAccepted, "I2")
		if !strings.Contains(string(rec.Items[0].JSON), `"outcome":"superseded"`) && !strings.Contains(string(rec.Items[0].JSON), `"outcome":"accepted"`) {
			t.Errorf("%s", rec.Items[0].JSON)
		}
		r.must("", changed, gateway.Duplicate, gateway.ToldAccepted, "I2")
	})
	t.Run("the payload that drifted: nothing of it can be posted, it can be refused", func(t *testing.T) {
		r := drifted(t)
		r.exec(`delete from payload where purge_month = '9999-01-01'`)
		for _, c := range []gateway.Choice{gateway.Replace, gateway.ProcessAsNew, gateway.CompleteWith} {
			r.refused(gateway.Decision{Choice: c}, gateway.NoLongerKept)
		}
		r.decide(gateway.KeepOriginal)
		r.must("", changed, gateway.Duplicate, gateway.ToldDrift, "I8")
	})
	t.Run("the key: there is nothing to decide", func(t *testing.T) {
		r := drifted(t)
		r.exec(`delete from variant`)
		r.exec(`delete from inbox`)
		for _, c := range []gateway.Choice{gateway.Replace, gateway.KeepOriginal} {
			r.refused(gateway.Decision{Choice: c}, gateway.NoLongerKept)
		}
		var no *gateway.Refusal
		if _, err := r.Assign(ctx, r.alert(), "anna", anna); !errors.As(err, &no) || no.Code != gateway.NoLongerKept {
			t.Errorf("assigned: %v", err)
		}
	})
	t.Run("the original itself, while a proposal waits: the facts have changed", func(t *testing.T) {
		r, id, _ := proposed(t)
		r.exec(`delete from document_key`)
		r.exec(`delete from document`)
		before := r.everything()
		_, err := r.Approve(ctx, id, bert)
		r.refusal(err, gateway.FactsChanged, before)
	})
}

// TestLastYearsFile is story (f) of outcomes.md, from its first delivery on.
func TestLastYearsFile(t *testing.T) {
	r := newRig(t)
	r.policy(alone)
	text := interchangeFrom("9520001000010:14", "251020:1015", "REF1", message{number: "R-1"})
	r.now = time.Date(2025, 10, 20, 12, 0, 0, 0, time.UTC)
	r.must("", text, gateway.First, gateway.ToldAccepted, "I1b")
	r.must("", text, gateway.Duplicate, gateway.ToldAccepted, "I2")
	for _, table := range []string{"inbox", "document_key", "payload", "acknowledgement"} {
		r.exec(`delete from ` + table)
	}
	r.now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	r.must("", text, gateway.Drift, gateway.ToldDrift, "I1")
	r.must("", text, gateway.Drift, gateway.ToldDrift, "I7")
	r.refused(gateway.Decision{Choice: gateway.Replace}, gateway.NotApplicable)
	r.decide(gateway.KeepOriginal)
	r.must("", text, gateway.Duplicate, gateway.ToldDrift, "I8")
	if r.posted() != 1 {
		t.Errorf("%d documents stand, want the one from last year", r.posted())
	}
}
