package as2

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/edigw/edigw/outbox"
	"github.com/edigw/edigw/partners"
)

// mdnAttempts at up to 15 minutes apart are about two days: partners look for an MDN
// for at least one.
const mdnAttempts = 200

// Deliverer brings asynchronous MDNs: RFC 4130 §7.3, by HTTP POST to the address that the
// sender gave, as long as it is one of the partner's mdn_hosts.
type Deliverer struct {
	Partner func(id string) *partners.Partner
	// Client is guarded: the address is the sender's choice (targets.Guard.Client).
	Client *http.Client
}

// ErrNoHost: the address of an MDN is not, or no longer, among the partner's mdn_hosts.
var ErrNoHost = errors.New("the address of the MDN is not among the partner's mdn_hosts")

// Target makes the target.
func (d *Deliverer) Target() outbox.Target {
	return outbox.Target{Name: MDNTarget, Send: d.send, First: 5 * time.Second, Most: 15 * time.Minute, Attempts: mdnAttempts,
		// One that may have arrived may be sent again: it has the same Message-ID.
		Ask: func(context.Context, *outbox.Step) (outbox.Outcome, error) { return outbox.NotDone, nil }}
}

func (d *Deliverer) send(ctx context.Context, s *outbox.Step) error {
	err := d.post(ctx, s)
	if ctx.Err() != nil {
		return err
	}
	// A status refuses nothing for good: it may be that of a server before the partner's.
	return s.End(err, outbox.TryOn)
}

func (d *Deliverer) post(ctx context.Context, s *outbox.Step) error {
	var body outbox.ReceiptBody
	if err := json.Unmarshal(s.Body, &body); err != nil {
		return fmt.Errorf("MDN %s: %w", s.Event, err)
	}
	p := d.Partner(s.Partner)
	if p == nil {
		return fmt.Errorf("%w: there is no partner %s", ErrNoHost, s.Partner)
	}
	u, why := Wanted{Async: body.Address}.asyncURL(p.AS2.MDNHosts)
	if why != "" {
		return fmt.Errorf("%w: it %s", ErrNoHost, why)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body.Content))
	if err != nil {
		return fmt.Errorf("MDN %s: %w", s.Event, err)
	}
	r.Header.Set("Content-Type", body.ContentType)
	r.Header.Set("User-Agent", product)
	for _, f := range body.Fields {
		r.Header[f[0]] = []string{f[1]} // as RFC 4130 spells it
	}
	return did(d.Client, r)
}

// did sends a request, and takes any 2xx for done.
func did(c *http.Client, r *http.Request) error {
	resp, err := c.Do(r)
	if err != nil {
		return err
	}
	defer func() {
		_ = resp.Body.Close() // read as far as it is wanted
	}()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // what it says is for people
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return nil
	}
	return fmt.Errorf("%s answered %d: %.200q", r.URL.Host, resp.StatusCode, text)
}
