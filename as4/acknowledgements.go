package as4

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// Acknowledgements send functional acknowledgements to partners that take them over
// AS4: each is a message of ours, under a MessageId that is the same however often it
// is sent, until its receipt is there.
type Acknowledgements struct {
	Partner func(id string) *partners.Partner
	Type    func(syntax string) string // the media type of a syntax: targets.MediaType
	// Signers give what an organisation of ours signs with, the key whose use began last
	// first; none where it has none.
	Signers func(ctx context.Context, organisation string) ([]*wssec.Signing, error)
	// Private fails where an address may not be sent to: targets.Guard.Private.
	Private func(address string) error
	HTTP    *http.Client
	Now     func() time.Time
}

// acknowledgementAttempts at 15 minutes apart are about two days.
const acknowledgementAttempts = 200

// Target makes the target.
func (a *Acknowledgements) Target() outbox.Target {
	return outbox.Target{Name: outbox.AcknowledgementAS4, Send: a.send, Most: 15 * time.Minute, Attempts: acknowledgementAttempts,
		// What may have arrived may be sent again under the same MessageId.
		Ask: func(context.Context, *outbox.Step) (outbox.Outcome, error) { return outbox.NotDone, nil }}
}

func (a *Acknowledgements) send(ctx context.Context, s *outbox.Step) error {
	answer, err := a.push(ctx, s)
	if ctx.Err() != nil {
		return err
	}
	return s.End(err, endingOf(answer, err))
}

func (a *Acknowledgements) push(ctx context.Context, s *outbox.Step) (*Answered, error) {
	p := a.Partner(s.Partner)
	if p == nil {
		return nil, fmt.Errorf("%w: there is no partner %s", ErrNotConfigured, s.Partner)
	}
	var body outbox.AcknowledgementBody
	if err := json.Unmarshal(s.Body, &body); err != nil {
		return nil, fmt.Errorf("acknowledgement %s: %w", s.Event, err)
	}
	payload := Bytes(body.Bytes(), a.Type(body.Syntax))
	payload.Compress = p.AS4 != nil && p.AS4.Compression == "gzip"
	c, signers, err := Pusher{a.Signers, a.Now}.Compose(ctx, p, Outgoing{MessageID: s.Event.String() + "@edigw", At: s.At, Conversation: s.Event.String(), Payloads: []Payload{payload}})
	if err != nil {
		return nil, err
	}
	if err := a.Private(p.AS4.URL); err != nil {
		return nil, err
	}
	return Sender{HTTP: a.HTTP, SHA1: p.AS4.SHA1 == partners.AS4Accept}.Send(ctx, p.AS4.URL, c, signers)
}
