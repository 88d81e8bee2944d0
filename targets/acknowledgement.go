package targets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/edigw/edigw/outbox"
)

// Acknowledgements posts functional acknowledgements to the addresses of partners who
// take them so: the interchange as it is, with the media type of RFC 1767, and under
// webhook-id an id that is the same each time, so that one whose answer was lost may
// come again.
type Acknowledgements struct {
	// Address gives where a partner takes them, and the name of the secret that they are
	// signed with, "" for none. The error says why he takes none any more.
	Address func(partner string) (url, secret string, err error)
	Secret  func(name string) (string, error)
	Guard   *Guard
	Now     func() time.Time

	client *http.Client
}

// acknowledgementTime bounds one request.
const acknowledgementTime = 30 * time.Second

// Target makes the target.
func (a *Acknowledgements) Target() outbox.Target {
	a.client = a.Guard.Client(acknowledgementTime)
	return outbox.Target{Name: outbox.AcknowledgementWebhook, Send: a.send, Most: 15 * time.Minute, Attempts: acknowledgementAttempts,
		// What may have arrived may be sent again under the same id.
		Ask: func(context.Context, *outbox.Step) (outbox.Outcome, error) { return outbox.NotDone, nil }}
}

// acknowledgementAttempts at 15 minutes apart are about two days.
const acknowledgementAttempts = 200

func (a *Acknowledgements) send(ctx context.Context, s *outbox.Step) error {
	status, err := a.post(ctx, s)
	if ctx.Err() != nil {
		return err
	}
	return s.End(err, ending(status))
}

// ending says what a status tells of this very acknowledgement. HTTP is all that such a
// partner has to refuse it by, and a proxy before him says the same of bounds of its own.
func ending(status int) outbox.Ending {
	if status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity {
		return outbox.Unexplained
	}
	return outbox.TryOn
}

// post gives the status that was answered; 0 is none.
func (a *Acknowledgements) post(ctx context.Context, s *outbox.Step) (status int, err error) {
	address, secret, err := a.Address(s.Partner)
	if err != nil {
		return 0, err
	}
	s.Toward(withoutQuery(address))
	if err := a.Guard.Private(address); err != nil {
		return 0, err
	}
	var body outbox.AcknowledgementBody
	if err := json.Unmarshal(s.Body, &body); err != nil {
		return 0, fmt.Errorf("acknowledgement %s: %w", s.Event, err)
	}
	var keys [][]byte
	if secret != "" {
		text, err := a.Secret(secret)
		if err != nil {
			return 0, err
		}
		key, err := webhookKey(secret, text)
		if err != nil {
			return 0, err
		}
		keys = [][]byte{key}
	}
	p := posting{url: address, id: s.Event.String(), contentType: MediaType(body.Syntax), at: a.Now(), body: body.Bytes(), keys: keys}
	status, answer, err := p.send(ctx, a.client)
	if err != nil && answer != "" {
		return status, fmt.Errorf("%w: %q", err, answer[:min(len(answer), 100)])
	}
	return status, err
}

// withoutQuery is an address as it may be shown: a query may be a secret, and so may be
// what stands before the host.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// MediaType is that of an interchange of syntax edifact or x12 (RFC 1767 §1).
func MediaType(syntax string) string {
	if syntax == "x12" {
		return "application/EDI-X12"
	}
	return "application/EDIFACT"
}

// ErrNoAddress: the partner takes no acknowledgements over a webhook any more.
var ErrNoAddress = errors.New("the partner's settings name no acknowledge_url any more")
