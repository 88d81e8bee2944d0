package as2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

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

	// Of MDNs that come by themselves, outbox.Awaited: Expect keeps what one has to say, Find
	// gives what it is about, and Settle ends that.
	Expect func(ctx context.Context, s *outbox.Step, checks []string) error
	Find   func(ctx context.Context, r outbox.EffectRef) (*outbox.Step, error)
	Settle func(ctx context.Context, s *outbox.Step, said error) error
}

// mdnWait is how long an MDN may take that comes by itself, before the message is sent
// again: others wait for 16 to 30 minutes.
const mdnWait = 30 * time.Minute

// Target makes the target. The Message-ID is made of the event, so that one whose MDN
// was lost is known when it comes again.
func (a *Acknowledgements) Target() outbox.Target {
	return outbox.Target{Name: outbox.AcknowledgementAS2, Send: a.send, First: 5 * time.Second, Most: 15 * time.Minute, Attempts: acknowledgementAttempts,
		Ask: func(context.Context, *outbox.Step) (outbox.Outcome, error) { return outbox.NotDone, nil }}
}

func (a *Acknowledgements) send(ctx context.Context, s *outbox.Step) error {
	err := a.post(ctx, s)
	if errors.Is(err, ErrAwaited) {
		return &outbox.Later{In: mdnWait, Why: err}
	}
	if ctx.Err() != nil {
		return err
	}
	return s.End(err, ending(err))
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
	o := Outgoing{MessageID: s.Event.String() + ourIDs, Type: a.Type(body.Syntax), Filename: body.Type + "-" + body.Reference + ".edi",
		Subject: body.Type + " " + body.Reference, Content: body.Bytes()}
	if a.Expect != nil {
		o.Expect = func(checks []MIC) error {
			text := make([]string, len(checks))
			for i, c := range checks {
				text[i] = c.String()
			}
			return a.Expect(ctx, s, text)
		}
	}
	_, err := a.Sender.Send(ctx, p, o)
	return err
}

// ourIDs is how the Message-IDs of what we send end.
const ourIDs = "@edigw"

// Notify takes an MDN that came by itself: Handler.Notify. It is held against what was
// sent, over whichever connection it came, and counts only if it is signed where a signed
// one was asked for: anybody could post another.
func (a *Acknowledgements) Notify(ctx context.Context, p *partners.Partner, n *Notification, m *Opened) (awaited bool, why, err error) {
	id, _ := ParseMessageID(n.Original)
	text, ours := strings.CutSuffix(id.Plain, ourIDs)
	event, err := uuid.Parse(text)
	if !ours || err != nil {
		return false, nil, nil // of another sender, or of `edigw as2 send`
	}
	s, err := a.Find(ctx, outbox.EffectRef{Partner: p.ID, Event: event, Target: outbox.AcknowledgementAS2})
	if s == nil || err != nil {
		return false, nil, err
	}
	var body outbox.AcknowledgementBody
	if err := json.Unmarshal(s.Body, &body); err != nil {
		return false, nil, fmt.Errorf("acknowledgement %s: %w", s.Event, err)
	}
	var checks []MIC
	for _, text := range body.Checks {
		c, err := ParseMIC(text)
		if err != nil {
			return false, nil, fmt.Errorf("acknowledgement %s: %w", s.Event, err)
		}
		checks = append(checks, c)
	}
	if len(checks) == 0 {
		return false, nil, nil // its MDN was to come in the response
	}
	said := acknowledges(p, n, m.Signed, id.Plain, checks)
	why = said
	switch ending(said) {
	case outbox.Refused:
		said = fmt.Errorf("%w: %w", outbox.ErrFinal, why)
	case outbox.Unexplained:
		said = fmt.Errorf("%w: %w", outbox.ErrUnexplained, why)
	}
	return true, why, a.Settle(ctx, s, said)
}
