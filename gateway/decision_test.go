package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

var (
	anna = gateway.Person{Name: "anna", Role: "operator"}
	bert = gateway.Person{Name: "bert", Role: "admin"}
)

// alert gives the only undecided alert.
func (r *rig) alert() uuid.UUID {
	r.t.Helper()
	var id uuid.UUID
	err := r.Pool.QueryRow(context.Background(), `select alert_id from drift_alert where state not in ('resolved', 'auto_resolved') order by alert_id desc limit 1`).Scan(&id)
	if err != nil {
		r.t.Fatalf("undecided alert: %v", err)
	}
	return id
}

func (r *rig) alertState(id uuid.UUID) string {
	r.t.Helper()
	var s string
	if err := r.Pool.QueryRow(context.Background(), `select state from drift_alert where alert_id = $1`, id).Scan(&s); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// decide takes a decision alone, where the partner's settings allow it.
func (r *rig) decide(c gateway.Choice) *gateway.Ruling {
	r.t.Helper()
	got, err := r.Decide(context.Background(), gateway.Decision{Alert: r.alert(), Choice: c, Reason: "corrected", By: anna})
	if err != nil {
		r.t.Fatalf("decide %s: %v", c, err)
	}
	if got.State == "awaiting_approval" {
		r.t.Fatalf("decide %s: awaits approval", c)
	}
	return got
}

// refused expects that a decision is not taken, and that nothing changed.
func (r *rig) refused(d gateway.Decision, code gateway.RefusalCode) *gateway.Refusal {
	r.t.Helper()
	if d.Alert == uuid.Nil {
		d.Alert = r.alert()
	}
	if d.Reason == "" {
		d.Reason = "corrected"
	}
	if d.By.Name == "" {
		d.By = anna
	}
	before := r.everything()
	_, err := r.Decide(context.Background(), d)
	return r.refusal(err, code, before)
}

func (r *rig) refusal(err error, code gateway.RefusalCode, before string) *gateway.Refusal {
	r.t.Helper()
	var no *gateway.Refusal
	if !errors.As(err, &no) || no.Code != code {
		r.t.Fatalf("got %v, want a refusal %s", err, code)
	}
	if d := cmp.Diff(before, r.everything()); before != "" && d != "" {
		r.t.Errorf("a refused decision changed something (-before +after):\n%s", d)
	}
	return no
}

// everything is a digest of what a decision may change.
func (r *rig) everything() string {
	r.t.Helper()
	var all []string
	for _, table := range []string{"inbox", "variant", "document", "document_key", "drift_alert", "outbox", "audit_entry", "acknowledgement"} {
		var sum string
		if err := r.Pool.QueryRow(context.Background(), `select '`+table+` ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') from `+table+` t`).Scan(&sum); err != nil {
			r.t.Fatal(err)
		}
		all = append(all, sum)
	}
	return strings.Join(all, "\n")
}

func alone(p *partners.Policy) { p.FourEyes = "off" }

func (r *rig) events(typ string) int {
	return r.count(`select count(*) from outbox where type = $1`, typ)
}

func TestDecisionsOnInterchangeDrifts(t *testing.T) {
	original := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
	changed := interchange("REF1", message{number: "R-1"}, message{number: "R-2", amount: "177.00"})
	drifted := func(t *testing.T, change ...func(*partners.Policy)) *rig {
		r := newRig(t)
		r.policy(alone)
		for _, c := range change {
			r.policy(c)
		}
		r.must("", original, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", changed, gateway.Drift, r.told(), "I13")
		return r
	}
	t.Run("keep_original: the payload is refused, both copies are told as before", func(t *testing.T) {
		r := drifted(t)
		alert := r.alert()
		r.decide(gateway.KeepOriginal)
		rec := r.must("", changed, gateway.Duplicate, gateway.ToldDrift, "I8")
		if !strings.Contains(string(rec.Items[0].JSON), `"outcome":"refused"`) {
			t.Errorf("the stored answer does not tell the outcome: %s", rec.Items[0].JSON)
		}
		r.must("", original, gateway.Duplicate, gateway.ToldAccepted, "I2")
		if r.posted() != 2 || r.events("drift.decided") != 1 || r.events("notice.refused") != 0 {
			t.Errorf("posted %d, decided events %d, notices %d", r.posted(), r.events("drift.decided"), r.events("notice.refused"))
		}
		if got := r.alertState(alert); got != "resolved" {
			t.Errorf("the alert is %s", got)
		}
		if n := r.count(`select count(*) from audit_entry where action = 'drift.decided' and who = 'anna' and subject = $1`, alert.String()); n != 1 {
			t.Errorf("%d audit lines", n)
		}
		if n := r.count(`select count(*) from inbox where hold <> 0`); n != 0 {
			t.Error("a decided drift bars purging")
		}
		r.must("", interchange("REF1", message{number: "R-1", amount: "3.00"}), gateway.Drift, gateway.ToldDrift, "I13")
	})
	t.Run("keep_original after a held drift: the answer stays positive, a notice says otherwise", func(t *testing.T) {
		r := drifted(t, func(p *partners.Policy) { p.OnDrift = "hold" })
		r.decide(gateway.KeepOriginal)
		r.must("", changed, gateway.Duplicate, gateway.ToldDriftHeld, "I8")
		if n := r.count(`select count(*) from outbox where type = 'notice.refused' and kind = 'notice'`); n != 1 {
			t.Errorf("%d notices to be delivered, want 1", n)
		}
	})
	t.Run("reject_and_notify: refused, and a notice in every case", func(t *testing.T) {
		r := drifted(t)
		r.decide(gateway.RejectAndNotify)
		r.must("", changed, gateway.Duplicate, gateway.ToldDrift, "I8")
		r.must("", original, gateway.Duplicate, gateway.ToldAccepted, "I2")
		if r.events("notice.refused") != 1 {
			t.Errorf("%d notices, want 1", r.events("notice.refused"))
		}
	})
	t.Run("replace: what stands byte for byte is kept, the rest is the next revision", func(t *testing.T) {
		r := drifted(t)
		got := r.decide(gateway.Replace)
		if got.Posted != 1 || got.Replaced != 1 || got.Cancelled != 0 || got.Absorbed != 1 {
			t.Errorf("ruling %+v", got)
		}
		if r.posted() != 2 {
			t.Errorf("posted %d, want 2", r.posted())
		}
		if n := r.count(`select count(*) from document where number = 'R-2' and revision = 2 and 177 in (payable, tax_inclusive, line_total) and superseded_by is null and supersedes is not null`); n != 1 {
			t.Error("R-2 has no second revision that stands")
		}
		if r.events("document.created") != 3 || r.events("document.superseded") != 1 || r.events("drift.decided") != 1 {
			t.Errorf("events: %d created, %d superseded, %d decided", r.events("document.created"), r.events("document.superseded"), r.events("drift.decided"))
		}
		rec := r.must("", changed, gateway.Duplicate, gateway.ToldAccepted, "I2")
		if !strings.Contains(string(rec.Items[0].JSON), `"outcome":"accepted"`) || !strings.Contains(string(rec.Items[0].JSON), "UCI+REF1") {
			t.Errorf("the new stored answer: %s", rec.Items[0].JSON)
		}
		r.must("", original, gateway.Duplicate, gateway.ToldAccepted, "I2")
		if n := r.count(`select count(*) from inbox where state = 8 and hold = 0`); n != 1 {
			t.Error("the original is not superseded")
		}
	})
	t.Run("replace: documents that the payload lacks are cancelled", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.must("", original, gateway.First, gateway.ToldAccepted, "I1b")
		other := interchange("REF1", message{number: "R-9"})
		r.must("", other, gateway.Drift, gateway.ToldDrift, "I13")
		got := r.decide(gateway.Replace)
		if got.Posted != 1 || got.Replaced != 0 || got.Cancelled != 2 {
			t.Errorf("ruling %+v", got)
		}
		if r.posted() != 1 || r.events("document.superseded") != 2 {
			t.Errorf("posted %d, superseded events %d", r.posted(), r.events("document.superseded"))
		}
		r.must("", other, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", original, gateway.Duplicate, gateway.ToldAccepted, "I2")
	})
	t.Run("replace twice, back to the original's content", func(t *testing.T) {
		r := drifted(t)
		r.decide(gateway.Replace)
		back := strings.Replace(original, "UNZ+2+REF1'", "UNZ+2+REF1'\n", 1)
		back = strings.Replace(back, "BGM+380+R-2+9'", "BGM+380+R-2+9'\n", 1)
		r.must("", back, gateway.Drift, gateway.ToldDrift, "I13")
		r.decide(gateway.Replace)
		if n := r.count(`select count(*) from document where number = 'R-2' and 100 in (payable, tax_inclusive, line_total) and revision = 3 and superseded_by is null and cancelled_by is null`); n != 1 {
			t.Error("the content that was superseded before does not stand again")
		}
		if r.posted() != 2 {
			t.Errorf("posted %d, want 2", r.posted())
		}
	})
	t.Run("process_as_new: other content for a known document is refused, with a hint", func(t *testing.T) {
		r := drifted(t)
		no := r.refused(gateway.Decision{Choice: gateway.ProcessAsNew}, gateway.DoesNotPost)
		if !strings.Contains(no.Error(), "R-2") || !strings.Contains(no.Error(), "replace") {
			t.Errorf("why: %s", no)
		}
	})
	t.Run("process_as_new: a reused number begins a new epoch", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.must("", original, gateway.First, gateway.ToldAccepted, "I1b")
		other := interchange("REF1", message{number: "R-1"}, message{number: "R-9"})
		r.must("", other, gateway.Drift, gateway.ToldDrift, "I13")
		got := r.decide(gateway.ProcessAsNew)
		if got.Posted != 1 || got.Absorbed != 1 || r.posted() != 3 {
			t.Errorf("posted %d, ruling %+v", r.posted(), got)
		}
		if n := r.count(`select count(*) from document where number = 'R-9' and epoch = 1`); n != 1 {
			t.Error("not in the new epoch")
		}
		r.must("", other, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", original, gateway.Duplicate, gateway.ToldAccepted, "I2")
	})
	t.Run("a decision that posts needs every message to post", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.must("", original, gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF1", message{number: "R-1", amount: "9.00"}, message{number: "R-2", bad: "count"}), gateway.Drift, gateway.ToldDrift, "I13")
		no := r.refused(gateway.Decision{Choice: gateway.Replace}, gateway.DoesNotPost)
		if !strings.Contains(no.Error(), "message 2") {
			t.Errorf("why: %s", no)
		}
		r.fail = func(n string) bool { return n == "R-1" }
		no = r.refused(gateway.Decision{Choice: gateway.Replace}, gateway.DoesNotPost)
		if !strings.Contains(no.Error(), "message 1: processing it fails on our side") {
			t.Errorf("why: %s", no)
		}
	})
	t.Run("after a purged key: already had it, or new; replace has nothing to replace", func(t *testing.T) {
		old := interchangeFrom("9520001000010:14", "251020:1015", "REF1", message{number: "R-1"})
		r := newRig(t)
		r.policy(alone)
		r.must("", old, gateway.Drift, gateway.ToldDrift, "I1")
		r.refused(gateway.Decision{Choice: gateway.Replace}, gateway.NotApplicable)
		r.refused(gateway.Decision{Choice: gateway.CompleteWith}, gateway.NotApplicable)
		r.decide(gateway.ProcessAsNew)
		r.must("", old, gateway.Duplicate, gateway.ToldAccepted, "I2")
		if r.posted() != 1 {
			t.Errorf("posted %d, want 1", r.posted())
		}
		older := interchangeFrom("9520001000010:14", "251020:1015", "REF2", message{number: "R-3"})
		r.must("", older, gateway.Drift, gateway.ToldDrift, "I1")
		r.decide(gateway.KeepOriginal)
		r.must("", older, gateway.Duplicate, gateway.ToldDrift, "I8")
		if r.posted() != 1 {
			t.Errorf("posted %d, want 1", r.posted())
		}
	})
	t.Run("with the original's payload purged, replace works from digests", func(t *testing.T) {
		r := newRig(t)
		r.policy(alone)
		r.must("", original, gateway.First, gateway.ToldAccepted, "I1b")
		r.exec(`delete from payload`)
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I13")
		got := r.decide(gateway.Replace)
		if got.Posted != 1 || got.Replaced != 1 || got.Absorbed != 1 || r.posted() != 2 {
			t.Errorf("posted %d, ruling %+v", r.posted(), got)
		}
	})
	t.Run("no reason, a wrong one, or other without a note is no decision", func(t *testing.T) {
		r := drifted(t)
		r.refused(gateway.Decision{Choice: gateway.Replace, Reason: "because"}, gateway.NoReason)
		r.refused(gateway.Decision{Choice: gateway.Replace, Reason: "other"}, gateway.NoReason)
		r.refused(gateway.Decision{Choice: gateway.ProcessPayload}, gateway.NotApplicable)
	})
	t.Run("a decision is taken once", func(t *testing.T) {
		r := drifted(t)
		id := r.alert()
		r.decide(gateway.Replace)
		r.refused(gateway.Decision{Alert: id, Choice: gateway.KeepOriginal}, gateway.AlreadyDecided)
	})
	t.Run("of two payloads the one to post is named, the other still waits", func(t *testing.T) {
		r := drifted(t)
		third := interchange("REF1", message{number: "R-1"}, message{number: "R-2", amount: "3.00"})
		r.must("", third, gateway.Drift, gateway.ToldDrift, "I13")
		id := r.alert()
		r.refused(gateway.Decision{Choice: gateway.Replace}, gateway.WhichPayload)
		d := sha(third)
		got, err := r.Decide(context.Background(), gateway.Decision{Alert: id, Choice: gateway.Replace, Digest: d[:], Reason: "corrected", By: anna})
		if err != nil || got.State != "open" {
			t.Fatalf("%+v, %v", got, err)
		}
		r.must("", third, gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", changed, gateway.Drift, gateway.ToldDrift, "I7")
		r.decide(gateway.KeepOriginal)
		r.must("", changed, gateway.Duplicate, gateway.ToldDrift, "I8")
		if got := r.alertState(id); got != "resolved" || r.posted() != 2 {
			t.Errorf("alert %s, posted %d", got, r.posted())
		}
	})
}

func TestDecisionOnWhatWasSeen(t *testing.T) {
	r := newRig(t)
	r.policy(func(p *partners.Policy) { p.OnDrift = "hold" })
	text := func(amount string) string { return interchange("REF1", message{number: "R-1", amount: amount}) }
	r.must("", text("1.00"), gateway.First, gateway.ToldAccepted, "I1b")
	r.must("", text("2.00"), gateway.Drift, gateway.ToldDriftHeld, "I13")
	r.must("", text("3.00"), gateway.Drift, gateway.ToldDriftHeld, "I13")
	id := r.alert()
	keep := gateway.Decision{Alert: id, Choice: gateway.KeepOriginal, Reason: "sent_by_mistake", By: anna}
	decide := func(payloads int) (*gateway.Ruling, error) {
		keep.Payloads = payloads
		return r.Decide(context.Background(), keep)
	}

	t.Run("without a digest or a number nothing is refused of several", func(t *testing.T) {
		r.refused(keep, gateway.WhichPayload)
	})
	t.Run("one that came since it was looked at is not refused unseen", func(t *testing.T) {
		r.must("", text("4.00"), gateway.Drift, gateway.ToldDriftHeld, "I13")
		if _, err := decide(2); err == nil {
			t.Error("decided about a payload nobody has seen")
		}
		if n := r.count(`select count(*) from variant where state = 7`); n != 0 {
			t.Errorf("%d payloads are refused", n)
		}
	})
	t.Run("as many as were seen are refused, each with its notice", func(t *testing.T) {
		got, err := decide(3)
		if err != nil || got.Notices != 3 || got.State != "resolved" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// told is what a drift of acme is told.
func (r *rig) told() gateway.Answer {
	if r.by["acme"].Policy.OnDrift == "hold" {
		return gateway.ToldDriftHeld
	}
	return gateway.ToldDrift
}
