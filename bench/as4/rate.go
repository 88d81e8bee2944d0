package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/bench/limit"
	"github.com/edigw/edigw/bench/rate"
	"github.com/edigw/edigw/bench/site"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// rateRSA is the length of the keys that -rate measures with, in bits: that of Peppol's
// certificates.
const rateRSA = 2048

// keptType is a message type that has no tables of ours: it is parsed, and kept as it is.
const keptType = "PRICAT"

// load is what one measurement sends: content makes the payload of message n.
type load struct {
	rate.Load
	content  func(n int64) []byte
	deferred bool // left to workers, of which there are none: what is measured is the receipt alone
}

// loads are messages of 4 KB and of 1 MB.
func (r *run) loads() []load {
	large := max(rate.Clients, r.messages/16)
	return []load{
		{rate.Load{Name: "AS4, 4 KB: one invoice of 20 lines", Messages: r.messages, Lines: 20, Bar: 0.5, Times: 2}, invoic.TwentyLines, false},
		{rate.Load{Name: "AS4, 1 MB: one invoice of 5,300 lines", Messages: large, Lines: 5300, Bar: 0.5, Times: 2}, func(n int64) []byte { return invoic.Long(n, 5300) }, false},
		{rate.Load{Name: "AS4, 1 MB: a document that is kept and not posted", Messages: large, Times: 2}, func(n int64) []byte {
			return bytes.Replace(invoic.Long(n, 5300), []byte("INVOIC:"), []byte(keptType+":"), 1)
		}, false},
		{rate.Load{Name: "AS4, 1 MB: an invoice of 5,300 lines that is left to workers", Messages: large, Times: 2}, func(n int64) []byte { return invoic.Long(n, 5300) }, true},
		{rate.Load{Name: "AS4, 1 MB: 256 invoices of 20 lines", Messages: large, Lines: 20, Invoices: 256, Bar: 0.5}, func(n int64) (b []byte) {
			for i := range int64(256) {
				b = append(b, invoic.TwentyLines(n*1000+i)...)
			}
			return b
		}, false},
	}
}

// isReceipt tells whether an answer's body is a receipt.
func isReceipt(body []byte) bool { return bytes.Contains(body, []byte("NonRepudiationInformation")) }

// measureRates has edigw and phase4's servlet receive the same messages, signed,
// encrypted and compressed, made before and all different, by turns.
func (r *run) measureRates(ctx context.Context) (err error) {
	if _, err := os.Stat(r.limit); err != nil {
		return fmt.Errorf("-limit: %w: without it there is nothing to compare with", err)
	}
	// Eight documents of 1 MB at once are more than a gateway gives one partner by itself.
	g, err := r.startGateway(ctx, "GOMEMLIMIT=1GiB", "EDIGW_WORKERS=0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close(context.WithoutCancel(ctx))) }()
	lim, err := g.Site.Database(ctx, "lim")
	if err != nil {
		return err
	}
	folder := filepath.Join(r.work, "received")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	s, err := startServer(ctx, r.dir, r.keys, receiver, sender, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.process.Stop()) }()
	parties, err := r.parties()
	if err != nil {
		return err
	}
	b := rate.Bench{
		Receivers: []rate.Receiver{
			{Name: "edigw", URL: "http://" + g.Running.Address + "/as4", CPU: g.Site.CPU(g.Running)},
			{Name: "phase4", URL: s.address + "/rsa", CPU: func() (program, database time.Duration, err error) {
				program, err = site.CPU(s.process.Pid())
				return program, 0, err
			}},
		},
		Limit:      limit.Program{Path: r.limit, URL: lim, Clients: rate.Clients, Seconds: 2, Server: g.Site.Postmaster(), Alone: true},
		Checkpoint: g.Site.Checkpoint, Rounds: r.rounds, Warm: 3, Out: r.Out,
	}
	var list []rate.Load
	for _, l := range r.loads() {
		l.Make = func(n int) (rate.Message, error) { return parties.make(l, n) }
		if l.Crypto, err = bareCrypto(r.keys, l.content(1)); err != nil {
			return err
		}
		list = append(list, l.Load)
	}
	return b.Run(ctx, list)
}

// parties are who sends, with what it signs by and encrypts to.
type parties struct {
	message    message
	signing    *wssec.Signing
	encrypting *wssec.Encrypting
	addresses  *strings.Replacer // puts the partner's into an interchange
	left       *strings.Replacer // the same of the partner whose documents are left to workers
}

func (r *run) parties() (*parties, error) {
	own, err := chained(filepath.Join(r.keys, sender+"-rsa-sign"), filepath.Join(r.keys, "ca.cert.pem"))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(own)
	if err != nil {
		return nil, err
	}
	key, chain, err := keys.Read(text, "")
	if err != nil {
		return nil, err
	}
	if text, err = os.ReadFile(filepath.Join(r.keys, receiver+"-rsa-encrypt.cert.pem")); err != nil {
		return nil, err
	}
	to, err := partners.ParseCertificate(text)
	if err != nil {
		return nil, err
	}
	p := &parties{message: base("rsa"), signing: &wssec.Signing{Key: key, Certificate: chain[0], Chain: chain[1:]}, encrypting: &wssec.Encrypting{Recipient: to}}
	p.addresses, p.left = addresses(p.message.From), addresses(sender+"-"+deferred)
	return p, nil
}

// make makes message n.
func (p *parties) make(l load, n int) (out rate.Message, err error) {
	m, addresses := p.message, p.addresses
	if l.deferred {
		m.From = sender + "-" + deferred
		addresses = p.left
	}
	u := &as4.UserMessage{
		MessageInfo: as4.MessageInfo{Timestamp: time.Now(), MessageID: fmt.Sprintf("rate-%d@%s", n, sender)},
		From:        as4.Party{ID: m.From, Type: m.PartyType, Role: initiator}, To: as4.Party{ID: m.To, Type: m.PartyType, Role: responder},
		Collaboration: as4.CollaborationInfo{Agreement: as4.Agreement{Value: m.Agreement}, Service: m.Service, ServiceType: m.ServiceType, Action: m.Action, ConversationID: m.Conversation},
	}
	part := as4.Bytes([]byte(addresses.Replace(string(l.content(int64(n))))), "application/EDIFACT")
	part.Compress = true
	composed, err := as4.Compose(u, []as4.Payload{part}, p.signing, p.encrypting)
	if err != nil {
		return out, err
	}
	in := composed.Body()
	body, err := io.ReadAll(in)
	return rate.Message{Header: http.Header{"Content-Type": {composed.ContentType}}, Body: body}, errors.Join(err, in.Close())
}
