package gateway_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/edigw/edigw/gateway"
)

// make year: the whole of it, and the plot of what it showed.
var yearPlot = flag.String("year-plot", "", "run the whole year of TestYear and write its sizes to this SVG")

// yearLong and yearShort are how the year is lived: windows are so many times as long in
// the whole one.
var (
	yearLong  = pace{length: 365, times: 4, perDay: 3}
	yearShort = pace{length: 16 * 7, times: 1, perDay: 1}
)

type pace struct{ length, times, perDay int }

// TestYear lives a year: three partners with retentions of their own, new invoices each
// day, repeats at every age, numbers that are used again, drifts, dead messages, holds, and
// settings that change. A purge runs each night and is cut off now and then. After each day
// what outcomes.md promises holds, by a ledger that is kept beside the database, and in the
// end every table and index has reached a plateau.
func TestYear(t *testing.T) {
	p := yearShort
	if *yearPlot != "" {
		p = yearLong
	}
	y := newYear(t, p)
	for y.day = range p.length {
		y.live()
		y.days(1)
		y.night()
		y.check()
		if y.day%7 == 6 {
			y.weigh()
		}
	}
	y.plateau()
	if *yearPlot != "" {
		y.plot(*yearPlot)
	}
	t.Logf("%d days: %s", p.length, y.sum())
}

// year is what is known beside the database.
type year struct {
	*aged
	pace
	day     int
	rand    *rand.Rand
	sent    []*sentInvoice
	byKey   map[string]*sentInvoice
	serial  map[string]int
	weights []weight
	events  map[string]int // what was lived, for the log: a year in which nothing happens shows nothing
	failing bool
	legal   map[string]int // keys that a person holds, and until which day
	drifts  []openDrift
}

// sentInvoice is one file that a partner made.
type sentInvoice struct {
	partner, key, text string
	posted             int // times it had its effect
	first, last        time.Time
	there              bool // its key was, last night
	dead               bool
}

type openDrift struct {
	key   *sentInvoice
	until int // the day on which it is decided
}

func (y *year) retention(partner string) string {
	w := func(n int) string { return fmt.Sprintf("%dd", n*y.times) }
	switch partner {
	case "acme": // the shortest
		return fmt.Sprintf("retention: {dedup_window: %s, retry_window: %s, payloads: %s, acknowledgements: %s, quarantine: %s, deliveries: %s, documents: {invoice: %s}}",
			w(10), w(4), w(8), w(8), w(8), w(10), w(12))
	case "bolt": // keys live longer than all else
		return fmt.Sprintf("retention: {dedup_window: %s, retry_window: %s, payloads: %s, acknowledgements: %s, quarantine: %s, deliveries: %s, documents: {invoice: %s}}",
			w(16), w(5), w(10), w(10), w(10), w(16), w(10))
	}
	// Uses its numbers again.
	return fmt.Sprintf("reuse_after: %s\nretention: {dedup_window: %s, retry_window: %s, payloads: %s, acknowledgements: %s, quarantine: %s, deliveries: %s, documents: {invoice: %s}}",
		w(5), w(9), w(3), w(7), w(7), w(7), w(9), w(9))
}

var yearPartners = map[string]string{"acme": "9520001000010", "bolt": "9520001000027", "cask": "9520001000034"}

func newYear(t *testing.T, p pace) *year {
	t.Helper()
	y := &year{pace: p, rand: rand.New(rand.NewPCG(9, 2026)), byKey: map[string]*sentInvoice{}, serial: map[string]int{}, events: map[string]int{}, legal: map[string]int{}}
	y.aged = newAged(t, firstDay, y.retention("acme"))
	y.configure("bolt", yearPartners["bolt"], y.retention("bolt"))
	y.configure("cask", yearPartners["cask"], y.retention("cask"))
	y.fail = func(string) bool { return y.failing }
	return y
}

// live is a day's traffic and what people do.
func (y *year) live() {
	for _, partner := range []string{"acme", "bolt", "cask"} {
		for range y.perDay {
			y.fresh(partner)
		}
	}
	y.repeats()
	switch {
	case y.day%9 == 4:
		y.drift()
	case y.day%11 == 5:
		y.failing = true
		y.fresh("bolt")
		y.failing = false
	case y.day%13 == 6:
		y.hold()
	}
	y.people()
	y.Later.Flush(y.t.Context())
	switch y.day {
	case y.part(2, 8):
		y.configure("acme", yearPartners["acme"], y.retention("bolt"))
		y.events["windows made longer"]++
	case y.part(3, 8):
		y.configure("acme", yearPartners["acme"], y.retention("acme"))
		y.events["windows made shorter"]++
	case y.part(1, 8):
		y.configure("bolt", yearPartners["bolt"], y.retention("bolt")[:len(y.retention("bolt"))-1]+", legal_hold: true}")
		y.events["partner held"]++
	case y.part(2, 8) + 3:
		y.configure("bolt", yearPartners["bolt"], y.retention("bolt"))
		y.events["partner released"]++
	}
}

// part is the day after n of m parts of the year.
func (y *year) part(n, m int) int { return y.length * n / m }

// reused is after how many numbers cask begins anew: they come round after its reuse_after.
const reused = 7

// fresh sends a new invoice.
func (y *year) fresh(partner string) {
	y.serial[partner]++
	n := y.serial[partner]
	ref := fmt.Sprintf("R%05d", n)
	if partner == "cask" {
		ref = fmt.Sprintf("R%05d", n%(reused*y.times*y.perDay))
	}
	s := &sentInvoice{partner: partner, first: y.clock.Now(), key: fmt.Sprintf("unb:%s:14:9520002000019:14:%s", yearPartners[partner], ref)}
	s.text = interchangeFrom(yearPartners[partner]+":14", y.clock.Now().Format("060102:1504"), ref, message{number: fmt.Sprintf("%s-%d", partner, n)})
	y.sent = append(y.sent, s)
	y.byKey[s.key] = s
	if verdict := y.send(s); s.posted == 0 && !s.dead {
		y.t.Fatalf("day %d: a new invoice of %s had no effect: %s\n%s", y.day, partner, verdict, s.text)
	}
}

// send delivers a file, now under this id and now under none, and books what it was told.
func (y *year) send(s *sentInvoice) gateway.Verdict {
	id := ""
	if y.rand.IntN(2) == 0 {
		id = fmt.Sprintf("t-%d", y.rand.Int64())
	}
	before := y.postings(s)
	rec, err := y.deliver(s.partner, id, s.text)
	if err != nil {
		y.t.Fatalf("day %d: %v", y.day, err)
	}
	s.last, s.there = y.clock.Now(), true
	s.posted += y.postings(s) - before
	s.dead = rec.Answer == gateway.ToldDead
	y.events[string(rec.Verdict)+" "+fmt.Sprint(rec.Rules)]++
	if s.posted > 1 {
		y.t.Fatalf("day %d: an invoice of %s of %s was posted %d times: %s, rows %v", y.day, s.partner, s.first.Format(time.DateOnly), s.posted, rec.Verdict, rec.Rules)
	}
	return rec.Verdict
}

// postings counts events of it, in this process's sight: what was posted has one each.
func (y *year) postings(s *sentInvoice) int {
	sum := sha(s.text)
	return y.count(`select count(*) from outbox where partner_id = $1 and type = 'message.received' and body->>'payload_sha256' = $2 and (body->>'documents')::int > 0`,
		s.partner, fmt.Sprintf("%x", sum[:]))
}

// repeats sends files again, of every age there is.
func (y *year) repeats() {
	window := map[string]int{"acme": 10 * y.times, "bolt": 16 * y.times, "cask": 9 * y.times}
	for _, partner := range []string{"acme", "bolt", "cask"} {
		w := window[partner]
		ages := []int{0, 1, 3, 7, w - 1, w, w + 1, w + 2, 2 * w, 2*w + 1, 3 * w, 5 * w}
		if partner == "cask" { // later, and his number is not old enough when it comes round
			ages = ages[:2]
		}
		age := ages[y.rand.IntN(len(ages))]
		i := slices.IndexFunc(y.sent, func(s *sentInvoice) bool {
			return s.partner == partner && !s.dead && day(s.first).Equal(day(y.clock.Now()).AddDate(0, 0, -age))
		})
		if i < 0 {
			continue
		}
		s := y.sent[i]
		known := s.there
		verdict := y.send(s)
		switch {
		case known && verdict == gateway.First:
			y.t.Fatalf("day %d: a file of %s of %s, whose key was there, is First", y.day, partner, s.first.Format(time.DateOnly))
		case !known && verdict == gateway.Drift: // I1: it came when its key was purged
			y.drifts = append(y.drifts, openDrift{s, y.day + 1 + y.rand.IntN(4*y.times)})
		}
		y.events[fmt.Sprintf("repeats of age %s", ageOf(age, w))]++
	}
}

func ageOf(age, window int) string {
	switch {
	case age == 0:
		return "a day"
	case age < window:
		return "within the window"
	case age <= 2*window:
		return "after it"
	}
	return "long after it"
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// drift sends other content under a reference that stands.
func (y *year) drift() {
	of := y.recent("acme")
	if of == nil || slices.ContainsFunc(y.drifts, func(d openDrift) bool { return d.key == of }) {
		return
	}
	text := replaceOnce(of.text, "MOA+79:100.00", fmt.Sprintf("MOA+79:%d.00", 200+y.day))
	rec, err := y.deliver("acme", "", text)
	if err != nil || rec.Verdict != gateway.Drift {
		y.t.Fatalf("day %d: other content under %s: %+v, %v", y.day, of.key, rec, err)
	}
	of.last = y.clock.Now()
	y.drifts = append(y.drifts, openDrift{of, y.day + 1 + y.rand.IntN(6*y.times)})
	y.events["drift"]++
}

// recent is a file of yesterday that had its effect.
func (y *year) recent(partner string) *sentInvoice {
	for _, s := range slices.Backward(y.sent) {
		if s.partner == partner && s.posted == 1 && s.there && day(s.first).Before(day(y.clock.Now())) {
			return s
		}
	}
	return nil
}
