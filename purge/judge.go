package purge

import (
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/partners"
)

// Reasons why something stays whose day has passed. Beside them stand those of
// dedup.HeldFor, and outbox.Needed's.
const (
	LegalHold   = "legal_hold"
	InForce     = "window_in_force" // its window is longer than when it was written, or was until some days ago
	OpenDrift   = "open_drift"
	Undelivered = "undelivered_acknowledgement"
	KeyStands   = "key_stands" // a guard never goes before its key
)

// When what stays is looked at again, in days.
const (
	againLegal = 30
	againOpen  = 7
	againSoon  = 1
)

// windows are what a run judges by.
type windows struct {
	*partners.Retentions
}

// today is the day of the database, in UTC.
func (w windows) today() time.Time { return day(w.Now) }

func day(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

func (w windows) held(partner string) bool {
	p := w.Partners[partner]
	return p != nil && p.InForce.LegalHold
}

// keyDay is the day after which a key may go: its window counts from its last delivery. A
// transport key goes with the first of the interchanges that it carried. Of a partner that
// was never known the day in the row holds.
func (w windows) keyDay(d *dedup.Due) time.Time {
	on := d.PurgeOn
	if p := w.Partners[d.Partner]; p != nil {
		on = day(d.LastAt.Add(p.InForce.DedupWindow))
	}
	if d.Kind != dedup.Transport {
		return on
	}
	for _, c := range d.Carried {
		if p := w.Partners[c.Partner]; p != nil {
			if end := day(c.At.Add(p.InForce.DedupWindow)); end.Before(on) {
				on = end
			}
		}
	}
	if d.Lost {
		return time.Time{}
	}
	return on
}

// key judges a key: "" means that it goes, else why it stays, and the day on which it is
// looked at again.
func (w windows) key(d *dedup.Due) (reason string, again time.Time) {
	today := w.today()
	if d.Hold != 0 {
		return dedup.HeldFor(d.Hold), d.PurgeOn
	}
	if w.held(d.Partner) || d.Legal {
		return LegalHold, today.AddDate(0, 0, againLegal)
	}
	if d.Alert {
		return OpenDrift, today.AddDate(0, 0, againOpen)
	}
	if on := w.keyDay(d); !w.passed(on) {
		return InForce, on
	}
	return "", time.Time{}
}

// passed reports whether a key's day has: a row is told of a repeat once in a day, so that
// its last delivery may have been a day later than it says .
func (w windows) passed(on time.Time) bool { return on.AddDate(0, 0, 1).Before(w.today()) }

// guard judges a guard, which never goes before its key and stands for a window more; keyGoes
// says of a key that is still here that it goes in this run.
func (w windows) guard(g *dedup.DueGuard, keyGoes func(*dedup.Due) bool) (reason string, again time.Time) {
	today := w.today()
	if w.held(g.Partner) || g.Legal {
		return LegalHold, today.AddDate(0, 0, againLegal)
	}
	if p := w.Partners[g.Partner]; p != nil {
		if on := day(g.First.Add(2 * p.InForce.DedupWindow)); !on.Before(today) {
			return InForce, on
		}
	}
	if g.Key != nil && !keyGoes(g.Key) {
		again = today.AddDate(0, 0, againSoon)
		if on := w.keyDay(g.Key); on.After(again) {
			again = on
		}
		return KeyStands, again
	}
	return "", time.Time{}
}

// document judges a document; kept says that something is held under its key. A zero day
// is none: it is kept.
func (w windows) document(partner, class string, received time.Time, kept bool) (reason string, again time.Time) {
	today := w.today()
	p := w.Partners[partner]
	switch {
	case w.held(partner) || kept:
		return LegalHold, today.AddDate(0, 0, againLegal)
	case p == nil:
		return "", time.Time{}
	}
	keep := p.InForce.Document(class)
	if keep == 0 {
		return InForce, time.Time{}
	}
	if on := day(received.Add(keep)); !on.Before(today) {
		return InForce, on
	}
	return "", time.Time{}
}
