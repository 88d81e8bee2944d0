package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

func TestRecent(t *testing.T) {
	m := newMeter(t)
	r := newRigOn(t, m.pool)
	r.Recent = 1 << 20
	trips := func(f func()) int {
		m.trips.all.Store(0)
		f()
		return int(m.trips.all.Load())
	}
	send := func(id, text string) *gateway.Receipt {
		t.Helper()
		rec, err := r.deliver("acme", id, text)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	first := interchange("R1", message{number: "N1"})
	was := send("id-1", first)

	t.Run("a repeat of what was just accepted asks the database nothing", func(t *testing.T) {
		var again *gateway.Receipt
		if n := trips(func() { again = send("id-1", first) }); n != 0 {
			t.Errorf("%d round trips", n)
		}
		if string(again.Rendered.Body) != string(was.Rendered.Body) || again.Verdict != gateway.Duplicate || !again.Repeat {
			t.Errorf("%s, repeat %t: %s", again.Verdict, again.Repeat, again.Rendered.Body)
		}
	})
	t.Run("it is journalled like any other", func(t *testing.T) {
		r.Later.Flush(t.Context())
		if n := r.count(`select count(*) from delivery where verdict = 'duplicate' and ack_id is not null`); n != 1 {
			t.Errorf("%d rows", n)
		}
	})
	t.Run("without a transport id the interchange's key is enough", func(t *testing.T) {
		text := interchange("R2", message{number: "N2"})
		one := send("", text)
		var again *gateway.Receipt
		if n := trips(func() { again = send("", text) }); n != 0 || string(again.Rendered.Body) != string(one.Rendered.Body) {
			t.Errorf("%d round trips, %s", n, again.Rendered.Body)
		}
	})
	t.Run("other content under the id is looked up, and a drift", func(t *testing.T) {
		if rec := send("", interchange("R2", message{number: "N2", amount: "1.00"})); rec.Verdict != gateway.Drift {
			t.Errorf("got %s", rec.Verdict)
		}
	})
	t.Run("a new id for a known interchange has its row before it is answered", func(t *testing.T) {
		if n := trips(func() { send("id-other", first) }); n == 0 {
			t.Error("no round trip")
		}
		if n := r.count(`select count(*) from inbox where message_id = 'http:nordhafen:id-other'`); n != 1 {
			t.Errorf("%d rows", n)
		}
	})
	t.Run("what was refused is not remembered", func(t *testing.T) {
		text := interchange("R3", message{number: "N3", bad: "count"})
		send("id-3", text)
		if n := trips(func() { send("id-3", text) }); n == 0 {
			t.Error("no round trip")
		}
	})
	t.Run("what holds a message is not remembered, so that a decision on it is told", func(t *testing.T) {
		r.policy(alone)
		send("", interchange("H1", message{number: "H"}))
		text := interchange("H2", message{number: "H", amount: "5.00"})
		send("", text)
		if before := string(send("", text).Rendered.Body); !strings.Contains(before, `"state":"held"`) {
			t.Fatalf("told %s", before)
		}
		r.decide(gateway.Replace)
		for range 2 { // read from the database, then remembered
			if after := string(send("", text).Rendered.Body); !strings.Contains(after, `"state":"posted"`) {
				t.Errorf("told %s", after)
			}
		}
	})
	t.Run("where the address is nobody's any more the database is asked", func(t *testing.T) {
		r.set("acme", edi.Party{}, func(p *partners.Partner) { p.Identifiers = nil })
		defer r.set("acme", edi.Party{}, func(p *partners.Partner) {
			p.Identifiers = []partners.Identifier{{Qualifier: "14", ID: "9520001000010"}}
		})
		if n := trips(func() { send("id-1", first) }); n == 0 {
			t.Error("answered without asking")
		}
	})
	t.Run("after a while the database is asked", func(t *testing.T) {
		r.now = r.now.Add(time.Hour)
		if n := trips(func() { send("id-1", first) }); n == 0 {
			t.Error("no round trip")
		}
		if n := trips(func() { send("id-1", first) }); n != 0 {
			t.Errorf("%d round trips: what was read is not remembered", n)
		}
	})
	t.Run("the oldest go when there is no room", func(t *testing.T) {
		r.Recent = 32 << 10
		text := func(i int) string { return interchange(fmt.Sprintf("F%d", i), message{number: fmt.Sprintf("F%d", i)}) }
		for i := range 40 {
			send("", text(i))
		}
		if n := trips(func() { send("", text(39)) }); n != 0 {
			t.Errorf("the latest: %d round trips", n)
		}
		if n := trips(func() { send("", text(0)) }); n == 0 {
			t.Error("the oldest is still there")
		}
	})
}
