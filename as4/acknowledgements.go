package as4

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
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
	return outbox.Ended(err, forGood(answer, err, s.Attempts))
}

// otherAttempts are those for which EBMS:0004, "other", may be said of what passes.
const otherAttempts = 12

// forGood reports whether a partner's answer refuses a message however often it comes: an
// error that does not ask for it again, or a status of HTTP that says so where nothing in
// ebMS does.
func forGood(answer *Answered, err error, attempts int) bool {
	refused := (*Refused)(nil)
	switch {
	case errors.As(err, &refused) && refused.other():
		return attempts >= otherAttempts
	case refused != nil:
		return !refused.Again
	}
	return answer != nil && outbox.ForGood(answer.Status)
}

func (a *Acknowledgements) push(ctx context.Context, s *outbox.Step) (*Answered, error) {
	p := a.Partner(s.Partner)
	if p == nil || p.AS4 == nil || p.AS4.URL == "" || p.AS4.Reply.Service == "" {
		return nil, errors.New("the partner's settings name no as4.url and as4.reply any more")
	}
	if err := a.Private(p.AS4.URL); err != nil {
		return nil, err
	}
	var body outbox.AcknowledgementBody
	if err := json.Unmarshal(s.Body, &body); err != nil {
		return nil, fmt.Errorf("acknowledgement %s: %w", s.Event, err)
	}
	kind := "application/EDIFACT"
	if body.Syntax == "X12" {
		kind = "application/EDI-X12"
	}
	payload := Bytes(body.Bytes(), kind)
	payload.Compress = p.AS4.Compression == "gzip"
	c, err := a.compose(ctx, p, s, payload)
	if err != nil {
		return nil, err
	}
	var signers []*x509.Certificate
	for _, c := range p.CertificatesFor(partners.AS4Sign, a.Now()) {
		signers = append(signers, c.X509)
	}
	if len(signers) == 0 && p.AS4.Unsigned == partners.AS4Refuse {
		return nil, errors.New("the partner has no certificate for as4_sign that holds now, by which its receipt could be verified")
	}
	return Sender{HTTP: a.HTTP, SHA1: p.AS4.SHA1 == partners.AS4Accept}.Send(ctx, p.AS4.URL, c, signers)
}

// compose makes the message: From and To of what the partner sends, the other way
// round. Its time is that of the event, so that signing it again gives the same
// references.
func (a *Acknowledgements) compose(ctx context.Context, p *partners.Partner, s *outbox.Step, payload Payload) (*Composed, error) {
	ours, err := a.Signers(ctx, p.Organisation)
	if err != nil {
		return nil, fmt.Errorf("key to sign with: %w", err)
	}
	signing := signingFor(p.AS4, ours)
	if signing == nil && p.AS4.Unsigned == partners.AS4Refuse {
		return nil, errNoKey
	}
	var encrypting *wssec.Encrypting
	switch to := p.CertificatesFor(partners.AS4Encrypt, a.Now()); {
	case len(to) > 0:
		encrypting = &wssec.Encrypting{Recipient: to[0].X509}
	case p.AS4.Unencrypted == partners.AS4Refuse:
		return nil, errors.New("the partner has no certificate for as4_encrypt that holds now")
	}
	u := &UserMessage{
		MPC:         p.AS4.MPC,
		MessageInfo: MessageInfo{Timestamp: s.At, MessageID: s.Event.String() + "@edigw"},
		From:        Party{p.AS4.To.ID, p.AS4.To.Type, orRole(p.AS4.To.Role, InitiatorRole)},
		To:          Party{p.AS4.From.ID, p.AS4.From.Type, orRole(p.AS4.From.Role, ResponderRole)},
		Collaboration: CollaborationInfo{Agreement: Agreement{Value: p.AS4.Agreement, Type: p.AS4.AgreementType},
			Service: p.AS4.Reply.Service, ServiceType: p.AS4.Reply.Type, Action: p.AS4.Reply.Action, ConversationID: s.Event.String()},
	}
	return Compose(u, []Payload{payload}, signing, encrypting)
}

// orRole turns the two roles of the specification round, since whoever sends is the
// initiator; a role of the partner's own stays with it.
func orRole(configured, ours string) string {
	if configured == "" || configured == InitiatorRole || configured == ResponderRole {
		return ours
	}
	return configured
}
