package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/outbox"
)

// Assign gives an undecided drift to a person, who takes it in review; to ""
// gives it back to everybody.
func (g *Gateway) Assign(ctx context.Context, alert uuid.UUID, to string, by Person) (*Ruling, error) {
	return g.review(ctx, alert, func(ctx context.Context, s *session, a *dedup.Alert) (string, error) {
		state := a.State
		if state != "awaiting_approval" {
			state = standsIn(&dedup.Alert{Assignee: to})
		}
		dedup.QueueAssign(s.batch, a.Partner, a.ID, to, state)
		if err := s.flush(ctx); err != nil {
			return "", err
		}
		return state, g.audit(ctx, s, Act{By: by, Action: "drift.assigned", Subject: a.ID.String(), Partner: a.Partner, Detail: map[string]any{"to": to}})
	})
}

// Withdraw drops the decision that waits for approval: by its proposer, or by
// whoever would not approve it. note says why.
func (g *Gateway) Withdraw(ctx context.Context, alert uuid.UUID, note string, by Person) (*Ruling, error) {
	return g.review(ctx, alert, func(ctx context.Context, s *session, a *dedup.Alert) (string, error) {
		if a.Proposed == nil {
			return "", refusal(NothingToTake, "no decision is proposed")
		}
		state := standsIn(a)
		dedup.QueueWithdrawal(s.batch, a.Partner, a.ID, state)
		if err := s.flush(ctx); err != nil {
			return "", err
		}
		return state, g.audit(ctx, s, Act{By: by, Action: "drift.withdrawn", Subject: a.ID.String(), Partner: a.Partner,
			Detail: map[string]any{"decision": a.Proposed.Decision, "proposed_by": a.Proposed.By, "note": note}})
	})
}

// propose keeps a decision for a second person, in a transaction of its own: what
// it was tried out on is rolled back, and met again when it is approved.
func (g *Gateway) propose(ctx context.Context, x *deciding) error {
	facts, err := json.Marshal(x.facts)
	if err != nil {
		return fmt.Errorf("facts of a proposal: %w", err)
	}
	r, err := g.review(ctx, x.alert.ID, func(ctx context.Context, s *session, a *dedup.Alert) (string, error) {
		if err := decidable(a); err != nil {
			return "", err
		}
		dedup.QueueProposal(s.batch, a.Partner, a.ID, &dedup.Proposed{Decision: string(x.d.Choice), Digest: x.d.Digest, By: x.d.By.Name,
			Reason: x.d.Reason, Note: x.d.Note, Facts: facts})
		notice := x.g.alertNotice(outbox.AlertProposed, x.in.now, x.owner, a, a.MessageID, x.decidedData())
		if err := outbox.QueueEvents(s.batch, []outbox.Event{notice}); err != nil {
			return "", err
		}
		if err := s.flush(ctx); err != nil {
			return "", err
		}
		detail := x.decidedData()
		return "awaiting_approval", g.audit(ctx, s, Act{By: x.d.By, Action: "drift.proposed", Subject: a.ID.String(), Partner: a.Partner, Detail: detail})
	})
	if err != nil {
		return err
	}
	x.did = *r
	x.did.Needs = "it moves an invoice: a second person has to approve it"
	return nil
}

// review is one step in the life of an alert, under its key's lock.
func (g *Gateway) review(ctx context.Context, alert uuid.UUID, step func(context.Context, *session, *dedup.Alert) (string, error)) (*Ruling, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultPatience)
	defer cancel()
	known, err := dedup.Alerts{Pool: g.Pool}.Get(ctx, "", alert)
	if err != nil {
		return nil, err
	}
	if !known.Undecided() {
		return nil, decidedBefore(known)
	}
	ref := dedup.Ref{Partner: known.Partner, ID: known.MessageID}
	s, err := g.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer s.end()
	in := &intake{Delivery: &Delivery{}, started: time.Now(), now: g.Now()}
	if err := g.lock(ctx, s, in, []dedup.Ref{ref}); errors.Is(err, errStartAgain) {
		return nil, refusal(NoLongerKept, "the key %s is no longer kept", ref.ID)
	} else if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(in.alerts[ref], func(a *dedup.Alert) bool { return a.ID == alert })
	if i < 0 { // only those that wait are read
		return nil, refusal(AlreadyDecided, "it was decided meanwhile")
	}
	state, err := step(ctx, s, in.alerts[ref][i])
	if err != nil {
		return nil, err
	}
	return &Ruling{Alert: alert, State: state}, s.commit(ctx)
}
