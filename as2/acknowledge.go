package as2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// acknowledgementAttempts at up to 15 minutes apart are about two days.
const acknowledgementAttempts = 200

// Acknowledgements sends functional acknowledgements to partners who take them over AS2:
// acknowledge_by: as2.
type Acknowledgements struct {
	Sender  *Sender
	Partner func(id string) *partners.Partner
	Type    func(syntax string) string // the media type of a syntax: targets.MediaType
}

// Target makes the target. The Message-ID is made of the event, so that one whose MDN
// was lost is known when it comes again.
func (a *Acknowledgements) Target() outbox.Target {
	return outbox.Target{Name: outbox.AcknowledgementAS2, Send: a.send, First: 5 * time.Second, Most: 15 * time.Minute, Attempts: acknowledgementAttempts,
		Ask: func(context.Context, *outbox.Step) (outbox.Outcome, error) { return outbox.NotDone, nil }}
}

func (a *Acknowledgements) send(ctx context.Context, s *outbox.Step) error {
	err := a.post(ctx, s)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, ErrRefused):
		return fmt.Errorf("%w: %w", outbox.ErrFinal, err)
	}
	return fmt.Errorf("%w: %w", outbox.ErrNotDone, err)
}

func (a *Acknowledgements) post(ctx context.Context, s *outbox.Step) error {
	var body outbox.AcknowledgementBody
	if err := json.Unmarshal(s.Body, &body); err != nil {
		return fmt.Errorf("acknowledgement %s: %w", s.Event, err)
	}
	p := a.Partner(s.Partner)
	if p == nil {
		return fmt.Errorf("%w: there is no partner %s", ErrNotConfigured, s.Partner)
	}
	_, err := a.Sender.Send(ctx, p, Outgoing{MessageID: s.Event.String() + "@edigw", Type: a.Type(body.Syntax), Filename: body.Type + "-" + body.Reference + ".edi",
		Subject: body.Type + " " + body.Reference, Content: body.Bytes()})
	return err
}
