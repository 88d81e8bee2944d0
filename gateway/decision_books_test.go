package gateway_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/gateway"
)

// report says what an ERP did with the document of that number.
func (r *rig) report(number string, is documents.Reported) error {
	r.t.Helper()
	var id uuid.UUID
	if err := r.Pool.QueryRow(context.Background(), `select document_id from document where number = $1 order by document_id limit 1`, number).Scan(&id); err != nil {
		r.t.Fatal(err)
	}
	return pgx.BeginFunc(context.Background(), r.Pool, func(tx pgx.Tx) error {
		_, err := documents.ReportTx(context.Background(), tx, "acme", id, documents.Report{Is: is, By: "erp"})
		return err
	})
}

func (r *rig) reported(number string, is documents.Reported) {
	r.t.Helper()
	if err := r.report(number, is); err != nil {
		r.t.Fatal(err)
	}
}

func TestADecisionAsksTheBooks(t *testing.T) {
	ctx := context.Background()
	one := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
	changed := interchange("REF1", message{number: "R-1"}, message{number: "R-2", amount: "177.00"})
	lacking := interchange("REF1", message{number: "R-1"})
	drifted := func(t *testing.T, drift string) *rig {
		r := newRig(t)
		r.policy(alone)
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", drift, gateway.Drift, gateway.ToldDrift, "I13")
		return r
	}
	for name, drift := range map[string]string{"replaced": changed, "cancelled": lacking} {
		for _, is := range []documents.Reported{documents.Posted, documents.Paid} {
			t.Run("what is "+string(is)+" there is not "+name+" here, until it is reversed", func(t *testing.T) {
				r := drifted(t, drift)
				r.reported("R-1", documents.Paid) // stands byte for byte: kept
				r.reported("R-2", is)
				no := r.refused(gateway.Decision{Choice: gateway.Replace}, gateway.InBooks)
				if len(no.Why) != 1 || !strings.Contains(no.Error(), "document R-2 was reported as "+string(is)+" by erp") {
					t.Errorf("why: %s", no)
				}
				r.reported("R-2", documents.Refused)
				r.decide(gateway.Replace)
				r.consistent()
			})
		}
	}
	t.Run("what was only taken is replaced, and what replaces nothing is free", func(t *testing.T) {
		r := drifted(t, changed)
		r.reported("R-2", documents.Taken)
		r.decide(gateway.Replace)
		r = drifted(t, changed)
		r.reported("R-2", documents.Paid)
		r.decide(gateway.KeepOriginal)
	})
	t.Run("the document that a held one would replace, which another key brought", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF2", message{number: "R-1", amount: "5.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.reported("R-1", documents.Posted)
		r.refused(gateway.Decision{Choice: gateway.Replace}, gateway.InBooks)
		r.decide(gateway.ProcessAsNew)
	})
	t.Run("posted while a proposal waits", func(t *testing.T) {
		r, id, _ := proposed(t)
		r.reported("R-1", documents.Posted)
		before := r.everything()
		_, err := r.Approve(ctx, id, bert)
		r.refusal(err, gateway.InBooks, before)
	})
	t.Run("a partner's own replacement is not asked", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.reported("R-1", documents.Posted)
		replacement := strings.Replace(interchangeFrom("9520001000010:14", "261129:1100", "REF3", message{number: "R-1", amount: "5.00"}), "BGM+380+R-1+9", "BGM+380+R-1+5", 1)
		r.must("", replacement, gateway.First, gateway.ToldAccepted, "I1b")
		if r.posted() != 1 {
			t.Errorf("posted %d, want 1", r.posted())
		}
	})
	t.Run("reported and decided at once: one of them is told", func(t *testing.T) {
		for range 5 {
			r := drifted(t, changed)
			var decided, reported error
			var wg sync.WaitGroup
			id := r.alert()
			wg.Go(func() {
				_, decided = r.Decide(ctx, gateway.Decision{Alert: id, Choice: gateway.Replace, Reason: "corrected", By: anna})
			})
			wg.Go(func() { reported = r.report("R-2", documents.Posted) })
			wg.Wait()
			var no *gateway.Refusal
			switch {
			case decided == nil && errors.Is(reported, documents.ErrReport):
			case reported == nil && errors.As(decided, &no) && no.Code == gateway.InBooks:
			default:
				t.Errorf("decided: %v; reported: %v", decided, reported)
			}
		}
	})
}
