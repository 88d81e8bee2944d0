package gateway_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// alertNotices gives what the operators are told, in order of time.
func (r *rig) alertNotices() []string {
	r.t.Helper()
	rows, err := r.Pool.Query(context.Background(), `
		select o.type || ' of ' || a.kind
		from outbox o join drift_alert a on a.partner_id = o.partner_id and a.alert_id = (o.body->>'alert_id')::uuid and a.message_id = o.body->>'message_id'
		where o.kind = 'notice' and o.type like 'alert.%'
		order by o.event_id`)
	if err != nil {
		r.t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		r.t.Fatal(err)
	}
	if n := r.count(`select count(*) from outbox where kind = 'notice' and type like 'alert.%'`); n != len(list) {
		r.t.Errorf("%d of %d notices name an alert", len(list), n)
	}
	return list
}

func TestAlertNotices(t *testing.T) {
	ctx := context.Background()
	one := interchange("REF1", message{number: "R-1"})
	changed := interchange("REF1", message{number: "R-1", amount: "177.00"})
	third := interchange("REF1", message{number: "R-1", amount: "3.00"})
	check := func(t *testing.T, r *rig, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, r.alertNotices(), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("notices (-want +got):\n%s", d)
		}
	}
	t.Run("opened, joined by a copy and by a third payload, proposed, decided: one each", func(t *testing.T) {
		r := newRig(t)
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		check(t, r)
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I7")
		r.must("", third, gateway.Drift, gateway.ToldDrift, "I13")
		d := sha(third)
		if _, err := r.Decide(ctx, gateway.Decision{Alert: r.alert(), Choice: gateway.Replace, Digest: d[:], Reason: "corrected", By: anna}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Approve(ctx, r.alert(), bert); err != nil {
			t.Fatal(err)
		}
		check(t, r, "alert.opened of interchange", "alert.joined of interchange", "alert.joined of interchange", "alert.proposed of interchange", "alert.decided of interchange")
		r.decide(gateway.KeepOriginal) // of the other payload
		if n := r.count(`select count(*) from outbox where type = 'alert.decided' and body->>'decision' = 'keep_original' and body->>'state' = 'resolved'`); n != 1 {
			t.Errorf("%d notices of the second decision", n)
		}
	})
	t.Run("of kind transport: closed by a delivery under another id", func(t *testing.T) {
		r := newRig(t)
		two := interchange("REF2", message{number: "R-2"})
		r.must("T", one, gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("T", two, gateway.Drift, gateway.ToldDrift, "T6")
		r.must("T", two, gateway.Drift, gateway.ToldDrift, "T2")
		r.must("U", two, gateway.First, gateway.ToldAccepted, "T1 I1b")
		check(t, r, "alert.opened of transport", "alert.joined of transport", "alert.closed of transport")
	})
	t.Run("of kind document: closed by a decision on its interchange", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF2", message{number: "R-1", amount: "5.00"}, message{number: "R-2"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF2", message{number: "R-2", amount: "7.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		r.decide(gateway.Replace)
		if d := cmp.Diff([]string{"alert.opened of document", "alert.opened of interchange", "alert.decided of interchange", "alert.closed of document"}, r.alertNotices()); d != "" {
			t.Errorf("notices (-want +got):\n%s", d)
		}
	})
	t.Run("what a policy resolves needs nobody, and a decision that is not taken tells nobody", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Absorb = []string{"envelope"} })
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchangeFrom("9520001000010:14", "261130:0900", "REF1", message{number: "R-1"}), gateway.Drift, gateway.ToldAccepted, "I11")
		check(t, r)
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		r.refused(gateway.Decision{Choice: gateway.ProcessAsNew}, gateway.DoesNotPost)
		check(t, r, "alert.opened of interchange")
	})
	t.Run("an alert that is gone sends the delivery back, and nothing is left", func(t *testing.T) {
		r := newRig(t)
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		r.exec(`delete from drift_alert`)
		before := r.everything()
		if rec, err := r.deliver("acme", "", changed); err == nil {
			t.Errorf("answered %s without its alert", rec.Answer.Told().Word)
		}
		if d := cmp.Diff(before, r.everything()); d != "" {
			t.Errorf("it left something (-before +after):\n%s", d)
		}
	})
}
