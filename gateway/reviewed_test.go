package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// TestReviewed holds what a review found, each in its smallest form.
func TestReviewed(t *testing.T) {
	t.Run("a drift that leaves its group has its alert", func(t *testing.T) {
		r := newRig(t)
		everyone(t, 30, func(i int) error {
			ref := fmt.Sprintf("D%d", i)
			rec, err := r.deliver("acme", "", interchange(ref, message{number: ref})+interchange(ref, message{number: ref, amount: "7.00"}))
			if err == nil && rec.Answer != gateway.ToldDrift {
				err = fmt.Errorf("told %s", rec.Answer.Told().Word)
			}
			return err
		})
		if n := r.count(`select count(*) from variant v join drift_alert a on a.partner_id = v.partner_id and a.alert_id = v.alert_id`); n != 30 {
			t.Errorf("%d of 30 drifts have their alert", n)
		}
	})
	t.Run("a key that is held elsewhere does not keep another delivery waiting", func(t *testing.T) {
		r := newRig(t)
		ctx := context.Background()
		tx, err := r.Pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(ctx) }() // it is rolled back below
		// One: two that are not prepared together take the partner's two connections.
		if _, err := tx.Exec(ctx, `insert into inbox (partner_id, message_id, kind, purge_on, state, answer, messages, delivery_id)
			values ('acme', $1, 2, '2030-01-01', 2, 1, '', gen_random_uuid())`, r.key("HELD")); err != nil {
			t.Fatal(err)
		}
		held := make(chan error, 1)
		go func() { _, err := r.deliver("acme", "", interchange("HELD", message{number: "HELD"})); held <- err }()
		time.Sleep(50 * time.Millisecond)
		free := make(chan struct{})
		go func() {
			r.must("", interchange("FREE", message{number: "FREE"}), gateway.First, gateway.ToldAccepted, "I1b")
			close(free)
		}()
		select {
		case <-free:
		case <-held:
			t.Error("a delivery whose key is held ended before one that is free")
		}
		if err := tx.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("what is taken up again and dies is kept with the held", func(t *testing.T) {
		r := newRig(t)
		r.set("acme", edi.Party{}, func(p *partners.Partner) { p.Types = []string{"DESADV"} })
		a := interchange("REF1", message{number: "R-1"})
		r.must("", a, gateway.First, gateway.ToldUnsupported, "I1b")
		r.set("acme", edi.Party{}, func(p *partners.Partner) { p.Types = []string{"INVOIC"} })
		r.fail = func(string) bool { return true }
		r.must("", a, gateway.Reevaluation, gateway.ToldDead, "I4")
		if n := r.count(`select count(*) from inbox i join payload p on p.payload_id = i.payload_id and p.purge_month = i.payload_month where p.purge_month = '9999-01-01'`); n != 1 {
			t.Error("its payload goes with its month")
		}
	})
	t.Run("a guard that absorbs is kept as long as the key it absorbed for", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.now = r.now.AddDate(2, 0, 0)
		r.must("", interchangeFrom("9520001000010:14", "281129:1015", "REF2", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		if r.posted() != 1 || r.count(`select count(*) from document_key g where g.purge_on < (select max(purge_on) from inbox)`) != 0 {
			t.Error("the guard goes before the key")
		}
	})
	t.Run("the repeat of an absorbed drift gets the first answer", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Absorb = []string{"envelope"} })
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		later := interchangeFrom("9520001000010:14", "261130:0900", "REF1", message{number: "R-1"})
		first := r.must("", later, gateway.Drift, gateway.ToldAccepted, "I11")
		again := r.must("", later, gateway.Duplicate, gateway.ToldAccepted, "I2")
		if d := cmp.Diff(string(first.Rendered.Body), string(again.Rendered.Body)); d != "" || first.AlertID != again.AlertID {
			t.Errorf("alerts %s and %s\n%s", first.AlertID, again.AlertID, d)
		}
	})
	t.Run("a fault of the installation kills no message", func(t *testing.T) {
		r := newRig(t)
		r.exec(`alter table document rename to gone`)
		if _, err := r.deliver("acme", "", interchange("REF1", message{number: "R-1"})); err == nil {
			t.Error("it was answered")
		}
		r.exec(`alter table gone rename to document`)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
	})
	t.Run("a VAN's copy is noted on its owner's drift", func(t *testing.T) {
		r := newRig(t)
		r.set("van", edi.Party{ID: "VAN"}, func(p *partners.Partner) { p.SpeaksFor = []string{"acme"} })
		for _, payload := range []string{interchange("REF1", message{number: "R-1"}), interchange("REF1", message{number: "R-1", amount: "7.00"}),
			interchange("REF2", message{number: "R-2", amount: "7.00"})} {
			if _, err := r.deliver("van", "", payload); err != nil {
				t.Fatal(err)
			}
		}
		if r.count(`select count(*) from drift_alert where detail ? 'possible_copies'`) != 1 {
			t.Error("the drift does not know of the copy")
		}
	})
	t.Run("what is refused without a key is kept up to a cap", func(t *testing.T) {
		r := newRig(t)
		r.exec(`insert into delivery (partner_id, delivery_id, seq, purge_month, received_at, transport, verdict, outcome, bytes, payload_id)
			select 'acme', (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid, 0, '2030-01-01', now(), 'http', 'refused', 'x', 1, gen_random_uuid()
			from generate_series(1, 1000) n`)
		other := interchangeFrom("9520009999999:14", "261129:1015", "REF9", message{number: "R-9"})
		r.must("", other, gateway.First, gateway.ToldSenderNotAllowed, "")
		if n := r.count(`select count(*) from payload`); n != 0 {
			t.Errorf("%d payloads kept beyond the cap", n)
		}
	})
	t.Run("a payload of too many interchanges is journalled", func(t *testing.T) {
		r := newRig(t)
		if _, err := r.deliver("acme", "", strings.Repeat(interchange("REF1"), 10_001)); err == nil {
			t.Error("it was received")
		}
		if n := r.count(`select count(*) from delivery where verdict = 'refused'`); n != 1 {
			t.Errorf("%d rows, want 1", n)
		}
	})
}
