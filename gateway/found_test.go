package gateway_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

// TestFound keeps, in its smallest form, what the model test found.
func TestFound(t *testing.T) {
	pool := pgtest.New(t)
	newRig := func(t *testing.T) *rig {
		if _, err := pool.Exec(t.Context(), `truncate inbox, variant, document_key, document, document_line, drift_alert, drift_copy, payload, acknowledgement`); err != nil {
			t.Fatal(err)
		}
		return newRigOn(t, pool)
	}
	onlyDESADV := func(p *partners.Partner) { p.Types = []string{"DESADV"} }
	both := func(p *partners.Partner) { p.Types = []string{"INVOIC", "DESADV"} }

	t.Run("the rest of a transport drift that one of its interchanges closed is still first", func(t *testing.T) {
		r := newRig(t)
		two, three := interchange("REF2", message{number: "R-2"}), interchange("REF3", message{number: "R-3"})
		r.must("id-1", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("id-1", two+three, gateway.Drift, gateway.ToldDrift, "T6")
		r.must("id-2", two, gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("id-1", two+three, gateway.Mixed, gateway.ToldAccepted, "T3 I2,T3 I1b")
		if r.posted() != 3 {
			t.Errorf("posted %d, want 3: one was acknowledged and never posted", r.posted())
		}
	})
	t.Run("another payload of the same transport drift stays open", func(t *testing.T) {
		r := newRig(t)
		two, three := interchange("REF2", message{number: "R-2"}), interchange("REF3", message{number: "R-3"})
		r.must("id-1", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("id-1", two, gateway.Drift, gateway.ToldDrift, "T6")
		r.must("id-1", three, gateway.Drift, gateway.ToldDrift, "T6")
		r.must("id-2", two, gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("id-1", three, gateway.Drift, gateway.ToldDrift, "T2")
		if n := r.count(`select count(*) from drift_alert where state = 'open'`); n != 1 {
			t.Errorf("%d open alerts, want 1", n)
		}
		r.must("id-3", three, gateway.First, gateway.ToldAccepted, "T1 I1b")
		if n := r.count(`select count(*) from drift_alert where state = 'open'`); n != 0 {
			t.Errorf("%d open alerts, want none", n)
		}
	})
	t.Run("a transport drift closes where its interchange is refused under another id", func(t *testing.T) {
		r := newRig(t)
		bad := interchange("REF2", message{number: "R-2", bad: "count"})
		r.must("id-1", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("id-1", bad, gateway.Drift, gateway.ToldDrift, "T6")
		r.must("id-2", bad, gateway.First, gateway.ToldRejected, "T1 I1b")
		if n := r.count(`select count(*) from drift_alert where state = 'open'`); n != 0 {
			t.Errorf("%d open alerts, want none", n)
		}
		r.must("id-1", bad, gateway.Duplicate, gateway.ToldRejected, "T3 I6")
	})
	t.Run("a transport id repeats what its interchange was answered last", func(t *testing.T) {
		r := newRig(t)
		r.set("acme", edi.Party{}, onlyDESADV)
		a := interchange("REF1", message{number: "R-1"})
		r.must("id-1", a, gateway.First, gateway.ToldUnsupported, "T1 I1b")
		r.set("acme", edi.Party{}, both)
		r.must("id-2", a, gateway.Reevaluation, gateway.ToldAccepted, "T1 I4")
		now := r.must("id-1", a, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		again := r.must("id-1", a, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		if d := cmp.Diff(string(now.Rendered.Body), string(again.Rendered.Body)); d != "" {
			t.Errorf("another answer (-first +again):\n%s", d)
		}
	})
	t.Run("503 is no acknowledgement: the positive one before it stands", func(t *testing.T) {
		r := newRig(t)
		r.fail = func(n string) bool { return n == "R-1" }
		a := interchange("REF1", message{number: "R-1"})
		r.must("id-1", a, gateway.First, gateway.ToldDead, "T1 I1b")
		r.policy(func(p *partners.Policy) { p.OnDead = "refuse" })
		r.must("id-1", a, gateway.Retry, gateway.ToldTryAgain, "T3 I4")
		r.must("", interchange("REF1", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "I13")
		r.must("id-1", interchange("REF2", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "T6")
	})
	t.Run("what was refused before it got 503 keeps that answer", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.OnDead = "refuse" })
		r.set("acme", edi.Party{}, onlyDESADV)
		r.fail = func(n string) bool { return n == "R-1" }
		a := interchange("REF1", message{number: "R-1"})
		r.must("", a, gateway.First, gateway.ToldUnsupported, "I1b")
		r.set("acme", edi.Party{}, both)
		r.must("", a, gateway.Reevaluation, gateway.ToldTryAgain, "I4")
		r.must("", interchange("REF1", message{number: "R-2"}), gateway.Correction, gateway.ToldAccepted, "I9")
		r.must("", a, gateway.Duplicate, gateway.ToldUnsupported, "I6")
	})
	t.Run("503 ends where the attempts are cut", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.OnDead = "refuse" })
		r.fail = func(string) bool { return true }
		a := interchange("REF1", message{number: "R-1"})
		r.must("", a, gateway.First, gateway.ToldTryAgain, "I1b")
		r.policy(func(p *partners.Policy) { p.Attempts = 1 })
		now := r.must("", a, gateway.Duplicate, gateway.ToldDeadRefused, "I5")
		again := r.must("", a, gateway.Duplicate, gateway.ToldDeadRefused, "I5")
		if d := cmp.Diff(string(now.Rendered.Body), string(again.Rendered.Body)); d != "" {
			t.Errorf("another answer (-first +again):\n%s", d)
		}
	})
	t.Run("a failed run counts whatever the message was in between", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Attempts = 2 })
		r.fail = func(string) bool { return true }
		a := interchange("REF1", message{number: "R-1"})
		r.must("", a, gateway.First, gateway.ToldDead, "I1b")
		r.set("acme", edi.Party{}, onlyDESADV)
		r.must("", a, gateway.Retry, gateway.ToldUnsupported, "I4")
		r.set("acme", edi.Party{}, both)
		r.must("", a, gateway.Reevaluation, gateway.ToldDead, "I4")
		r.must("", a, gateway.Duplicate, gateway.ToldDead, "I5")
	})
	t.Run("what a transport id carried is no correction of what is there now", func(t *testing.T) {
		r := newRig(t)
		a := interchange("REF1", message{number: "R-1"})
		r.must("id-1", a, gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.exec(`delete from inbox where kind = 2`)
		r.exec(`delete from document_key`)
		r.must("", interchange("REF1", message{number: "R-2", bad: "count"}), gateway.First, gateway.ToldRejected, "I1b")
		r.must("id-1", a, gateway.Duplicate, gateway.ToldAccepted, "T3")
		if r.posted() != 1 {
			t.Errorf("posted %d, want 1", r.posted())
		}
	})
	t.Run("a revision that came late does not take the place of the newer one", func(t *testing.T) {
		r := newRig(t)
		revision := func(ref, when, amount string) string {
			return strings.Replace(interchangeFrom("9520001000010:14", when, ref, message{number: "R-1", amount: amount}), "R-1+9", "R-1+5", 1)
		}
		r.must("", interchangeFrom("9520001000010:14", "261101:0900", "REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", revision("REF3", "261103:0900", "300.00"), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", revision("REF2", "261102:0900", "200.00"), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", revision("REF4", "261104:0900", "400.00"), gateway.First, gateway.ToldAccepted, "I1b")
		if r.posted() != 1 {
			t.Errorf("%d documents in force, want the last revision alone", r.posted())
		}
	})
	t.Run("an interchange that is refused as a whole has no dead message", func(t *testing.T) {
		r := newRig(t)
		r.fail = func(string) bool { return true }
		a := strings.Replace(interchange("REF1", message{number: "R-1"}), "UNZ+1", "UNZ+2", 1)
		r.must("", a, gateway.First, gateway.ToldRejected, "I1b")
	})
	t.Run("a drift that is held gets no CONTRL", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.OnDrift, p.DriftAcknowledgement = "hold", "reject" })
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		rec := r.must("", interchange("REF1", message{number: "R-2"}), gateway.Drift, gateway.ToldDriftHeld, "I13")
		if strings.Contains(string(rec.Rendered.Body), "UCI") {
			t.Errorf("the partner is told 202 and, by CONTRL, that it was rejected:\n%s", rec.Rendered.Body)
		}
	})
	t.Run("of a drift the partner is told the alert only", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.fail = func(n string) bool { return n == "R-2" }
		rec := r.must("", interchange("REF1", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "I13")
		if strings.Contains(string(rec.Rendered.Body), "findings") {
			t.Errorf("told more:\n%s", rec.Rendered.Body)
		}
	})
	t.Run("two drifts of one key in one payload are one alert", func(t *testing.T) {
		r := newRig(t)
		text := interchange("REF1", message{number: "R-1"})
		for _, n := range []string{"R-2", "R-3", "R-4"} {
			text += interchange("REF1", message{number: n})
		}
		r.must("", text, gateway.Mixed, gateway.ToldDrift, "I1b,I13,I13,I13")
		if n := r.count(`select count(*) from drift_alert where receptions = 3 and cardinality(digests) = 3 and proposal = 'control_reference: unreliable'`); n != 1 || r.count(`select count(*) from drift_alert`) != 1 {
			t.Error("want one alert of three digests that proposes control_reference: unreliable")
		}
	})
	t.Run("every repeat moves the window", func(t *testing.T) {
		for _, id := range []string{"", "id-1", "id-2"} {
			r := newRig(t)
			r.now = time.Now().UTC()
			r.policy(func(p *partners.Policy) { p.ReuseAfter = 30 * 24 * time.Hour })
			a := interchange("REF1", message{number: "R-1"})
			r.must("id-1", a, gateway.First, gateway.ToldAccepted, "T1 I1b")
			r.exec(`update inbox set last_at = $1`, r.now.AddDate(0, 0, -60))
			rec := r.must(id, a, gateway.Duplicate, gateway.ToldAccepted, map[string]string{"": "I2", "id-1": "T3 I2", "id-2": "T1 I2"}[id])
			r.Later.Flush(t.Context())
			if n := r.count(`select count(*) from inbox where last_at < now() - interval '1 day' and message_id = any($1)`, slices.Concat(rec.Keys, []string{rec.MessageID})); n > 0 {
				t.Errorf("id %q: %d keys still count from long ago", id, n)
			}
			r.must("", interchange("REF1", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "I13")
		}
	})
	t.Run("a payload of which something is held is found by its other interchanges", func(t *testing.T) {
		r := newRig(t)
		held := interchange("REF1", message{number: "R-1"}, message{ref: "2", number: "R-1", amount: "200.00"})
		r.must("", held+interchange("REF2", message{number: "R-2"}), gateway.First, gateway.ToldAccepted, "I1b,I1b")
		r.must("", interchange("REF2", message{number: "R-2", amount: "200.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		if n := r.count(`select count(*) from drift_alert where kind = 'interchange' and class = 'business'`); n != 1 {
			t.Error("the drift was not compared with its original")
		}
	})
	t.Run("a drift from an interchange before it in the payload, whatever that one was", func(t *testing.T) {
		r := newRig(t)
		r.set("acme", edi.Party{}, onlyDESADV)
		a := interchange("REF1", message{number: "R-1"})
		r.must("", a, gateway.First, gateway.ToldUnsupported, "I1b")
		r.set("acme", edi.Party{}, both)
		r.must("", a+interchange("REF1", message{number: "R-2"}), gateway.Mixed, gateway.ToldDrift, "I4,I13")
	})
	t.Run("a change of the envelope alone is absorbed in the same payload too", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Absorb = []string{"envelope"} })
		r.must("", interchange("REF1", message{number: "R-1"})+interchangeFrom("9520001000010:14", "261129:1016", "REF1", message{number: "R-1"}),
			gateway.Mixed, gateway.ToldAccepted, "I1b,I11")
	})
	t.Run("what stands beside an acknowledgement is acknowledged, the acknowledgement is not", func(t *testing.T) {
		r := newRig(t)
		r.set("acme", edi.Party{}, func(p *partners.Partner) { p.Types = []string{"CONTRL", "INVOIC"} })
		const contrl = "'UNH+7+CONTRL:D:3:UN'UCI+1+9520002000019:14+9520001000010:14+7'UNT+3+7'UNZ+"
		alone := r.must("", strings.Replace("UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1015+REF1'UNZ+1+REF1'", "'UNZ+", contrl, 1),
			gateway.First, gateway.ToldAccepted, "I1b")
		if strings.Contains(string(alone.Rendered.Body), "UCI+REF1") {
			t.Error("an acknowledgement was acknowledged")
		}
		both := strings.Replace(interchange("REF2", message{number: "R-1", bad: "count"}), "'UNZ+1+", contrl+"2+", 1)
		told := r.must("", both, gateway.First, gateway.ToldRejected, "I1b")
		if body := string(told.Rendered.Body); !strings.Contains(body, "UCI+REF2") || !strings.Contains(body, "UCM+1+INVOIC") || strings.Contains(body, "UCM+7") {
			t.Errorf("told %s", body)
		}
	})
	t.Run("an imported number twice in a payload", func(t *testing.T) {
		r := newRig(t)
		r.exec(`insert into inbox (partner_id, message_id, kind, purge_on, state, answer, messages, delivery_id)
			values ('acme', $1, 2, '2028-01-01', $2, $3, '', gen_random_uuid())`, r.key("REF1"), int16(dedup.Imported), int16(gateway.ToldAccepted))
		r.must("", interchange("REF1", message{number: "R-1"})+interchange("REF1", message{number: "R-2"}), gateway.Mixed, gateway.ToldDrift, "I8b,I13")
	})
	t.Run("a sender who was not allowed is first once he is, under any setting of his keys", func(t *testing.T) {
		r := newRig(t)
		other := interchangeFrom("9520009999999:14", "261129:1015", "REF9", message{number: "R-9"})
		r.must("", other, gateway.First, gateway.ToldSenderNotAllowed, "")
		r.set("acme", edi.Party{}, func(p *partners.Partner) {
			p.Identifiers = append(p.Identifiers, partners.Identifier{Qualifier: "14", ID: "9520009999999"})
			p.Policy.ControlReference = "unreliable"
		})
		r.must("", other, gateway.First, gateway.ToldAccepted, "I1b")
	})
	t.Run("a part without a key is answered as before beside one that is tried again", func(t *testing.T) {
		r := newRig(t)
		r.fail = func(string) bool { return true }
		both := interchange("REF1", message{number: "R-1"}) + interchangeFrom("9520009999999:14", "261129:1015", "REF9", message{number: "R-9"})
		first := r.must("id-1", both, gateway.First, gateway.ToldSenderNotAllowed, "T1 I1b,T1")
		again := r.must("id-1", both, gateway.Mixed, gateway.ToldSenderNotAllowed, "T3 I4,T3")
		if d := cmp.Diff(string(first.Items[1].JSON), string(again.Items[1].JSON)); d != "" {
			t.Errorf("another answer (-first +again):\n%s", d)
		}
	})
	t.Run("what a transport id carried under an earlier key counts", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		bad := interchange("REF2", message{number: "R-9", bad: "count"})
		r.must("id-1", bad+interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldRejected, "T1 I1b,T1 I1b")
		r.policy(func(p *partners.Policy) {
			p.ControlReference, p.Previous = "unreliable", &partners.KeySettings{ControlReference: "unique", Until: r.now.AddDate(1, 0, 0)}
		})
		r.must("id-1", interchange("REF1", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "T6")
	})
	t.Run("what gives an imported number its digest is kept, and compared with", func(t *testing.T) {
		r := newRig(t)
		r.exec(`insert into inbox (partner_id, message_id, kind, purge_on, state, answer, messages, delivery_id)
			values ('acme', $1, 2, '2028-01-01', $2, $3, '', gen_random_uuid())`, r.key("REF1"), int16(dedup.Imported), int16(gateway.ToldAccepted))
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.Duplicate, gateway.ToldAccepted, "I8b")
		r.must("", interchange("REF1", message{number: "R-1", amount: "200.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		if n := r.count(`select count(*) from drift_alert where class = 'business'`); n != 1 {
			t.Error("nothing was there to compare with")
		}
	})
	t.Run("a refusal without a key is not repeated for an interchange whose answer is not kept", func(t *testing.T) {
		r := newRig(t)
		other := interchangeFrom("9520009999999:14", "261129:1015", "REF9", message{number: "R-9"})
		r.must("id-1", other, gateway.First, gateway.ToldSenderNotAllowed, "T1")
		r.set("acme", edi.Party{}, func(p *partners.Partner) {
			p.Identifiers = append(p.Identifiers, partners.Identifier{Qualifier: "14", ID: "9520009999999"})
		})
		r.must("", other, gateway.First, gateway.ToldAccepted, "I1b")
		r.exec(`update inbox set ack_id = null where kind = 2`)
		r.must("id-1", other, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
	})
	t.Run("what was replaced is told nothing of what it was", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.OnDead = "refuse" })
		r.fail = func(n string) bool { return n == "R-1" }
		a := interchange("REF1", message{number: "R-1"})
		r.must("", a, gateway.First, gateway.ToldTryAgain, "I1b")
		b := interchange("REF1", message{number: "R-2"})
		r.must("", b, gateway.Correction, gateway.ToldAccepted, "I9")
		alone := r.must("", a, gateway.Duplicate, gateway.ToldReplaced, "I6")
		beside := r.must("", b+a, gateway.Duplicate, gateway.ToldReplaced, "I2,I6")
		if d := cmp.Diff(string(alone.Items[0].JSON), string(beside.Items[1].JSON)); d != "" {
			t.Errorf("another answer (-alone +beside):\n%s", d)
		}
	})
	t.Run("a number is re-used once in a payload", func(t *testing.T) {
		r := newRig(t)
		r.now = time.Now().UTC()
		r.policy(func(p *partners.Policy) { p.ReuseAfter = 30 * 24 * time.Hour })
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.exec(`update inbox set last_at = $1`, r.now.AddDate(0, 0, -60))
		r.must("", interchange("REF1", message{number: "R-2"})+interchange("REF1", message{number: "R-3"}), gateway.Mixed, gateway.ToldDrift, "I12,I13")
	})
}

func TestReferencesThatAreTaken(t *testing.T) {
	r := newRig(t)
	r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
	r.must("", interchange("REF1", message{ref: "1", number: "R-1"}, message{ref: "2", number: "R-2", bad: "count"}), gateway.First, gateway.ToldPartly, "I1b")
	rec := r.must("", interchange("REF1", message{ref: "1", number: "R-3"}, message{ref: "1", number: "R-1"}), gateway.Completion, gateway.ToldPartly, "I10")

	t.Run("what had its effect keeps its reference, whatever comes before it", func(t *testing.T) {
		if n := r.count(`select count(*) from document where number = 'R-3'`); n != 0 || r.posted() != 1 {
			t.Errorf("%d documents of the other message, %d in all", n, r.posted())
		}
	})
	t.Run("the other is told so", func(t *testing.T) {
		if !strings.Contains(string(rec.Rendered.Body), "message-reference-taken") {
			t.Errorf("told %s", rec.Rendered.Body)
		}
	})
}

func TestInterchangeInManyTransportDrifts(t *testing.T) {
	r := newRig(t)
	lost := interchange("X", message{number: "X"})
	for _, id := range []string{"T1", "T2", "T3", "T4", "T5"} {
		r.must(id, interchange(id, message{number: id}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must(id, lost, gateway.Drift, gateway.ToldDrift, "T6")
	}
	r.must("", lost, gateway.First, gateway.ToldAccepted, "I1b")
	if n := r.count(`select count(*) from drift_alert where state = 'open'`); n != 0 {
		t.Errorf("%d of the drifts it closes are open", n)
	}
}
