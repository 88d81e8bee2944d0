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
	u.touched = append(u.touched, fmt.Sprintf("%x %x %v", gd.Key, gd.Contents, gd.Imported))
	if u.row.Kind == dedup.KindDocument {
		return u.passHeld(pl, p, content, gd)
	}
	var left, gone []uuid.UUID // documents that go on standing, and that are superseded
	for i, d := range gd.Documents {
		switch {
		case u.leave[d] != nil:
			gone = append(gone, d)
		case gd.Contents[i] == content:
			return u.absorb(p, d)
		default:
			left = append(left, d)
		}
	}
	if gd.Imported {
		return u.absorb(p, uuid.Nil)
	}
	stamp := p.stamp()
	revises := documents.Revision(p.judged().revision)
	switch {
	case len(left) == 0:
		stamp = documents.StampOfDecision
	case revises != documents.RevisionReplace && revises != documents.RevisionCancel:
		hint := ""
		if u.row.Choice != Replace && gd.MessageID == p.r.key.ID {
			hint = "; replace takes it in its place"
		}
		u.why[p.i] = fmt.Sprintf("message %d: %s is known with other content from %s%s", p.i+1, numberOf(p.r.p, p.i), gd.MessageID, hint)
		return false
	case stamp <= gd.Stamp:
		pl.stale = append(pl.stale, supersession{partner: gd.Partner, old: p.documentID(), new: gd.Latest(), number: len(gd.Documents) + 1})
		gd.PostStale(content, p.documentID())
		return true
	default:
		if !slices.Contains(gone, gd.Latest()) {
			gone = append(gone, gd.Latest())
		}
	}
	for _, d := range gone {
		if b := u.leave[d]; b != nil && b.Over {
			continue // superseded before
		}
		u.over[d] = true
		pl.supersede = append(pl.supersede, supersession{gd.Partner, d, p.documentID(), stamp, len(gd.Documents) + 1,
			revises == documents.RevisionCancel, p.r.p.ic.Test})
	}
	gd.Post(content, p.documentID(), p.stamp())
	return true
}

// passHeld decides a held message that is posted after all.
func (u *ruling) passHeld(pl *plan, p post, content [32]byte, gd *dedup.Guard) bool {
	if d, ok := gd.Find(content); ok {
		return u.absorb(p, d)
	}
	if gd.Imported || len(gd.Documents) == 0 {
		return u.absorb(p, uuid.Nil)
	}
	if u.row.Choice == Replace {
		pl.supersede = append(pl.supersede, supersession{gd.Partner, gd.Latest(), p.documentID(), documents.StampOfDecision, len(gd.Documents) + 1, false, p.r.p.ic.Test})
		u.over[gd.Latest()] = true
	} else {
		p.r.link(p.i, gd.Latest())
		u.further++
	}
	gd.Post(content, p.documentID(), p.stamp())
	return true
}

func (u *ruling) absorb(p post, document uuid.UUID) bool {
	v := p.r.variant
	v.Messages[p.i].Fate = dedup.Absorbed
	p.r.key.Touch(v)
	if document != uuid.Nil {
		p.r.link(p.i, document)
	}
	return false
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
