package gateway

import (
	"context"
	"errors"
)

// Foresee says what Receive would answer to a delivery at this moment, and does
// nothing of it: its transaction is rolled back where Receive begins to write, so
// that documents already known and drifts are found as well. A *Rejection is what
// the partner would be told without a key; nothing is journalled.
//
// A number of our acknowledgements is used up, as by a delivery that fails.
func (g *Gateway) Foresee(ctx context.Context, d *Delivery) (*Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, g.patience(d))
	defer cancel()
	if d.Fault != nil {
		return nil, d.Fault
	}
	in, err := g.splitInTurn(ctx, d)
	if err != nil {
		return nil, err
	}
	defer in.close()
	defer g.leaveRoom(in)
	wait := g.wait()
	in.mayWait, in.foreseen = &wait, true
	for range startsAgain {
		r, err := g.foresee(ctx, in)
		if !errors.Is(err, errStartAgain) {
			return r, err
		}
	}
	return nil, errUnsettled
}

func (g *Gateway) foresee(ctx context.Context, in *intake) (*Receipt, error) {
	if err := g.lookUp(ctx, in); err != nil {
		return nil, err
	}
	if err := g.prepare(ctx, in); err != nil {
		return nil, err
	}
	return g.commit(ctx, in)
}
