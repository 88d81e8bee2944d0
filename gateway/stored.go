package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/journal"
)

// decisionPatience bounds a decision, a replay or the run of a worker, beside what
// the size of the payload allows for: it is read, judged and posted in it.
const decisionPatience = 10 * time.Minute

// errTooLong: what was to be done with a stored payload took longer than it may.
var errTooLong = errors.New("it took longer than its size allows for")

// inTime bounds what is done with length bytes of a stored payload. timely gives err,
// marked where it came since the time was over.
func inTime(ctx context.Context, length int64) (bounded context.Context, timely func(err error) error, cancel context.CancelFunc) {
	bounded, cancel = context.WithTimeoutCause(ctx, decisionPatience+forSize(length), errTooLong)
	return bounded, func(err error) error {
		if err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), errTooLong) {
			return errors.Join(errTooLong, err)
		}
		return err
	}, cancel
}

// readStored takes the bytes of a variant in as those of a delivery are: what is
// large goes into the spool, chunk by chunk. It has to be closed.
func (g *Gateway) readStored(ctx context.Context, partner string, v *dedup.Variant) (*Spooled, error) {
	spool := g.Spool
	if spool == nil {
		spool = &Spool{Dir: g.SpoolDir}
	}
	stored := journal.PayloadReader(ctx, g.Pool, partner, v.Payload.ID, v.Payload.Month, v.Offset, v.Length)
	in, err := spool.Take(nil, stored, v.Length, v.Length)
	if errors.Is(err, journal.ErrPurged) {
		return nil, refusal(NoLongerKept, "the payload %x is no longer kept", v.SHA256[:])
	}
	return in, err
}
