package as4_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/uuid"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/gateway"
)

func TestAfterADecisionTheRetryIsToldTheNewOutcome(t *testing.T) {
	for _, c := range []struct {
		choice gateway.Choice
		told   string
		posted int
	}{
		{gateway.Replace, "<nil>", 1},
		{gateway.KeepOriginal, as4.OtherError, 1},
	} {
		t.Run(string(c.choice), func(t *testing.T) {
			r := newRig(t, "---\nfour_eyes: off\n")
			r.gateway.Partner = r.directory.Partner
			r.gateway.Audit = func(context.Context, gateway.Execer, gateway.Act) error { return nil }
			first := r.compose(message("m1"), gzipped(interchange("REF1", "R-1", "100.00")))
			was := r.received(first)
			drift := r.compose(message("m2"), gzipped(interchange("REF1", "R-1", "900.00")))
			refused := r.refused(drift, as4.OtherError)
			if again := r.refused(drift, as4.OtherError); !bytes.Equal(again.body, refused.body) {
				t.Errorf("before the decision the same bytes are told otherwise:\n%s\n%s", refused.body, again.body)
			}
			var alert uuid.UUID
			if err := r.pool.QueryRow(t.Context(), `select alert_id from drift_alert`).Scan(&alert); err != nil {
				t.Fatal(err)
			}
			if _, err := r.gateway.Decide(t.Context(), gateway.Decision{Alert: alert, Choice: c.choice, Reason: "corrected", By: gateway.Person{Name: "anna", Role: "operator"}}); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if a := r.send(drift); a.codes() != c.told {
					t.Errorf("told %s, want %s\n%s", a.codes(), c.told, a.body)
				}
			}
			if again := r.received(first); !bytes.Equal(again.body, was.body) {
				t.Error("the first message has another receipt now")
			}
			if n := r.count(`select count(*) from document where state = 'live' and superseded_by is null and cancelled_by is null`); n != c.posted {
				t.Errorf("%d documents", n)
			}
		})
	}
}
