package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/documents/checks"
	"github.com/edigw/edigw/edi"
)

// maxUnits bounds the SSCCs of an interchange that are looked for in other despatch
// advices.
const maxUnits = 5_000

// namedUnit is a logistic unit that a message names.
type namedUnit struct {
	documents.Unit
	message int32
	number  string // of its despatch advice
}

// errElsewhere: a policy refuses messages whose SSCCs stand in other despatch advices,
// and they were judged by that.
var errElsewhere = fmt.Errorf("SSCCs stand in other despatch advices: %w", errStartAgain)

// noteUnits keeps the SSCCs of message i that are to be looked for: none of a
// cancellation, which ships nothing, nor where the partner wants to hear nothing of it.
func (p *part) noteUnits(i int, d *documents.Document) {
	if d == nil || len(d.Units()) == 0 || d.Revision() == documents.RevisionCancel || checks.Of(p.owner.Policy.Checks, documents.CodeElsewhere) == checks.Off {
		return
	}
	number := strings.Clone(d.Number) // both are pieces of a text that is let go
	for _, u := range d.Units() {
		if u.Comparable() && len(p.units) < maxUnits {
			u.SSCC = strings.Clone(u.SSCC)
			p.units = append(p.units, namedUnit{u, int32(i), number})
		}
	}
}

// queueUnits looks for the SSCCs of the despatch advices that the plans post in those
// that were posted before: one statement for each partner, and none where no SSCC is
// named. Two that come in the same moment may miss each other.
func queueUnits(b *pgx.Batch, plans ...*plan) {
	type of struct {
		partner string
		test    bool
	}
	type named struct {
		pl *plan
		p  *part
		u  *namedUnit
	}
	var order []of
	units := map[of][]named{}
	for _, pl := range plans {
		pl.unitsAsked = true
		for _, r := range pl.results {
			p := r.p
			if p == nil {
				continue
			}
			p.elsewhere = nil
			k := of{p.owner.ID, p.ic.Test}
			for i := range p.units {
				if _, posted := slices.BinarySearch(r.posts, p.units[i].message); !posted {
					continue
				}
				if units[k] == nil {
					order = append(order, k)
				}
				units[k] = append(units[k], named{pl, p, &p.units[i]})
			}
		}
	}
	for _, k := range order {
		list := units[k]
		var ssccs, numbers []string
		var asked []named
		first := make(map[string]named, len(list))
		for _, x := range list {
			before, ok := first[x.u.SSCC]
			switch {
			case !ok:
				first[x.u.SSCC] = x
				ssccs, numbers, asked = append(ssccs, x.u.SSCC), append(numbers, x.u.number), append(asked, x)
			case before.u.number != x.u.number:
				x.p.foundElsewhere(x.u, before.u.number, writtenDay(before.p.ic.Date))
			}
		}
		documents.QueueCarried(b, k.partner, k.test, ssccs, numbers, func(c documents.Carried) {
			x := asked[c.At]
			if x.pl.ruling.ends(c.Number) {
				return
			}
			x.p.foundElsewhere(x.u, c.Number, c.Received.UTC().Format("2006-01-02"))
		})
	}
}

func (p *part) foundElsewhere(u *namedUnit, number, day string) {
	if p.elsewhere == nil {
		p.elsewhere = map[int][]*edi.Error{}
	}
	i := int(u.message)
	p.elsewhere[i] = append(p.elsewhere[i], documents.Elsewhere(u.Unit, number, day))
}

// writtenDay writes CCYYMMDD as people read it.
func writtenDay(date string) string {
	if len(date) != 8 {
		return date
	}
	return date[:4] + "-" + date[4:6] + "-" + date[6:]
}

// judgeUnits refuses the messages whose SSCCs stand elsewhere, where the partner's
// policy says so; the delivery then starts again. It comes after the guard: what the
// guard absorbs ships nothing, and is no other despatch than the one that it says again.
// What a person decides to post is told of its SSCCs, and posted; a payload that is
// processed after a transport drift is a delivery like others, and has no ruling.
func (pl *plan) judgeUnits() error {
	refused := false
	for _, r := range pl.results {
		p := r.p
		if p == nil || len(p.elsewhere) == 0 {
			continue
		}
		maps.DeleteFunc(p.elsewhere, func(i int, _ []*edi.Error) bool { return r.variant.Messages[i].Fate == dedup.Absorbed })
		if pl.ruling != nil || checks.Of(p.owner.Policy.Checks, documents.CodeElsewhere) != checks.Refuse {
			continue
		}
		for i, found := range p.elsewhere {
			errs := slices.Clone(p.errs[i])
			for _, e := range found {
				errs = append(errs, documents.Refuse(p.ic.Syntax, e))
			}
			p.judged[i] = p.refuse(i, errs...)
			refused = true
		}
		p.elsewhere = nil
	}
	if refused {
		return errElsewhere
	}
	return nil
}
