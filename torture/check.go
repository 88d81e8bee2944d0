package main

import (
	"slices"
	"time"
)

// checker compares the ledgers with what the database holds. It decides nothing
// by the gateway's own table: it looks for what no order of what was sent, lost
// and decided could have given.
type checker struct {
	*findings
	ledger *ledger
	rows   *rows

	histories map[ref]*history // by interchange key
	under     map[ref][]*delivery
	byAlert   map[string][]*act
}

// history is all that was done about one interchange key.
type history struct {
	key        ref
	contents   map[[32]byte]*content
	deliveries []*delivery // in the order they were begun
	acts       []*act      // operators'
}

// check runs every check.
func check(f *findings, l *ledger, r *rows) {
	c := &checker{findings: f, ledger: l, rows: r, histories: map[ref]*history{}, under: map[ref][]*delivery{}, byAlert: map[string][]*act{}}
	c.arrange()
	c.postedOnce()
	c.acknowledged()
	c.sameAnswer()
	c.notPosted()
	c.backed()
	c.nothingLeft()
	c.turnedAway()
	c.told()
	c.complete()
}

// arrange sorts what was done by key.
func (c *checker) arrange() {
	for k, contents := range c.ledger.contents {
		c.histories[k] = &history{key: k, contents: contents}
	}
	for _, d := range c.ledger.deliveries {
		for i, x := range d.contents {
			if slices.Index(d.contents, x) == i {
				h := c.histories[x.key()]
				if n := len(h.deliveries); n == 0 || h.deliveries[n-1] != d {
					h.deliveries = append(h.deliveries, d)
				}
			}
		}
		if d.id != "" {
			c.under[d.transportKey()] = append(c.under[d.transportKey()], d)
		}
	}
	for _, a := range c.ledger.acts {
		if a.alert != "" {
			c.byAlert[a.alert] = append(c.byAlert[a.alert], a)
		}
		if h := c.histories[a.key]; h != nil {
			h.acts = append(h.acts, a)
			continue
		}
		for _, d := range c.under[a.key] { // on a transport drift: on whatever the id carried
			for _, x := range d.contents {
				if h := c.histories[x.key()]; !slices.Contains(h.acts, a) {
					h.acts = append(h.acts, a)
				}
			}
		}
	}
}

// decided reports whether something that posts was asked for under the key, done
// or not: the answer to it may have been lost.
func (h *history) decided() bool {
	return slices.ContainsFunc(h.acts, func(a *act) bool { return a.posts && !a.letter })
}

// actedBetween reports whether an operator may have changed something under the
// key in that time.
func (h *history) actedBetween(from, to time.Time) bool {
	return slices.ContainsFunc(h.acts, func(a *act) bool {
		lost := a.status == 0 || a.status >= 500 // it may be done any time later
		return a.asked.Before(to) && (lost || a.answered.After(from))
	})
}

// plain reports whether every content under the key is sound, so that nothing
// about it is ever judged a second time.
func (h *history) plain() bool {
	for _, x := range h.contents {
		if !x.sound() {
			return false
		}
	}
	return true
}

// postedOnce is invariant 1.
func (c *checker) postedOnce() {
	type once struct {
		ref
		sha256 [32]byte
	}
	type place struct {
		ref
		epoch     int32
		reference string
	}
	type number struct{ partner, number string }
	posted, places, numbers := map[once]int{}, map[place]map[[32]byte]bool{}, map[number][]*documentRow{}
	for _, d := range c.rows.documents {
		k := ref{d.partner, d.key}
		h := c.histories[k]
		if h == nil {
			c.add("1", k, "document %s stands under a key that nobody sent", d.number)
			continue
		}
		sent := false
		for _, x := range h.contents {
			for _, m := range x.messages {
				sent = sent || m.sha256 == d.sha256 && m.number == d.number && m.reference == d.reference && !m.wrong
			}
		}
		if !sent {
			c.add("1", k, "document %s is of a message that nobody sent soundly under its key", d.number)
		}
		o := once{k, d.sha256}
		if posted[o]++; posted[o] > 1 {
			c.add("1", k, "message %s of %s is posted %d times", short(d.sha256), d.number, posted[o])
		}
		p := place{k, d.epoch, d.reference}
		if places[p] == nil {
			places[p] = map[[32]byte]bool{}
		}
		if places[p][d.sha256] = true; len(places[p]) > 1 && !h.decided() && !c.rows.purged[k] {
			c.add("1", k, "message reference %s of epoch %d is posted with %d contents, and nobody decided so", d.reference, d.epoch, len(places[p]))
		}
		if !d.over {
			numbers[number{d.partner, d.number}] = append(numbers[number{d.partner, d.number}], d)
		}
	}
	for n, list := range numbers {
		if len(list) < 2 {
			continue
		}
		if !slices.ContainsFunc(list, func(d *documentRow) bool { return c.histories[ref{d.partner, d.key}].decided() }) {
			c.add("1", ref{n.partner, list[0].key}, "document %s counts %d times, and nobody decided so", n.number, len(list))
		}
	}
	for k, h := range c.histories { // what was told
		if h.decided() || c.rows.purged[k] {
			continue
		}
		accepted := map[[32]byte]bool{}
		firsts := 0
		for _, d := range h.deliveries {
			for i, x := range d.contents {
				if d.final() && d.keyed(i) && x.key() == k && d.receipt.items[i].Outcome == "accepted" {
					accepted[x.digest] = true
				}
			}
			if d.final() && len(d.contents) == 1 && d.verdict == "first" && d.keyed(0) {
				firsts++
			}
		}
		if len(accepted) > 1 {
			c.add("1", k, "%d contents of one reference were told as accepted, and nobody decided so", len(accepted))
		}
		if firsts > 1 {
			c.add("1", k, "%d deliveries of one reference were told as first", firsts)
		}
	}
	verdicts := map[string]map[string]bool{}
	for _, j := range c.rows.journal {
		if j.key == "" || j.transport == worker || c.rows.purged[ref{j.partner, j.key}] {
			continue
		}
		what := ""
		switch j.verdict {
		case "first":
			what = j.partner + " " + j.key + " first"
		case "correction", "completion", "reuse":
			what = j.partner + " " + j.key + " " + j.digest + " " + j.verdict
		}
		if what == "" {
			continue
		}
		if verdicts[what] == nil {
			verdicts[what] = map[string]bool{}
		}
		if verdicts[what][j.delivery] = true; len(verdicts[what]) > 1 {
			c.add("1", ref{j.partner, j.key}, "the journal has %d deliveries that were the %s", len(verdicts[what]), j.verdict)
		}
	}
}
