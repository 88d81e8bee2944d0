package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
)

// errCondemned: the database refuses documents of the delivery, and they were judged
// by what it said.
var errCondemned = fmt.Errorf("documents could not be stored: %w", errStartAgain)

// blame finds the messages whose documents the database refuses, after a
// transaction failed on one: each half in a savepoint of its own until single
// messages are left, all of it rolled back. They are judged refused (SQLSTATE
// 22xxx and 23xxx: their content) or dead, and the delivery starts again. The
// happy path pays nothing for it.
func (g *Gateway) blame(ctx context.Context, in *intake, pl *plan, failed error) error {
	if errors.Is(failed, errUnknownCommit) || IsMomentary(failed) || !pl.documentsRetained() {
		return failed
	}
	s, err := g.beginInTurn(ctx, in)
	if err != nil {
		return failed
	}
	defer s.end()
	found, tried, states := 0, 0, map[string]bool{}
	var condemned []func()
	var try func(r *result, posts []int32) error
	try = func(r *result, posts []int32) error {
		rows := make([]documents.Row, len(posts))
		for n, i := range posts {
			rows[n] = r.documentRow(in.now, int(i), r.p.docs[i])
		}
		s.batch.Queue("savepoint document")
		err := documents.Queue(s.batch, r.p.owner.ID, rows)
		if err == nil {
			s.batch.Queue("release savepoint document")
			err = s.flush(ctx)
			if err == nil {
				return nil
			}
			if IsMomentary(err) {
				return err
			}
			if _, rerr := s.conn.Exec(ctx, "rollback to savepoint document"); rerr != nil {
				return rerr
			}
		}
		if len(posts) > 1 {
			if err := try(r, posts[:len(posts)/2]); err != nil {
				return err
			}
			return try(r, posts[len(posts)/2:])
		}
		found++
		states[sqlState(err)] = true
		condemned = append(condemned, func() { g.condemn(r.p, int(posts[0]), err) })
		return nil
	}
	for _, r := range pl.results {
		if len(r.posts) == 0 {
			continue
		}
		tried += len(r.posts)
		if err := try(r, r.posts); err != nil {
			return failed
		}
	}
	if found == 0 || found == tried && tried > 1 && len(states) == 1 && !isLasting(failed) {
		return failed // none, or every one for the same reason: no document's fault
	}
	for _, f := range condemned {
		f()
	}
	return fmt.Errorf("%w: %d of them", errCondemned, found)
}

func (pl *plan) documentsRetained() bool {
	for _, r := range pl.results {
		if len(r.posts) > 0 && !r.p.retained {
			return false
		}
	}
	return true
}

// condemn judges message i by what the database said of its document.
func (g *Gateway) condemn(p *part, i int, err error) {
	at := edi.Location{Offset: p.ic.Messages[i].Offset, Segment: 1}
	g.Log.Error("a document could not be stored", "partner", p.owner.ID, "message_id", p.key.ID, "message", p.ic.Messages[i].Reference, "err", err)
	if isTheirs(err) {
		p.judged[i] = p.refuse(i, &edi.Error{Code: "not-storable", Standard: "18", Severity: edi.SeverityError,
			Text: "A value of this message is outside of what can be stored.", Location: at})
		return
	}
	p.judged[i] = judgement{fate: dedup.DeadMsg}
	p.remember(i, []*edi.Error{{Code: "not-processed", Severity: edi.SeverityNote, Text: "The message was kept; processing it failed on our side.", Location: at}})
}
