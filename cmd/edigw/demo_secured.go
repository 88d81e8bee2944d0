package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/as4/wssec"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
)

// secured is what the demonstration needs for AS2 and AS4: the keys that the partners
// there sign with, and the certificate of ours that they encrypt to.
type secured struct {
	as2Key, as4Key as2.Key
	ours           *x509.Certificate
}

// demoMaster gives the master key of a data folder, which it makes there where there is
// none: another demonstration in the same folder opens the same keys.
func demoMaster(dir string) (string, error) {
	path := filepath.Join(dir, "demo-master.key")
	text, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return string(bytes.TrimSpace(text)), err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return "", err
	}
	made := hex.EncodeToString(key)
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return "", err
	}
	return made, os.WriteFile(path, []byte(made+"\n"), 0o600)
}

// prepareSecured makes our key as `keys create` does, and the partners with theirs.
func (d *demo) prepareSecured(by accounts.Identity) error {
	ours, err := d.ownKey(by)
	if err != nil {
		return err
	}
	d.ours = ours
	// Elliptic for AS2, RSA for eDelivery AS4 1.15, which has no other.
	curved, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if d.as2Key, err = selfIssued("linde.example", curved, x509.KeyUsageDigitalSignature|x509.KeyUsageKeyAgreement); err != nil {
		return err
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	if d.as4Key, err = selfIssued("papierhof.example", rsaKey, x509.KeyUsageDigitalSignature|x509.KeyUsageKeyEncipherment); err != nil {
		return err
	}
	text, err := d.file("secured.yaml", d.run)
	if err != nil {
		return err
	}
	for place, key := range map[string]as2.Key{"@AS2@": d.as2Key, "@AS4@": d.as4Key} {
		text = bytes.ReplaceAll(text, []byte(place), []byte(base64.StdEncoding.EncodeToString(key.Certificates[0].Raw)))
	}
	_, err = d.admin.apply(d.ctx, by, text, nil)
	return err
}

// ownKey gives the certificate of our key, which it makes where there is none.
func (d *demo) ownKey(by accounts.Identity) (*x509.Certificate, error) {
	const organisation = "nordhandel"
	ring := d.admin.ring
	s, err := ring.Signer(organisation, keys.AS2Sign, time.Now())
	switch {
	case err == nil:
		return s.Chain[0], nil
	case !errors.Is(err, keys.ErrUnknown):
		return nil, err
	}
	var made *keys.Key
	err = pgx.BeginFunc(d.ctx, d.database.pool, func(tx pgx.Tx) (err error) {
		made, err = ring.Store.CreateTx(d.ctx, tx, keys.New{Organisation: organisation, Label: "demo", Purposes: []string{keys.AS2Sign, keys.AS2Decrypt, keys.AS4Sign, keys.AS4Decrypt},
			Algorithm: "rsa-2048", CommonName: "edi.nordhandel.example", Valid: 365 * 24 * time.Hour, By: by.Person})
		return err
	})
	if err != nil {
		return nil, err
	}
	return made.Certificates[0].Leaf(), ring.Load(d.ctx)
}

// selfIssued is a key with a certificate of its own issue.
func selfIssued(name string, key crypto.Signer, use x509.KeyUsage) (as2.Key, error) {
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 0, 30), KeyUsage: use}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return as2.Key{}, err
	}
	c, err := x509.ParseCertificate(der)
	return as2.Key{Label: name, Private: key, Certificates: []*x509.Certificate{c}}, err
}

// securedFile is an interchange of another sender than the file's, with a reference and a
// number of its own.
func (d *demo) securedFile(name, from, to, mark string) ([]byte, error) {
	text, err := d.file(name, d.run+mark)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte(from), []byte(to))
	return bytes.ReplaceAll(text, []byte("-"+d.run), []byte("-"+d.run+mark)), nil
}

// heard notes what the gateway answers.
type heard struct {
	http.RoundTripper
	body []byte
}

// RoundTrip implements http.RoundTripper.
func (h *heard) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := h.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	h.body, err = io.ReadAll(resp.Body)
	err = errors.Join(err, resp.Body.Close())
	resp.Body = io.NopCloser(bytes.NewReader(h.body))
	return resp, err
}

// hears makes a client that notes the last answer.
func (d *demo) hears() (*http.Client, *heard, error) {
	c, err := httpClient(d.access.IngressCertificate)
	if err != nil {
		return nil, nil, err
	}
	h := &heard{RoundTripper: c.Transport}
	if h.RoundTripper == nil {
		h.RoundTripper = http.DefaultTransport
	}
	c.Transport = h
	return c, h, nil
}

// overAS2 sends an invoice over AS2, and again under its Message-ID.
func (d *demo) overAS2() error {
	const mark = "L"
	text, err := d.securedFile("invoice.edi", "9520001000010", "9520001000034", mark)
	if err != nil {
		return err
	}
	client, heard, err := d.hears()
	if err != nil {
		return err
	}
	// What the partner knows of us.
	us := &partners.Partner{ID: "nordhandel", Organisation: demoAS2,
		AS2: partners.AS2{Names: []string{"NORDHANDEL-AS2"}, Send: partners.AS2Send{URL: d.access.Ingress + as2Path, From: "LINDE-AS2", To: "NORDHANDEL-AS2",
			Signature: "sha256", Encryption: "aes256-cbc", KeyEncryption: "rsa-pkcs1", Compression: true, MDN: "signed"}},
		Certificates: []*partners.Certificate{{Label: "edi.nordhandel.example", Purposes: []string{partners.AS2Sign, partners.AS2Encrypt}, X509: d.ours}}}
	s := &as2.Sender{Client: client, Keys: func(context.Context, string, as2.Purpose) ([]as2.Key, error) { return []as2.Key{d.as2Key}, nil }}
	var first []byte
	for i, heading := range []string{
		"7  " + demoAS2 + " sends invoice RE-" + d.run + mark + " over AS2: compressed, signed, encrypted, and asks for a signed MDN",
		"8  Its MDN was lost, say: the same Message-ID again, signed and encrypted anew",
	} {
		d.heading("%s", heading)
		sent, err := s.Send(d.ctx, us, as2.Outgoing{MessageID: d.run + "@linde.example", Type: "application/EDIFACT", Filename: "invoice.edi", Content: text})
		if err != nil {
			d.line("   %v", err)
		}
		if sent == nil || sent.Notification == nil {
			d.check(false, "there is an MDN")
			return nil
		}
		d.line("   POST %s  AS2-From: LINDE-AS2  AS2-To: NORDHANDEL-AS2  →  %d", as2Path, sent.Status)
		d.line("   MDN: %s, signed by %s, Received-content-MIC: %s", sent.Notification.Disposition, sent.Certificate, sent.Notification.MIC)
		if i == 0 {
			d.check(err == nil && sent.Signed, "processed: our signature on it holds, and its check is that of what was sent")
			first = heard.body
		} else {
			d.check(err == nil && bytes.Equal(first, heard.body), "the same MDN byte for byte (%d bytes): a retry is no second invoice", len(first))
		}
		if err := d.documents(demoAS2, "invoice", d.run+mark); err != nil {
			return err
		}
	}
	return nil
}

// overAS4 pushes a despatch advice by AS4, and again under its MessageId.
func (d *demo) overAS4() error {
	const mark = "P"
	text, err := d.securedFile("despatch.edi", "9520001000027", "9520001000041", mark)
	if err != nil {
		return err
	}
	client, heard, err := d.hears()
	if err != nil {
		return err
	}
	const unregistered = "urn:oasis:names:tc:ebcore:partyid-type:unregistered"
	u := &as4.UserMessage{MessageInfo: as4.MessageInfo{Timestamp: time.Now(), MessageID: d.run + "@papierhof.example"},
		From: as4.Party{ID: "papierhof-ap", Type: unregistered, Role: as4.InitiatorRole}, To: as4.Party{ID: "nordhandel-ap", Type: unregistered, Role: as4.ResponderRole},
		Collaboration: as4.CollaborationInfo{Service: "urn:papierhof:edi", Action: "Deliver"}}
	payload := as4.Bytes(text, "application/EDIFACT")
	payload.Compress = true
	var first []byte
	for i, heading := range []string{
		"9  " + demoAS4 + " pushes a despatch advice by AS4, eDelivery 1.15: compressed, signed, encrypted",
		"10 Its receipt was lost, say: the same MessageId again, signed and encrypted anew",
	} {
		d.heading("%s", heading)
		c, err := as4.Compose(u, []as4.Payload{payload}, &wssec.Signing{Key: d.as4Key.Private, Certificate: d.as4Key.Certificates[0]}, &wssec.Encrypting{Recipient: d.ours})
		if err != nil {
			return fmt.Errorf("compose an AS4 message: %w", err)
		}
		answered, err := as4.Sender{HTTP: client}.Send(d.ctx, d.access.Ingress+"/as4", c, []*x509.Certificate{d.ours})
		if err != nil {
			d.line("   %v", err)
		}
		if answered == nil || answered.Signal == nil || answered.Signal.Receipt == nil {
			d.check(false, "there is a receipt")
			return nil
		}
		d.line("   POST /as4  eb:MessageId %s  →  %d", c.MessageID, answered.Status)
		d.line("   eb:Receipt %s for %s, signed by edi.nordhandel.example", answered.Signal.MessageInfo.MessageID, plural(len(answered.Signal.Receipt.References), "reference"))
		if i == 0 {
			d.check(err == nil && answered.Receipt && answered.Signer != nil, "received: our signature on it holds, and it names what was signed")
			first = heard.body
		} else {
			d.check(err == nil && bytes.Equal(first, heard.body), "the same receipt byte for byte (%d bytes): a retry is no second despatch advice", len(first))
		}
		if err := d.documents(demoAS4, "despatch", d.run+mark); err != nil {
			return err
		}
	}
	return nil
}
