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

	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/outbox"
)

// acknowledgements are functional acknowledgements that edigw sends by itself
// (acknowledge_by: as2), and whose MDN the receiver brings to edigw's own /as2
// (as2.send.mdn_to).
func acknowledgements() []outgoing {
	return []outgoing{
		{to: "pyas2", signature: "sha256", encryption: "none", mdn: "signed"},
		{to: "pyas2", signature: "sha512", encryption: "aes256-cbc", compression: true, mdn: "signed"},
		{to: "pyas2", signature: "sha256", encryption: "aes128-cbc", mdn: "unsigned"},
		{to: "phase2", signature: "sha256", encryption: "aes128-cbc", mdn: "signed"},
		{to: "openas2", signature: "sha256", encryption: "aes128-cbc", mdn: "signed"},
	}
}

func (o outgoing) acknowledgement() string {
	return strings.Replace(o.String(), "edigw to", "edigw acknowledges to", 1) + " brought"
}

// acknowledged is the partner of one of them.
type acknowledged struct {
	outgoing
	id      string
	address string // its 0004, as long as invoic.Sender
	number  int64  // of the interchange that it sends
}

// acknowledgedTo are their partners. phase2's receiver knows by OUT who they are.
func (r *run) acknowledgedTo(servers map[string]*server) (list []acknowledged) {
	for i, o := range acknowledgements() {
		if servers[o.to] != nil && r.Choice.Wants(o.acknowledgement()) {
			list = append(list, acknowledged{o, fmt.Sprint("out-ack-", i), fmt.Sprintf("95200010%05d", 900+i), 40_000 + int64(i)})
		}
	}
	return list
}

// name is its AS2 name.
func (a acknowledged) name() string { return strings.ToUpper(a.id) }

// yaml is its configuration; mdns is our own address of /as2.
func (a acknowledged) yaml(to *server, mdns string, certificate []byte) string {
	return fmt.Sprintf(`---
kind: Partner
id: %s
organisation: %s
identifiers: [{qualifier: %q, id: %q}]
types: [INVOIC]
acknowledge_by: as2
as2:
  names: [%s]
  signature: optional
  send: {%s, mdn_to: %q}
certificates:
  - label: "as2"
    purposes: [as2_sign, as2_encrypt]
    certificate: |
      %s
`, a.id, receiver, invoic.Qualifier, a.address, a.name(), a.send(to), mdns, indented(certificate))
}

// edigwAcknowledges has each partner send an interchange, and sees the acknowledgement
// leave, arrive, and end when its MDN is brought.
func (r *run) edigwAcknowledges(ctx context.Context, g *gateway, servers map[string]*server) error {
	certificate, err := os.ReadFile(filepath.Join(r.keys, sender+".cert.pem"))
	if err != nil {
		return err
	}
	list := r.acknowledgedTo(servers)
	if len(list) == 0 {
		return nil
	}
	var yaml strings.Builder
	for _, a := range list {
		yaml.WriteString(a.yaml(servers[a.to], "http://"+g.Running.Address+"/as2", certificate))
	}
	if err := g.Site.Connect(ctx, strings.TrimPrefix(yaml.String(), "---\n")); err != nil {
		return err
	}
	for _, a := range list {
		failure, err := a.play(ctx, g, servers[a.to])
		if err != nil {
			return err
		}
		r.Says(a.acknowledgement(), failure)
	}
	return nil
}

// play sends and waits. failure says why it does not hold; err that there is no saying.
func (a acknowledged) play(ctx context.Context, g *gateway, to *server) (failure, err error) {
	if _, err := to.arrived(); err != nil { // what one that failed left behind
		return nil, err
	}
	if err := a.sends(ctx, g); err != nil {
		return err, nil
	}
	if err := g.acknowledges(ctx, a.id); err != nil {
		return err, nil
	}
	got, err := to.arrived()
	if err != nil {
		return nil, err
	}
	if len(got) != 1 {
		return fmt.Errorf("%d have arrived", len(got)), nil
	}
	for _, part := range []string{"UNH+", "CONTRL:", "UCI+", fmt.Sprintf("%014d", a.number)} {
		if !bytes.Contains(got[0].content, []byte(part)) {
			return fmt.Errorf("what has arrived holds no %q: %q", part, got[0].content), nil
		}
	}
	if got[0].MDN != "" && got[0].MDN != "async" {
		return fmt.Errorf("the receiver was asked for an MDN %q", got[0].MDN), nil
	}
	m := a.wants()
	m.content = got[0].content
	return got[0].of(m), nil
}

// sends posts an interchange as this partner, without an MDN. A gateway takes a moment to
// know a partner that was applied.
func (a acknowledged) sends(ctx context.Context, g *gateway) error {
	t := invoic.NewTemplate(0)
	t.From(a.address)
	content := t.Set(a.number)
	var told error
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+g.Running.Address+"/as2", bytes.NewReader(content))
		if err != nil {
			return err
		}
		for name, value := range map[string]string{"AS2-Version": "1.1", "AS2-From": a.name(), "AS2-To": plainName, "Message-ID": "<" + a.id + "@brennholm>", "Content-Type": "application/EDIFACT"} {
			r.Header.Set(name, value)
		}
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(w.Body)
		if err = errors.Join(err, w.Body.Close()); err != nil {
			return err
		}
		n, err := g.count(ctx, `select count(*) from delivery where partner_id = $1`, a.id)
		if err != nil || n > 0 {
			return err
		}
		told = fmt.Errorf("the interchange of %s was not taken: %d %.200q", a.id, w.StatusCode, text)
	}
	return told
}

// acknowledges waits until the acknowledgement to a partner is done: its MDN has come.
func (g *gateway) acknowledges(ctx context.Context, partner string) error {
	var state outbox.State
	var failure string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		err := g.Site.Pool.QueryRow(ctx, `
			select coalesce(max(state), 0), coalesce(max(failure), 'there is none')
			from effect where partner_id = $1 and target = $2`, partner, outbox.AcknowledgementAS2).Scan(&state, &failure)
		if err != nil {
			return err
		}
		if state == outbox.Done {
			return nil
		}
	}
	return fmt.Errorf("after a minute the acknowledgement is in state %d: %s", state, failure)
}
