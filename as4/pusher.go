package as4

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/partners"
)

// Pusher makes the messages that we send to partners, as their settings say: with our
// keys, to their certificates.
type Pusher struct {
	// Signers give what an organisation of ours signs with, the key whose use began last
	// first; none where it has none.
	Signers func(ctx context.Context, organisation string) ([]*wssec.Signing, error)
	Now     func() time.Time
}

// Outgoing is what is to be sent to a partner.
type Outgoing struct {
	MessageID    string
	At           time.Time // eb:Timestamp: the same on each try, so that signing again gives the same references
	Conversation string
	Service      partners.AS4Service // without a service: the partner's as4.reply
	Payloads     []Payload
}

// ErrNotConfigured: the partner's settings do not say how to send, or a certificate or
// key is missing.
var ErrNotConfigured = errors.New("sending over AS4 is not configured")

// Compose makes the message, From and To of what the partner sends the other way round,
// and gives the certificates one of which has to have signed its receipt; none where it
// need not be signed. The error wraps ErrNotConfigured, or is ours.
func (s Pusher) Compose(ctx context.Context, p *partners.Partner, o Outgoing) (*Composed, []*x509.Certificate, error) {
	lacks := func(what string) error { return fmt.Errorf("%w: partner %s has no %s", ErrNotConfigured, p.ID, what) }
	if p.AS4 == nil {
		return nil, nil, lacks("as4.profile")
	}
	service := o.Service
	if service.Service == "" {
		service = p.AS4.Reply
	}
	switch {
	case p.AS4.URL == "":
		return nil, nil, lacks("as4.url to send to")
	case service.Service == "":
		return nil, nil, lacks("as4.reply to send it as")
	}
	ours, err := s.Signers(ctx, p.Organisation)
	if err != nil {
		return nil, nil, fmt.Errorf("key to sign with: %w", err)
	}
	signing := signingFor(p.AS4, ours)
	if signing == nil && p.AS4.Unsigned == partners.AS4Refuse {
		return nil, nil, fmt.Errorf("%w: organisation %s: %w", ErrNotConfigured, p.Organisation, errNoKey)
	}
	var encrypting *wssec.Encrypting
	switch to := p.CertificatesFor(partners.AS4Encrypt, s.Now()); {
	case len(to) > 0:
		encrypting = &wssec.Encrypting{Recipient: to[0].X509}
	case p.AS4.Unencrypted == partners.AS4Refuse && len(o.Payloads) > 0:
		return nil, nil, lacks("certificate for as4_encrypt that holds now")
	}
	var signers []*x509.Certificate
	for _, c := range p.CertificatesFor(partners.AS4Sign, s.Now()) {
		signers = append(signers, c.X509)
	}
	if len(signers) == 0 && p.AS4.Unsigned == partners.AS4Refuse {
		return nil, nil, lacks("certificate for as4_sign that holds now, by which its receipt could be verified")
	}
	u := &UserMessage{
		MPC:         p.AS4.MPC,
		MessageInfo: MessageInfo{Timestamp: o.At, MessageID: o.MessageID},
		From:        Party{p.AS4.To.ID, p.AS4.To.Type, orRole(p.AS4.To.Role, InitiatorRole)},
		To:          Party{p.AS4.From.ID, p.AS4.From.Type, orRole(p.AS4.From.Role, ResponderRole)},
		Collaboration: CollaborationInfo{Agreement: Agreement{Value: p.AS4.Agreement, Type: p.AS4.AgreementType},
			Service: service.Service, ServiceType: service.Type, Action: service.Action, ConversationID: cmp.Or(o.Conversation, o.MessageID)},
	}
	c, err := Compose(u, o.Payloads, signing, encrypting)
	return c, signers, err
}

// orRole turns the two roles of the specification round, since whoever sends is the
// initiator; a role of the partner's own stays with it.
func orRole(configured, ours string) string {
	if configured == "" || configured == InitiatorRole || configured == ResponderRole {
		return ours
	}
	return configured
}
