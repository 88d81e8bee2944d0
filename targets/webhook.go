package targets

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/edigw/edigw/outbox"
)

// Webhook posts each event as a CloudEvent, signed as Standard Webhooks 1.0.0 asks for:
// https://www.standardwebhooks.com. webhook-id is the event's id, the same each time.
type Webhook struct {
	URL     string
	Names   []string      // of the secrets; one signature each
	Timeout time.Duration // of one request
	CA      string        // PEM; "" is the system's
	Secret  func(name string) (string, error)
	Guard   *Guard
	Now     func() time.Time

	client *http.Client
}

// answerKept is how much of an answer the delivery log keeps, in bytes; answerRead how
// much is read of it, so that the connection can be used again.
const (
	answerKept = 500
	answerRead = 64 << 10
)

// Open checks address and secrets, and makes the sink.
func (w *Webhook) Open() (outbox.Sink, error) {
	if err := w.Guard.Private(w.URL); err != nil {
		return outbox.Sink{}, err
	}
	if _, err := w.keys(); err != nil {
		return outbox.Sink{}, err
	}
	secure, err := trusting(w.CA)
	if err != nil {
		return outbox.Sink{}, fmt.Errorf("ca: %w", err)
	}
	w.client = w.Guard.client(w.Timeout, secure)
	return outbox.Sink{Send: w.send, Close: w.client.CloseIdleConnections}, nil
}

// Private refuses an address that is not https, but for hosts that the administrator
// names: anybody on the way could read what goes there, and change it.
func (g *Guard) Private(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	if u.Scheme != "https" && !g.Allows(u.Hostname()) {
		return fmt.Errorf("%s is not https: anybody on the way could read it; use https, or name the host in --allow-targets", address)
	}
	return nil
}

// Client makes a client that goes nowhere but where the guard lets it, and trusts whom
// the system trusts.
func (g *Guard) Client(timeout time.Duration) *http.Client {
	return g.client(timeout, &tls.Config{MinVersion: tls.VersionTLS12})
}

// client makes one that trusts whom secure says.
func (g *Guard) client(timeout time.Duration, secure *tls.Config) *http.Client {
	transport := &http.Transport{
		DialContext: g.DialContext, Proxy: nil, // a proxy would dial what the guard refuses
		TLSClientConfig: secure, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
	}
	return &http.Client{Transport: transport, Timeout: timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// keys reads the secrets anew, so that one can be replaced while the gateway runs.
func (w *Webhook) keys() (keys [][]byte, err error) {
	for _, name := range w.Names {
		text, err := w.Secret(name)
		if err != nil {
			return nil, err
		}
		key, err := webhookKey(name, text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func (w *Webhook) send(ctx context.Context, batch []*outbox.Record) (sent int, log []outbox.Attempt, err error) {
	for _, r := range batch {
		a := outbox.Attempt{Event: r.ID, At: w.Now()}
		began := time.Now()
		err := w.post(ctx, r, &a)
		a.Took = time.Since(began)
		if err != nil {
			a.Failure = err.Error()
		}
		log = append(log, a)
		if err != nil {
			return sent, log, err
		}
		sent++
	}
	return sent, log, nil
}

func (w *Webhook) post(ctx context.Context, r *outbox.Record, a *outbox.Attempt) error {
	keys, err := w.keys()
	if err != nil {
		return err
	}
	p := posting{url: w.URL, id: r.ID.String(), contentType: outbox.CloudEventType + "; charset=utf-8", at: a.At, body: r.AppendCloudEvent(nil), keys: keys}
	a.Status, a.Answer, err = p.send(ctx, w.client)
	return err
}

// posting is something on its way to an address.
type posting struct {
	url, id, contentType string
	at                   time.Time
	body                 []byte
	keys                 [][]byte // it is signed with; none: it is not
}

// send posts it and gives what was answered. The error is as judged says.
func (p *posting) send(ctx context.Context, client *http.Client) (status int, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(p.body))
	if err != nil {
		return 0, "", err
	}
	sign(req.Header, p.id, p.at, p.body, p.keys)
	req.Header.Set("Content-Type", p.contentType)
	req.Header.Set("User-Agent", "edigw")
	resp, err := client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the address, whose query may be a secret
		}
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }() // what matters of it was read
	text, err := io.ReadAll(io.LimitReader(resp.Body, answerRead))
	if err != nil && resp.StatusCode/100 == 2 {
		return resp.StatusCode, answerText(text), nil // it has taken it; the rest of what it says is of no use
	}
	return resp.StatusCode, answerText(text), judged(resp)
}

// sign sets the headers of Standard Webhooks: what is signed is id.timestamp.body.
func sign(h http.Header, id string, at time.Time, body []byte, keys [][]byte) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		_, _ = io.WriteString(mac, id+"."+timestamp+".") // a hash takes all
		_, _ = mac.Write(body)                           // a hash takes all
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h.Set("webhook-id", id)
	if len(keys) == 0 {
		return
	}
	h.Set("webhook-timestamp", timestamp)
	h.Set("webhook-signature", strings.Join(signatures, " "))
}

// judged says what an answer means. Only what names this very event's content as the
// fault refuses it; a door that is shut, or at another place, is shut for all.
func judged(resp *http.Response) error {
	code := resp.StatusCode
	status := fmt.Sprintf("it answered %d %s", code, http.StatusText(code))
	switch {
	case code/100 == 2:
		return nil
	case code == http.StatusGone:
		return fmt.Errorf("%w: %s", outbox.ErrGone, status)
	case outbox.ForGood(code):
		return fmt.Errorf("%w: %s", outbox.ErrRefused, status)
	case code/100 == 3:
		return fmt.Errorf("%s, to %q: redirects are not followed; put that address into the subscription", status, resp.Header.Get("Location"))
	}
	if after := retryAfter(resp.Header.Get("Retry-After"), time.Now()); after > 0 {
		return &outbox.RetryError{Err: errors.New(status), After: after}
	}
	return errors.New(status)
}

// retryAfter reads seconds or a date (RFC 9110 §10.2.3); 0 where there is neither.
func retryAfter(v string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(v); err == nil && n > 0 && n < 1<<30 {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}

// answerText is the beginning of an answer as text that can be kept.
func answerText(b []byte) string {
	if len(b) > answerKept {
		b = b[:answerKept]
	}
	return strings.Map(func(r rune) rune {
		if r == 0 || r == '\uFFFD' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(string(b), "?"))
}
