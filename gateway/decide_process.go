package gateway

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/edigw/edigw/dedup"
)

// prepareTransport reads the payload that drifted under a transport id; to process
// it, it goes the way of a delivery under an id that was never used.
func (x *deciding) prepareTransport(ctx context.Context) error {
	ref := dedup.Ref{Partner: x.alert.Partner, ID: x.alert.MessageID}
	t, v, err := x.load(ctx, "the transport id %s is no longer kept")
	if err != nil {
		return err
	}
	ctx, timely, cancel := inTime(ctx, v.Length)
	defer cancel()
	if x.row.Choice == RejectPayload {
		if err := x.readAbroad(ctx, t.Partner, v); err != nil {
			return timely(err)
		}
		x.in = &intake{Delivery: &Delivery{Partner: x.owner, SHA256: v.SHA256}, id: x.g.NewID(), started: time.Now(), now: x.g.Now(), key: ref, wholly: true}
		return nil
	}
	if x.in == nil || x.in.SHA256 != v.SHA256 {
		body, err := x.g.readStored(ctx, t.Partner, v)
		if err != nil {
			return timely(err)
		}
		transport, _, _ := strings.Cut(ref.ID, ":")
		d := &Delivery{Transport: transport, Partner: x.owner, TransportID: ref.ID, Payload: body.Payload, SHA256: v.SHA256, Received: x.g.Now(),
			WithAcknowledgement: true, Render: func(*Receipt) (Rendered, error) { return Rendered{}, nil }}
		x.in.close()
		if x.in, err = x.g.split(d); err != nil {
			_ = body.Close() // it has no name: it is gone, whatever closing says
			if r := (*Rejection)(nil); errors.As(err, &r) {
				return refusal(DoesNotPost, "%s", r.Detail)
			}
			return err
		}
		x.in.spooled, x.in.decided, x.in.stored, x.in.wholly = body, x.alert, v.Payload, true
	}
	if err := x.g.lookUp(ctx, x.in); err != nil {
		return timely(err)
	}
	return timely(x.g.prepare(ctx, x.in))
}

// commitTransport rejects the payload, or processes it: claim, lock, decide,
// guard and write as in Receive, then the alert.
func (x *deciding) commitTransport(ctx context.Context) error {
	g, in := x.g, x.in
	ref := in.key
	var pl *plan
	var err error
	if x.row.Choice == ProcessPayload {
		if pl, err = g.decide(in); err != nil {
			return err
		}
	}
	s, err := g.begin(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	if pl == nil {
		if err := g.lock(ctx, s, in, []dedup.Ref{ref}); err != nil {
			return err
		}
		return x.rejectPayload(ctx, s)
	}
	if err := g.claim(ctx, s, in, pl); err != nil {
		return err
	}
	claimed := pl
	if err := g.lock(ctx, s, in, in.knownRefs()); err != nil {
		return err
	}
	x.key = in.keys[ref]
	if x.key == nil {
		return errStartAgain
	}
	x.key.Quietly()
	if err := x.checkAlert(ref); err != nil {
		return err
	}
	if _, err := x.payloadOf(x.key); err != nil {
		return err
	}
	open := len(x.undecided(x.key))
	x.facts = factsOf(x.key, x.alert, nil)
	if pl, err = g.decide(in); err != nil {
		return err
	}
	x.pl, x.nextOpen = pl, open > 1
	if err := pl.adopt(s, claimed); err != nil {
		return err
	}
	if pl.closed, err = pl.closeTransportDrifts(); err != nil {
		return err
	}
	if err := g.guard(ctx, s, pl); err != nil {
		return err
	}
	for _, r := range pl.results {
		x.facts.touch([]string{string(r.verdict) + " " + r.keyID()})
	}
	if propose, err := x.secondPerson(); propose || err != nil {
		s.end() // the proposal has a transaction of its own
		if err != nil {
			return err
		}
		return g.propose(ctx, x)
	}
	r, err := g.receipt(pl)
	if err != nil {
		return err
	}
	if err := g.write(ctx, s, pl, r); err != nil {
		return g.blame(ctx, in, pl, s.failed(err))
	}
	if err := x.close(ctx, s, nil); err != nil {
		return err
	}
	return x.done(s.commit(ctx))
}

func (r *result) keyID() string {
	if r.key == nil {
		return ""
	}
	return r.key.ID
}

// rejectPayload: later copies under the id get the stored answer (row T2b).
func (x *deciding) rejectPayload(ctx context.Context, s *session) error {
	x.key = x.in.keys[x.in.key]
	x.key.Quietly()
	if err := x.checkAlert(x.in.key); err != nil {
		return err
	}
	v, err := x.payloadOf(x.key)
	if err != nil {
		return err
	}
	x.nextOpen = len(x.undecided(x.key)) > 1
	x.refused, x.told = []*dedup.Variant{v}, []bool{Answer(v.Answer).positive()}
	v.State = dedup.Refused
	x.key.Touch(v)
	dedup.QueueChanges(s.batch, []*dedup.Key{x.key})
	if err := x.close(ctx, s, nil); err != nil {
		return err
	}
	return x.done(s.commit(ctx))
}
