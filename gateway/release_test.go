package gateway_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// payloads counts the payloads kept, in the partition held and elsewhere, and the
// references that lead to none.
type payloads struct{ Held, Released, Lost int }

func (r *rig) payloads() (p payloads) {
	r.t.Helper()
	err := r.Pool.QueryRow(context.Background(), `
		select count(*) filter (where purge_month = '9999-01-01'), count(*) filter (where purge_month <> '9999-01-01'),
			(select count(*) from (
				select partner_id, payload_id, payload_month from inbox
				union all select partner_id, payload_id, payload_month from variant
				union all select partner_id, payload_id, payload_month from delivery) as f
			where payload_id is not null and not exists (
				select from payload p where p.partner_id = f.partner_id and p.payload_id = f.payload_id and p.purge_month = f.payload_month))
		from payload`).Scan(&p.Held, &p.Released, &p.Lost)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func TestPayloadsAreReleased(t *testing.T) {
	ctx := context.Background()
	one := interchange("REF1", message{number: "R-1"})
	changed := interchange("REF1", message{number: "R-1", amount: "177.00"})
	check := func(t *testing.T, r *rig, when string, want payloads) {
		t.Helper()
		if d := cmp.Diff(want, r.payloads()); d != "" {
			t.Errorf("%s (-want +got):\n%s", when, d)
		}
	}
	sweep := func(t *testing.T, r *rig, want int) {
		t.Helper()
		if n, err := r.Release(ctx); err != nil || n != want {
			t.Errorf("%d payloads moved, want %d; %v", n, want, err)
		}
	}
	for _, c := range []gateway.Choice{gateway.KeepOriginal, gateway.Replace, gateway.RejectAndNotify} {
		t.Run("when the drift is decided: "+string(c), func(t *testing.T) {
			r := newRig(t)
			r.policy(alone)
			r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
			r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
			check(t, r, "drifted", payloads{Held: 1, Released: 1})
			sweep(t, r, 0)
			r.decide(c)
			check(t, r, "decided", payloads{Released: 2})
			if n := r.count(`select count(*) from payload where purge_month = '2027-02-01'`); n != 2 {
				t.Errorf("%d payloads in the month of their purge, want 2", n)
			}
		})
	}
	t.Run("between the look-up of a changed copy and its comparison: the drift still says what it changes", func(t *testing.T) {
		r := newRig(t)
		r.fail = func(string) bool { return true }
		r.must("", one, gateway.First, gateway.ToldDead, "I1b")
		check(t, r, "dead", payloads{Held: 1})
		reached := 0
		r.Hook = func(at string) {
			if at != "original known" {
				return
			}
			r.Hook, r.fail = nil, nil
			reached++
			if _, err := r.Replay(ctx, r.dead()[0], anna, false); err != nil {
				t.Error(err)
			}
		}
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		check(t, r, "drifted", payloads{Held: 1, Released: 1})
		if n := r.count(`select count(*) from drift_alert where class = 'business' and severity = 'critical'`); n != 1 || reached != 1 {
			t.Errorf("%d alerts of a change of business, want 1", n)
		}
	})
	t.Run("not while another payload of the key waits", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		r.must("", interchange("REF1", message{number: "R-1", amount: "3.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		d := sha(changed)
		if _, err := r.Decide(ctx, gateway.Decision{Alert: r.alert(), Choice: gateway.KeepOriginal, Digest: d[:], Reason: "corrected", By: anna}); err != nil {
			t.Fatal(err)
		}
		check(t, r, "one decided", payloads{Held: 2, Released: 1})
		r.decide(gateway.KeepOriginal)
		check(t, r, "both decided", payloads{Released: 3})
	})
	t.Run("not while another interchange of the delivery needs it", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.must("", interchange("REF1", message{number: "R-1"})+interchange("REF2", message{number: "R-2"}), gateway.First, gateway.ToldAccepted, "I1b,I1b")
		r.must("T", interchange("REF1", message{number: "R-1", amount: "4.00"})+interchange("REF2", message{number: "R-2", amount: "4.00"}), gateway.Drift, gateway.ToldDrift, "T1 I13,T1 I13")
		check(t, r, "drifted", payloads{Held: 1, Released: 1})
		r.decide(gateway.Replace)
		sweep(t, r, 0)
		check(t, r, "one decided", payloads{Held: 1, Released: 1})
		r.decide(gateway.Replace)
		check(t, r, "both decided", payloads{Released: 2})
	})
	t.Run("when a transport drift is processed, rejected, or closed by a delivery", func(t *testing.T) {
		for _, c := range []gateway.Choice{gateway.ProcessPayload, gateway.RejectPayload, ""} {
			r := newRig(t)
			r.policy(alone)
			r.must("T", one, gateway.First, gateway.ToldAccepted, "T1 I1b")
			two := interchange("REF2", message{number: "R-2"})
			r.must("T", two, gateway.Drift, gateway.ToldDrift, "T6")
			check(t, r, "drifted", payloads{Held: 1, Released: 1})
			if c == "" {
				r.must("U", two, gateway.First, gateway.ToldAccepted, "T1 I1b")
				sweep(t, r, 1)
				check(t, r, "closed", payloads{Released: 3})
				continue
			}
			r.decide(c)
			check(t, r, string(c), payloads{Released: 2})
		}
	})
	t.Run("when dead messages are replayed, discarded, or posted by the partner's copy", func(t *testing.T) {
		for _, how := range []string{"replay", "discard", "copy"} {
			r := newRig(t)
			r.fail = func(string) bool { return true }
			r.must("", one, gateway.First, gateway.ToldDead, "I1b")
			check(t, r, "dead", payloads{Held: 1})
			l, err := r.dead()[0], error(nil)
			if _, err := r.Replay(ctx, l, anna, false); err != nil {
				t.Fatal(err)
			}
			check(t, r, "replayed in vain", payloads{Held: 1})
			r.fail = nil
			switch how {
			case "replay":
				if _, err := r.Replay(ctx, l, anna, true); err != nil {
					t.Fatal(err)
				}
				check(t, r, "replayed to see", payloads{Held: 1})
				_, err = r.Replay(ctx, l, anna, false)
			case "discard":
				_, err = r.Discard(ctx, l, "wrong_content", "", anna, false)
			default:
				r.must("", one, gateway.Retry, gateway.ToldAccepted, "I4")
				sweep(t, r, 1)
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, r, how, payloads{Released: 1})
		}
	})
	t.Run("when what the guard held is decided", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF2", message{number: "R-1", amount: "5.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		check(t, r, "held", payloads{Held: 1, Released: 1})
		r.decide(gateway.KeepOriginal)
		check(t, r, "closed", payloads{Released: 2})
	})
	t.Run("nothing of a partner under legal hold, and then by the next round", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.set("acme", edi.Party{}, func(p *partners.Partner) { p.Retention.LegalHold = true })
		r.must("", one, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		r.decide(gateway.KeepOriginal)
		sweep(t, r, 0)
		check(t, r, "under legal hold", payloads{Held: 2})
		r.set("acme", edi.Party{}, func(p *partners.Partner) { p.Retention.LegalHold = false })
		sweep(t, r, 2)
		check(t, r, "free again", payloads{Released: 2})
	})
	t.Run("a key that is worked on keeps it until the next round", func(t *testing.T) {
		r := newRig(t)
		r.fail = func(string) bool { return true }
		r.must("", one, gateway.First, gateway.ToldDead, "I1b")
		r.fail = nil
		r.must("", one, gateway.Retry, gateway.ToldAccepted, "I4")
		tx, err := r.Pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(ctx) }() // it is rolled back below
		if _, err := tx.Exec(ctx, `select 1 from inbox for update`); err != nil {
			t.Fatal(err)
		}
		waits, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if n, err := r.Release(waits); err != nil || n != 0 {
			t.Errorf("%d moved, %v", n, err)
		}
		if err := tx.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
		sweep(t, r, 1)
	})
}
