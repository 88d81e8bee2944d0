package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// advised is a rig whose partner gets APERAK and 824 in a folder, and functional
// acknowledgements in the response.
func advised(t *testing.T, x12 bool) *rig {
	t.Helper()
	r := newRig(t)
	if x12 {
		r.inX12()
	}
	r.policy(func(p *partners.Policy) { alone(p); p.Advise = "folder" })
	return r
}

// advices gives what was written to be sent, in order, each in a line: what it is, its
// verdict, why, and which documents it names.
func (r *rig) advices() (list []string) {
	r.t.Helper()
	rows, err := r.Pool.Query(r.t.Context(), `
		select o.body->>'content', a.message_id, a.reference, a.type
		from functional_acknowledgement a join outbox o on o.partner_id = a.partner_id and o.event_id = a.event_id and o.purge_month = a.event_month
		where a.type in ('APERAK', '824') order by a.event_id`)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text, id, reference, typ string
		if err := rows.Scan(&text, &id, &reference, &typ); err != nil {
			r.t.Fatal(err)
		}
		f := edifactFormat()
		if typ == "824" {
			f = x12Format()
		}
		p := edi.Bytes([]byte(text))
		ic, err := f.Split(p, 0, gateway.Reading{})
		if err == nil {
			err = f.Scan(p, ic, gateway.Reading{}, func(int, *edi.Body) error { return nil })
		}
		if err != nil || strings.TrimLeft(ic.ControlReference, "0") != reference || !strings.Contains(id, ic.Recipient.ID) {
			r.t.Fatalf("%s on %s: %v\n%s", reference, id, err, text)
		}
		err = f.Answers(p, ic, gateway.Reading{}, func(a edi.Answer) error {
			line := a.Kind
			for _, j := range a.Judgements {
				line += " " + j.Acceptance.String()
				for _, o := range j.Objections {
					line += " " + o.Code
					for _, about := range o.About {
						line += " " + about.Number
					}
				}
				if a.Kind == "824" {
					line += " " + j.Documents[0].Number
				}
			}
			list = append(list, line)
			return nil
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return list
}

func (r *rig) isAdvised(want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.advices()); diff != "" {
		r.t.Errorf("advices -want +got\n%s", diff)
	}
}

func TestAdviceOnHeldDocuments(t *testing.T) {
	first := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
	again := interchange("REF2", message{number: "R-1", amount: "5.00"}, message{number: "R-3"}, message{number: "R-2", amount: "6.00"})
	// The messages are EANCOM's, which has no word in BGM for what is only held.
	for _, c := range []struct {
		x12                          bool
		held, known, taken, heldOnly string
	}{
		{false, "APERAK accepted HELD R-1 HELD R-2", "APERAK rejected KNOWN R-1 KNOWN R-2", "APERAK accepted TAKEN R-1 TAKEN R-2", "APERAK accepted HELD R-9"},
		{true, "824 accepted with errors 006 R-1 accepted with errors 006 R-2", "824 rejected 006 R-1 rejected 006 R-2", "824 accepted R-1 accepted R-2", "824 accepted with errors 006 R-9"},
	} {
		held := func(t *testing.T) *rig {
			r := advised(t, c.x12)
			r.must("", first, gateway.First, gateway.ToldAccepted, "I1b")
			r.must("", again, gateway.First, gateway.ToldAccepted, "I1b")
			r.isAdvised(c.held)
			return r
		}
		name := func(s string) string { return c.held[:strings.IndexByte(c.held, ' ')] + ": " + s }
		t.Run(name("one names all that an interchange holds, and a copy causes none"), func(t *testing.T) {
			r := held(t)
			receipt := r.must("", again, gateway.Duplicate, gateway.ToldAccepted, "I2")
			if strings.Contains(string(receipt.Items[0].JSON), "APERAK") {
				t.Errorf("the receipt speaks of it: %s", receipt.Items[0].JSON)
			}
			r.isAdvised(c.held)
			if n := r.count(`select count(*) from effect where target = 'acknowledgement-folder' and state = 1`); n != 1 {
				t.Errorf("%d are due", n)
			}
			if n := r.count(`select count(*) from drift_alert`); n != 1 {
				t.Errorf("%d alerts", n)
			}
		})
		t.Run(name("a copy of what it is about has it sent again as it was, beside the acknowledgement"), func(t *testing.T) {
			r := advised(t, c.x12)
			r.policy(func(p *partners.Policy) { p.Acknowledge = "folder" })
			r.must("", first, gateway.First, gateway.ToldAccepted, "I1b")
			r.must("", again, gateway.First, gateway.ToldAccepted, "I1b")
			before := r.count(`select count(distinct body->>'content') from outbox where kind = 'acknowledgement'`)
			r.exec(`update effect set state = 4, lease_id = null`)
			r.must("", again, gateway.Duplicate, gateway.ToldAccepted, "I2")
			r.Later.Flush(t.Context())
			if due := r.count(`select count(*) from effect where state = 1`); due != 2 || before != 3 || before != r.count(`select count(*) from outbox where kind = 'acknowledgement'`) {
				t.Errorf("%d of %d are due", due, before)
			}
		})
		t.Run(name("foreseen, none is written"), func(t *testing.T) {
			r := advised(t, c.x12)
			r.sees = true
			r.must("", first, gateway.First, gateway.ToldAccepted, "I1b")
			r.must("", again, gateway.First, gateway.ToldAccepted, "I1b")
			r.isAdvised(c.held)
		})
		t.Run(name("it has a control reference of its own"), func(t *testing.T) {
			r := held(t)
			if n := r.count(`select count(*) from functional_acknowledgement a where exists (
					select from acknowledgement k where convert_from(k.answer, 'UTF8') like '%UNZ+1+' || a.reference || '''%'
						or convert_from(k.answer, 'UTF8') like '%IEA*1*' || lpad(a.reference, 9, '0') || '~%')`); n != 0 {
				t.Errorf("%d have that of an acknowledgement", n)
			}
		})
		for _, choice := range []gateway.Choice{gateway.KeepOriginal, gateway.RejectAndNotify} {
			t.Run(name(string(choice)+" refuses what it held, and the notice names the advice"), func(t *testing.T) {
				r := held(t)
				r.decide(choice)
				r.isAdvised(c.held, c.known)
				if n := r.count(`select count(*) from outbox n join functional_acknowledgement a on a.event_id::text = n.body->'advice'->>'acknowledgement_id'
						and a.reference = n.body->'advice'->>'reference' where n.type = 'notice.refused'`); n != 1 {
					t.Errorf("%d notices name it", n)
				}
			})
		}
		for _, choice := range []gateway.Choice{gateway.Replace, gateway.ProcessAsNew} {
			t.Run(name(string(choice)+" tells that what was held is taken"), func(t *testing.T) {
				r := held(t)
				r.decide(choice)
				r.isAdvised(c.held, c.taken)
			})
		}
		t.Run(name("processing that is deferred holds as well"), func(t *testing.T) {
			r := advised(t, c.x12)
			r.must("", interchange("REF1", message{number: "R-9"}), gateway.First, gateway.ToldAccepted, "I1b")
			r.deferring()
			r.must("", interchange("REF2", message{number: "R-9", amount: "5.00"}), gateway.First, gateway.ToldDeferred, "I1b")
			r.isAdvised()
			r.work()
			r.isAdvised(c.heldOnly)
		})
		t.Run(name("so does a replay"), func(t *testing.T) {
			r := advised(t, c.x12)
			r.must("", interchange("REF1", message{number: "R-9"}), gateway.First, gateway.ToldAccepted, "I1b")
			r.fail = func(string) bool { return true }
			r.must("", interchange("REF2", message{number: "R-9", amount: "5.00"}), gateway.First, gateway.ToldDead, "I1b")
			r.fail = nil
			if _, err := r.Replay(t.Context(), r.dead()[0], anna, true); err != nil {
				t.Fatal(err)
			}
			r.isAdvised()
			if _, err := r.Replay(t.Context(), r.dead()[0], anna, false); err != nil {
				t.Fatal(err)
			}
			r.isAdvised(c.heldOnly)
		})
	}
	for _, way := range []string{"", "response", "none"} {
		t.Run(fmt.Sprintf("a partner who gets none (%q) has everything else", way), func(t *testing.T) {
			r := advised(t, false)
			r.policy(func(p *partners.Policy) { p.Advise = way })
			r.must("", first, gateway.First, gateway.ToldAccepted, "I1b")
			r.must("", again, gateway.First, gateway.ToldAccepted, "I1b")
			r.decide(gateway.RejectAndNotify)
			r.isAdvised()
			if n := r.count(`select count(*) from outbox where type = 'notice.refused' and not body ? 'advice'`); n != 1 || r.count(`select count(*) from effect`) != 0 {
				t.Errorf("%d notices", n)
			}
		})
	}
	t.Run("what is posted as a further document is not advised on", func(t *testing.T) {
		r := advised(t, false)
		r.policy(func(p *partners.Policy) { p.OnKnownDocument["invoice"] = "note" })
		r.must("", first, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", again, gateway.First, gateway.ToldAccepted, "I1b")
		r.isAdvised()
	})
}

func TestAdviceOnDecisions(t *testing.T) {
	original, changed := interchange("REF1", message{number: "R-1"}), interchange("REF1", message{number: "R-1", amount: "7.00"})
	third := interchange("REF1", message{number: "R-1", amount: "8.00"})
	for _, c := range []struct {
		name    string
		x12     bool
		onDrift string
		choice  gateway.Choice
		want    []string
	}{
		{"reject_and_notify says so", false, "reject", gateway.RejectAndNotify, []string{"APERAK rejected DRIFT"}},
		{"and of X12 of its group", true, "reject", gateway.RejectAndNotify, []string{"824 rejected 006 ISA13"}},
		{"keep_original says nothing more than the refusal did", false, "reject", gateway.KeepOriginal, nil},
		{"keep_original of a held drift says so", false, "hold", gateway.KeepOriginal, []string{"APERAK rejected DRIFT"}},
		{"replace is told by its acknowledgement", false, "hold", gateway.Replace, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := advised(t, c.x12)
			r.policy(func(p *partners.Policy) { p.OnDrift = c.onDrift })
			told := map[string]gateway.Answer{"reject": gateway.ToldDrift, "hold": gateway.ToldDriftHeld}[c.onDrift]
			ref := func(s string) string { return strings.ReplaceAll(s, "REF1", "1") }
			r.must("", ref(original), gateway.First, gateway.ToldAccepted, "I1b")
			r.must("", ref(changed), gateway.Drift, told, "I13")
			r.isAdvised()
			id := r.onlyKey()
			r.decide(c.choice)
			var want []string
			for _, w := range c.want {
				want = append(want, strings.Replace(w, "ISA13", id[strings.LastIndexByte(id, ':')+1:], 1))
			}
			r.isAdvised(want...)
		})
	}
	t.Run("of two payloads that are refused at once each is told, with the time it was prepared", func(t *testing.T) {
		r := advised(t, false)
		r.must("", original, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		r.must("", strings.Replace(third, "261129:1015", "261129:1016", 1), gateway.Drift, gateway.ToldDrift, "I13")
		if _, err := r.Decide(t.Context(), gateway.Decision{Alert: r.alert(), Choice: gateway.RejectAndNotify, Payloads: 2, Reason: "sent_by_mistake", By: anna}); err != nil {
			t.Fatal(err)
		}
		r.isAdvised("APERAK rejected DRIFT", "APERAK rejected DRIFT")
		for _, at := range []string{"202611291015", "202611291016"} {
			if n := r.count(`select count(*) from outbox where kind = 'acknowledgement' and body->>'content' like '%RFF+ACW:REF1''DTM+171:' || $1 || ':203''%since it was sent by mistake.%'`, at); n != 1 {
				t.Errorf("%d speak of %s", n, at)
			}
		}
		if n := r.count(`select count(distinct body->'advice'->>'acknowledgement_id') from outbox where type = 'notice.refused'`); n != 2 {
			t.Errorf("%d are named by notices", n)
		}
	})
	t.Run("a payload that is purged is refused without", func(t *testing.T) {
		r := advised(t, false)
		r.must("", original, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		r.exec(`delete from payload`)
		r.decide(gateway.RejectAndNotify)
		r.isAdvised()
		if r.events("notice.refused") != 1 {
			t.Error("no notice")
		}
	})
	t.Run("a held transport drift that is rejected is told of each of its interchanges", func(t *testing.T) {
		r := advised(t, false)
		r.policy(func(p *partners.Policy) { p.OnDrift = "hold" })
		r.must("T", original, gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("T", interchange("REF2", message{number: "R-2"})+interchange("REF3", message{number: "R-3"}), gateway.Drift, gateway.ToldDriftHeld, "T6")
		r.decide(gateway.RejectPayload)
		r.isAdvised("APERAK rejected DRIFT", "APERAK rejected DRIFT")
	})
	t.Run("rejected at once it was told", func(t *testing.T) {
		r := advised(t, false)
		r.must("T", original, gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("T", interchange("REF2", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "T6")
		r.decide(gateway.RejectPayload)
		r.isAdvised()
	})
}

func TestAdviceOnDeferredWork(t *testing.T) {
	text := interchange("1", message{number: "R-1"}, message{number: "R-2"})
	refusing := func(t *testing.T, x12 bool, acknowledge string) *rig {
		r := advised(t, x12)
		r.policy(func(p *partners.Policy) { p.Acknowledge = acknowledge })
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.set("acme", noAddress, func(p *partners.Partner) { p.Types = []string{"DESADV"} })
		r.work()
		return r
	}
	t.Run("what it refuses is told with the numbers of the documents", func(t *testing.T) {
		refusing(t, false, "response").isAdvised("APERAK rejected INVALID R-1 INVALID R-2")
	})
	t.Run("in X12 too", func(t *testing.T) {
		refusing(t, true, "response").isAdvised("824 rejected 024 024 R-1 rejected 024 024 R-2")
	})
	t.Run("a CONTRL that leaves says it already", func(t *testing.T) {
		r := refusing(t, false, "folder")
		r.isAdvised()
		if n := r.count(`select count(*) from functional_acknowledgement where type = 'CONTRL'`); n != 1 {
			t.Errorf("%d CONTRL", n)
		}
	})
	t.Run("what is given up is told by the reference of its message", func(t *testing.T) {
		for x12, want := range map[bool]string{false: "APERAK rejected GIVENUP 1 GIVENUP 2", true: "824 rejected 024 0001 rejected 024 0002"} {
			r := advised(t, x12)
			r.fail = func(n string) bool { return n == "R-2" }
			r.must("", text, gateway.First, gateway.ToldDead, "I1b")
			l := r.dead()[0]
			if _, err := r.Discard(t.Context(), l, "our_fault", "", anna, true); err != nil {
				t.Fatal(err)
			}
			r.isAdvised()
			if _, err := r.Discard(t.Context(), l, "our_fault", "", anna, false); err != nil {
				t.Fatal(err)
			}
			r.isAdvised(want)
		}
	})
}

func TestAnswersToAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		x12  bool
		text func(reference string) string
		want string
	}{
		"a CONTRL that rejects it": {false, func(n string) string {
			return inEDIFACT("71", "CONTRL:D:3:UN", "UCI+"+n+"+9520002000019:14+9520001000010:14+4+18'")
		}, "CONTRL rejected"},
		"a 997 on its group AG": {true, func(n string) string {
			return inGroup(71, "", "FA", "997", "AK1*AG*"+n+"~AK2*824*0001~AK5*A~AK9*A*1*1*1~")
		}, "997 accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			r := advised(t, c.x12)
			r.set("acme", noAddress, func(p *partners.Partner) { p.Types = append(p.Types, "CONTRL", "997") })
			r.must("", interchange("1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
			r.must("", interchange("2", message{number: "R-1", amount: "5.00"}), gateway.First, gateway.ToldAccepted, "I1b")
			receipt := r.answer(c.text(r.sent()[0].Reference))
			if strings.Contains(receipt, "answer-unmatched") || r.says()[0] != c.want {
				t.Errorf("%v\n%s", r.says(), receipt)
			}
		})
	}
}

func TestEveryReasonIsSaidToThePartner(t *testing.T) {
	for _, reason := range gateway.DecisionReasons {
		r := advised(t, false)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF1", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "I13")
		if _, err := r.Decide(t.Context(), gateway.Decision{Alert: r.alert(), Choice: gateway.RejectAndNotify, Reason: reason.Code, Note: "for ourselves", By: anna}); err != nil {
			t.Fatal(err)
		}
		var content json.RawMessage
		if err := r.Pool.QueryRow(t.Context(), `select body->'content' from outbox where kind = 'acknowledgement'`).Scan(&content); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(content), ":", " ")
		if !strings.Contains(text, ".'UNT") || strings.Contains(text, "ourselves") {
			t.Errorf("%s: %s", reason.Code, text)
		}
	}
}
