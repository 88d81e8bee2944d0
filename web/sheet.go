package web

import (
	"context"
	"crypto/x509"
	"net/http"
	"slices"
	"time"

	"github.com/edigw/edigw/partners"
)

// Front is what partners see of the gateway, for the sheet that is sent to one.
type Front struct {
	URL         func() string            // of the ingress, as partners reach it
	Certificate func() *x509.Certificate // that it shows; nil without TLS, or where a proxy ends it
	MaxBody     int64                    // bytes
	Keys        func(ctx context.Context, organisation string) ([]SheetKey, error)
}

// SheetKey is a certificate of ours for partners: of a key that is in use, or that
// signs from a day on that has been said. Partners may encrypt to it at once.
type SheetKey struct {
	Label       string    `json:"label"`
	Purposes    []string  `json:"purposes"`
	Fingerprint string    `json:"sha256_fingerprint"`
	From        time.Time `json:"use_from"`
	Until       time.Time `json:"use_until"`
	PEM         string    `json:"pem"`
}

// sheet is what a partner has to know to connect.
type sheet struct {
	Partner      string                `json:"partner"`
	Name         string                `json:"name"`
	State        string                `json:"state"`
	Organisation sheetOrganisation     `json:"organisation"`
	URL          string                `json:"url"`
	AS4          *SheetAS4             `json:"as4,omitempty"`
	Server       *sheetServer          `json:"server_certificate,omitempty"`
	Credentials  string                `json:"credentials"`
	Tokens       []sheetToken          `json:"tokens"`
	Certificates []sheetCertificate    `json:"certificates"`
	Ours         []SheetKey            `json:"our_certificates"`
	Identifiers  []partners.Identifier `json:"identifiers"`
	SpeaksFor    []string              `json:"speaks_for"`
	Types        []string              `json:"types"`
	Told         sheetAnswers          `json:"acknowledgements"`
	Limits       sheetLimits           `json:"limits"`
	AS2          *SheetAS2             `json:"as2,omitempty"` // nil where the partner does not send over it
}

type sheetOrganisation struct {
	ID          string                `json:"id"`
	Name        string                `json:"name"`
	Identifiers []partners.Identifier `json:"identifiers"`
}

type sheetServer struct {
	Subject     string    `json:"subject"`
	Fingerprint string    `json:"sha256_fingerprint"`
	Until       time.Time `json:"valid_until"`
}

type sheetToken struct {
	Label   string     `json:"label"`
	Expires *time.Time `json:"expires_at,omitempty"`
}

type sheetCertificate struct {
	Label       string    `json:"label"`
	Purposes    []string  `json:"purposes"`
	Fingerprint string    `json:"sha256_fingerprint"`
	From        time.Time `json:"use_from"`
	Until       time.Time `json:"use_until"`
	Pin         string    `json:"pin"`
}

type sheetAnswers struct {
	By         string `json:"acknowledge_by"`
	Functional string `json:"functional_acknowledgement"`
	TA1        string `json:"ta1"`
	Receipt    int    `json:"receipt_action"`
	Acceptance string `json:"acceptance"`

	// Refusing are the findings in documents that refuse a message, by their codes, beside
	// those that always do.
	Refusing []string `json:"refusing"`
}

type sheetLimits struct {
	Bytes     int64 `json:"max_body_bytes"`
	RetryDays int   `json:"retry_window_days"`
	KnownDays int   `json:"dedup_window_days"`
	Share     int   `json:"share_percent"`
}

// partnerSheet gives the sheet, as of now.
func (c *call) partnerSheet() error {
	id, err := c.path("partner")
	if err != nil {
		return err
	}
	p, err := c.api.Partners.Get(c.ctx(), id)
	if err != nil {
		return err
	}
	organisations, err := c.api.Partners.Organisations(c.ctx())
	if err != nil {
		return err
	}
	tokens, err := c.api.Partners.Tokens(c.ctx(), id)
	if err != nil {
		return err
	}
	front := c.api.Front
	s := sheet{
		Partner: p.ID, Name: p.Name, State: itemOf(p).State, URL: front.URL() + "/in/" + p.ID, Credentials: p.Credentials,
		Identifiers: append([]partners.Identifier{}, p.Identifiers...), SpeaksFor: append([]string{}, p.SpeaksFor...), Types: append([]string{}, p.Types...),
		Tokens: []sheetToken{}, Certificates: []sheetCertificate{}, Ours: []SheetKey{},
		Told: sheetAnswers{By: p.Policy.Acknowledge, Functional: orWord(p.Policy.Form, "by_version"), TA1: orWord(p.Policy.TA1, "requested"),
			Receipt: int(p.Policy.ReceiptAction), Acceptance: p.Policy.Acceptance, Refusing: append([]string{}, p.Policy.Checks.Refusing()...)},
		Limits: sheetLimits{front.MaxBody, daysOf(p.Retention.RetryWindow), daysOf(p.Retention.DedupWindow), p.Share},
	}
	if i := slices.IndexFunc(organisations, func(o partners.OrganisationSpec) bool { return o.ID == p.Organisation }); i >= 0 {
		o := organisations[i]
		s.Organisation = sheetOrganisation{o.ID, o.Name, append([]partners.Identifier{}, o.Identifiers...)}
		s.AS2 = overAS2(p, o.AS2.Names, front.URL())
	}
	s.AS4 = overAS4(p, front.URL())
	if cert := front.Certificate(); cert != nil {
		s.Server = &sheetServer{cert.Subject.String(), partners.Fingerprint(cert), cert.NotAfter.UTC()}
	}
	now := time.Now()
	for _, t := range tokens {
		if t.Revoked == nil && (t.Expires == nil || t.Expires.After(now)) {
			s.Tokens = append(s.Tokens, sheetToken{t.Label, t.Expires})
		}
	}
	for _, cert := range p.Certificates {
		if from, until := cert.Window(); cert.X509 != nil && until.After(now) {
			pin := "certificate"
			if cert.PinsKey {
				pin = "key"
			}
			s.Certificates = append(s.Certificates, sheetCertificate{cert.Label, cert.Purposes, partners.Fingerprint(cert.X509), from.UTC(), until.UTC(), pin})
		}
	}
	ours, err := front.Keys(c.ctx(), p.Organisation)
	if err != nil {
		return err
	}
	s.Ours = append(s.Ours, ours...)
	return c.reply(http.StatusOK, s)
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

func daysOf(d time.Duration) int { return int(d / (24 * time.Hour)) }
