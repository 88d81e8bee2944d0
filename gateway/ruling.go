package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
)

// ruling is what a decision changes about how a plan passes the document guard.
type ruling struct {
	row     *DecisionRow
	leave   map[uuid.UUID]*documents.Brought // documents that the decision supersedes: the guard does not see them
	over    map[uuid.UUID]bool               // of those, superseded by a message that posts
	why     map[int]string                   // messages that would not post
	touched []string                         // guard keys with what they hold, for the facts
	further int                              // posted beside known documents
}

// rulingPass decides one message of a known document under a decision; true if it
// is to be posted.
func (pl *plan) rulingPass(p post, gd *dedup.Guard) (bool, error) {
	id, err := p.identity()
	if err != nil {
		return false, err
	}
	gd.KeepUntil(guardPurge(pl.in.now, p.r.p.owner.Retention.DedupWindow))
	return pl.ruling.pass(pl, p, id.content, gd), nil
}

func (u *ruling) pass(pl *plan, p post, content [32]byte, gd *dedup.Guard) bool {
	u.touch(gd)
	if u.row.Kind == dedup.KindDocument {
		return u.passHeld(pl, p, content, gd)
	}
	known := -1                // says the same, and is void
	var left, gone []uuid.UUID // documents that go on standing, and that D's takes the place of
	voided := false            // by the partner
	for i, d := range gd.Documents {
		end := gd.Ends[d]
		switch same := gd.Contents[i] == content; {
		case u.leave[d] != nil:
			if !u.leave[d].Over {
				gone = append(gone, d)
			}
			continue
		case same && gd.InForce(i):
			p.absorb(gd, i)
			return false
		case gd.Stands(i):
			left = append(left, d)
		case same:
			known = i
		}
		voided = voided || end.Superseded || end.Cancellation || end.Cancelled && !end.Decided
	}
	if gd.Imported {
		p.absorb(gd, -1)
		return false
	}
	newer := p.stamp() > gd.Stamp
	stamp := documents.StampOfDecision
	switch {
	case len(left) == 0 && (len(gone) > 0 || newer || !voided):
	case known >= 0 && !newer, known >= 0 && p.revision() == documents.RevisionCopy:
		p.absorb(gd, known) // the partner replaced or cancelled it since D was made
		return false
	case len(left) == 0 && !p.revises():
		u.why[p.i] = fmt.Sprintf("message %d: the partner cancelled %s later than this was sent", p.i+1, numberOf(p.r.p, p.i))
		return false
	case !p.revises():
		hint := ""
		if u.row.Choice != Replace && gd.MessageID == p.r.key.ID {
			hint = "; replace takes it in its place"
		}
		u.why[p.i] = fmt.Sprintf("message %d: %s is known with other content from %s%s", p.i+1, numberOf(p.r.p, p.i), gd.MessageID, hint)
		return false
	case !newer:
		pl.stale = append(pl.stale, supersession{partner: gd.Partner, old: p.documentID(), new: gd.Latest(), number: len(gd.Documents) + 1})
		gd.PostStale(content, p.documentID())
		gd.Over(p.documentID(), dedup.End{Superseded: true, Cancellation: p.revision() == documents.RevisionCancel})
		return true
	default:
		stamp = p.stamp()
		gone = append(gone, left[len(left)-1])
	}
	if len(gone) == 0 {
		pl.postAgain(p, gd)
	}
	for _, d := range gone {
		u.over[d] = true
		pl.replace(p, gd, d, stamp)
	}
	p.post(gd, content)
	return true
}

// ends reports whether the decision supersedes a despatch advice of that number.
func (u *ruling) ends(number string) bool {
	if u == nil {
		return false
	}
	for _, d := range u.leave {
		if d.Class == documents.ClassDespatch && d.Number == number {
			return true
		}
	}
	return false
}

// touch notes what the decision is based on.
func (u *ruling) touch(gd *dedup.Guard) {
	words := fmt.Sprintf("%x %x %v", gd.Key, gd.Contents, gd.Imported)
	for i, d := range gd.Documents {
		if !gd.Stands(i) {
			words += " " + d.String()
		}
	}
	u.touched = append(u.touched, words)
}

// passHeld decides a held message that is posted after all.
func (u *ruling) passHeld(pl *plan, p post, content [32]byte, gd *dedup.Guard) bool {
	if i, ok := gd.Find(content); gd.Imported || len(gd.Documents) == 0 || ok && gd.InForce(i) {
		p.absorb(gd, i)
		return false
	}
	old, stands := gd.Standing()
	switch {
	case u.row.Choice != Replace:
		p.r.link(p.i, gd.Latest())
		u.further++
	case stands:
		pl.replace(p, gd, old, documents.StampOfDecision)
		u.over[old] = true
	default:
		pl.postAgain(p, gd)
	}
	p.post(gd, content)
	return true
}

// inTheWay gives what keeps messages from being posted, in their order.
func (u *ruling) inTheWay() []string {
	var why []string
	for _, i := range slices.Sorted(maps.Keys(u.why)) {
		why = append(why, u.why[i])
	}
	return why
}

// lacking gives the documents that stand and have no place in D, in order.
func (u *ruling) lacking() []*documents.Brought {
	var list []*documents.Brought
	for id, d := range u.leave {
		if !d.Over && !u.over[id] {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b *documents.Brought) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	return list
}
