package gateway

import (
	"context"
	"fmt"

	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/outbox"
)

// What of deliveries that fail verification under a known name is kept for one
// partner and day, so that onboarding can be debugged and nobody can fill the
// disk.
const (
	quarantineRows  = 1000
	quarantineBytes = 64 << 20
)

// refuse journals a delivery that could not be opened, within the partner's cap,
// and gives its fault back. No key is made: the genuine message is still First.
func (g *Gateway) refuse(ctx context.Context, d *Delivery) error {
	wait := g.wait()
	in := &intake{Delivery: d, id: g.NewID(), payloadID: g.NewID(), now: g.Now(), mayWait: &wait}
	leave, err := g.turn(ctx, in, lookUp)
	if err != nil {
		return err
	}
	defer leave()
	keep := d.Partner.Retention.Quarantine
	row := &journal.Delivery{Partner: d.Partner.ID, ID: in.id, Month: month(in.now, d.Partner, keep), Received: in.now, Transport: d.Transport,
		TransportID: d.TransportID, Verdict: "refused", Outcome: d.Fault.Reason, Status: d.refusedBy(),
		Remote: d.Remote, Filename: d.Filename, Detail: d.Fault.Detail}
	if d.Payload != nil {
		row.Bytes, row.SHA256 = d.Payload.Size(), d.SHA256[:]
	}
	if rows, _, err := journal.RefusedToday(ctx, g.Pool, d.Partner.ID); err != nil {
		return err
	} else if rows >= quarantineRows {
		return d.beyondQuarantine()
	}
	elsewhere, err := g.refuseElsewhere(in)
	if err != nil {
		return err
	}
	s, err := g.begin(ctx)
	if err != nil {
		return err
	}
	defer s.end()
	rows, bytes := 0, int64(0)
	journal.QueueRefusedToday(s.batch, d.Partner.ID, func(r int, b int64) { rows, bytes = r, b })
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("wait for the quarantine of %s: %w", d.Partner.ID, err)
	}
	if rows >= quarantineRows {
		return d.beyondQuarantine()
	}
	if d.Payload != nil {
		if body, ok := d.Payload.InMemory(); ok && bytes+row.Bytes <= quarantineBytes {
			row.Payload, row.PayloadIn = &in.payloadID, &row.Month
			journal.QueuePayload(s.batch, d.Partner.ID, in.payloadID, row.Month, body)
		}
	}
	journal.QueueDeliveries(s.batch, []*journal.Delivery{row})
	if err := outbox.QueueEvents(s.batch, elsewhere); err != nil {
		return err
	}
	if err := s.commit(ctx); err != nil {
		return fmt.Errorf("journal a refused delivery: %w", err)
	}
	return d.Fault
}

// beyondQuarantine is the fault of a delivery that is not kept any more, and whose answer
// is brought nowhere.
func (d *Delivery) beyondQuarantine() error {
	d.Elsewhere = nil
	return d.Fault
}

// refusedBy is the status that the sender of a fault is told.
func (d *Delivery) refusedBy() int16 {
	if d.Refusal == nil {
		return int16(d.Fault.Answer.Told().HTTP)
	}
	return int16(d.Refusal(d.Fault))
}

// refuseElsewhere makes what has the answer to a refused delivery brought to where its
// sender wants it: a row beside the journal's, within the same cap.
func (g *Gateway) refuseElsewhere(in *intake) ([]outbox.Event, error) {
	if in.Elsewhere == nil || in.Render == nil {
		return nil, nil
	}
	r := &Receipt{Partner: in.Partner.ID, MessageID: in.messageID(), SHA256: in.SHA256, Answer: in.Fault.Answer}
	var err error
	if r.Rendered, err = in.Render(r); err != nil {
		return nil, fmt.Errorf("render the answer to a refused delivery: %w", err)
	}
	e := g.receiptDue(in, r)
	if e == nil {
		return nil, nil
	}
	return []outbox.Event{*e}, nil
}
