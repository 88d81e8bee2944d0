package gateway

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/documents/checks"
	"github.com/edigw/edigw/edi"
)

// errInsists: the guard does not absorb what it was taken to absorb, and the policy
// refuses it.
var errInsists = fmt.Errorf("a document is no longer in force: %w", errStartAgain)

// mayYield notes that the policy alone refuses message i, and what is told of it where
// the guard absorbs it: what was found, but for what is off.
func (p *part) mayYield(i int, found []*edi.Error) {
	if p.errs[i] == nil { // the interchange is refused as a whole
		return
	}
	if p.yields == nil {
		p.yields = map[int][]*edi.Error{}
	}
	p.yields[i] = slices.DeleteFunc(slices.Clone(found), func(e *edi.Error) bool {
		return checks.Of(p.owner.Policy.Checks, e.Code) == checks.Off
	})
}

// yieldsAtOnce bounds the guard keys that are held at once to see what yields.
const yieldsAtOnce = 10_000

// yielding is a message that the policy alone refuses.
type yielding struct {
	p  *part
	i  int
	id identity
}

func (y *yielding) guard() dedup.GuardRef {
	return dedup.GuardRef{Partner: y.p.owner.ID, Key: y.id.guard}
}

// yield takes a policy's refusal back of messages that say what a document says
// already: their document was posted before the policy refused it, and what is said
// again is absorbed, whoever sends it and by whatever reference. The guard is asked
// without a lock, once for all interchanges of a delivery, which holds its room
// meanwhile; insist holds them to its answer.
func (g *Gateway) yield(ctx context.Context, in *intake, parts ...*part) error {
	var list []yielding
	for _, p := range parts {
		if p.yielded {
			continue
		}
		for i := range p.yields {
			id, err := p.ids.at(i)
			if err != nil {
				return err
			}
			list = append(list, yielding{p, i, id})
		}
	}
	var said []*yielding
	for some := range slices.Chunk(list, yieldsAtOnce) {
		guards, err := g.readGuards(ctx, in, some)
		if err != nil {
			return err
		}
		for k := range some {
			y := &some[k]
			gd := guards[y.guard()]
			if gd == nil {
				continue
			}
			if _, absorbed := absorbs(gd, y.id.content, documents.Stamp(y.p.ic, y.i), documents.Revision(y.p.judged[y.i].revision)); absorbed {
				said = append(said, y)
			}
		}
	}
	for _, y := range said {
		y.p.turn(y.i, dedup.Posted)
	}
	for _, p := range parts {
		p.yielded = true
	}
	return nil
}

// readGuards reads the guard keys of messages that may be absorbed.
func (g *Gateway) readGuards(ctx context.Context, in *intake, list []yielding) (map[dedup.GuardRef]*dedup.Guard, error) {
	refs := make([]dedup.GuardRef, len(list))
	for k := range list {
		refs[k] = list[k].guard()
	}
	slices.SortFunc(refs, dedup.GuardRef.Compare)
	refs = slices.Compact(refs)
	leave, err := g.turn(ctx, in, lookUp)
	if err != nil {
		return nil, err
	}
	defer leave()
	guards := make(map[dedup.GuardRef]*dedup.Guard, len(refs))
	var b pgx.Batch
	dedup.QueueGuardRead(&b, refs, guards)
	if err := g.Pool.SendBatch(ctx, &b).Close(); err != nil {
		return nil, fmt.Errorf("look for documents that say the same: %w", err)
	}
	if len(guards) == 0 {
		return guards, nil
	}
	b = pgx.Batch{}
	queueEnds(&b, guards)
	if err := g.Pool.SendBatch(ctx, &b).Close(); err != nil {
		return nil, fmt.Errorf("look for documents that stand: %w", err)
	}
	return guards, nil
}

// turn gives message i, which the policy alone refuses, another fate, and what is told
// of it with it.
func (p *part) turn(i int, fate dedup.Fate) {
	p.judged[i].fate = fate
	p.errs[i], p.yields[i] = p.yields[i], p.errs[i]
}

// insist refuses after all what yielded, and the guard did not absorb: its document was
// replaced or cancelled meanwhile, or a decision takes its place. The work then starts
// again.
func (r *result) insist() error {
	if r.p == nil || len(r.p.yields) == 0 {
		return nil
	}
	insisted := false
	again := func(i int) {
		if _, yielded := r.p.yields[i]; yielded {
			r.p.turn(i, dedup.RefusedMsg)
			delete(r.p.yields, i)
			insisted = true
		}
	}
	for _, i := range r.posts {
		again(int(i))
	}
	for _, i := range r.held {
		again(i)
	}
	if insisted {
		return errInsists
	}
	return nil
}
