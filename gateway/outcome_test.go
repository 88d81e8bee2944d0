package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func sha(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// rowTests has a test for every row of both tables that plain HTTP can reach.
var rowTests = map[string]func(*testing.T, *rig){
	"I1": func(t *testing.T, r *rig) {
		r.must("", interchangeFrom("9520001000010:14", "250101:1015", "OLD1", message{number: "R-1"}), gateway.Drift, gateway.ToldDrift, "I1")
		if n := r.count(`select count(*) from drift_alert where class = 'original_purged' and state = 'open'`); n != 1 {
			t.Errorf("%d alerts original_purged, want 1", n)
		}
		if r.posted() != 0 {
			t.Error("it was posted")
		}
		again := r.must("", interchangeFrom("9520001000010:14", "250101:1015", "OLD1", message{number: "R-1"}), gateway.Drift, gateway.ToldDrift, "I7")
		if again.AlertID.String() == "" || r.count(`select receptions from drift_alert`) != 2 {
			t.Error("the repeat did not join the alert")
		}
		r.must("", interchangeFrom("9520001000010:14", "250101:1015", "OLD1", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "I1")
		r.set("acme", edi.Party{}, func(p *partners.Partner) { p.Connected = r.now })
		r.must("", interchangeFrom("9520001000010:14", "250102:1015", "OLD2", message{number: "R-3"}), gateway.First, gateway.ToldAccepted, "I1b")
	},
	"I1b": func(t *testing.T, r *rig) {
		first := r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		again := r.must("", interchange("REF1", message{number: "R-1"}), gateway.Duplicate, gateway.ToldAccepted, "I2")
		if d := cmp.Diff(string(first.Rendered.Body), string(again.Rendered.Body)); d != "" {
			t.Errorf("a repeat gets the first receipt (-first +again):\n%s", d)
		}
		if n := r.posted(); n != 1 {
			t.Errorf("posted %d documents, want 1", n)
		}
	},
	"I2": func(t *testing.T, r *rig) {
		a := interchange("REF1", message{number: "R-1"})
		r.must("", a, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF1", message{number: "R-1", amount: "200.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		r.state("acme", "REF1", a, dedup.Superseded, nil)
		r.must("", a, gateway.Duplicate, gateway.ToldAccepted, "I2")
	},
	"I3": func(t *testing.T, r *rig) {
		a := interchange("REF1", message{number: "R-1"})
		r.must("", a, gateway.First, gateway.ToldAccepted, "I1b")
		r.state("acme", "REF1", a, dedup.Received, []dedup.Fate{dedup.Pending})
		r.must("", a, gateway.Duplicate, gateway.ToldAccepted, "I3")
		if r.posted() != 1 {
			t.Error("a second job was done")
		}
	},
	"I4": func(t *testing.T, r *rig) {
		t.Run("a dead message is retried by the partner's copy", func(t *testing.T) {
			r := r.fresh(t)
			r.fail = func(string) bool { return true }
			a := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
			r.must("", a, gateway.First, gateway.ToldDead, "I1b")
			r.must("", a, gateway.Retry, gateway.ToldDead, "I4")
			r.fail = nil
			r.must("", a, gateway.Retry, gateway.ToldAccepted, "I4")
			if r.posted() != 2 {
				t.Errorf("posted %d, want 2", r.posted())
			}
			r.must("", a, gateway.Duplicate, gateway.ToldAccepted, "I2")
		})
		t.Run("refused under an older configuration is judged again", func(t *testing.T) {
			r := r.fresh(t)
			r.set("acme", edi.Party{}, func(p *partners.Partner) { p.Types = []string{"DESADV"} })
			a := interchange("REF1", message{number: "R-1"})
			r.must("", a, gateway.First, gateway.ToldUnsupported, "I1b")
			r.must("", a, gateway.Duplicate, gateway.ToldUnsupported, "I6")
			r.set("acme", edi.Party{}, func(p *partners.Partner) { p.Types = []string{"INVOIC"} })
			r.must("", a, gateway.Reevaluation, gateway.ToldAccepted, "I4")
			if r.posted() != 1 {
				t.Errorf("posted %d, want 1", r.posted())
			}
		})
		t.Run("on_dead: refuse asks for another try while attempts are left", func(t *testing.T) {
			r := r.fresh(t)
			r.policy(func(p *partners.Policy) { p.OnDead, p.Attempts = "refuse", 2 })
			r.fail = func(string) bool { return true }
			a := interchange("REF1", message{number: "R-1"})
			r.must("", a, gateway.First, gateway.ToldTryAgain, "I1b")
			r.must("", a, gateway.Retry, gateway.ToldDeadRefused, "I4")
			r.must("", a, gateway.Duplicate, gateway.ToldDeadRefused, "I5")
		})
	},
	"I5": func(t *testing.T, r *rig) {
		r.policy(func(p *partners.Policy) { p.Attempts = 1 })
		r.fail = func(string) bool { return true }
		a := interchange("REF1", message{number: "R-1"})
		r.must("", a, gateway.First, gateway.ToldDead, "I1b")
		r.fail = nil
		r.must("", a, gateway.Duplicate, gateway.ToldDead, "I5")
		if r.posted() != 0 {
			t.Error("a budget that was used up was used again")
		}
	},
	"I6": func(t *testing.T, r *rig) {
		bad := interchange("REF1", message{number: "R-1", bad: "count"})
		r.must("", bad, gateway.First, gateway.ToldRejected, "I1b")
		r.must("", bad, gateway.Duplicate, gateway.ToldRejected, "I6")
		t.Run("what only ever got 503 and was corrected since is told as replaced", func(t *testing.T) {
			r := r.fresh(t)
			r.policy(func(p *partners.Policy) { p.OnDead = "refuse" })
			r.fail = func(n string) bool { return n == "R-1" }
			a := interchange("REF1", message{number: "R-1"})
			r.must("", a, gateway.First, gateway.ToldTryAgain, "I1b")
			r.must("", interchange("REF1", message{number: "R-2"}), gateway.Correction, gateway.ToldAccepted, "I9")
			r.must("", a, gateway.Duplicate, gateway.ToldReplaced, "I6")
		})
	},
	"I7": func(t *testing.T, r *rig) {
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		changed := interchange("REF1", message{number: "R-1", amount: "200.00"})
		first := r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		again := r.must("", changed, gateway.Drift, gateway.ToldDrift, "I7")
		if d := cmp.Diff(string(first.Rendered.Body), string(again.Rendered.Body)); d != "" {
			t.Errorf("the repeat of a drift got another answer:\n%s", d)
		}
		if n := r.count(`select receptions from drift_alert`); n != 2 {
			t.Errorf("%d receptions, want 2", n)
		}
	},
	"I8": func(t *testing.T, r *rig) {
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		changed := interchange("REF1", message{number: "R-1", amount: "200.00"})
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		r.state("acme", "REF1", changed, dedup.Refused, nil)
		r.must("", changed, gateway.Duplicate, gateway.ToldDrift, "I8")
	},
	"I8b": func(t *testing.T, r *rig) {
		r.exec(`insert into inbox (partner_id, message_id, kind, purge_on, state, answer, messages, delivery_id)
			values ('acme', $1, 2, '2028-01-01', $2, $3, '', gen_random_uuid())`, r.key("REF1"), int16(dedup.Imported), int16(gateway.ToldAccepted))
		a := interchange("REF1", message{number: "R-1"})
		r.must("", a, gateway.Duplicate, gateway.ToldAccepted, "I8b")
		if r.posted() != 0 {
			t.Error("what the former gateway processed was posted again")
		}
		r.must("", a, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", interchange("REF1", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "I13")
	},
	"I9": func(t *testing.T, r *rig) {
		r.must("", interchange("REF1", message{number: "R-1", bad: "count"}), gateway.First, gateway.ToldRejected, "I1b")
		mended := interchange("REF1", message{number: "R-1"})
		r.must("", mended, gateway.Correction, gateway.ToldAccepted, "I9")
		r.must("", mended, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", interchange("REF1", message{number: "R-1", bad: "count"}), gateway.Duplicate, gateway.ToldRejected, "I6")
		if r.posted() != 1 {
			t.Errorf("posted %d, want 1", r.posted())
		}
	},
	"I10": func(t *testing.T, r *rig) {
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		r.must("", interchange("REF1", message{number: "R-1"}, message{number: "R-2", bad: "count"}), gateway.First, gateway.ToldPartly, "I1b")
		r.must("", interchange("REF1", message{number: "R-1"}, message{number: "R-2"}), gateway.Completion, gateway.ToldAccepted, "I10")
		if r.posted() != 2 {
			t.Errorf("posted %d, want 2", r.posted())
		}
		t.Run("with fewer messages it is a drift", func(t *testing.T) {
			r := r.fresh(t)
			r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
			r.must("", interchange("REF1", message{number: "R-1"}, message{number: "R-2", bad: "count"}), gateway.First, gateway.ToldPartly, "I1b")
			r.must("", interchange("REF1", message{number: "R-1"}), gateway.Drift, gateway.ToldDrift, "I13")
		})
	},
	"I11": func(t *testing.T, r *rig) {
		r.policy(func(p *partners.Policy) { p.Absorb = []string{"envelope"} })
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchangeFrom("9520001000010:14", "261130:0900", "REF1", message{number: "R-1"}), gateway.Drift, gateway.ToldAccepted, "I11")
		if n := r.count(`select count(*) from drift_alert where state = 'auto_resolved' and class = 'envelope'`); n != 1 {
			t.Errorf("%d auto-resolved alerts, want 1", n)
		}
		if r.posted() != 1 {
			t.Errorf("posted %d, want 1", r.posted())
		}
		r.must("", strings.ReplaceAll(interchange("REF1", message{number: "R-1"}), "'", "'\n"), gateway.Drift, gateway.ToldDrift, "I13")
	},
	"I12": func(t *testing.T, r *rig) {
		r.policy(func(p *partners.Policy) { p.ReuseAfter = 300 * 24 * time.Hour })
		r.must("", interchange("04711", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		other := interchangeFrom("9520001000010:14", "271129:1015", "04711", message{number: "R-2"})
		r.must("", other, gateway.Drift, gateway.ToldDrift, "I13")
		r.exec(`delete from variant`)
		r.exec(`update inbox set hold = 0, last_at = $1`, r.now.AddDate(0, 0, -380))
		r.must("", other, gateway.Reuse, gateway.ToldAccepted, "I12")
		r.must("", other, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", interchange("04711", message{number: "R-1"}), gateway.Duplicate, gateway.ToldAccepted, "I2")
		if r.posted() != 2 || r.count(`select epoch from inbox`) != 1 {
			t.Errorf("posted %d in epoch %d, want 2 in epoch 1", r.posted(), r.count(`select epoch from inbox`))
		}
	},
	"I13": func(t *testing.T, r *rig) {
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		rec := r.must("", interchange("REF1", message{number: "R-1", amount: "200.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		var item gateway.InterchangeReceipt
		if err := json.Unmarshal(rec.Items[0].JSON, &item); err != nil || item.Alert == "" || item.Documents != nil || item.Acknowledgement != nil {
			t.Errorf("the partner is told %s; want the alert's id and nothing of the original", rec.Items[0].JSON)
		}
		if r.posted() != 1 {
			t.Error("the changed copy was posted")
		}
		t.Run("on_drift: hold answers 202", func(t *testing.T) {
			r := r.fresh(t)
			r.policy(func(p *partners.Policy) { p.OnDrift = "hold" })
			r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
			r.must("", interchange("REF1", message{number: "R-1", amount: "200.00"}), gateway.Drift, gateway.ToldDriftHeld, "I13")
		})
		t.Run("three different documents in a row propose control_reference: unreliable", func(t *testing.T) {
			r := r.fresh(t)
			r.must("", interchange("1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
			for _, n := range []string{"R-2", "R-3", "R-4"} {
				r.must("", interchange("1", message{number: n}), gateway.Drift, gateway.ToldDrift, "I13")
			}
			if n := r.count(`select count(*) from drift_alert where proposal = 'control_reference: unreliable'`); n != 1 {
				t.Error("the alert proposes nothing")
			}
		})
	},
	"T1": func(t *testing.T, r *rig) {
		r.must("id-1", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		if n := r.count(`select count(*) from inbox where kind = 1`); n != 1 {
			t.Errorf("%d transport keys, want 1", n)
		}
		t.Run("a new id for a known interchange has its own row", func(t *testing.T) {
			a := interchange("REF1", message{number: "R-1"})
			r.must("id-2", a, gateway.Duplicate, gateway.ToldAccepted, "T1 I2")
			r.must("id-2", a, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
			if r.posted() != 1 {
				t.Errorf("posted %d, want 1", r.posted())
			}
		})
	},
	"T2": func(t *testing.T, r *rig) {
		r.must("id-1", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		other := interchange("REF2", message{number: "R-2"})
		first := r.must("id-1", other, gateway.Drift, gateway.ToldDrift, "T6")
		again := r.must("id-1", other, gateway.Drift, gateway.ToldDrift, "T2")
		if d := cmp.Diff(string(first.Rendered.Body), string(again.Rendered.Body)); d != "" {
			t.Errorf("another answer:\n%s", d)
		}
	},
	"T2b": func(t *testing.T, r *rig) {
		r.must("id-1", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		other := interchange("REF2", message{number: "R-2"})
		r.must("id-1", other, gateway.Drift, gateway.ToldDrift, "T6")
		r.exec(`update variant set state = $1 where payload_sha256 = $2`, int16(dedup.Refused), shaOf(r.text(other)))
		r.must("id-1", other, gateway.Duplicate, gateway.ToldDrift, "T2b")
	},
	"T3": func(t *testing.T, r *rig) {
		a := interchange("REF1", message{number: "R-1"})
		first := r.must("id-1", a, gateway.First, gateway.ToldAccepted, "T1 I1b")
		again := r.must("id-1", a, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		if d := cmp.Diff(string(first.Rendered.Body), string(again.Rendered.Body)); d != "" {
			t.Errorf("a repeat gets the first receipt:\n%s", d)
		}
		t.Run("what the interchange level does not know any more is a duplicate", func(t *testing.T) {
			r.exec(`delete from inbox where kind = 2`)
			r.must("id-1", a, gateway.Duplicate, gateway.ToldAccepted, "T3")
			if r.posted() != 1 {
				t.Error("it was posted again")
			}
		})
		t.Run("what was refused without a key is judged again under a new revision", func(t *testing.T) {
			r := r.fresh(t)
			other := interchangeFrom("9520009999999:14", "261129:1015", "REF9", message{number: "R-9"})
			r.must("id-1", other, gateway.First, gateway.ToldSenderNotAllowed, "T1")
			r.must("id-1", other, gateway.Duplicate, gateway.ToldSenderNotAllowed, "T3")
			r.set("acme", edi.Party{}, func(p *partners.Partner) {
				p.Identifiers = append(p.Identifiers, partners.Identifier{Qualifier: "14", ID: "9520009999999"})
			})
			r.must("id-1", other, gateway.First, gateway.ToldAccepted, "T3 I1b")
			r.must("id-1", other, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		})
	},
	"T3b": func(t *testing.T, r *rig) {
		imported := func(r *rig, id string) {
			r.exec(`insert into inbox (partner_id, message_id, kind, purge_on, state, answer, messages, delivery_id)
				values ('acme', $1, 1, '2028-01-01', $2, $3, '', gen_random_uuid())`, "http:nordhafen:"+id, int16(dedup.Imported), int16(gateway.ToldAccepted))
		}
		imported(r, "id-1")
		a := interchange("REF1", message{number: "R-1"})
		first := r.must("id-1", a, gateway.Duplicate, gateway.ToldAccepted, "T3b I8b")
		again := r.must("id-1", a, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		if d := cmp.Diff(string(first.Rendered.Body), string(again.Rendered.Body)); d != "" {
			t.Errorf("a repeat gets the first receipt:\n%s", d)
		}
		r.must("", a, gateway.Duplicate, gateway.ToldAccepted, "I2")
		if r.posted() != 0 {
			t.Error("what the former gateway processed was posted again")
		}
		r.must("id-1", interchange("REF2", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "T6")
		r.must("id-2", interchange("REF1", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "T1 I13")
		t.Run("what is known there already is judged by that", func(t *testing.T) {
			r := r.fresh(t)
			b := interchange("REF1", message{number: "R-1", bad: "count"})
			r.must("", b, gateway.First, gateway.ToldRejected, "I1b")
			imported(r, "id-1")
			r.must("id-1", b, gateway.Duplicate, gateway.ToldRejected, "T3b I6")
		})
		t.Run("a file older than the window is what it was", func(t *testing.T) {
			r := r.fresh(t)
			imported(r, "id-1")
			r.must("id-1", interchangeFrom("9520001000010:14", "200101:1015", "REF1", message{number: "R-1"}), gateway.Duplicate, gateway.ToldAccepted, "T3b I8b")
		})
	},
	"T4": func(t *testing.T, r *rig) {
		r.must("id-1", interchange("REF1", message{number: "R-1", bad: "count"}), gateway.First, gateway.ToldRejected, "T1 I1b")
		r.must("id-1", interchange("REF2", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "T4 I1b")
	},
	"T5": func(t *testing.T, r *rig) {
		r.must("id-1", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("id-2", interchange("REF2", message{number: "R-2"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		r.must("id-1", interchange("REF2", message{number: "R-2"}), gateway.Duplicate, gateway.ToldAccepted, "T5 I2")
		if n := r.count(`select count(*) from drift_alert where kind = 'transport' and state = 'auto_resolved'`); n != 1 {
			t.Errorf("the difference was noted %d times, want once", n)
		}
	},
	"T6": func(t *testing.T, r *rig) {
		r.must("id-1", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
		other := interchange("REF2", message{number: "R-2"})
		r.must("id-1", other, gateway.Drift, gateway.ToldDrift, "T6")
		if n := r.count(`select count(*) from inbox where kind = 2`); n != 1 || r.posted() != 1 {
			t.Errorf("%d interchange keys and %d documents, want 1 and 1", n, r.posted())
		}
		t.Run("the same file under a new id goes through and closes it", func(t *testing.T) {
			r.must("id-2", other, gateway.First, gateway.ToldAccepted, "T1 I1b")
			if n := r.count(`select count(*) from drift_alert where kind = 'transport' and state = 'resolved'`); n != 1 {
				t.Error("the alert is still open")
			}
			r.must("id-1", other, gateway.Duplicate, gateway.ToldAccepted, "T3 I2")
		})
		t.Run("transport_id: unreliable notes and processes", func(t *testing.T) {
			r := r.fresh(t)
			r.policy(func(p *partners.Policy) { p.TransportID = "unreliable" })
			r.must("id-1", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "T1 I1b")
			r.must("id-1", interchange("REF2", message{number: "R-2"}), gateway.First, gateway.ToldAccepted, "T6 I1b")
		})
	},
}

func TestOutcomeTable(t *testing.T) {
	var names []string
	for _, row := range gateway.Interchanges {
		names = append(names, row.Name)
	}
	for _, row := range gateway.Transports {
		names = append(names, row.Name)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		test := rowTests[name]
		if test == nil {
			t.Errorf("row %s has no test", name)
			continue
		}
		t.Run(name, func(t *testing.T) { test(t, newRig(t)) })
		t.Run(name+" in X12", func(t *testing.T) {
			r := newRig(t)
			r.inX12()
			test(t, r)
		})
	}
}

func shaOf(s string) []byte { d := sha(s); return d[:] }

func (r *rig) key(ref string) string {
	if r.x12 {
		return "isa:14:9520001000010:14:9520002000019:" + controlNumber(ref)
	}
	return "unb:9520001000010:14:9520002000019:14:" + ref
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	if _, err := r.Pool.Exec(context.Background(), sql, args...); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
}

// state puts a variant into a state that only later features create.
func (r *rig) state(partner, ref, payload string, s dedup.State, fates []dedup.Fate) {
	r.t.Helper()
	keys, err := dedup.Load(context.Background(), r.Pool, []dedup.Ref{{Partner: partner, ID: r.key(ref)}})
	if err != nil {
		r.t.Fatal(err)
	}
	k := keys[dedup.Ref{Partner: partner, ID: r.key(ref)}]
	payload = r.text(payload)
	v := k.Find(sha(payload))
	for i := range fates {
		v.Messages[i].Fate = fates[i]
	}
	packed := dedup.PackMessages(v.Messages)
	r.exec(`update inbox set state = $3, messages = $4 where partner_id = $1 and payload_sha256 = $2`, partner, shaOf(payload), int16(s), packed)
	r.exec(`update variant set state = $3, messages = $4 where partner_id = $1 and payload_sha256 = $2`, partner, shaOf(payload), int16(s), packed)
}
