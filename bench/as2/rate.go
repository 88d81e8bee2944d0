package main

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/bench/limit"
	"github.com/edigw/edigw/bench/rate"
	"github.com/edigw/edigw/bench/site"
	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// load is what one measurement sends: content makes the payload of message n.
type load struct {
	rate.Load
	content func(n int64) []byte
}

// loads are messages of 4 KB and of 1 MB.
func (r *run) loads() []load {
	return []load{
		{rate.Load{Name: "AS2, 4 KB: one invoice of 20 lines", Messages: r.messages, Lines: 20, Bar: 0.5}, invoic.TwentyLines},
		{rate.Load{Name: "AS2, 1 MB: one invoice of 5,300 lines", Messages: max(rate.Clients, r.messages/16), Lines: 5300, Bar: 0.5},
			func(n int64) []byte { return invoic.Long(n, 5300) }},
	}
}

// isProcessed tells whether an answer's body is an MDN, signed or not, for what was
// processed without an error: RFC 4130 §7.4.3.
func isProcessed(body []byte) bool {
	_, kind, is := bytes.Cut(body, []byte("MDN-sent-automatically;"))
	rest, processed := bytes.CutPrefix(bytes.TrimLeft(kind, " \t\r\n"), []byte("processed"))
	return is && processed && len(rest) > 0 && (rest[0] == '\r' || rest[0] == '\n')
}

// measureRates has edigw and the peers' receivers take the same messages, signed and
// encrypted, made before and all different, by turns; each answers with a signed MDN.
func (r *run) measureRates(ctx context.Context) (err error) {
	if _, err := os.Stat(r.limit); err != nil {
		return fmt.Errorf("-limit: %w: without it there is nothing to compare with", err)
	}
	yaml, err := r.partner([]string{senderName}, []string{"mdn.example"})
	if err != nil {
		return err
	}
	g, err := r.startGateway(ctx, yaml, "GOMEMLIMIT=1GiB")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close(context.WithoutCancel(ctx))) }()
	lim, err := g.Site.Database(ctx, "lim")
	if err != nil {
		return err
	}
	servers, err := r.startReceivers(ctx, receiver, plainName, sender)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopAll(servers)) }()
	w, err := r.wrapping()
	if err != nil {
		return err
	}
	b := rate.Bench{
		Receivers:  []rate.Receiver{{Name: "edigw", URL: "http://" + g.Running.Address + "/as2", CPU: g.Site.CPU(g.Running)}},
		Limit:      limit.Program{Path: r.limit, URL: lim, Clients: rate.Clients, Seconds: 2, Server: g.Site.Postmaster(), Alone: true},
		Checkpoint: g.Site.Checkpoint, Rounds: r.rounds, Warm: 3, Out: r.Out,
	}
	for _, name := range []string{"phase2", "pyas2"} {
		b.Receivers = append(b.Receivers, rate.Receiver{Name: name, URL: servers[name].address, Fresh: name == "phase2", CPU: func() (program, database time.Duration, err error) {
			program, err = site.CPU(servers[name].process.Pid())
			return program, 0, err
		}})
	}
	var list []rate.Load
	for _, l := range r.loads() {
		l.Make = func(n int) (rate.Message, error) { return l.make(w, n) }
		if l.Crypto, err = r.bareCrypto(l.content(1)); err != nil {
			return err
		}
		list = append(list, l.Load)
	}
	return b.Run(ctx, list)
}

// wrapping is how the sender's messages are signed and encrypted.
func (r *run) wrapping() (w as2.Wrapping, err error) {
	var text []byte
	for _, part := range []string{".key.pem", ".cert.pem"} {
		more, err := os.ReadFile(filepath.Join(r.keys, sender+part))
		if err != nil {
			return w, err
		}
		text = append(text, more...)
	}
	key, chain, err := keys.Read(text, "")
	if err != nil {
		return w, err
	}
	own, err := cms.CertificateOf(chain[0])
	if err != nil {
		return w, err
	}
	if text, err = os.ReadFile(filepath.Join(r.keys, receiver+".cert.pem")); err != nil {
		return w, err
	}
	to, err := partners.ParseCertificate(text)
	if err != nil {
		return w, err
	}
	recipient, err := cms.CertificateOf(to)
	return as2.Wrapping{Signature: &cms.Signature{Key: key, Certificate: own, Time: time.Now()},
		Envelope: &cms.Envelope{Recipients: []*cms.Certificate{recipient}, Encryption: cms.AES256CBC}}, err
}

// make makes message n.
func (l load) make(w as2.Wrapping, n int) (m rate.Message, err error) {
	c, _, err := w.Wrap(as2.Composed{ContentType: "application/EDIFACT", Encoding: "binary", Disposition: fmt.Sprintf(`attachment; filename="invoic-%d.edi"`, n), Body: l.content(int64(n))}, crypto.SHA256)
	return rate.Message{Body: c.Body, Header: http.Header{
		"AS2-Version": {"1.2"}, "AS2-From": {senderName}, "AS2-To": {plainName}, "Message-ID": {fmt.Sprintf("<rate-%d@%s>", n, sender)}, "MIME-Version": {"1.0"},
		"Subject": {"rate"}, "Content-Type": {c.ContentType}, "Content-Disposition": {c.Disposition}, "Content-Transfer-Encoding": {c.Encoding},
		"Disposition-Notification-To": {sender}, "Disposition-Notification-Options": {"signed-receipt-protocol=optional, pkcs7-signature; signed-receipt-micalg=optional, sha-256"},
	}}, err
}
