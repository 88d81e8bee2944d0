package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/edigw/edigw/dedup"
)

const (
	defaultPendingWait = 5 * time.Second
	pendingPoll        = 50 * time.Millisecond
)

// afterPending does what an operator asks for under a key. Where that is refused
// since a message under the key is pending, it is done when the worker has ended,
// or refused for good when that does not come soon.
func (g *Gateway) afterPending(ctx context.Context, r dedup.Ref, do func() error) error {
	left := g.PendingWait
	if left == 0 {
		left = defaultPendingWait
	}
	for end := time.Now().Add(left); ; {
		err := do()
		var no *Refusal
		if !errors.As(err, &no) || no.Code != StillPending {
			return err
		}
		soon, when, asked := g.endsSoon(ctx, r, time.Until(end))
		if asked != nil {
			return asked
		}
		if !soon {
			return refusal(StillPending, "a message under the key is still being processed%s; decide when that has ended, or discard it", when)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pendingPoll):
		}
	}
}

// endsSoon reports whether the work under a key may end within left, and says in
// words how it stands.
func (g *Gateway) endsSoon(ctx context.Context, r dedup.Ref, left time.Duration) (soon bool, when string, err error) {
	jobs, err := dedup.Jobs{Pool: g.Pool}.Of(ctx, r.Partner, []string{r.ID})
	if err != nil || left <= 0 && len(jobs) == 0 {
		return false, "", err
	}
	soon = left > 0
	for _, j := range jobs {
		if j.Failures > 0 {
			when = fmt.Sprintf(" (%d runs have failed, the next is at %s: %s)", j.Failures, j.DueAt.UTC().Format("2006-01-02 15:04:05Z"), j.Failure)
		}
		if j.Passing > 0 {
			when += fmt.Sprintf(" (what should pass has kept it %d times in a row, the next run is at %s: %s)", j.Passing, j.DueAt.UTC().Format("2006-01-02 15:04:05Z"), j.Failure)
		}
		soon = soon && (j.Lease != [16]byte{} || j.DueIn < left)
	}
	return soon, when, nil
}
