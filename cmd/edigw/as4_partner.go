package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
	"github.com/edigw/edigw/targets"
)

// toPartner makes the message that the gateway would send to a partner: with our keys,
// out of the database. What is not as agreed with the partner is not sent.
func (c *as4Send) toPartner(a *app) (m *as4Prepared, err error) {
	if flag := c.ofNoPartner(); flag != "" {
		return nil, usage("%s is for a message without --partner, whose settings have it", flag)
	}
	if err := c.ids(); err != nil {
		return nil, err
	}
	guard, err := targets.NewGuard(c.AllowTargets)
	if err != nil {
		return nil, usage("--allow-targets: %v", err)
	}
	service := partners.AS4Service{Service: c.Service, Type: c.ServiceType, Action: c.Action}
	if c.Ping {
		service = partners.AS4Service{Service: as4.TestService, Action: as4.TestAction}
	}
	err = c.with(a, func(store *keys.Store) error {
		p, ring, err := partnerOf(a, store, c.Partner)
		if err != nil {
			return err
		}
		if p.AS4 != nil && c.URL != "" {
			other := *p.AS4
			other.URL = c.URL
			p.AS4 = &other
		}
		payloads, err := c.payloads(a, p.AS4 != nil && p.AS4.Compression == "gzip")
		if err != nil {
			return err
		}
		composed, signers, err := as4.Pusher{Signers: keyring{ring, time.Now}.as4Signers, Now: time.Now}.Compose(a.ctx, p,
			as4.Outgoing{MessageID: c.MessageID, At: time.Now(), Conversation: c.Conversation, Service: service, Payloads: payloads})
		if err != nil {
			return err
		}
		if err := guard.Private(p.AS4.URL); err != nil {
			return err
		}
		m = &as4Prepared{p.AS4.URL, composed, signers, as4.Sender{HTTP: c.patient(guard.Client(0).Transport.(*http.Transport)), SHA1: p.AS4.SHA1 == partners.AS4Accept}}
		return signedByHand(a, store, "as4.sent", p.ID, m.url, c.MessageID)
	})
	return m, err
}

// ofNoPartner gives the first flag of a message without --partner that was given.
func (c *as4Send) ofNoPartner() string {
	for _, f := range []struct{ flag, value string }{
		{"--from", c.From}, {"--from-type", c.FromType}, {"--from-role", c.FromRole}, {"--to", c.To}, {"--to-type", c.ToType}, {"--to-role", c.ToRole},
		{"--agreement", c.Agreement}, {"--key", c.Key}, {"--key-password-file", c.KeyPass}, {"--token-reference", c.Token}, {"--encrypt-to", c.EncryptTo}, {"--signer", c.Signer},
	} {
		if f.value != "" {
			return f.flag
		}
	}
	if !c.Compress {
		return "--no-compress"
	}
	return ""
}

// partnerOf gives a partner as it is configured, and our keys.
func partnerOf(a *app, store *keys.Store, id string) (*partners.Partner, *keys.Ring, error) {
	directory := &partners.Directory{Store: &partners.Store{Pool: store.Pool}}
	if err := directory.Load(a.ctx); err != nil {
		return nil, nil, err
	}
	p := directory.Partner(id)
	if p == nil {
		return nil, nil, fmt.Errorf("there is no partner %s", id)
	}
	ring := &keys.Ring{Store: store}
	return p, ring, ring.Load(a.ctx)
}

// signedByHand writes into the audit log, before it leaves, that a person had something
// signed with our keys and sent.
func signedByHand(a *app, store *keys.Store, action, partner, address, messageID string) error {
	detail, err := json.Marshal(map[string]string{"message_id": messageID, "address": address})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(a.ctx, store.Pool, func(tx pgx.Tx) error {
		return (&accounts.Store{Pool: store.Pool}).Audit(a.ctx, tx, accounts.Entry{Who: keyboard(), Role: accounts.Admin, Action: action, Subject: partner, Partner: partner, Detail: detail})
	})
}
