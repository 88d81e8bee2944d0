package gateway

import (
	"context"
	"fmt"
	"strings"

	"github.com/edigw/edigw/outbox"
)

// ResolveEffect ends by hand an effect that was given up or of which nobody knows
// whether it happened: it was done, or it is to be repeated from the start. What we
// acknowledge by may be repeated however it stands, its target left out. The note says
// how the person found out. outbox.ErrNotStuck where it does not wait for an operator.
func (g *Gateway) ResolveEffect(ctx context.Context, r outbox.EffectRef, repeat bool, note string, by Person) error {
	if strings.TrimSpace(note) == "" {
		return refusal(NoReason, "a note has to say how it was found out")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultPatience)
	defer cancel()
	s, err := g.begin(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	was := outbox.State(0)
	outbox.QueueResolve(s.batch, r, repeat, func(state outbox.State, target string) { was, r.Target = state, target })
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("resolve an effect: %w", err)
	}
	if was == 0 {
		return outbox.ErrNotStuck
	}
	as := "done"
	if repeat {
		as = "repeat"
	}
	err = g.audit(ctx, s, Act{By: by, Action: "effect.resolved", Subject: r.Event.String(), Partner: r.Partner,
		Detail: map[string]any{"target": r.Target, "was": was.String(), "as": as, "note": note}})
	if err != nil {
		return err
	}
	return s.commit(ctx)
}
