package gateway_test

import (
	"fmt"
	"slices"
)

// modelDocument is a row of the document table.
type modelDocument struct {
	document, says string
	message        [32]byte
	key            string
	epoch          int
	superseded     bool
	cancelled      bool
	cancels        bool   // it is a cancellation, which never stands
	voided         string // stamp of what an operator put in the place of its interchange
}

func (d *modelDocument) stands() bool { return !d.superseded && !d.cancelled && !d.cancels }

// modelGuard is what is known of one business document, whatever interchange
// brought it.
type modelGuard struct {
	rows   []*modelDocument
	latest *modelDocument // the revision or cancellation posted last
	stamp  string         // of the newest
}

// standing is the last document that stands, if any does.
func (g *modelGuard) standing() *modelDocument {
	for _, d := range slices.Backward(g.rows) {
		if d.stands() {
			return d
		}
	}
	return nil
}

// saying tells whether a document says this, and whether one of them holds: a
// cancellation does until something is posted after it.
func (g *modelGuard) saying(says string) (known, holds bool) {
	for _, d := range g.rows {
		if d.says == says {
			known = true
			holds = holds || d.stands() || d.cancels && !d.superseded && d == g.latest
		}
	}
	return known, holds
}

// newest is the stamp of the newest revision or cancellation.
func (g *modelGuard) newest() string {
	newest := g.stamp
	for _, d := range g.rows {
		newest = max(newest, d.voided)
	}
	return newest
}

// stamp orders revisions: the interchange's date, time and reference, then the
// place in it.
func (s *sending) stamp(i int) string {
	return fmt.Sprintf("20%s%s00/%14s/%06d", s.date, s.clock, s.ref, i)
}

// post passes message i of r by the document guard.
func (w *world) post(r *wanted, i int) {
	m, d := &r.variant.messages[i], r.sent.messages[i]
	row := &modelDocument{document: d.document(), says: d.says(), message: m.sha, key: r.key.id, epoch: r.variant.epoch, cancels: d.function == "1"}
	stamp := r.sent.stamp(i)
	g := w.guards[d.document()]
	if g == nil {
		w.guards[d.document()] = &modelGuard{rows: []*modelDocument{row}, latest: row, stamp: stamp}
		w.created(r, i)
		return
	}
	known, holds := g.saying(d.says())
	newer, revision, old := stamp > g.newest(), d.function == "5" || d.function == "1", g.standing()
	switch {
	case holds, known && !newer, known && d.function == "7":
		m.fate = absorbed
		if !holds && !row.cancels {
			r.void++
		}
		return
	case revision && !newer: // it came after a newer one
		row.superseded = true
		g.rows = append(g.rows, row)
		w.created(r, i)
		return
	case revision:
		if old != nil {
			old.superseded, old.cancelled = !row.cancels, row.cancels
			w.events["document.superseded"]++
		}
		row.cancelled = row.cancels
	case known && old == nil: // void since, and sent anew
	case d.class() == "invoice" && w.onInvoice == "hold" || d.class() == "despatch" && w.onDespatch == "hold":
		m.fate = held
		r.held = append(r.held, i)
		return
	default:
		r.further = append(r.further, i)
	}
	g.rows, g.latest, g.stamp = append(g.rows, row), row, max(g.stamp, stamp)
	w.created(r, i)
}

func (w *world) created(r *wanted, i int) {
	r.posts = append(r.posts, i)
	w.events["document.created"]++
}

// openHeld opens one alert for an interchange and class of documents held now.
func (w *world) openHeld(r *wanted) {
	n := map[string]int{}
	for _, i := range r.held {
		n[r.sent.messages[i].class()]++
	}
	for _, documents := range n {
		w.open(&modelAlert{kind: "document", key: r.key.id, state: "open", digests: [][32]byte{r.variant.sha}, documents: documents})
	}
}

// open notes a new alert.
func (w *world) open(a *modelAlert) *modelAlert {
	a.receptions = 1
	w.alerts = append(w.alerts, a)
	if a.state == "open" {
		w.events["drift.opened"]++
		w.events["alert.opened"]++
	}
	return a
}

// join counts one more reception of what an alert is about.
func (w *world) join(a *modelAlert) {
	a.receptions++
	w.events["alert.joined"]++
}

// drift opens an alert for a digest, or adds it to the one that waits for a
// decision.
func (w *world) drift(kind, key string, d [32]byte, purged bool) *modelAlert {
	for _, a := range w.alerts {
		if a.kind == kind && a.key == key && a.state == "open" {
			a.digests = append(a.digests, d)
			w.join(a)
			a.purged = purged
			return a
		}
	}
	return w.open(&modelAlert{kind: kind, key: key, state: "open", digests: [][32]byte{d}, purged: purged})
}

// keepDrifted notes what the sound documents of a drift say.
func (w *world) keepDrifted(s *sending, a *modelAlert) {
	c := *s
	c.miscounted = false // of each message alone
	found, _ := w.judge(&c)
	for i, f := range found {
		d := driftedDocument{s.messages[i].saysUnnumbered(), a}
		if f == posted && !slices.Contains(w.drifted, d) {
			w.drifted = append(w.drifted, d)
		}
	}
}

// possibleCopies finds documents posted now that say, but for their number, what
// a drift under another key said before: the finding stands on both.
func (w *world) possibleCopies(items []*wanted, before []driftedDocument) {
	for _, d := range before {
		found := false
		for _, r := range items {
			for _, i := range r.posts {
				if r.sent.messages[i].saysUnnumbered() == d.says && r.key.id != d.alert.key {
					r.copies++
					found = true
				}
			}
		}
		if found {
			d.alert.copies++
		}
	}
}
