package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"

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
//
// Anybody can send such deliveries under the partner's name, as many as he likes. They
// meet at one row of the database, so that one of a partner is written at a time, and
// the others wait here, where they hold nothing that its genuine ones need.
func (g *Gateway) refuse(ctx context.Context, d *Delivery) error {
	wait := g.wait()
	in := &intake{Delivery: d, id: g.NewID(), payloadID: g.NewID(), now: g.Now(), mayWait: &wait}
	if g.quarantine.isFull(d.Partner.ID, in.now) {
		return d.beyondQuarantine()
	}
	leave, err := g.turn(ctx, in, refusing)
	if err != nil {
		return err
	}
	defer leave()
	if full, err := g.quarantineIsFull(ctx, in); err != nil {
		return err
	} else if full { // while it waited, or by another process
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
	var kept journal.Refused
	journal.QueueRefusedToday(s.batch, d.Partner.ID, quarantineRows, func(r journal.Refused) { kept = r })
	if err := s.flush(ctx); err != nil {
		return fmt.Errorf("wait for the quarantine of %s: %w", d.Partner.ID, err)
	}
	if err := s.point(ctx, "refuse"); err != nil {
		return err
	}
	if kept.Rows >= quarantineRows {
		g.quarantine.fill(d.Partner.ID, kept.Day)
		return d.beyondQuarantine()
	}
	row := in.refusedRow()
	if d.Payload != nil {
		if body, ok := d.Payload.InMemory(); ok && kept.Bytes+row.Bytes <= quarantineBytes {
			row.Payload, row.PayloadIn = &in.payloadID, &row.Month
			journal.QueuePayload(s.batch, d.Partner.ID, in.payloadID, row.Month, body)
			if err := journal.QueueEvidence(s.batch, []*journal.Evidence{{Partner: d.Partner.ID, Payload: in.payloadID, Month: row.Month, Exhibits: d.Evidence}}); err != nil {
				return err
			}
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

// quarantineIsFull asks without a lock, in memory first.
func (g *Gateway) quarantineIsFull(ctx context.Context, in *intake) (bool, error) {
	if g.quarantine.isFull(in.Partner.ID, in.now) {
		return true, nil
	}
	kept, err := journal.RefusedToday(ctx, g.Pool, in.Partner.ID, quarantineRows)
	if err != nil || kept.Rows < quarantineRows {
		return false, err
	}
	g.quarantine.fill(in.Partner.ID, kept.Day)
	return true, nil
}

// refusedRow is the journal's row of a delivery that could not be opened.
func (in *intake) refusedRow() *journal.Delivery {
	d := in.Delivery
	row := &journal.Delivery{Partner: d.Partner.ID, ID: in.id, Month: month(in.now, d.Partner, d.Partner.Retention.Quarantine), Received: in.now, Transport: d.Transport,
		TransportID: d.TransportID, Verdict: "refused", Outcome: d.Fault.Reason, Status: d.refusedBy(),
		Remote: d.Remote, Filename: d.Filename, Detail: d.Fault.Detail, Signer: d.Signer}
	if d.Payload != nil {
		row.Bytes, row.SHA256 = d.Payload.Size(), d.SHA256[:]
	}
	return row
}

// quarantine remembers whose cap of lines is reached, until the day of the database
// ends: what is refused beyond it needs nothing of the database. The zero value works.
type quarantine struct {
	mu   sync.Mutex
	full map[string]time.Time // the day, by partner: these are as many as are configured
}

func (q *quarantine) fill(partner string, day time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.full == nil {
		q.full = map[string]time.Time{}
	}
	q.full[partner] = day
}

func (q *quarantine) isFull(partner string, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	day, ok := q.full[partner]
	return ok && now.UTC().Truncate(24*time.Hour).Equal(day)
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
