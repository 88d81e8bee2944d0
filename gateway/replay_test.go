package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// dead gives the letters that the list of dead ones holds.
func (r *rig) dead() []gateway.Letter {
	r.t.Helper()
	keys, err := dedup.Inbox{Pool: r.Pool}.Dead(context.Background(), dedup.LetterFilter{Limit: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	var list []gateway.Letter
	for _, k := range keys {
		for _, v := range k.Variants {
			if n, _ := v.Dead(); n > 0 {
				list = append(list, gateway.Letter{Partner: k.Partner, MessageID: k.ID, Digest: v.SHA256[:]})
			}
		}
	}
	return list
}

func TestReplay(t *testing.T) {
	ctx := context.Background()
	text := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
	failing := func(t *testing.T, change ...func(*partners.Policy)) (*rig, gateway.Letter) {
		r := newRig(t)
		for _, c := range change {
			r.policy(c)
		}
		r.fail = func(n string) bool { return n == "R-2" }
		r.must("", text, gateway.First, gateway.ToldDead, "I1b")
		list := r.dead()
		if len(list) != 1 {
			t.Fatalf("%d dead letters, want 1", len(list))
		}
		return r, list[0]
	}
	t.Run("mended, it posts whatever attempts were left, and the stored answer is the new one", func(t *testing.T) {
		r, l := failing(t, func(p *partners.Policy) { p.Attempts = 1 })
		r.fail = nil
		r.must("", text, gateway.Duplicate, gateway.ToldDead, "I5")
		dry, err := r.Replay(ctx, l, anna, true)
		if err != nil || dry.Posted != 2 || !dry.Dry || r.posted() != 0 {
			t.Fatalf("dry run: %+v, %v; posted %d", dry, err, r.posted())
		}
		got, err := r.Replay(ctx, l, anna, false)
		if err != nil || got.Posted != 2 || got.State != "accepted" || got.Verdict != "retry" {
			t.Fatalf("%+v, %v", got, err)
		}
		rec := r.must("", text, gateway.Duplicate, gateway.ToldAccepted, "I2")
		if !strings.Contains(string(rec.Items[0].JSON), "UCI+REF1") {
			t.Errorf("no acknowledgement after the replay: %s", rec.Items[0].JSON)
		}
		if len(r.dead()) != 0 || r.posted() != 2 {
			t.Errorf("%d dead letters, posted %d", len(r.dead()), r.posted())
		}
		if n := r.count(`select count(*) from audit_entry where action = 'message.replayed' and who = 'anna'`); n != 1 {
			t.Errorf("%d audit lines", n)
		}
	})
	t.Run("failing again, it counts no attempt", func(t *testing.T) {
		r, l := failing(t)
		for range 7 {
			if got, err := r.Replay(ctx, l, anna, false); err != nil || got.Posted != 0 || got.Dead == 0 {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		r.fail = nil
		r.must("", text, gateway.Retry, gateway.ToldAccepted, "I4")
	})
	t.Run("what no longer fits is not replayed", func(t *testing.T) {
		r, l := failing(t, func(p *partners.Policy) { p.OnDead = "refuse" }, func(p *partners.Policy) { p.OnDead = "hold"; p.Acceptance = "message" })
		r.policy(alone)
		r.fail = nil
		r.must("", interchange("REF1", message{number: "R-1"}, message{number: "R-3"}), gateway.Drift, gateway.ToldDrift, "I13")
		r.decide(gateway.CompleteWith)
		_, err := r.Replay(ctx, l, anna, false)
		r.refusal(err, gateway.NothingToDo, "")
		if r.posted() != 2 {
			t.Errorf("posted %d, want 2", r.posted())
		}
	})
	t.Run("refused ones are judged again under new settings, not under the same", func(t *testing.T) {
		r := newRig(t)
		r.set("acme", noAddress, func(p *partners.Partner) { p.Types = []string{"DESADV"} })
		r.must("", text, gateway.First, gateway.ToldUnsupported, "I1b")
		d := sha(text)
		l := gateway.Letter{Partner: "acme", MessageID: r.onlyKey(), Digest: d[:]}
		_, err := r.Replay(ctx, l, anna, false)
		r.refusal(err, gateway.NothingToDo, r.everything())
		r.set("acme", noAddress, func(p *partners.Partner) { p.Types = []string{"INVOIC"} })
		got, err := r.Replay(ctx, l, anna, false)
		if err != nil || got.Verdict != "re-evaluation" || got.Posted != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		r.must("", text, gateway.Duplicate, gateway.ToldAccepted, "I2")
	})
	t.Run("what is held by the guard then keeps its payload", func(t *testing.T) {
		r := newRig(t)
		r.set("acme", noAddress, func(p *partners.Partner) { p.Types = []string{"DESADV"} })
		r.must("", text, gateway.First, gateway.ToldUnsupported, "I1b")
		l := gateway.Letter{Partner: "acme", MessageID: r.onlyKey()}
		r.set("acme", noAddress, func(p *partners.Partner) { p.Types = []string{"INVOIC"} })
		r.must("", interchange("REF2", message{number: "R-1", amount: "5.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		got, err := r.Replay(ctx, l, anna, false)
		if err != nil || got.Held != 1 || got.Posted != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if n := r.count(`select count(*) from payload where purge_month = '9999-01-01'`); n != 1 {
			t.Errorf("%d payloads are held, want 1", n)
		}
		r.policy(alone)
		if got := r.decide(gateway.Replace); got.Posted != 1 || got.Replaced != 1 {
			t.Errorf("ruling %+v", got)
		}
	})
}

func TestDiscard(t *testing.T) {
	ctx := context.Background()
	text := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
	for _, c := range []struct {
		name    string
		onDead  string
		told    gateway.Answer
		notices int
		later   gateway.Answer
	}{
		{"acknowledged positively: a notice says that it is given up", "hold", gateway.ToldDead, 1, gateway.ToldDead},
		{"asked to try again: no notice, and a copy is told that it was replaced", "refuse", gateway.ToldTryAgain, 0, gateway.ToldReplaced},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.policy(func(p *partners.Policy) { p.OnDead, p.Acceptance = c.onDead, "interchange" })
			r.fail = func(n string) bool { return n == "R-2" }
			r.must("", text, gateway.First, c.told, "I1b")
			l := r.dead()[0]
			if _, err := r.Discard(ctx, l, "", "", anna, false); err == nil {
				t.Error("discarded without a reason")
			}
			dry, err := r.Discard(ctx, l, "wrong_content", "", anna, true)
			if err != nil || dry.Discarded != 2 || len(r.dead()) != 1 {
				t.Fatalf("dry run: %+v, %v", dry, err)
			}
			got, err := r.Discard(ctx, l, "wrong_content", "", anna, false)
			if err != nil || got.Discarded != 2 || got.Notices != c.notices || got.State != "rejected" {
				t.Fatalf("%+v, %v", got, err)
			}
			if n := r.events("notice.discarded"); n != c.notices {
				t.Errorf("%d notices, want %d", n, c.notices)
			}
			r.fail = nil
			r.policy(func(*partners.Policy) {}) // a new revision does not bring it back
			r.must("", text, gateway.Duplicate, c.later, "I6")
			if r.posted() != 0 || r.count(`select count(*) from inbox where hold <> 0`) != 0 {
				t.Errorf("posted %d, or purging is barred", r.posted())
			}
			_, err = r.Replay(ctx, l, anna, false)
			r.refusal(err, gateway.NothingToDo, "")
			_, err = r.Discard(ctx, l, "wrong_content", "", anna, false)
			var no *gateway.Refusal
			if !errors.As(err, &no) {
				t.Errorf("discarded twice: %v", err)
			}
			r.must("", interchange("REF1", message{number: "R-1"}, message{number: "R-3"}), gateway.Correction, gateway.ToldAccepted, "I9")
		})
	}
}
