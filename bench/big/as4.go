package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/bench/site"
)

// form is how a payload of the run is sent over AS4, and what the gateway may take for it.
type form struct {
	name      string
	encrypted bool
	memory    int64 // VmHWM, in bytes
}

// wirePart is how much of the payload may go over the wire: 160 MB of a gibibyte.
const wirePart = 160e6 / (1 << 30)

// receiveAS4 sends the interchange compressed and signed, encrypted and not, each twice
// to a gateway of its own, and to one that takes a byte less than it has.
func (b *big) receiveAS4(ctx context.Context) (err error) {
	a, err := newAgreement()
	if err != nil {
		return err
	}
	if b.site, err = site.OpenWith(ctx, site.Options{Partners: a.partners(b.deferred)}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.site.Close(context.WithoutCancel(ctx))) }()
	if err := a.makeOurs(ctx, b.site.Pool); err != nil {
		return err
	}
	if b.program == "" {
		if b.program, err = b.site.Build(ctx); err != nil {
			return err
		}
	}
	path, err := b.generate("payload.edi", 1)
	if err != nil {
		return err
	}
	for _, f := range b.forms() {
		if err := b.site.Empty(ctx); err != nil {
			return err
		}
		if err := b.receiveForm(ctx, a, f, path); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if err := b.site.Empty(ctx); err != nil {
		return err
	}
	return b.tooLarge(ctx, a, path)
}

// forms are what is sent, with the bounds of memory that are promised of a gibibyte.
func (b *big) forms() []form {
	forms := []form{{"signed and encrypted", true, 400 << 20}, {"signed", false, 256 << 20}}
	for i := range forms {
		if b.memory > 0 {
			forms[i].memory = b.memory
		}
	}
	return forms
}

// compose makes a message of the file: compressed, signed and, if it is to be,
// encrypted.
func (a *agreement) compose(path, id string, encrypted bool) (*as4.Composed, error) {
	u := &as4.UserMessage{
		MessageInfo:   as4.MessageInfo{Timestamp: time.Now(), MessageID: id},
		From:          as4.Party{ID: site.Partner, Type: partyType, Role: as4.InitiatorRole},
		To:            as4.Party{ID: organisation, Type: partyType, Role: as4.ResponderRole},
		Collaboration: as4.CollaborationInfo{Service: "urn:edi", Action: "Deliver", ConversationID: "1"},
	}
	payload := as4.Payload{MimeType: "application/EDIFACT", Compress: true, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
	var encrypting *wssec.Encrypting
	if encrypted {
		encrypting = &wssec.Encrypting{Recipient: a.ours}
	}
	return as4.Compose(u, []as4.Payload{payload}, &wssec.Signing{Key: a.key, Certificate: a.cert}, encrypting)
}

// pushed is what came of sending a message.
type pushed struct {
	receipt []byte
	wire    int64 // bytes of the body
	took    time.Duration
}

// push sends a message. Without an error there is a receipt over every reference of it,
// signed by us.
func (a *agreement) push(ctx context.Context, g *site.Gateway, c *as4.Composed) (p pushed, err error) {
	transport := &http.Transport{DisableKeepAlives: true}
	counting := roundTripper(func(r *http.Request) (*http.Response, error) {
		r.Body = &countedBody{r.Body, &p.wire}
		return transport.RoundTrip(r)
	})
	begun := time.Now()
	answer, err := as4.Sender{HTTP: &http.Client{Transport: counting}}.Send(ctx, "http://"+g.Address+"/as4", c, []*x509.Certificate{a.ours})
	p.took = time.Since(begun)
	if err == nil {
		p.receipt = answer.SOAP
	}
	return p, err
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// countedBody counts what is read.
type countedBody struct {
	io.ReadCloser
	n *int64
}

// Read implements io.Reader.
func (c *countedBody) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	atomic.AddInt64(c.n, int64(n))
	return n, err
}

// receiveForm sends the file in a form, and again.
func (b *big) receiveForm(ctx context.Context, a *agreement, f form, path string) (err error) {
	g, err := b.site.Start(ctx, b.program, b.environment(a)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	idle, err := site.PeakMemory(g.Pid)
	if err != nil {
		return err
	}
	c, err := a.compose(path, "big", f.encrypted)
	if err != nil {
		return err
	}
	first, err := a.push(ctx, g, c)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, g.Log())
	}
	peak, err := site.PeakMemory(g.Pid)
	if err != nil {
		return err
	}
	b.hold(f.name+": on the wire", float64(first.wire) <= wirePart*float64(b.size), "%.1f MB of %.1f", float64(first.wire)/1e6, wirePart*float64(b.size)/1e6)
	b.tell(f.name+": receipt", "%d bytes after %.1f s, %.1f MB/s of payload", len(first.receipt), first.took.Seconds(), float64(b.size)/1e6/first.took.Seconds())
	b.hold(f.name+": gateway's VmHWM", peak <= f.memory, "%s of %s (%s when it was ready)", mebibytes(peak), mebibytes(f.memory), mebibytes(idle))
	if err := b.inTheTables(ctx, f.name, b.posted(), 1); err != nil {
		return err
	}
	again, err := a.push(ctx, g, c)
	if err != nil {
		return fmt.Errorf("sent again: %w", err)
	}
	if peak, err = site.PeakMemory(g.Pid); err != nil {
		return err
	}
	b.hold(f.name+", sent again: the same receipt", bytes.Equal(again.receipt, first.receipt), "%t, after %.1f s", bytes.Equal(again.receipt, first.receipt), again.took.Seconds())
	b.hold(f.name+", sent again: gateway's VmHWM", peak <= f.memory, "%s of %s", mebibytes(peak), mebibytes(f.memory))
	return b.inTheTables(ctx, f.name+", sent again", b.posted(), 1)
}

// posted is how many documents there have to be of the file.
func (b *big) posted() int64 {
	if b.deferred {
		return 0
	}
	return int64(b.messages)
}

// inTheTables holds how many documents there are, and how many payloads.
func (b *big) inTheTables(ctx context.Context, name string, documents, payloads int64) error {
	have, err := b.site.Count(ctx, `select count(*) from document where state = 'live'`)
	if err != nil {
		return err
	}
	kept, err := b.site.Count(ctx, `select count(distinct payload_id) from payload`)
	if err != nil {
		return err
	}
	stored, err := b.site.Count(ctx, `select (select coalesce(sum(length(body)), 0) from payload) + (select coalesce(sum(length(body)), 0) from evidence)`)
	if err != nil {
		return err
	}
	b.hold(name+": documents in the tables", have == documents && kept == payloads, "%d, and %d payloads, %s with their evidence", have, kept, mebibytes(stored))
	return nil
}

// environment is that of a gateway that opens its keys.
func (b *big) environment(a *agreement) []string {
	env := append([]string{"EDIGW_MASTER_KEY=" + a.master}, b.env...)
	if b.deferred {
		env = append(env, "EDIGW_WORKERS=0")
	}
	return env
}

// tooLarge sends the file to a gateway that takes a byte less, decompressed.
func (b *big) tooLarge(ctx context.Context, a *agreement, path string) (err error) {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	g, err := b.site.Start(ctx, b.program, append(b.environment(a), fmt.Sprint("EDIGW_MAX_BODY=", st.Size()-1))...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	c, err := a.compose(path, "too-large", true)
	if err != nil {
		return err
	}
	_, err = a.push(ctx, g, c)
	refused := (*as4.Refused)(nil)
	if !errors.As(err, &refused) {
		return fmt.Errorf("a byte more than is taken: no refusal, %w", err)
	}
	peak, err := site.PeakMemory(g.Pid)
	if err != nil {
		return err
	}
	keys, err := b.site.Count(ctx, `select count(*) from inbox`)
	if err != nil {
		return err
	}
	const name = "a byte more than is taken"
	e := refused.Errors[0]
	b.hold(name+": answer", e.Code == as4.ProcessingModeMismatch && !refused.Again && keys == 0, "%s: %s", e.Code, e.Detail)
	memory := b.forms()[0].memory
	b.hold(name+": gateway's VmHWM", peak <= memory, "%s of %s", mebibytes(peak), mebibytes(memory))
	if err := b.inTheTables(ctx, name, 0, 0); err != nil {
		return err
	}
	left, err := os.ReadDir(b.site.Spool())
	if err != nil {
		return err
	}
	b.hold(name+": files left", len(left) == 0, "%d", len(left))
	return nil
}
