package gateway_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// large is an interchange of few messages and about 8 MiB: each invoice has a
// thousand free texts.
func large(ref string, amounts ...string) string {
	ms := make([]message, len(amounts))
	for i := range ms {
		ms[i] = message{number: fmt.Sprintf("L-%d", i), amount: amounts[i]}
	}
	text := interchange(ref, ms...)
	free := strings.Repeat("FTX+AAI+++"+strings.Repeat("SAFE STOWAGE ", 30)[:350]+"'", 1000)
	text = strings.ReplaceAll(text, "DTM+137:20261127:102'", "DTM+137:20261127:102'"+free)
	return strings.ReplaceAll(text, "UNT+15+", "UNT+1015+")
}

// deliverSpooled sends a payload as a transport does that spools it.
func (r *rig) deliverSpooled(text string) *gateway.Receipt {
	r.t.Helper()
	in, err := (&gateway.Spool{Dir: r.t.TempDir()}).Take(nil, strings.NewReader(text), int64(len(text)), int64(len(text)))
	if err != nil {
		r.t.Fatal(err)
	}
	rec, err := r.Receive(r.t.Context(), &gateway.Delivery{Transport: "http", Partner: r.by["acme"], Payload: in.Payload, SHA256: in.SHA256,
		Received: time.Now(), Render: render, WithAcknowledgement: true})
	if err := in.Close(); err != nil {
		r.t.Error(err)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return rec
}

// lives gives the bytes that are in use.
func lives() int64 {
	runtime.GC()
	runtime.GC() // what a pool held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestStoredPayloadsAreNotHeldInMemory works on a stored payload as workers,
// replays and decisions do, and looks at what is alive when it was read and judged,
// and when it was posted.
func TestStoredPayloadsAreNotHeldInMemory(t *testing.T) {
	amounts := make([]string, 24)
	for i := range amounts {
		amounts[i] = "100.00"
	}
	first := large("BIG", amounts...)
	amounts[3] = "101.00"
	second := large("BIG", amounts...)
	r := newRig(t)
	r.Retained = 64 << 10
	r.deferring()
	r.policy(func(p *partners.Policy) { p.Attempts, p.FourEyes = 1, "off" })
	if rec := r.deliverSpooled(first); rec.Answer != gateway.ToldDeferred {
		t.Fatalf("%s\n%s", rec.Answer.Told().Word, rec.Rendered.Body)
	}
	size := int64(len(first))
	if size < 8<<20 {
		t.Fatalf("%d bytes are not large", size)
	}
	bounded := func(name string, points []string, work func() error) {
		t.Run(name, func(t *testing.T) {
			before, seen := lives(), 0
			r.Hook = func(point string) {
				for _, p := range points {
					if p == point {
						seen++
						if grown := lives() - before; grown > size/2 {
							t.Errorf("%s: %d bytes of a payload of %d are alive", point, grown, size)
						}
					}
				}
			}
			err := work()
			r.Hook = nil
			if err != nil || seen < len(points) {
				t.Fatalf("%v; saw %d of the points %q", err, seen, points)
			}
		})
	}
	r.fail = func(n string) bool { return n == "L-3" }
	bounded("a worker", []string{"job prepared", "job before commit"}, func() error {
		_ = r.take("acme").Do(t.Context()) // it fails on one: what it leaves is looked at
		return nil
	})
	if got := r.states("BIG")[0]; got != "dead" {
		t.Fatalf("the interchange is %s, not dead", got)
	}
	r.fail = nil
	bounded("a replay", []string{"last document"}, func() error {
		got, err := r.Replay(t.Context(), r.dead()[0], anna, false)
		if err == nil && got.Posted != len(amounts) {
			err = fmt.Errorf("%+v", got)
		}
		return err
	})
	if rec := r.deliverSpooled(second); rec.Verdict != gateway.Drift {
		t.Fatalf("%s\n%s", rec.Verdict, rec.Rendered.Body)
	}
	bounded("a decision", []string{"last document"}, func() error {
		_, err := r.Decide(t.Context(), gateway.Decision{Alert: r.alert(), Choice: gateway.Replace, Reason: "corrected", By: anna})
		return err
	})
	r.exec(`delete from payload where seq = 3`)
	t.Run("where a chunk of it is gone it is no longer kept", func(t *testing.T) {
		third := large("BIG3", amounts[:12]...)
		if rec := r.deliverSpooled(third); rec.Answer != gateway.ToldDeferred {
			t.Fatalf("%s", rec.Answer.Told().Word)
		}
		r.exec(`delete from payload where seq = 3`)
		err := r.take("acme").Do(t.Context())
		if err == nil || !strings.Contains(err.Error(), "no longer kept") {
			t.Errorf("got %v", err)
		}
	})
}
