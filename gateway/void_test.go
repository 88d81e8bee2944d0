package gateway_test

import (
	"strings"
	"testing"

	"github.com/edigw/edigw/gateway"
)

// as sends the documents of an interchange with another function (1225) than
// original.
func as(function, text string) string {
	return strings.ReplaceAll(text, "+9'DTM+137", "+"+function+"'DTM+137")
}

// at writes an interchange sent at when, a date and time of S004.
func at(when, ref string, ms ...message) string {
	return interchangeFrom("9520001000010:14", when, ref, ms...)
}

// live is the number of documents that stand, as their readers count them.
func (r *rig) live(number string) int {
	return r.count(`select count(*) from document where number = $1 and superseded_by is null and cancelled_by is null and function_code not in ('1', '17')`, number)
}

// TestVoidDocuments: what was replaced or cancelled backs no acknowledgement of a
// message that was sent since.
func TestVoidDocuments(t *testing.T) {
	one, other := message{number: "R-1"}, message{number: "R-1", amount: "5.00"}
	first := func(r *rig, text string) string {
		t.Helper()
		return string(r.must("", text, gateway.First, gateway.ToldAccepted, "I1b").Items[0].JSON)
	}
	reissued := func(t *testing.T, r *rig, number string, revision int) {
		t.Helper()
		if n := r.live(number); n != 1 {
			t.Errorf("%d documents %s stand, want 1", n, number)
		}
		if n := r.count(`select count(*) from document where number = $1 and revision = $2 and supersedes is not null and superseded_by is null and cancelled_by is null`, number, revision); n != 1 {
			t.Errorf("the one that stands is not revision %d, linked to the one before", revision)
		}
	}
	cancelled := func(t *testing.T) *rig {
		r := newRig(t)
		first(r, at("261129:1000", "REF1", one))
		first(r, as("1", at("261129:1100", "REF2", one)))
		return r
	}
	t.Run("an invoice that a replacement lacked is posted when the partner sends it again", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		first(r, at("261129:1000", "REF1", one, message{number: "R-2"}))
		r.must("", at("261129:1030", "REF1", other), gateway.Drift, gateway.ToldDrift, "I13")
		if got := r.decide(gateway.Replace); got.Cancelled != 1 || r.live("R-2") != 0 {
			t.Fatalf("ruling %+v", got)
		}
		rec := first(r, at("261129:1200", "REF9", message{number: "R-2"}))
		if !strings.Contains(rec, `"state":"posted"`) {
			t.Errorf("it was not posted: %s", rec)
		}
		reissued(t, r, "R-2", 2)
		if r.events("document.created") != 4 || r.events("document.superseded") != 2 {
			t.Errorf("events: %d created, %d superseded", r.events("document.created"), r.events("document.superseded"))
		}
	})
	t.Run("a copy made before the payload that replaced its invoice stays absorbed, with a finding", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		first(r, at("261129:1000", "REF1", one, message{number: "R-2"}))
		r.must("", at("261129:1030", "REF1", other), gateway.Drift, gateway.ToldDrift, "I13")
		r.decide(gateway.Replace)
		rec := first(r, at("261129:1015", "REF9", message{number: "R-2"}))
		if r.live("R-2") != 0 || !strings.Contains(rec, `"state":"absorbed"`) || !strings.Contains(rec, "document-void") {
			t.Errorf("%d stand: %s", r.live("R-2"), rec)
		}
	})
	t.Run("an invoice that the partner cancelled and issues again is posted", func(t *testing.T) {
		r := cancelled(t)
		first(r, at("261129:1200", "REF3", one))
		reissued(t, r, "R-1", 3)
		if r.events("document.created") != 3 || r.events("document.superseded") != 1 {
			t.Errorf("events: %d created, %d superseded", r.events("document.created"), r.events("document.superseded"))
		}
		rec := first(r, at("261129:1300", "REF4", one))
		if r.live("R-1") != 1 || strings.Contains(rec, "document-void") {
			t.Errorf("%d stand after a copy: %s", r.live("R-1"), rec)
		}
		first(r, as("1", at("261129:1400", "REF5", one)))
		if r.live("R-1") != 0 || r.events("document.superseded") != 2 {
			t.Errorf("%d stand after it was cancelled again, %d events", r.live("R-1"), r.events("document.superseded"))
		}
	})
	t.Run("a late copy does not bring a cancelled invoice back", func(t *testing.T) {
		r := cancelled(t)
		for _, text := range []string{at("261129:1030", "REF3", one), as("7", at("261129:1200", "REF4", one))} {
			rec := first(r, text)
			if r.live("R-1") != 0 || !strings.Contains(rec, "document-void") || !strings.Contains(rec, `"state":"absorbed"`) {
				t.Errorf("%d stand: %s", r.live("R-1"), rec)
			}
		}
		r.must("", at("261129:1000", "REF1", one), gateway.Duplicate, gateway.ToldAccepted, "I2")
		if r.live("R-1") != 0 {
			t.Error("a retry brought it back")
		}
	})
	t.Run("a cancellation that came twice is absorbed, and nothing is found in it", func(t *testing.T) {
		r := cancelled(t)
		rec := first(r, as("1", at("261129:1200", "REF3", one)))
		if !strings.Contains(rec, `"state":"absorbed"`) || strings.Contains(rec, "document-void") {
			t.Errorf("%s", rec)
		}
	})
	replaced := func(t *testing.T) *rig {
		r := newRig(t)
		first(r, as("5", at("261129:1000", "REF1", one)))
		first(r, as("5", at("261129:1100", "REF2", other)))
		return r
	}
	t.Run("a newer replacement that says what an earlier revision said becomes the live one", func(t *testing.T) {
		r := replaced(t)
		first(r, as("5", at("261129:1200", "REF3", one)))
		if r.live("R-1") != 1 || r.count(`select count(*) from document where tax_inclusive = 100.00 and revision = 3 and superseded_by is null`) != 1 {
			t.Errorf("%d stand, and not the newest", r.live("R-1"))
		}
	})
	t.Run("an older one stays absorbed, with a finding", func(t *testing.T) {
		r := replaced(t)
		rec := first(r, as("5", at("261129:1030", "REF3", one)))
		if r.live("R-1") != 1 || r.count(`select count(*) from document`) != 2 || !strings.Contains(rec, "document-void") {
			t.Errorf("%d stand: %s", r.live("R-1"), rec)
		}
	})
	t.Run("an original that says what a superseded revision said is other content: newer it is held, older absorbed", func(t *testing.T) {
		r := newRig(t)
		first(r, at("261129:1000", "REF1", one))
		first(r, as("5", at("261129:1100", "REF2", other)))
		rec := first(r, at("261129:1030", "REF3", one))
		if !strings.Contains(rec, `"state":"absorbed"`) || !strings.Contains(rec, "document-void") {
			t.Errorf("the older one: %s", rec)
		}
		if rec = first(r, at("261129:1200", "REF4", one)); !strings.Contains(rec, `"state":"held"`) {
			t.Errorf("the newer one: %s", rec)
		}
		r.policy(alone)
		if got := r.decide(gateway.Replace); got.Posted != 1 || got.Replaced != 1 {
			t.Errorf("ruling %+v", got)
		}
		if r.live("R-1") != 1 || r.count(`select count(*) from document where tax_inclusive = 100.00 and revision = 3 and superseded_by is null`) != 1 {
			t.Errorf("%d stand after the decision", r.live("R-1"))
		}
	})
	t.Run("of one payload: issued, cancelled and issued again, it stands once", func(t *testing.T) {
		r := newRig(t)
		text := at("261129:1000", "REF1", one, one, one)
		parts := strings.SplitAfterN(text, "UNH+", 4)
		r.must("", parts[0]+parts[1]+as("1", parts[2])+parts[3], gateway.First, gateway.ToldAccepted, "I1b")
		reissued(t, r, "R-1", 3)
	})
	t.Run("a decision posts what another decision cancelled", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		first(r, at("261129:1000", "REF1", one, message{number: "R-2"}))
		r.must("", at("261129:1030", "REF1", other), gateway.Drift, gateway.ToldDrift, "I13")
		r.decide(gateway.Replace)
		first(r, at("261129:0900", "REF8", message{number: "R-8"}))
		r.must("", at("261129:0900", "REF8", message{number: "R-8"}, message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "I13")
		if got := r.decide(gateway.CompleteWith); got.Posted != 1 || got.Replaced != 0 {
			t.Errorf("ruling %+v", got)
		}
		reissued(t, r, "R-2", 2)
	})
	t.Run("a decision does not post what the partner cancelled later", func(t *testing.T) {
		r := cancelled(t)
		r.policy(alone)
		first(r, at("261129:0900", "REF8", message{number: "R-8"}))
		r.must("", at("261129:0900", "REF8", message{number: "R-8"}, one), gateway.Drift, gateway.ToldDrift, "I13")
		if got := r.decide(gateway.CompleteWith); got.Posted != 0 || got.Absorbed != 2 || r.live("R-1") != 0 {
			t.Errorf("%d stand, ruling %+v", r.live("R-1"), got)
		}
		first(r, at("261129:0900", "REF7", message{number: "R-7"}))
		r.must("", at("261129:0900", "REF7", message{number: "R-7"}, other), gateway.Drift, gateway.ToldDrift, "I13")
		if no := r.refused(gateway.Decision{Choice: gateway.CompleteWith}, gateway.DoesNotPost); !strings.Contains(no.Error(), "cancelled R-1 later") {
			t.Errorf("why: %s", no)
		}
	})
	t.Run("a replacement of what a decision cancelled is the one that stands, and the end is told once", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		first(r, at("261129:1000", "REF1", one, message{number: "R-2"}))
		r.must("", at("261129:1030", "REF1", other), gateway.Drift, gateway.ToldDrift, "I13")
		r.decide(gateway.Replace)
		first(r, as("5", at("261129:1200", "REF9", message{number: "R-2", amount: "7.00"})))
		reissued(t, r, "R-2", 2)
		if n := r.events("document.superseded"); n != 2 {
			t.Errorf("%d events, want one of R-1 and one of R-2", n)
		}
	})
}
