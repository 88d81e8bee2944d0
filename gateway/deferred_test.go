package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/partners"
)

// take takes the partner's next job, as a worker does; nil if none is due.
func (r *rig) take(partner string) lease.Piece {
	r.t.Helper()
	p, err := r.Deferred().Take(context.Background(), partner, time.Minute)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// work does what is due, one after the other, and gives how many runs that were.
func (r *rig) work() (runs int) {
	r.t.Helper()
	for {
		due, err := r.Deferred().Due(context.Background())
		if err != nil {
			r.t.Fatal(err)
		}
		if len(due) == 0 {
			return runs
		}
		for _, partner := range due {
			if p := r.take(partner); p != nil {
				_ = p.Do(context.Background()) // what a failed run leaves is looked at by the test
				runs++
			}
		}
	}
}

// works does n jobs, none of which fails, and leaves none.
func (r *rig) works(n int) {
	r.t.Helper()
	for range n {
		p := r.take("acme")
		if p == nil {
			r.t.Fatal("no job is due")
		}
		if err := p.Do(r.t.Context()); err != nil {
			r.t.Fatalf("the job failed: %v", err)
		}
	}
	if left := r.jobs(); left != 0 {
		r.t.Fatalf("%d jobs are left", left)
	}
}

// soon makes what was put off due now.
func (r *rig) soon() { r.exec(`update job set due_at = now()`) }

// deferring makes acme a partner whose messages are all deferred.
func (r *rig) deferring() {
	r.policy(func(p *partners.Policy) { p.Processing = partners.Processing{"default": "deferred"} })
}

// states gives the fates of the current variant's messages under a reference.
func (r *rig) states(ref string) []string {
	r.t.Helper()
	key := dedup.Ref{Partner: "acme", ID: r.key(ref)}
	keys, err := dedup.Load(context.Background(), r.Pool, []dedup.Ref{key})
	if err != nil {
		r.t.Fatal(err)
	}
	v := keys[key].Current()
	list := []string{v.State.String()}
	for i := range v.Messages {
		list = append(list, v.Messages[i].Fate.String())
	}
	return list
}

func (r *rig) isStates(ref string, want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.states(ref)); diff != "" {
		r.t.Fatalf("%s (-want +got):\n%s", ref, diff)
	}
}

func (r *rig) jobs() int { return r.count(`select count(*) from job`) }

func TestDeferred(t *testing.T) {
	text := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
	t.Run("what is received is acknowledged at once and posted by a worker, once", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		first := r.must("id-1", text, gateway.First, gateway.ToldDeferred, "T1 I1b")
		r.isStates("REF1", "received", "pending", "pending")
		if r.posted() != 0 || r.jobs() != 1 || r.events("message.received") != 1 {
			t.Fatalf("posted %d, %d jobs", r.posted(), r.jobs())
		}
		again := r.must("id-1", text, gateway.Duplicate, gateway.ToldDeferred, "T3 I3")
		if diff := cmp.Diff(string(first.Rendered.Body), string(again.Rendered.Body)); diff != "" || r.jobs() != 1 {
			t.Fatalf("%d jobs; another answer:\n%s", r.jobs(), diff)
		}
		if n := r.work(); n != 1 {
			t.Fatalf("%d runs, want 1", n)
		}
		r.isStates("REF1", "accepted", "posted", "posted")
		if r.posted() != 2 || r.jobs() != 0 || r.events("document.created") != 2 || r.events("message.received") != 1 || r.events("message.processed") != 1 {
			t.Errorf("posted %d, %d jobs, %d events", r.posted(), r.jobs(), r.events("document.created"))
		}
		if n := r.count(`select count(*) from inbox where hold <> 0`); n != 0 {
			t.Errorf("%d keys bar purging", n)
		}
	})
	t.Run("when the work has ended only the functional acknowledgement is added, the 202 stays", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		first := r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.work()
		again := r.must("", text, gateway.Duplicate, gateway.ToldDeferred, "I2")
		if again.Rendered.Status != 202 {
			t.Errorf("status %d", again.Rendered.Status)
		}
		var a, b gateway.InterchangeReceipt
		if err := errors.Join(json.Unmarshal(first.Items[0].JSON, &a), json.Unmarshal(again.Items[0].JSON, &b)); err != nil {
			t.Fatal(err)
		}
		if a.Acknowledgement != nil || b.Acknowledgement == nil || !strings.Contains(b.Acknowledgement.Content, "UCI+REF1") {
			t.Fatalf("acknowledged at receipt %+v, after the work %+v", a.Acknowledgement, b.Acknowledgement)
		}
		var kept string
		if err := r.Pool.QueryRow(t.Context(), `select convert_from(functional, 'UTF8') from acknowledgement where functional is not null`).Scan(&kept); err != nil || kept != b.Acknowledgement.Content {
			t.Errorf("kept %q, %v", kept, err)
		}
		b.Acknowledgement = nil
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("more than that was added:\n%s", diff)
		}
	})
	t.Run("what is bad is told at once, and leaves no work", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.must("", interchange("REF1", message{number: "R-1", bad: "count"}, message{number: "R-2"}), gateway.First, gateway.ToldRejected, "I1b")
		if r.jobs() != 0 {
			t.Errorf("%d jobs", r.jobs())
		}
		r.must("", text, gateway.Correction, gateway.ToldDeferred, "I9")
		r.work()
		if r.posted() != 2 {
			t.Errorf("posted %d", r.posted())
		}
	})
	t.Run("acceptance: message refuses the bad one at once and defers the sound one", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		bad := interchange("REF1", message{number: "R-1", bad: "count"}, message{number: "R-2"})
		r.must("", bad, gateway.First, gateway.ToldDeferred, "I1b")
		r.isStates("REF1", "received", "refused", "pending")
		r.work()
		r.isStates("REF1", "partly", "refused", "posted")
		rec := r.must("", bad, gateway.Duplicate, gateway.ToldDeferred, "I6")
		if !strings.Contains(string(rec.Items[0].JSON), "UCM+1") {
			t.Errorf("the functional acknowledgement does not name the refused message: %s", rec.Items[0].JSON)
		}
	})
	t.Run("other content under the key is a drift while the first is pending", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.Drift, gateway.ToldDrift, "I13")
		r.work()
		if r.posted() != 2 {
			t.Errorf("posted %d", r.posted())
		}
	})
	t.Run("one type is deferred, and under acceptance: interchange what came with it", func(t *testing.T) {
		for _, c := range []struct {
			acceptance string
			want       []string
		}{
			{"message", []string{"received", "posted", "pending"}},
			{"interchange", []string{"received", "pending", "pending"}},
		} {
			r := newRig(t)
			r.policy(func(p *partners.Policy) {
				p.Acceptance, p.Processing = c.acceptance, partners.Processing{"DESADV": "deferred"}
			})
			mixed := strings.Replace(text, "UNH+2+INVOIC:D:96A:UN:EAN008", "UNH+2+DESADV:D:96A:UN:EAN005", 1)
			mixed = strings.Replace(mixed, "BGM+380+R-2", "BGM+351+R-2", 1)
			r.must("", mixed, gateway.First, gateway.ToldDeferred, "I1b")
			r.isStates("REF1", c.want...)
			r.work()
			if n := r.count(`select count(*) from document where class = 'invoice'`); n != 1 {
				t.Errorf("%s: %d invoices", c.acceptance, n)
			}
		}
	})
	t.Run("deliveries that commit in groups leave their work", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		for _, ref := range []string{"REF1", "REF2", "REF3"} {
			r.must("", interchange(ref, message{number: ref}), gateway.First, gateway.ToldDeferred, "I1b")
		}
		if r.work(); r.posted() != 3 {
			t.Errorf("posted %d", r.posted())
		}
	})
	t.Run("the guard holds what a worker posts as it holds anything", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF0", message{number: "R-1", amount: "5.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.work()
		r.isStates("REF1", "accepted", "held", "posted")
		if n := r.count(`select count(*) from drift_alert where kind = 'document' and state = 'open'`); n != 1 {
			t.Errorf("%d alerts", n)
		}
	})
	t.Run("a copy of an open drift is noted on it by the worker", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF0", message{number: "R-9"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF0", message{number: "R-8", amount: "7.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		r.deferring()
		r.must("", interchange("REF1", message{number: "R-7", amount: "7.00"}), gateway.First, gateway.ToldDeferred, "I1b")
		r.work()
		if n := r.count(`select count(*) from drift_alert where jsonb_array_length(detail->'possible_copies') = 1`); n != 1 {
			t.Errorf("%d alerts name the copy", n)
		}
	})
	t.Run("what the settings refuse by then is told by acknowledgement and notice", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.set("acme", edi.Party{}, func(p *partners.Partner) { p.Types = []string{"DESADV"} })
		r.work()
		r.isStates("REF1", "rejected", "refused", "refused")
		rec := r.must("", text, gateway.Duplicate, gateway.ToldDeferred, "I6")
		if n := r.events("notice.refused"); n != 1 || !strings.Contains(string(rec.Items[0].JSON), "UCI+REF1") {
			t.Errorf("acknowledged positively, then refused: %d notices, and told %s", n, rec.Items[0].JSON)
		}
	})
}

func TestDeferredFailures(t *testing.T) {
	text := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
	failing := func(t *testing.T, attempts int) *rig {
		r := newRig(t)
		r.deferring()
		r.policy(func(p *partners.Policy) { p.Attempts, p.OnDead = attempts, "refuse" })
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.fail = func(n string) bool { return n == "R-2" }
		return r
	}
	t.Run("a failing run is put off and counted until no attempt is left, then it is dead", func(t *testing.T) {
		r := failing(t, 3)
		for n := 1; n <= 2; n++ {
			if runs := r.work(); runs != 1 {
				t.Fatalf("%d runs before back-off, want 1", runs)
			}
			r.isStates("REF1", "received", "pending", "pending")
			if got := r.count(`select failures from job where due_at > now()`); got != n {
				t.Fatalf("%d failures noted, want %d", got, n)
			}
			r.must("", text, gateway.Duplicate, gateway.ToldDeferred, "I3")
			r.soon()
		}
		r.work()
		r.isStates("REF1", "dead", "dead", "dead")
		if r.jobs() != 0 || r.posted() != 0 || r.events("message.processed") != 1 {
			t.Errorf("%d jobs, posted %d", r.jobs(), r.posted())
		}
		r.must("", text, gateway.Duplicate, gateway.ToldDeferred, "I5")
		r.fail = nil
		got, err := r.Replay(t.Context(), r.dead()[0], anna, false)
		if err != nil || got.Posted != 2 || got.State != "accepted" {
			t.Fatalf("%+v, %v", got, err)
		}
		r.must("", text, gateway.Duplicate, gateway.ToldAccepted, "I2")
	})
	t.Run("mended in time, it is posted", func(t *testing.T) {
		r := failing(t, 3)
		r.work()
		r.fail = nil
		r.soon()
		r.work()
		r.isStates("REF1", "accepted", "posted", "posted")
	})
	t.Run("a handler that fails at receipt has used one attempt", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.policy(func(p *partners.Policy) { p.Attempts = 2 })
		r.fail = func(n string) bool { return n == "R-2" }
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.work()
		r.isStates("REF1", "dead", "dead", "dead")
	})
	t.Run("acceptance: message posts the sound one and tries the other again", func(t *testing.T) {
		r := failing(t, 3)
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		r.work()
		r.isStates("REF1", "received", "posted", "pending")
		r.fail = nil
		r.soon()
		r.work()
		r.isStates("REF1", "accepted", "posted", "posted")
		if r.posted() != 2 || r.events("document.created") != 2 {
			t.Errorf("posted %d, told %d times", r.posted(), r.events("document.created"))
		}
	})
	t.Run("a payload that is not there any more is dead in the end", func(t *testing.T) {
		r := failing(t, 2)
		r.exec(`delete from payload`)
		r.work()
		r.soon()
		r.work()
		r.isStates("REF1", "dead", "dead", "dead")
		if r.jobs() != 0 {
			t.Errorf("%d jobs", r.jobs())
		}
	})
	t.Run("one on which processes keep dying is failed without being run", func(t *testing.T) {
		r := failing(t, 1)
		r.fail = nil
		r.exec(`update job set lost = 20, lease_id = gen_random_uuid()`)
		r.work()
		r.isStates("REF1", "dead", "dead", "dead")
	})
	t.Run("a document that the database refuses is refused, and told", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		r.exec(`alter table document add constraint no_r2 check (number <> 'R-2')`)
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.work()
		r.isStates("REF1", "partly", "posted", "refused")
	})
}

func TestWhatDoesNotPass(t *testing.T) {
	text := interchange("REF1", message{number: "R-1"}, message{number: "R-2"})
	// raising makes the database fail with a SQLSTATE on the documents whose numbers match.
	raising := func(t *testing.T, state, numbers string) *rig {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Attempts, p.Acceptance = 1, "message" })
		r.exec(`create function raising() returns trigger language plpgsql as $$
			begin
				if new.number ~ '` + numbers + `' then raise exception 'as the test wants' using errcode = '` + state + `'; end if;
				return new;
			end $$`)
		r.exec(`create trigger raising before insert on document for each row execute function raising()`)
		return r
	}
	t.Run("what passes is put off longer each time, is told and counts no attempt", func(t *testing.T) {
		r := raising(t, "53200", ".")
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		for n := 1; n <= 3; n++ {
			r.work()
			if got := r.count(`select passing from job where failures = 0 and failure like '%as the test wants%' and due_at > now()`); got != n {
				t.Fatalf("%d runs noted, want %d", got, n)
			}
			r.soon()
		}
		r.isStates("REF1", "received", "pending", "pending")
	})
	t.Run("what goes on while the database commits is counted, and dead in the end", func(t *testing.T) {
		r := raising(t, "53200", ".")
		r.deferring()
		r.policy(func(p *partners.Policy) { p.Attempts = 2 })
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.exec(`update job set passing = 19`)
		r.work()
		if got := r.count(`select passing from job where failures = 1`); got != 20 {
			t.Fatalf("%d runs in a row, want 20", got)
		}
		r.soon()
		r.work()
		r.isStates("REF1", "dead", "dead", "dead")
		if len(r.dead()) != 1 || r.jobs() != 0 {
			t.Errorf("%d dead letters, %d jobs", len(r.dead()), r.jobs())
		}
	})
	t.Run("a full disk and a partner taken out are nobody's fault, for as long as they like", func(t *testing.T) {
		r := raising(t, "53100", ".")
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.exec(`update job set passing = 200`)
		r.work()
		acme := r.by["acme"]
		r.by["acme"] = nil
		r.soon()
		r.work()
		r.by["acme"] = acme
		if got := r.count(`select passing from job where failures = 0 and failure like '%not configured%'`); got != 202 {
			t.Errorf("%d runs in a row, want 202", got)
		}
		r.isStates("REF1", "received", "pending", "pending")
	})
	for _, state := range []string{"0A000", "42804", "54000"} {
		t.Run("a document that the database cannot store, "+state+", is dead, the others posted", func(t *testing.T) {
			r := raising(t, state, "R-2")
			r.must("", text, gateway.First, gateway.ToldDead, "I1b")
			r.isStates("REF1", "partly", "posted", "dead")
		})
	}
	t.Run("so is a whole interchange of such, deferred too", func(t *testing.T) {
		r := raising(t, "54000", ".")
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		r.work()
		r.isStates("REF1", "dead", "dead", "dead")
	})
}

func TestLeaseOfDeferredWork(t *testing.T) {
	ctx := context.Background()
	text := interchange("REF1", message{number: "R-1"})
	t.Run("what one worker has, another does not take", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		if r.take("acme") == nil || r.take("acme") != nil {
			t.Error("not taken once")
		}
	})
	t.Run("a worker whose lease was taken commits nothing", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		slept := r.take("acme")
		r.soon() // its lease runs out
		other := r.take("acme")
		if err := slept.Do(ctx); !errors.Is(err, lease.ErrLost) {
			t.Fatalf("the one that slept: %v", err)
		}
		if kept, err := slept.Renew(ctx, time.Minute); kept || err != nil {
			t.Fatalf("it renews what is another's: %v", err)
		}
		if r.posted() != 0 {
			t.Fatal("it has posted")
		}
		if err := other.Do(ctx); err != nil || r.posted() != 1 {
			t.Fatalf("posted %d, %v", r.posted(), err)
		}
		if err := slept.Do(ctx); !errors.Is(err, lease.ErrLost) || r.posted() != 1 {
			t.Fatalf("posted %d, %v", r.posted(), err)
		}
	})
	t.Run("one that is given back is due at once, and no run is counted", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		if err := r.take("acme").Return(ctx); err != nil {
			t.Fatal(err)
		}
		if n := r.count(`select failures + lost from job where lease_id is null and due_at <= now()`); n != 0 {
			t.Errorf("%d runs counted", n)
		}
	})
	t.Run("a worker that is told to stop leaves all as it was", func(t *testing.T) {
		r := newRig(t)
		r.deferring()
		r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
		stopped, cancel := context.WithCancel(ctx)
		r.Hook = func(point string) {
			if point == "job last document" {
				cancel()
			}
		}
		p := r.take("acme")
		if err := p.Do(stopped); err == nil {
			t.Fatal("it went on")
		}
		r.Hook = nil
		r.isStates("REF1", "received", "pending")
		if err := p.Return(ctx); err != nil {
			t.Fatal(err)
		}
		if r.work(); r.posted() != 1 {
			t.Errorf("posted %d", r.posted())
		}
	})
}

func TestDiscardPending(t *testing.T) {
	ctx := context.Background()
	text := interchange("REF1", message{number: "R-1"})
	r := newRig(t)
	r.deferring()
	r.must("", text, gateway.First, gateway.ToldDeferred, "I1b")
	running := r.take("acme")
	l := gateway.Letter{Partner: "acme", MessageID: r.key("REF1")}
	dry, err := r.Discard(ctx, l, "wrong_content", "", anna, true)
	if err != nil || dry.Discarded != 1 || r.jobs() != 1 {
		t.Fatalf("dry run: %+v, %v", dry, err)
	}
	got, err := r.Discard(ctx, l, "wrong_content", "", anna, false)
	if err != nil || got.Discarded != 1 || got.Notices != 1 || got.State != "rejected" {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := running.Do(ctx); !errors.Is(err, lease.ErrLost) {
		t.Errorf("the worker that had it: %v", err)
	}
	if r.jobs() != 0 || r.posted() != 0 || r.events("notice.discarded") != 1 {
		t.Errorf("%d jobs, posted %d", r.jobs(), r.posted())
	}
	r.must("", text, gateway.Duplicate, gateway.ToldDeferred, "I6")
	r.must("", interchange("REF1", message{number: "R-2"}), gateway.Correction, gateway.ToldDeferred, "I9")
}

func TestDecisionsWaitForWhatIsPending(t *testing.T) {
	ctx := context.Background()
	waiting := func(t *testing.T) *rig {
		r := newRig(t)
		r.deferring()
		r.policy(alone)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldDeferred, "I1b")
		r.must("", interchange("REF1", message{number: "R-2"}), gateway.Drift, gateway.ToldDrift, "I13")
		return r
	}
	t.Run("a decision is taken when the worker has ended", func(t *testing.T) {
		r := waiting(t)
		r.PendingWait = time.Minute
		running, done := r.take("acme"), make(chan error, 1)
		go func() { done <- running.Do(ctx) }()
		if got := r.decide(gateway.Replace); got.Posted != 1 || got.Cancelled != 1 {
			t.Errorf("ruling %+v", got)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if r.posted() != 1 {
			t.Errorf("posted %d", r.posted())
		}
	})
	t.Run("one that waits in vain is refused, and says for what", func(t *testing.T) {
		r := waiting(t)
		r.PendingWait = time.Millisecond
		r.fail = func(n string) bool { return n == "R-1" }
		r.work()
		before := r.everything()
		_, err := r.Decide(ctx, gateway.Decision{Alert: r.alert(), Choice: gateway.Replace, Reason: "corrected", By: anna})
		r.refusal(err, gateway.StillPending, before)
		if !strings.Contains(err.Error(), "1 runs have failed, the next is at ") {
			t.Errorf("it does not say how it stands: %v", err)
		}
	})
	t.Run("so does a replay", func(t *testing.T) {
		r := waiting(t)
		r.PendingWait = time.Millisecond
		_, err := r.Replay(ctx, gateway.Letter{Partner: "acme", MessageID: r.key("REF1")}, anna, false)
		r.refusal(err, gateway.StillPending, "")
	})
}
