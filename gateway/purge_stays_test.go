package gateway_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/purge"
)

// months purges each of the next n months and gives how many rows of a kind stayed for a
// reason, of all of them.
func (a *aged) months(n int, kind, reason string) (stayed int64) {
	a.t.Helper()
	for range n {
		a.days(31)
		stayed += went(a.purge(), kind, reason)
	}
	return stayed
}

// What is on its way to somebody, or waits for somebody, stays until it has arrived.
func TestWhatStaysUntilItArrived(t *testing.T) {
	t.Run("a key whose message is still to be processed", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		a.deferring()
		_, key := a.invoice("")
		if n := a.months(3, "keys", "pending"); n == 0 || !a.has(key) {
			t.Fatalf("is there: %v; reported %d times", a.has(key), n)
		}
		if a.work() == 0 {
			t.Fatal("nothing was processed after three months")
		}
		a.months(4, "keys", "")
		if a.has(key) {
			t.Error("it is there though it was processed")
		}
	})
	t.Run("a key with a message that is held as a drift of its document", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		text, _ := a.invoice("")
		other := strings.NewReplacer("R00001", "R00002", "NR00002", "NR00001", "100.00", "120.00").Replace(text)
		other = strings.Replace(other, "BGM+380+NR00002", "BGM+380+NR00001", 1)
		if _, err := a.deliver("acme", "", other); err != nil {
			t.Fatal(err)
		}
		const second = "unb:9520001000010:14:9520002000019:14:R00002"
		if n := a.months(3, "keys", "held_message"); n == 0 || !a.has(second) {
			t.Fatalf("is there: %v; reported %d times", a.has(second), n)
		}
		a.decide(gateway.KeepOriginal)
		a.months(4, "keys", "")
		if a.has(second) {
			t.Error("it is there though its drift was decided")
		}
	})
	t.Run("a key whose functional acknowledgement has not arrived, with its event", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		a.policy(func(p *partners.Policy) { p.Acknowledge = "folder" })
		_, key := a.invoice("")
		if a.count(`select count(*) from effect`) == 0 {
			t.Fatal("no acknowledgement is on its way")
		}
		if n := a.months(3, "keys", purge.Undelivered); n == 0 || !a.has(key) {
			t.Fatalf("is there: %v; reported %d times", a.has(key), n)
		}
		if a.count(`select count(*) from effect e join outbox o on o.partner_id = e.partner_id and o.event_id = e.event_id and o.purge_month = e.event_month`) == 0 {
			t.Fatal("the event of an acknowledgement on its way is gone")
		}
		a.exec(`update effect set state = 3`)
		a.months(4, "keys", "")
		if a.has(key) || a.count(`select count(*) from functional_acknowledgement`) != 0 || a.count(`select count(*) from outbox`) != 0 {
			t.Error("it is there though its acknowledgement arrived")
		}
	})
	for _, c := range []struct{ says, reason, open, done string }{
		{"an event whose effect is not done", "undelivered_effect",
			`insert into effect (partner_id, event_id, target, event_month, state) select partner_id, event_id, 'folder', purge_month, 5 from outbox limit 1`, `update effect set state = 3`},
		{"an event that a subscription's target refused", "undelivered_event",
			`insert into subscription_event (partner_id, subscription, event_id, event_month, state) select partner_id, 'erp', event_id, purge_month, 2 from outbox limit 1`, `delete from subscription_event`},
		{"an event that a subscription has not come to", "unread_event",
			`insert into subscription (name, spec, from_xid) values ('erp', '{}', '0')`,
			`insert into subscription_stream (partner_id, subscription, xid, event_id) values ('acme', 'erp', pg_current_xact_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff')`},
	} {
		t.Run(c.says, func(t *testing.T) {
			a := newAged(t, firstDay, short)
			a.invoice("")
			if a.count(`select count(*) from outbox`) == 0 {
				t.Fatal("there is no event")
			}
			a.exec(c.open)
			if n := a.months(4, "events", c.reason); n == 0 || a.count(`select count(*) from outbox`) == 0 {
				t.Fatalf("%d events; reported %d times", a.count(`select count(*) from outbox`), n)
			}
			a.exec(c.done)
			a.months(2, "events", "")
			if n := a.count(`select count(*) from outbox`); n != 0 {
				t.Errorf("%d events are there that nobody needs", n)
			}
		})
	}
	t.Run("the guard of a document whose interchange still comes", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		text, key := a.invoice("")
		stayed := int64(0)
		for range 4 {
			a.days(30)
			if _, err := a.deliver("acme", "", text); err != nil {
				t.Fatal(err)
			}
			a.Later.Flush(t.Context())
			stayed += went(a.purge(), "guards", purge.KeyStands)
		}
		if !a.has(key) || stayed == 0 || a.count(`select count(*) from document_key`) != 1 {
			t.Fatalf("the key is there: %v; its guard stayed %d times", a.has(key), stayed)
		}
		a.days(41)
		a.purge()
		a.days(31)
		r := a.purge()
		if a.has(key) || a.count(`select count(*) from document_key`) != 0 {
			t.Errorf("key or guard is there though nothing came for 72 days: the key is there: %v\n%+v", a.has(key), r.Steps)
		}
	})
}

// A document that is gone is known still as long as its guard is.
func TestADocumentThatIsGoneIsKnown(t *testing.T) {
	a := newAged(t, firstDay, short)
	a.policy(alone)
	text, _ := a.invoice("")
	a.days(35)
	a.purge()
	if a.count(`select count(*) from document`) != 0 {
		t.Fatal("the document is there after 35 days of 30")
	}
	again := func(ref, amount string) string {
		s := strings.ReplaceAll(text, "+R00001'", "+"+ref+"'")
		s = strings.Replace(s, "260105:0900", a.clock.Now().Format("060102:1504"), 1)
		return strings.ReplaceAll(s, "100.00", amount)
	}
	a.must("", again("R00002", "100.00"), gateway.First, gateway.ToldAccepted, "I1b")
	if n := a.count(`select count(*) from document`); n != 0 {
		t.Fatalf("an invoice was posted a second time under a new reference: %d", n)
	}
	if _, err := a.deliver("acme", "", again("R00003", "120.00")); err != nil {
		t.Fatal(err)
	}
	if n := a.posted(); n != 0 {
		t.Fatalf("an invoice with other content was posted beside one that is gone: %d", n)
	}
	a.decide(gateway.Replace)
	if n := a.posted(); n != 1 {
		t.Fatalf("%d invoices stand after a person replaced the one that is gone", n)
	}
}

func TestDropping(t *testing.T) {
	// Its payload's month has passed on day 29, its key's window has not.
	t.Run("what comes to be held while its month is made ready stays", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		text, key := a.invoice("")
		a.days(29)
		once := false
		a.purger.Hook = func(point string) {
			if point == "drop" && !once {
				once = true
				if _, err := a.deliver("acme", "", strings.Replace(text, "MOA+79:100.00", "MOA+79:120.00", 1)); err != nil {
					t.Error(err)
				}
			}
		}
		if r, err := a.purger.Run(t.Context(), ""); err != nil || r.State != purge.Done || !once {
			t.Fatalf("%+v, %v", r, err)
		}
		if row, payload, _ := a.keeps(key); !row || !payload {
			t.Errorf("the key is there: %v, the payload of an open drift: %v", row, payload)
		}
	})
	t.Run("who reads a month keeps it until the next run, and no other", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		a.invoice("")
		a.days(29)
		a.purger.Tries = 2
		tx, err := a.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `select from payload_202601`); err != nil {
			t.Fatal(err)
		}
		r, err := a.purger.Run(t.Context(), "")
		if !errors.Is(err, purge.ErrBusy) || r.State != purge.Stopped || !strings.Contains(r.Reason, "payload_202601") {
			t.Fatalf("%+v, %v", r, err)
		}
		if went(r, "acknowledgements", "") == 0 || a.count(`select count(*) from payload`) != 1 {
			t.Errorf("%d payloads; %+v", a.count(`select count(*) from payload`), r.Steps)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.purge()
		if a.count(`select count(*) from payload`) != 0 {
			t.Error("the month is there though nobody reads it")
		}
	})
	t.Run("what is received meanwhile is received, once each", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		for range 5 {
			a.invoice("")
		}
		a.days(29)
		var texts []string
		for i := range 60 {
			ref := "W" + time.Duration(i).String()
			texts = append(texts, interchangeFrom("9520001000010:14", a.clock.Now().Format("060102:1504"), ref, message{number: "N" + ref}))
		}
		before := a.count(`select count(*) from document`)
		next := make(chan string, 2*len(texts))
		for _, text := range texts {
			next <- text
			next <- text // each comes twice
		}
		close(next)
		var wg sync.WaitGroup
		begin := sync.OnceFunc(func() {
			for range 4 {
				wg.Go(func() {
					for text := range next {
						if _, err := a.deliver("acme", "", text); err != nil {
							t.Error(err)
						}
					}
				})
			}
		})
		a.purger.Hook = func(point string) {
			if point == "drop" {
				begin()
			}
		}
		r, err := a.purger.Run(context.Background(), "")
		if err != nil || r.State != purge.Done || went(r, "payloads", "") != 5 {
			t.Fatalf("%+v, %v", r, err)
		}
		wg.Wait()
		if n := a.count(`select count(*) from document`) - before; n != len(texts) {
			t.Errorf("%d documents of %d invoices", n, len(texts))
		}
		if n := a.count(`select count(*) from inbox where payload_month >= date_trunc('month', now())::date`); n != len(texts) {
			t.Errorf("%d keys of them", n)
		}
	})
}
