package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
	"github.com/edigw/edigw/httpin"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/web"
)

// foresees is what the API asks of the gateway for `partners test`: the delivery
// that plain HTTP would make.
func foresees(g *gateway.Gateway, now func() time.Time) func(context.Context, *partners.Partner, string, []byte) (*gateway.Receipt, error) {
	return func(ctx context.Context, p *partners.Partner, messageID string, payload []byte) (*gateway.Receipt, error) {
		d := &gateway.Delivery{Transport: httpin.Transport, Partner: p, Payload: edi.Bytes(payload), SHA256: sha256.Sum256(payload), Received: now(),
			Render: httpin.Render, WithAcknowledgement: p.Policy.Acknowledge == "response"}
		if messageID != "" {
			d.TransportID = dedup.TransportKey(httpin.Transport, p.Organisation, messageID)
		}
		return g.Foresee(ctx, d)
	}
}

type partnersTest struct {
	Partner     string `arg:"" help:"The partner's id."`
	File        string `arg:"" optional:"" help:"A file that it would send, or - for standard input."`
	Certificate string `placeholder:"FILE" help:"A certificate that it would show, sign with or be encrypted to: PEM or DER."`
	MessageID   string `name:"message-id" placeholder:"ID" help:"The Idempotency-Key that the file would be sent under."`
	Output      string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	connection
}

// trial is what the API says would happen.
type trialAnswer struct {
	State       string `json:"state"`
	Certificate *struct {
		Subject     string    `json:"subject"`
		Fingerprint string    `json:"sha256_fingerprint"`
		From        time.Time `json:"valid_from"`
		Until       time.Time `json:"valid_until"`
		Purposes    []struct {
			Purpose string `json:"purpose"`
			Taken   bool   `json:"taken"`
			Label   string `json:"label"`
			Reason  string `json:"reason"`
			Detail  string `json:"detail"`
		} `json:"purposes"`
	} `json:"certificate"`
	Delivery *struct {
		Status  int             `json:"status"`
		Verdict string          `json:"verdict"`
		Outcome string          `json:"outcome"`
		Rules   []string        `json:"rules"`
		Detail  string          `json:"detail"`
		Receipt json.RawMessage `json:"receipt"`
		AS2     *web.TriedAS2   `json:"as2"`
	} `json:"delivery"`
}

// Run ends in 3 where the file would be answered negatively, or the certificate
// be taken for nothing.
func (c *partnersTest) Run(a *app) error {
	send := map[string]any{}
	if c.File != "" {
		text, err := a.whole(c.File)
		if err != nil {
			return err
		}
		send["payload"] = text
		if c.MessageID != "" {
			send["message_id"] = c.MessageID
		}
	}
	if c.Certificate != "" {
		text, err := os.ReadFile(c.Certificate)
		if err != nil {
			return err
		}
		cert, err := partners.ParseCertificate(text)
		if err != nil {
			return fmt.Errorf("%s %w", c.Certificate, err)
		}
		send["certificate"] = partners.EncodeCertificate(cert)
	}
	if len(send) == 0 {
		return usage("name a file, or --certificate")
	}
	api, err := a.client(c.connection)
	if err != nil {
		return err
	}
	var answer trialAnswer
	body, err := api.ask(a, http.MethodPost, "/partners/"+url.PathEscape(c.Partner)+"/test", nil, send, &answer)
	if err != nil {
		return err
	}
	if c.Output == "json" {
		err = a.rawJSON(body)
	} else {
		err = answer.tell(a)
	}
	if err == nil && !answer.good() {
		err = findings()
	}
	return err
}

// whole reads a file, or standard input, into memory.
func (a *app) whole(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.stdin)
	}
	return os.ReadFile(name)
}

func (t *trialAnswer) good() bool {
	taken := t.Certificate == nil
	if t.Certificate != nil {
		for _, p := range t.Certificate.Purposes {
			taken = taken || p.Taken
		}
	}
	return taken && (t.Delivery == nil || t.Delivery.Status < 300)
}

func (t *trialAnswer) tell(a *app) error {
	var b bytes.Buffer
	if c := t.Certificate; c != nil {
		fmt.Fprintf(&b, "certificate %s\n  fingerprint  %s\n  valid        %s to %s\n", printable(c.Subject), c.Fingerprint, clock(c.From), clock(c.Until))
		for _, p := range c.Purposes {
			if p.Taken {
				fmt.Fprintf(&b, "  %-12s taken: it is %q\n", p.Purpose, printable(p.Label))
			} else {
				fmt.Fprintf(&b, "  %-12s not taken: %s\n", p.Purpose, printable(p.Detail))
			}
		}
	}
	if d := t.Delivery; d != nil {
		fmt.Fprintf(&b, "the file would be answered %d: %s", d.Status, d.Outcome)
		if d.Verdict != "" {
			fmt.Fprintf(&b, ", %s (%s)", d.Verdict, strings.Join(d.Rules, ", "))
		}
		fmt.Fprintln(&b)
		if d.Detail != "" {
			fmt.Fprintf(&b, "  %s\n", printable(d.Detail))
		}
		if len(d.Receipt) > 0 {
			text, err := yaml.JSONToYAML(d.Receipt)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(text)) {
				fmt.Fprintf(&b, "  %s\n", printable(strings.TrimRight(line, "\n")))
			}
		}
		if v := d.AS2; v != nil {
			tellAS2(&b, v)
		}
		fmt.Fprintln(&b, "nothing of it was done")
	}
	_, err := a.stdout.Write(b.Bytes())
	return err
}

// tellAS2 says what the partner would see over AS2.
func tellAS2(b *bytes.Buffer, v *web.TriedAS2) {
	if v.Failure != "" {
		fmt.Fprintf(b, "over AS2 it could not be tried: %s\n", printable(v.Failure))
		return
	}
	fmt.Fprintf(b, "over AS2 it would be answered %s\n", printable(cmp.Or(v.Disposition, "503")))
	for _, s := range slices.Concat(v.Steps, v.Errors) {
		fmt.Fprintf(b, "  %s\n", printable(s))
	}
}
