package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
	"github.com/edigw/edigw/web"
)

// front is what partners see of this gateway; the listeners come later.
func (s *started) front(c *serveCommand, store *keys.Store) web.Front {
	return web.Front{
		URL: func() string {
			if c.PublicURL != "" {
				return strings.TrimRight(c.PublicURL, "/")
			}
			return s.access.Ingress
		},
		Certificate: func() *x509.Certificate {
			if s.ingress == nil || s.ingress.pair == nil {
				return nil
			}
			pair, err := s.ingress.pair.get(nil)
			if err != nil {
				return nil // it always gives the last good one
			}
			return pair.Leaf
		},
		MaxBody: c.MaxBody,
		Keys: func(ctx context.Context, organisation string) ([]web.SheetKey, error) {
			list, err := store.List(ctx)
			if err != nil {
				return nil, err
			}
			var ours []web.SheetKey
			for _, k := range list {
				now := time.Now()
				if k.Organisation != organisation || k.Retired != nil || !now.Before(k.End()) {
					continue
				}
				told := []*keys.Certificate{k.Present(now)}
				if next := k.Next(now); next != nil && next != told[0] {
					told = append(told, next)
				}
				for _, c := range told {
					var b bytes.Buffer
					for _, cert := range c.Chain {
						if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}); err != nil {
							return nil, err
						}
					}
					from, until := c.Window()
					if k.From.After(from) {
						from = k.From
					}
					if k.Until != nil && k.Until.Before(until) {
						until = *k.Until
					}
					ours = append(ours, web.SheetKey{Label: k.Label, Purposes: k.Purposes, Fingerprint: partners.Fingerprint(c.Leaf()), From: from.UTC(), Until: until.UTC(), PEM: b.String()})
				}
			}
			return ours, nil
		},
	}
}

type partnersSheet struct {
	Partner string `arg:"" help:"The partner's id."`
	Output  string `short:"o" enum:"markdown,json" default:"markdown" help:"markdown or json."`
	connection
}

// sheetTold is what the API says of it.
type sheetTold struct {
	Partner      string `json:"partner"`
	Name         string `json:"name"`
	Organisation struct {
		Name        string                `json:"name"`
		Identifiers []partners.Identifier `json:"identifiers"`
	} `json:"organisation"`
	URL    string `json:"url"`
	Server *struct {
		Subject     string    `json:"subject"`
		Fingerprint string    `json:"sha256_fingerprint"`
		Until       time.Time `json:"valid_until"`
	} `json:"server_certificate"`
	AS4         *web.SheetAS4 `json:"as4"`
	Credentials string        `json:"credentials"`
	Tokens      []struct {
		Label   string     `json:"label"`
		Expires *time.Time `json:"expires_at"`
	} `json:"tokens"`
	Certificates []struct {
		Label       string    `json:"label"`
		Purposes    []string  `json:"purposes"`
		Fingerprint string    `json:"sha256_fingerprint"`
		From        time.Time `json:"use_from"`
		Until       time.Time `json:"use_until"`
		Pin         string    `json:"pin"`
	} `json:"certificates"`
	Ours        []web.SheetKey        `json:"our_certificates"`
	Identifiers []partners.Identifier `json:"identifiers"`
	SpeaksFor   []string              `json:"speaks_for"`
	Types       []string              `json:"types"`
	Told        struct {
		By         string `json:"acknowledge_by"`
		Functional string `json:"functional_acknowledgement"`
		TA1        string `json:"ta1"`
		Receipt    int    `json:"receipt_action"`
		Acceptance string `json:"acceptance"`

		Refusing []string `json:"refusing"`
	} `json:"acknowledgements"`
	Limits struct {
		Bytes     int64 `json:"max_body_bytes"`
		RetryDays int   `json:"retry_window_days"`
		KnownDays int   `json:"dedup_window_days"`
	} `json:"limits"`
	AS2 *web.SheetAS2 `json:"as2"`
}

func (c *partnersSheet) Run(a *app) error {
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var s sheetTold
	body, err := api.ask(a, http.MethodGet, "/partners/"+url.PathEscape(c.Partner)+"/sheet", nil, nil, &s)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		return a.rawJSON(body)
	}
	_, err = a.stdout.Write([]byte(s.markdown()))
	return err
}

// plain tells whether the partner may send over plain HTTP: one who uses AS2 or AS4 needs
// a token or a certificate for it.
func (s *sheetTold) plain() bool {
	for _, c := range s.Certificates {
		if slices.Contains(c.Purposes, partners.TLSClient) {
			return true
		}
	}
	return len(s.Tokens) > 0 || s.AS2 == nil && s.AS4 == nil
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// markdown is the page that is sent to the partner.
func (s *sheetTold) markdown() string {
	var b strings.Builder
	line := func(format string, args ...any) {
		for i, arg := range args {
			if text, ok := arg.(string); ok {
				args[i] = printable(text)
			}
		}
		fmt.Fprintf(&b, format+"\n", args...)
	}
	addresses := func(list []partners.Identifier) string {
		var words []string
		for _, id := range list {
			words = append(words, "`"+id.String()+"`")
		}
		if words == nil {
			return "none is fixed"
		}
		return strings.Join(words, ", ")
	}
	line("# Sending EDI to %s\n", s.Organisation.Name)
	line("For %s (`%s`).\n", s.Name, s.Partner)
	line("| | |\n|---|---|")
	if s.plain() {
		line("| Send to | `POST %s` |", s.URL)
	}
	line("| Your addresses (UNB 0004, ISA06) | %s |", addresses(s.Identifiers))
	line("| Our addresses (UNB 0010, ISA08) | %s |", addresses(s.Organisation.Identifiers))
	line("| Message types | %s |", strings.Join(s.Types, ", "))
	if len(s.SpeaksFor) > 0 {
		line("| You may also send for | %s |", strings.Join(s.SpeaksFor, ", "))
	}
	line("| At most | %d bytes a request |", s.Limits.Bytes)
	if s.AS2 != nil {
		s.as2(line)
	}
	if s.AS4 != nil {
		s.as4(line)
	}
	line("\n## Proving who you are\n")
	switch {
	case s.plain() && s.AS2 == nil && s.AS4 == nil:
		line("%s\n", credentials[s.Credentials])
	case s.plain():
		line("Over AS2 and AS4 by the signatures of your messages, else %s\n", lowerFirst(credentials[s.Credentials]))
	default:
		line("By the signatures of your messages.\n")
	}
	for _, t := range s.Tokens {
		until := "for ever"
		if t.Expires != nil {
			until = "until " + clock(*t.Expires)
		}
		line("- token \"%s\", %s", t.Label, until)
	}
	for _, c := range s.Certificates {
		line("- certificate \"%s\" for %s, used from %s to %s (the %s is pinned)  \n  SHA-256 `%s`", c.Label, strings.Join(c.Purposes, ", "), clock(c.From), clock(c.Until), c.Pin, c.Fingerprint)
	}
	if len(s.Tokens)+len(s.Certificates) == 0 {
		line("None is agreed yet.")
	}
	if s.Server != nil {
		line("\n## Our server's certificate\n\n%s, valid until %s  \nSHA-256 `%s`", s.Server.Subject, clock(s.Server.Until), s.Server.Fingerprint)
	}
	if len(s.Ours) > 0 {
		line("\n## Our certificates")
		for _, k := range s.Ours {
			line("\n\"%s\" for %s, used from %s until %s  \nSHA-256 `%s`\n", k.Label, strings.Join(k.Purposes, ", "), clock(k.From), clock(k.Until), k.Fingerprint)
			fmt.Fprintf(&b, "```\n%s```\n", k.PEM)
		}
	}
	line("\n## What you are told\n")
	if s.plain() {
		line("201 or 200: we have it. 202: we have it, and process it later. 409, 503, or no answer: send the same bytes again under the same id, for up to %d days. Any other answer says what to change.\n", s.Limits.RetryDays)
	}
	line("However often a message is sent, it has its effect once; a repeat gets the first answer. A reference that is used again for other content within %d days is refused or held.\n", s.Limits.KnownDays)
	switch {
	case s.Told.By == "none", s.Told.By == "response" && !s.plain(): // an MDN or a receipt has no place for one
		line("No functional acknowledgements are sent.")
	case s.Told.By == "response":
		line("The functional acknowledgement comes in the answer: CONTRL for EDIFACT (action %d for an accepted interchange), for X12 %s, and a TA1 %s.", s.Told.Receipt, functional[s.Told.Functional], ta1[s.Told.TA1])
	default:
		line("Functional acknowledgements are delivered by %s: CONTRL for EDIFACT (action %d for an accepted interchange), for X12 %s, and a TA1 %s.", s.Told.By, s.Told.Receipt, functional[s.Told.Functional], ta1[s.Told.TA1])
	}
	if s.Told.Acceptance == "message" {
		line("\nOf an interchange with faulty messages the sound ones are taken.")
	} else {
		line("\nAn interchange with a faulty message is refused whole.")
	}
	if len(s.Told.Refusing) > 0 {
		line("\nFaulty is also a message with one of these findings: %s.", strings.Join(s.Told.Refusing, ", "))
	}
	return b.String()
}

var (
	credentials = map[string]string{
		partners.AnyCredential:    "By a token (`Authorization: Bearer …`, or as the password of Basic), or by your client certificate.",
		partners.TokenAlone:       "By a token: `Authorization: Bearer …`, or as the password of Basic.",
		partners.CertificateAlone: "By your client certificate.",
		partners.BothCredentials:  "By a token (`Authorization: Bearer …`) and your client certificate, both.",
	}
	functional = map[string]string{"by_version": "997 or 999 by the version of the group", "997": "997", "999": "999"}
	ta1        = map[string]string{"requested": "where ISA14 asks for it or the interchange is refused", "always": "always", "never": "never"}
)
