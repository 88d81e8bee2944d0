package gateway

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/outbox"
)

// Elsewhere is where an answer goes that does not travel in the response: an
// asynchronous MDN. It is a row of the outbox, written in the transaction that it tells
// of.
type Elsewhere struct {
	Type    string // of the receipt: MDN
	Target  string // outbox target that brings it
	Address string // where the sender wants it
}

// receiptDue is the outbox row that brings the delivery's receipt; nil where it travels
// in the response, or there is none since the sender has to come again.
func (g *Gateway) receiptDue(in *intake, r *Receipt) *outbox.Event {
	signal, _ := r.Signal()
	if in.Elsewhere == nil || signal == SignalTryAgain {
		return nil
	}
	body := outbox.ReceiptBody{Type: in.Elsewhere.Type, MessageID: r.MessageID, Address: in.Elsewhere.Address, ContentType: r.Rendered.ContentType, Content: r.Rendered.Body}
	for _, f := range r.Rendered.Fields {
		body.Fields = append(body.Fields, [2]string{f.Name, f.Value})
	}
	return &outbox.Event{Partner: in.Partner.ID, ID: g.NewID(), Month: month(in.now, in.Partner, in.Partner.Retention.Acknowledgements),
		Kind: outbox.KindAcknowledgement, Type: outbox.ReceiptDue, Subject: in.Partner.ID + "/" + r.MessageID, Targets: []string{in.Elsewhere.Target}, Data: body,
		Acknowledges: &outbox.Acknowledgement{Type: in.Elsewhere.Type, By: in.Transport, MessageID: r.MessageID, SHA256: in.SHA256, Binding: in.Binding}}
}

// sendElsewhere has the receipt brought to where the sender wants it. A retry says that
// he has none yet, whatever his server answered: the one that fits it is sent again.
func (g *Gateway) sendElsewhere(ctx context.Context, s *session, pl *plan, r *Receipt) error {
	e := g.receiptDue(pl.in, r)
	if e == nil {
		return nil
	}
	if pl.answered {
		return outbox.QueueEvents(s.batch, []outbox.Event{*e})
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	return outbox.SendReceiptAgain(ctx, s.conn, *e)
}

// repeatElsewhere is sendElsewhere for a plain repeat, which leaves no other row.
func (g *Gateway) repeatElsewhere(ctx context.Context, in *intake, r *Receipt) error {
	e := g.receiptDue(in, r)
	if e == nil {
		return nil
	}
	if err := pgx.BeginFunc(ctx, g.Pool, func(tx pgx.Tx) error { return outbox.SendReceiptAgain(ctx, tx, *e) }); err != nil {
		return fmt.Errorf("send the receipt of %s again: %w", r.MessageID, err)
	}
	return nil
}
