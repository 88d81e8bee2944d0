package gateway_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// forty gives 40 messages of which one is broken.
func forty(prefix string, broken int) []message {
	ms := make([]message, 40)
	for i := range ms {
		ms[i] = message{number: fmt.Sprintf("%s-%02d", prefix, i)}
		if i == broken {
			ms[i].bad = "count"
		}
	}
	return ms
}

func TestStories(t *testing.T) {
	t.Run("a: one of 40 refused, whole interchange: nothing posted; mended it is a correction", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", forty("R", 7)...), gateway.First, gateway.ToldRejected, "I1b")
		if r.posted() != 0 {
			t.Fatalf("posted %d, want none", r.posted())
		}
		r.must("", interchange("REF1", forty("R", -1)...), gateway.Correction, gateway.ToldAccepted, "I9")
		if r.posted() != 40 {
			t.Errorf("posted %d, want 40", r.posted())
		}
	})
	t.Run("a: with acceptance message 39 are posted; mended it is a completion; regenerated a drift", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		r.must("", interchange("REF1", forty("R", 7)...), gateway.First, gateway.ToldPartly, "I1b")
		if r.posted() != 39 {
			t.Fatalf("posted %d, want 39", r.posted())
		}
		regenerated := strings.ReplaceAll(interchange("REF1", forty("R", -1)...), "LIN+1++", "LIN+01++")
		r.must("", regenerated, gateway.Drift, gateway.ToldDrift, "I13")
		r.must("", interchange("REF1", forty("R", -1)...), gateway.Completion, gateway.ToldAccepted, "I10")
		if r.posted() != 40 {
			t.Errorf("posted %d, want 40", r.posted())
		}
	})
	t.Run("b: the same under a new reference: the guard absorbs the 39", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		r.must("", interchange("REF1", forty("R", 7)...), gateway.First, gateway.ToldPartly, "I1b")
		r.must("", interchange("REF2", forty("R", -1)...), gateway.First, gateway.ToldAccepted, "I1b")
		if r.posted() != 40 {
			t.Errorf("posted %d, want 40", r.posted())
		}
	})
	t.Run("c: a rejected drift sent again under new numbers is First, with possible_copy", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF1", message{number: "R-1", amount: "177.00"}), gateway.Drift, gateway.ToldDrift, "I13")
		rec := r.must("", interchange("REF2", message{number: "R-2", amount: "177.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		if !strings.Contains(string(rec.Items[0].JSON), "possible_copy") {
			t.Errorf("no finding possible_copy: %s", rec.Items[0].JSON)
		}
		if r.count(`select count(*) from drift_alert where detail ? 'possible_copies'`) != 1 {
			t.Error("the drift does not know of the copy")
		}
	})
	t.Run("d: an id re-used for another file: transport drift; under a new id it goes through and closes it", func(t *testing.T) {
		rowTests["T6"](t, newRig(t))
	})
	t.Run("e: a constant reference: loud drifts, then unreliable, nothing posted twice", func(t *testing.T) {
		r := newRig(t)
		day := func(n int) string { return interchange("1", message{number: fmt.Sprintf("R-%d", n)}) }
		r.must("", day(1), gateway.First, gateway.ToldAccepted, "I1b")
		for n := 2; n <= 4; n++ {
			r.must("", day(n), gateway.Drift, gateway.ToldDrift, "I13")
		}
		r.policy(func(p *partners.Policy) {
			p.Previous = &partners.KeySettings{ControlReference: "unique", Until: r.now.Add(400 * 24 * time.Hour)}
			p.ControlReference = "unreliable"
		})
		r.must("", day(1), gateway.Duplicate, gateway.ToldAccepted, "I2")
		r.must("", day(2), gateway.Drift, gateway.ToldDrift, "I7")
		r.must("", day(5), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", day(5), gateway.Duplicate, gateway.ToldAccepted, "I2")
		if r.posted() != 2 {
			t.Errorf("posted %d, want 2", r.posted())
		}
	})
	t.Run("f: last year's file after its keys were purged is I1", func(t *testing.T) {
		r := newRig(t)
		old := interchangeFrom("9520001000010:14", "251020:1015", "REF1", message{number: "R-1"})
		r.must("", old, gateway.Drift, gateway.ToldDrift, "I1")
	})
	t.Run("g: ids imported from a former gateway are I8b, and the guard absorbs known numbers", func(t *testing.T) {
		r := newRig(t)
		rowTests["I8b"](t, r)
		r.must("", interchange("REF5", message{number: "R-5"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.exec(`update document_key set imported = true, contents = '' , document_ids = '{}'`)
		r.exec(`delete from document`)
		r.must("", interchange("REF6", message{number: "R-5", amount: "5.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		if r.posted() != 0 {
			t.Errorf("posted %d, want none", r.posted())
		}
	})
}

func TestDocumentGuard(t *testing.T) {
	t.Run("the same invoice in another interchange is absorbed", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		rec := r.must("", interchange("REF2", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		if r.posted() != 1 || !strings.Contains(string(rec.Items[0].JSON), `"state":"absorbed"`) {
			t.Errorf("posted %d: %s", r.posted(), rec.Items[0].JSON)
		}
		if n := r.count(`select count(*) from outbox where type = 'document.created'`); n != 1 {
			t.Errorf("%d events, want 1", n)
		}
	})
	t.Run("another content under a known number is held, the rest goes on", func(t *testing.T) {
		r := newRig(t)
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF2", message{number: "R-1", amount: "5.00"}, message{number: "R-2"}), gateway.First, gateway.ToldAccepted, "I1b")
		if r.posted() != 2 {
			t.Errorf("posted %d, want 2", r.posted())
		}
		if n := r.count(`select count(*) from drift_alert where kind = 'document' and state = 'open' and documents = '{R-1}'`); n != 1 {
			t.Error("no alert of kind document")
		}
		if n := r.count(`select count(*) from inbox where hold = 2`); n != 1 {
			t.Error("the held message does not bar purging")
		}
		if n := r.count(`select count(*) from payload where purge_month = '9999-01-01'`); n != 1 {
			t.Error("the payload of a held message does not stand in the held partition")
		}
	})
	t.Run("note posts it beside the first", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.OnKnownDocument["invoice"] = "note" })
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF2", message{number: "R-1", amount: "5.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", interchange("REF3", message{number: "R-1", amount: "5.00"}), gateway.First, gateway.ToldAccepted, "I1b")
		if r.posted() != 2 {
			t.Errorf("posted %d, want 2: the third says the same as the second", r.posted())
		}
	})
	t.Run("a replacement supersedes, if it is newer", func(t *testing.T) {
		r := newRig(t)
		replace := func(s string) string { return strings.ReplaceAll(s, "BGM+380+R-1+9", "BGM+380+R-1+5") }
		r.must("", interchange("REF1", message{number: "R-1"}), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", replace(interchangeFrom("9520001000010:14", "261129:1100", "REF3", message{number: "R-1", amount: "5.00"})), gateway.First, gateway.ToldAccepted, "I1b")
		r.must("", replace(interchangeFrom("9520001000010:14", "261129:1030", "REF2", message{number: "R-1", amount: "6.00"})), gateway.First, gateway.ToldAccepted, "I1b")
		if r.posted() != 1 || r.count(`select count(*) from document where tax_inclusive = 5.00 and superseded_by is null`) != 1 {
			t.Errorf("%d live documents; the newest revision is to be the one", r.posted())
		}
		if n := r.count(`select count(*) from outbox where type = 'document.superseded'`); n != 1 {
			t.Errorf("%d events document.superseded, want 1", n)
		}
	})
	t.Run("a document the database refuses is refused, its interchange told", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Acceptance = "message" })
		r.exec(`alter table document add constraint no_seven check (number <> 'R-07')`)
		r.must("", interchange("REF1", forty("R", -1)...), gateway.First, gateway.ToldPartly, "I1b")
		if r.posted() != 39 || r.count(`select count(*) from document_key`) != 39 {
			t.Errorf("posted %d with %d guard keys, want 39 and 39", r.posted(), r.count(`select count(*) from document_key`))
		}
	})
}

func TestTwoInterchangesInOnePayload(t *testing.T) {
	t.Run("each has its key, answer and acknowledgement", func(t *testing.T) {
		r := newRig(t)
		rec := r.must("id", interchange("REF1", message{number: "R-1"})+"\r\n"+interchange("REF2", message{number: "R-2", bad: "count"}), gateway.First, gateway.ToldRejected, "T1 I1b,T1 I1b")
		if len(rec.Items) != 2 || rec.Items[0].Answer != gateway.ToldAccepted || r.posted() != 1 {
			t.Errorf("items %v, posted %d", rec.Items, r.posted())
		}
	})
	t.Run("the same key twice is decided one after the other", func(t *testing.T) {
		r := newRig(t)
		a := interchange("REF1", message{number: "R-1"})
		rec := r.must("", a+a+interchange("REF1", message{number: "R-1", amount: "7.00"}), gateway.Mixed, gateway.ToldDrift, "I1b,I2,I13")
		if r.posted() != 1 || len(rec.Items) != 3 {
			t.Errorf("posted %d", r.posted())
		}
		r.must("", a, gateway.Duplicate, gateway.ToldAccepted, "I2")
	})
}

func TestVAN(t *testing.T) {
	r := newRig(t)
	r.set("van", edi.Party{ID: "VAN"}, func(p *partners.Partner) { p.SpeaksFor = []string{"acme", "bolt"} })
	payload := interchange("REF1", message{number: "R-1"}) + interchangeFrom("9520001000027:14", "261129:1015", "REF1", message{number: "R-1"})
	rec, err := r.deliver("van", "id", payload)
	if err != nil || rec.Answer != gateway.ToldAccepted {
		t.Fatalf("%v, %v", rec, err)
	}
	if n := r.count(`select count(distinct partner_id) from document`); n != 2 {
		t.Errorf("documents of %d partners, want 2", n)
	}
	rec, err = r.deliver("acme", "", interchange("REF1", message{number: "R-1"}))
	if err != nil || rec.Verdict != gateway.Duplicate {
		t.Errorf("the same interchange from its owner: %v, %v", rec, err)
	}
	rec, err = r.deliver("bolt", "", interchange("REF1", message{number: "R-1"}))
	if err != nil || rec.Answer != gateway.ToldSenderNotAllowed {
		t.Errorf("another's interchange: %v, %v", rec, err)
	}
	if n := r.count(`select count(*) from inbox where partner_id = 'bolt' and kind = 2`); n != 1 {
		t.Errorf("%d interchange keys of bolt, want 1", n)
	}
}

func TestConcurrentCopies(t *testing.T) {
	r := newRig(t)
	second := newRigOn(t, r.Pool) // another process, as far as locks go
	a := interchange("REF1", message{number: "R-1"})
	var wg sync.WaitGroup
	var mu sync.Mutex
	verdicts := map[gateway.Verdict]int{}
	for i := range 64 {
		wg.Go(func() {
			by := r
			if i%2 == 1 {
				by = second
			}
			rec, err := by.deliver("acme", "", a)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, gateway.ErrBusy):
				verdicts["busy"]++
			case err != nil:
				t.Errorf("copy %d: %v", i, err)
			default:
				verdicts[rec.Verdict]++
			}
		})
	}
	wg.Wait()
	if verdicts[gateway.First] != 1 || r.posted() != 1 {
		t.Errorf("verdicts %v, posted %d", verdicts, r.posted())
	}
	t.Run("two retries of a dead message at once have one effect", func(t *testing.T) {
		for n := range 5 {
			ref := fmt.Sprintf("DEAD%d", n)
			b := interchange(ref, message{number: ref})
			r.fail = func(string) bool { return true }
			r.must("", b, gateway.First, gateway.ToldDead, "I1b")
			r.fail = nil
			together(t, func() error { _, err := r.deliver("acme", "", b); return err }, func() error { _, err := second.deliver("acme", "", b); return err })
			if c := r.count(`select count(*) from document where number = $1`, ref); c != 1 {
				t.Errorf("posted %d times", c)
			}
		}
	})
	t.Run("two corrections at once have one effect", func(t *testing.T) {
		for n := range 5 {
			ref := fmt.Sprintf("CORR%d", n)
			r.must("", interchange(ref, message{number: ref, bad: "count"}), gateway.First, gateway.ToldRejected, "I1b")
			good, other := interchange(ref, message{number: ref}), interchange(ref, message{number: ref, amount: "3.00"})
			together(t, func() error { _, err := r.deliver("acme", "", good); return err }, func() error { _, err := second.deliver("acme", "", other); return err })
			if c := r.count(`select count(*) from document where number = $1`, ref); c != 1 {
				t.Errorf("posted %d times", c)
			}
		}
	})
}

func together(t *testing.T, fs ...func() error) {
	t.Helper()
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(func() {
			if err := f(); err != nil {
				t.Errorf("together: %v", err)
			}
		})
	}
	wg.Wait()
}

func TestUnreadable(t *testing.T) {
	r := newRig(t)
	rec := r.must("", "this is no EDI at all", gateway.First, gateway.ToldUnreadable, "T1")
	again := r.must("", "this is no EDI at all", gateway.Duplicate, gateway.ToldUnreadable, "T3")
	if string(rec.Rendered.Body) != string(again.Rendered.Body) {
		t.Errorf("another answer:\n%s\n%s", rec.Rendered.Body, again.Rendered.Body)
	}
	if n := r.count(`select count(*) from payload`); n != 1 {
		t.Errorf("%d payloads kept, want 1", n)
	}
}
