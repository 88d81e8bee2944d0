package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/edigw/edigw/bench/invoic"
)

// outgoing is how edigw sends to a partner, in the words of its settings.
type outgoing struct {
	to                    string // phase2, pyas2, openas2 or libas2
	signature, encryption string
	oaep, compression     bool
	mdn                   string
}

// ours are what edigw sends. Each goes to a receiver that can do it as it should be
// done: pyas2Receives and peersReceive tell who cannot what.
func ours() (list []outgoing) {
	for _, digest := range []string{"sha1", "sha256", "sha384", "sha512"} {
		list = append(list, outgoing{to: "phase2", signature: digest, encryption: "none", mdn: "signed"},
			outgoing{to: "pyas2", signature: digest, encryption: "aes128-cbc", compression: true, mdn: "signed"})
	}
	// No GCM: phase2's receiver knows encryption by smime-type=enveloped-data alone, and
	// takes authEnveloped-data (RFC 8551 §3.4) for the payload. Package cms is held
	// against openssl in that.
	for _, cipher := range []string{"3des", "aes128-cbc", "aes192-cbc", "aes256-cbc"} {
		list = append(list, outgoing{to: "phase2", signature: "sha256", encryption: cipher, mdn: "signed"})
	}
	return append(list,
		outgoing{to: "phase2", signature: "sha256", encryption: "aes256-cbc", oaep: true, mdn: "signed"},
		outgoing{to: "pyas2", signature: "sha256", encryption: "none", mdn: "unsigned"},
		outgoing{to: "pyas2", signature: "sha256", encryption: "none", compression: true, mdn: "signed"},
		outgoing{to: "pyas2", signature: "sha512", encryption: "3des", mdn: "signed"},
		outgoing{to: "phase2", signature: "none", encryption: "aes128-cbc", mdn: "signed"},
		outgoing{to: "phase2", signature: "sha256", encryption: "aes128-cbc", mdn: "none"},

		// None asks for an unsigned MDN: where signed-receipt-micalg stands alone it closes the
		// connection.
		outgoing{to: "openas2", signature: "sha256", encryption: "none", mdn: "signed"},
		outgoing{to: "openas2", signature: "sha1", encryption: "3des", mdn: "signed"},
		outgoing{to: "openas2", signature: "sha256", encryption: "aes128-cbc", compression: true, mdn: "signed"},
		outgoing{to: "openas2", signature: "sha384", encryption: "aes192-cbc", mdn: "signed"},
		outgoing{to: "openas2", signature: "sha512", encryption: "aes256-cbc", mdn: "signed"},
		outgoing{to: "openas2", signature: "none", encryption: "aes128-cbc", mdn: "signed"},

		// Its signature of an MDN is over other bytes than it sends: what it knows to be so, it
		// allows for in what it verifies. Node.js opens no key that is encrypted by RSA
		// PKCS #1 v1.5 for it.
		outgoing{to: "libas2", signature: "sha1", encryption: "none", mdn: "unsigned"},
		outgoing{to: "libas2", signature: "sha256", encryption: "none", mdn: "unsigned"},
		outgoing{to: "libas2", signature: "sha384", encryption: "none", mdn: "unsigned"},
		outgoing{to: "libas2", signature: "sha512", encryption: "none", mdn: "unsigned"},
		outgoing{to: "libas2", signature: "sha256", encryption: "aes128-cbc", oaep: true, mdn: "unsigned"},
		outgoing{to: "libas2", signature: "sha256", encryption: "aes256-cbc", oaep: true, mdn: "unsigned"},
	)
}

func (o outgoing) String() string {
	words := []string{"signed " + o.signature, "encrypted " + o.encryption}
	if o.oaep {
		words = append(words, "OAEP")
	}
	if o.compression {
		words = append([]string{"compressed"}, words...)
	}
	return "edigw to " + o.to + ": " + strings.Join(append(words, "MDN "+o.mdn), ", ")
}

// partnerSentTo is the id of the partner of an outgoing, and in upper case its AS2
// name.
func partnerSentTo(i int) string { return fmt.Sprintf("out-%d", i) }

// partnersSentTo are their YAML; servers are the receivers by their names.
func (r *run) partnersSentTo(servers map[string]*server) (string, error) {
	pem, err := os.ReadFile(filepath.Join(r.keys, sender+".cert.pem"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, o := range ours() {
		if servers[o.to] == nil {
			continue
		}
		fmt.Fprintf(&b, "---\nkind: Partner\nid: %s\norganisation: %s\nidentifiers: [{qualifier: \"ZZ\", id: %q}]\nas2:\n  names: [%s]\n", partnerSentTo(i), receiver, partnerSentTo(i), strings.ToUpper(partnerSentTo(i)))
		fmt.Fprintf(&b, "  send: {%s}\n", o.send(servers[o.to]))
		fmt.Fprintf(&b, "certificates:\n  - label: \"as2\"\n    purposes: [as2_sign, as2_encrypt]\n    certificate: |\n      %s\n", indented(pem))
	}
	return b.String(), nil
}

// send is its mapping as2.send, without the braces.
func (o outgoing) send(to *server) string {
	key := "rsa-pkcs1"
	if o.oaep {
		key = "rsa-oaep"
	}
	return fmt.Sprintf("url: %q, from: %s, signature: %s, encryption: %s, key_encryption: %s, compression: %t, mdn: %s",
		to.address, plainName, o.signature, o.encryption, key, o.compression, o.mdn)
}

// wants is as what it has to arrive.
func (o outgoing) wants() message {
	m := message{from: plainName, digest: o.signature, encryption: o.encryption, compressed: o.compression}
	for _, none := range []*string{&m.digest, &m.encryption} {
		if *none == "none" {
			*none = ""
		}
	}
	return m
}

// startReceivers starts phase2's and pyas2lib's, which receive from party other.
func (r *run) startReceivers(ctx context.Context, own, ownName, other string) (map[string]*server, error) {
	phase2, err := r.receiver(ctx, "phase2", func(folder string) []string {
		return java(r.dir, "phase2", "Server", r.keys, own, ownName, other, folder)
	})
	if err != nil {
		return nil, err
	}
	pyas2, err := r.receiver(ctx, "pyas2", func(folder string) []string {
		return python(r.dir, "pyas2_server.py", r.keys, own, other, folder)
	})
	if err != nil {
		return nil, errors.Join(err, phase2.process.Stop())
	}
	return map[string]*server{"phase2": phase2, "pyas2": pyas2}, nil
}

// edigwToPeers has edigw send by `edigw as2 send`, which holds the MDN and its MIC
// against what was sent.
func (r *run) edigwToPeers(ctx context.Context, g *gateway, servers map[string]*server) error {
	for i, o := range ours() {
		if servers[o.to] == nil || !r.Choice.Wants(o.String()) {
			continue
		}
		content := bytes.ReplaceAll(invoic.TwentyLines(20_000+int64(i)), []byte("\n"), []byte("\r\n"))
		file := filepath.Join(r.work, fmt.Sprintf("outgoing-%d.edi", i))
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return err
		}
		m := o.wants()
		m.content = content
		failure, err := sendOurs(ctx, g, servers[o.to], partnerSentTo(i), file, m, o)
		if err != nil {
			return err
		}
		r.Says(o.String(), failure)
	}
	return nil
}

func sendOurs(ctx context.Context, g *gateway, to *server, partner, file string, m message, o outgoing) (failure, err error) {
	if _, err := to.arrived(); err != nil { // what one that failed left behind
		return nil, err
	}
	out, failure := g.Run(ctx, "as2", "send", partner, file, "-o", "json")
	if failure != nil {
		return failure, nil
	}
	var told struct {
		Accepted bool   `json:"accepted"`
		SignedBy string `json:"signed_by"`
		TheirMIC string `json:"received_content_mic"`
	}
	if err := json.Unmarshal(out, &told); err != nil {
		return nil, fmt.Errorf("edigw as2 send tells %q: %w", out, err)
	}
	// pyas2lib signs, too, where an algorithm is named and a signature is not asked for.
	if !told.Accepted || o.mdn == "signed" && told.SignedBy == "" || o.mdn != "none" && told.TheirMIC == "" {
		return fmt.Errorf("edigw as2 send tells %s", bytes.TrimSpace(out)), nil
	}
	got, err := to.arrived()
	if err != nil {
		return nil, err
	}
	if len(got) != 1 {
		return fmt.Errorf("%d have arrived", len(got)), nil
	}
	if got[0].Filename != filepath.Base(file) {
		return fmt.Errorf("the name of the file has arrived as %q", got[0].Filename), nil
	}
	return got[0].of(m), nil
}
