package gateway_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// copied is what a copy is told after a decision.
type copied struct {
	id, text string // transport id, payload
	verdict  gateway.Verdict
	answer   gateway.Answer
	rule     string
}

// decidedCase is one row of the table of decisions, played through.
type decidedCase struct {
	first, drift string                             // payloads
	policy       func(*partners.Policy)             // beside four_eyes: off
	ids          [2]string                          // under which they come
	told         gateway.Answer                     // the first
	rules        [2]string                          // of their rows
	copies       func(told gateway.Answer) []copied // told: what the drift was told
	live         int                                // documents that stand then
	held         bool                               // the drift is a held document: never told as a drift
}

// TestCopiesAfterEachDecision plays every row of the table of decisions, under
// on_drift reject and hold, and then sends a copy of each payload under the id it
// had, under a new one and under none.
func TestCopiesAfterEachDecision(t *testing.T) {
	one := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
	changed := interchange("REF1", message{number: "R-1"}, message{number: "R-2", amount: "177.00"})
	reused := interchange("REF1", message{number: "R-1"}, message{number: "R-9"})
	part := interchange("REF1", message{number: "R-1"}, message{number: "R-2", bad: "count"})
	mended := interchange("REF1", message{ref: "11", number: "R-1"}, message{ref: "12", number: "R-2"})
	other := interchange("REF2", message{number: "R-3"})
	held := interchange("REF2", message{number: "R-1", amount: "5.00"}, message{number: "R-3"})

	// again gives copies of both payloads that get stored answers by rows of the
	// interchange table.
	again := func(a, d string, toldA gateway.Answer, rowD string, verdictD gateway.Verdict, tellD func(gateway.Answer) gateway.Answer) func(gateway.Answer) []copied {
		return func(told gateway.Answer) []copied {
			var list []copied
			for _, c := range []struct{ id, t string }{{"A", "T3 "}, {"C", "T1 "}, {"", ""}} {
				list = append(list, copied{c.id, a, gateway.Duplicate, toldA, c.t + "I2"})
			}
			for _, c := range []struct{ id, t string }{{"D", "T3 "}, {"E", "T1 "}, {"", ""}} {
				list = append(list, copied{c.id, d, verdictD, tellD(told), c.t + rowD})
			}
			return list
		}
	}
	same := func(told gateway.Answer) gateway.Answer { return told }
	accepted := func(gateway.Answer) gateway.Answer { return gateway.ToldAccepted }
	refused := func(a, d string) func(gateway.Answer) []copied {
		return again(a, d, gateway.ToldAccepted, "I8", gateway.Duplicate, same)
	}
	posted := func(a, d string, toldA gateway.Answer) func(gateway.Answer) []copied {
		return again(a, d, toldA, "I2", gateway.Duplicate, accepted)
	}
	ids, rules := [2]string{"A", "D"}, [2]string{"T1 I1b", "T1 I13"}
	cases := map[string]decidedCase{
		"interchange keep_original":     {first: one, drift: changed, ids: ids, told: gateway.ToldAccepted, rules: rules, live: 2, copies: refused(one, changed)},
		"interchange reject_and_notify": {first: one, drift: changed, ids: ids, told: gateway.ToldAccepted, rules: rules, live: 2, copies: refused(one, changed)},
		"interchange replace":           {first: one, drift: changed, ids: ids, told: gateway.ToldAccepted, rules: rules, live: 2, copies: posted(one, changed, gateway.ToldAccepted)},
		"interchange process_as_new":    {first: one, drift: reused, ids: ids, told: gateway.ToldAccepted, rules: rules, live: 3, copies: posted(one, reused, gateway.ToldAccepted)},
		"interchange complete": {first: part, drift: mended, ids: ids, told: gateway.ToldPartly, rules: rules, live: 2, copies: posted(part, mended, gateway.ToldPartly),
			policy: func(p *partners.Policy) { p.Acceptance = "message" }},
		"transport process": {first: one, drift: other, ids: [2]string{"A", "A"}, told: gateway.ToldAccepted, rules: [2]string{"T1 I1b", "T6"}, live: 3,
			copies: func(gateway.Answer) []copied {
				return []copied{
					{"A", other, gateway.Duplicate, gateway.ToldAccepted, "T3 I2"}, {"E", other, gateway.Duplicate, gateway.ToldAccepted, "T1 I2"}, {"", other, gateway.Duplicate, gateway.ToldAccepted, "I2"},
					{"A", one, gateway.Duplicate, gateway.ToldAccepted, "T3 I2"}, {"C", one, gateway.Duplicate, gateway.ToldAccepted, "T1 I2"}, {"", one, gateway.Duplicate, gateway.ToldAccepted, "I2"},
				}
			}},
		"transport reject": {first: one, drift: other, ids: [2]string{"A", "A"}, told: gateway.ToldAccepted, rules: [2]string{"T1 I1b", "T6"}, live: 2,
			copies: func(told gateway.Answer) []copied {
				return []copied{
					{"A", other, gateway.Duplicate, told, "T2b"},
					{"A", one, gateway.Duplicate, gateway.ToldAccepted, "T3 I2"}, {"C", one, gateway.Duplicate, gateway.ToldAccepted, "T1 I2"}, {"", one, gateway.Duplicate, gateway.ToldAccepted, "I2"},
				}
			}},
	}
	for choice, live := range map[gateway.Choice]int{gateway.Replace: 3, gateway.ProcessAsNew: 4, gateway.KeepOriginal: 3, gateway.RejectAndNotify: 3} {
		cases["document "+string(choice)] = decidedCase{first: one, drift: held, ids: ids, told: gateway.ToldAccepted, rules: [2]string{"T1 I1b", "T1 I1b"}, live: live,
			held: true, copies: posted(one, held, gateway.ToldAccepted)}
	}
	for _, row := range gateway.Decisions {
		name := row.Kind + " " + string(row.Choice)
		c, ok := cases[name]
		if !ok {
			t.Errorf("%s is not played", name)
			continue
		}
		for _, onDrift := range []string{"reject", "hold"} {
			t.Run(fmt.Sprintf("%s, on_drift %s", name, onDrift), func(t *testing.T) { playDecided(t, row, c, onDrift) })
		}
	}
}

func playDecided(t *testing.T, row gateway.DecisionRow, c decidedCase, onDrift string) {
	r := newRig(t)
	r.policy(func(p *partners.Policy) {
		p.FourEyes, p.OnDrift = "off", onDrift
		if c.policy != nil {
			c.policy(p)
		}
	})
	told, verdict := r.told(), gateway.Drift
	if c.held {
		told, verdict = gateway.ToldAccepted, gateway.First
	}
	r.must(c.ids[0], c.first, gateway.First, c.told, c.rules[0])
	r.must(c.ids[1], c.drift, verdict, told, c.rules[1])
	alert := r.alert()
	ruling := r.decide(row.Choice)

	notices := 0
	if c.held && row.Notifies || !c.held && !row.Posts && row.Choice != gateway.ProcessPayload && (row.Notifies || onDrift == "hold") {
		notices = 1
	}
	if got := r.events("notice.refused"); got != notices || ruling.Notices != notices {
		t.Errorf("%d notices, the ruling says %d, want %d", got, ruling.Notices, notices)
	}
	if got := r.alertState(alert); got != "resolved" || ruling.State != "resolved" {
		t.Errorf("the alert is %s, the ruling says %s", got, ruling.State)
	}
	if r.posted() != c.live {
		t.Errorf("%d documents stand, want %d", r.posted(), c.live)
	}
	for _, copy := range c.copies(told) {
		r.must(copy.id, copy.text, copy.verdict, copy.answer, copy.rule)
	}
	if r.posted() != c.live {
		t.Errorf("after the copies %d documents stand, want %d", r.posted(), c.live)
	}
	r.consistent()
	if n := r.events("drift.decided"); n != 1 {
		t.Errorf("%d events drift.decided", n)
	}
	if n := r.count(`select count(*) from audit_entry where action = 'drift.decided' and subject = $1`, alert.String()); n != 1 {
		t.Errorf("%d audit lines", n)
	}
	if n := r.count(`select count(*) from inbox where hold <> 0`); n != 0 {
		t.Errorf("%d keys bar purging", n)
	}
	if p := r.payloads(); p.Held != 0 || p.Lost != 0 {
		t.Errorf("payloads %+v", p)
	}
	before := r.everything()
	for _, again := range gateway.Decisions {
		if again.Kind == row.Kind {
			_, err := r.Decide(context.Background(), gateway.Decision{Alert: alert, Choice: again.Choice, Reason: "corrected", By: bert})
			r.refusal(err, gateway.AlreadyDecided, before)
		}
	}
}

// consistent holds the tables against the invariants that a decision may break.
func (r *rig) consistent() {
	r.t.Helper()
	for what, sql := range map[string]string{
		"guard keys without their document": `
			select count(*) from document_key g where not imported and exists (
				select from unnest(document_ids) as i (id) where not exists (select from document d where d.partner_id = g.partner_id and d.document_id = i.id))`,
		"documents without a guard key": `
			select count(*) from document d where not exists (select from document_key g where g.partner_id = d.partner_id and d.document_id = any(g.document_ids))`,
		"documents without exactly one event of their creation": `
			select count(*) from document d where (select count(*) from outbox o where o.type = 'document.created' and o.body->>'document_id' = d.document_id::text) <> 1`,
		"documents that are over without exactly one event of it": `
			select count(*) from document d where (superseded_by is not null or cancelled_by is not null)
				and (select count(*) from outbox o where o.type = 'document.superseded' and o.body->>'document_id' = d.document_id::text) <> 1`,
		"variants whose stored answer is gone": `
			select count(*) from (select partner_id, ack_id, ack_month from inbox union all select partner_id, ack_id, ack_month from variant) as v
			where ack_id is not null and not exists (
				select from acknowledgement a where a.partner_id = v.partner_id and a.ack_id = v.ack_id and a.purge_month = v.ack_month)`,
	} {
		if n := r.count(sql); n != 0 {
			r.t.Errorf("%d %s", n, what)
		}
	}
}
