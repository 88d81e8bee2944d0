package web

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/partners"
)

// maxTrial bounds a payload that is tried, with its base64, in bytes.
const maxTrial = 8 << 20

// trial is what would happen with a payload, or a certificate, of a partner.
type trial struct {
	Payload     []byte `json:"payload"`     // base64
	MessageID   string `json:"message_id"`  // Idempotency-Key, if it would be sent under one
	Certificate string `json:"certificate"` // PEM, or DER in base64
}

// tried is the answer to a trial; nothing of it was done.
type tried struct {
	Partner     string            `json:"partner"`
	State       string            `json:"state"`
	Certificate *triedCertificate `json:"certificate,omitempty"`
	Delivery    *triedDelivery    `json:"delivery,omitempty"`
}

type triedCertificate struct {
	Subject     string         `json:"subject"`
	Fingerprint string         `json:"sha256_fingerprint"`
	KeyPin      string         `json:"key_sha256"` // of its SubjectPublicKeyInfo, base64
	From        time.Time      `json:"valid_from"`
	Until       time.Time      `json:"valid_until"`
	Purposes    []triedPurpose `json:"purposes"`
}

type triedPurpose struct {
	Purpose string `json:"purpose"`
	Taken   bool   `json:"taken"`
	Label   string `json:"label,omitempty"` // of the partner's certificate that it is
	Reason  string `json:"reason,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

type triedDelivery struct {
	Status  int             `json:"status"` // of plain HTTP
	Verdict gateway.Verdict `json:"verdict,omitempty"`
	Outcome string          `json:"outcome"`
	Rules   []string        `json:"rules,omitempty"`   // rows of the outcome table
	Detail  string          `json:"detail,omitempty"`  // where it would be refused without a key
	Receipt json.RawMessage `json:"receipt,omitempty"` // what the partner would be told; its ids are made up
	AS2     *TriedAS2       `json:"as2,omitempty"`     // of a partner who has names there
}

// TriedAS2 is what a partner would see over AS2.
type TriedAS2 struct {
	Steps       []string `json:"steps,omitempty"`       // what was done, and found, in words
	Disposition string   `json:"disposition,omitempty"` // of the MDN
	Signed      bool     `json:"mdn_signed"`
	Errors      []string `json:"errors,omitempty"` // of the MDN
	Sound       bool     `json:"sound"`            // the MDN is positive, and has the check of what was sent
	Failure     string   `json:"failure,omitempty"`
}

// tryPartner says what would happen, and does nothing. A payload is judged as if
// it came from the partner over plain HTTP at this moment.
func (c *call) tryPartner() error {
	id, err := c.path("partner")
	if err != nil {
		return err
	}
	var asked trial
	if err := c.decodeUpTo(maxTrial, &asked); err != nil {
		return err
	}
	if len(asked.Payload) == 0 && asked.Certificate == "" {
		return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "there is nothing to try: send a payload, a certificate or both"}
	}
	p, err := c.api.Partners.Get(c.ctx(), id)
	if err != nil {
		return err
	}
	answer := tried{Partner: p.ID, State: itemOf(p).State}
	if asked.Certificate != "" {
		cert, err := partners.ParseCertificate([]byte(asked.Certificate))
		if err != nil {
			return &problem{Status: http.StatusUnprocessableEntity, Type: "not-as-asked", Detail: "certificate: " + err.Error()}
		}
		answer.Certificate = tryCertificate(p, cert, time.Now())
	}
	if len(asked.Payload) > 0 {
		if answer.Delivery, err = c.tryPayload(p, asked); err != nil {
			return err
		}
	}
	return c.reply(http.StatusOK, answer)
}

func tryCertificate(p *partners.Partner, cert *x509.Certificate, now time.Time) *triedCertificate {
	t := &triedCertificate{Subject: cert.Subject.String(), Fingerprint: partners.Fingerprint(cert), KeyPin: partners.KeyPin(cert),
		From: cert.NotBefore.UTC(), Until: cert.NotAfter.UTC()}
	for _, purpose := range partners.Purposes {
		line := triedPurpose{Purpose: purpose}
		if found, err := p.Recognises(cert, purpose, now); err != nil {
			line.Reason, line.Detail = partners.WhyNot(err), err.Error()
		} else {
			line.Taken, line.Label = true, found.Label
		}
		t.Purposes = append(t.Purposes, line)
	}
	return t
}

func (c *call) tryPayload(p *partners.Partner, asked trial) (*triedDelivery, error) {
	if !p.Active { // it would not get in
		return &triedDelivery{Status: http.StatusUnauthorized, Outcome: "refused", Detail: "the partner is paused: whatever it sends is refused"}, nil
	}
	r, err := c.api.Foresee(c.ctx(), p, asked.MessageID, asked.Payload)
	if no := (*gateway.Rejection)(nil); errors.As(err, &no) {
		told := no.Answer.Told()
		return &triedDelivery{Status: told.HTTP, Outcome: told.Word, Detail: no.Detail}, nil
	}
	if err != nil {
		return nil, err
	}
	d := &triedDelivery{Status: r.Rendered.Status, Verdict: r.Verdict, Outcome: r.Answer.Told().Word, Rules: r.Rules, Receipt: r.Rendered.Body}
	if r.Repeat && d.Status == http.StatusCreated {
		d.Status = http.StatusOK
	}
	if c.api.TryAS2 != nil && len(p.AS2.Names) > 0 {
		if d.AS2, err = c.api.TryAS2(c.ctx(), p, asked.Payload); err != nil {
			return nil, err
		}
	}
	return d, nil
}
