package main

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/edigw/edigw/bench/invoic"
)

// withOpenSSL is a message that openssl alone signs and encrypts, with further options
// of its command cms.
type withOpenSSL struct {
	name    string
	sign    []string // nil: not; else -md and the digest first
	opaque  bool     // the content stands in the signature
	encrypt []string // nil: not
}

// openSSLSends are what the others cannot: every way to name a key, to pad, and to
// write BER.
var openSSLSends = []withOpenSSL{
	{name: "signed, detached", sign: []string{"-md", "sha256"}},
	{name: "signed, opaque", sign: []string{"-md", "sha256"}, opaque: true},
	{name: "signed, by key identifier", sign: []string{"-md", "sha256", "-keyid"}},
	{name: "signed, without its certificate", sign: []string{"-md", "sha256", "-nocerts"}},
	{name: "signed, without attributes", sign: []string{"-md", "sha256", "-noattr"}},
	{name: "signed PSS", sign: []string{"-md", "sha256", "-keyopt", "rsa_padding_mode:pss"}},
	{name: "signed SHA-512", sign: []string{"-md", "sha512"}},
	{name: "signed SHA-1, encrypted 3DES", sign: []string{"-md", "sha1"}, encrypt: []string{"-des3"}},
	{name: "signed, encrypted AES-128-CBC", sign: []string{"-md", "sha256"}, encrypt: []string{"-aes-128-cbc"}},
	{name: "signed, encrypted AES-256-CBC in BER of indefinite length", sign: []string{"-md", "sha256"}, encrypt: []string{"-aes-256-cbc", "-stream", "-indef"}},
	{name: "signed, encrypted AES-256-CBC, recipient by key identifier", sign: []string{"-md", "sha256"}, encrypt: []string{"-aes-256-cbc", "-keyid"}},
	{name: "signed, encrypted AES-128-GCM", sign: []string{"-md", "sha256"}, encrypt: []string{"-aes-128-gcm"}},
	{name: "signed, encrypted AES-192-GCM", sign: []string{"-md", "sha256"}, encrypt: []string{"-aes-192-gcm"}},
	{name: "signed, encrypted AES-256-GCM, OAEP with SHA-256", sign: []string{"-md", "sha256"}, encrypt: []string{"-aes-256-gcm", "OAEP"}},
	{name: "signed PSS, opaque, encrypted AES-256-CBC, OAEP with SHA-256", sign: []string{"-md", "sha384", "-keyopt", "rsa_padding_mode:pss"}, opaque: true, encrypt: []string{"-aes-256-cbc", "OAEP"}},
	{name: "encrypted AES-256-GCM", encrypt: []string{"-aes-256-gcm"}},
}

// openSSLToGateway sends them to edigw, and has openssl verify the MDNs.
func (r *run) openSSLToGateway(ctx context.Context, g *gateway) error {
	for i, w := range openSSLSends {
		if !r.Choice.Wants("openssl: " + w.name) {
			continue
		}
		number := 30_000 + i
		m := message{url: "http://" + g.Running.Address + "/as2", from: senderName, to: receiverName, filename: fmt.Sprintf("openssl-%d.edi", i),
			content: bytes.ReplaceAll(invoic.TwentyLines(int64(number)), []byte("\n"), []byte("\r\n"))}
		before, err := g.documents(ctx)
		if err != nil {
			return err
		}
		failure, err := r.bySSL(ctx, m, w, fmt.Sprintf("openssl-%d@brennholm", i))
		if err != nil {
			return err
		}
		if failure == nil {
			failure = g.holds(ctx, m, before)
		}
		r.Says("to edigw, openssl: "+w.name, failure)
	}
	return nil
}

// bySSL composes, posts, and judges the MDN. failure says why the combination does
// not hold; err that there is no saying.
func (r *run) bySSL(ctx context.Context, m message, w withOpenSSL, id string) (failure, err error) {
	in := func(name string) string { return filepath.Join(r.work, "ssl-"+name) }
	key := filepath.Join(r.keys, sender)
	entity := fmt.Appendf(nil, "Content-Type: application/EDIFACT\r\nContent-Disposition: attachment; filename=%q\r\nContent-Transfer-Encoding: binary\r\n\r\n%s", m.filename, m.content)
	if err := os.WriteFile(in("0"), entity, 0o600); err != nil {
		return nil, err
	}
	last := in("0")
	if w.sign != nil {
		arguments := append([]string{"cms", "-sign", "-binary", "-crlfeol", "-in", last, "-signer", key + ".cert.pem", "-inkey", key + ".key.pem", "-outform", "SMIME", "-out", in("1")}, w.sign...)
		if w.opaque {
			arguments = append(arguments, "-nodetach")
		}
		if _, err := openssl(ctx, arguments...); err != nil {
			return nil, err
		}
		last = in("1")
	}
	fields := map[string]string{}
	var body []byte
	if w.encrypt != nil {
		kind := "enveloped-data"
		arguments := []string{"cms", "-encrypt", "-binary", "-in", last, "-outform", "DER", "-out", in("2")}
		recipient := []string{"-recip", filepath.Join(r.keys, receiver+".cert.pem")}
		for _, option := range w.encrypt {
			if option == "OAEP" { // belongs to the recipient, so it stands behind
				recipient = append(recipient, "-keyopt", "rsa_padding_mode:oaep", "-keyopt", "rsa_oaep_md:sha256")
				continue
			}
			if strings.HasSuffix(option, "-gcm") {
				kind = "authEnveloped-data"
			}
			arguments = append(arguments, option)
		}
		if _, err := openssl(ctx, append(arguments, recipient...)...); err != nil {
			return nil, err
		}
		if body, err = os.ReadFile(in("2")); err != nil {
			return nil, err
		}
		fields["Content-Type"] = "application/pkcs7-mime; smime-type=" + kind + "; name=smime.p7m"
	} else if body, err = splitHead(last, fields); err != nil {
		return nil, err
	}
	answer, kind, err := post(ctx, m, id, fields, body)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(kind, "multipart/signed") {
		return fmt.Errorf("the MDN is of type %s: %.300s", kind, answer), nil
	}
	if err := os.WriteFile(in("mdn"), append([]byte("Content-Type: "+kind+"\r\n\r\n"), answer...), 0o600); err != nil {
		return nil, err
	}
	report, failure := openssl(ctx, "cms", "-verify", "-inform", "SMIME", "-in", in("mdn"), "-noverify", "-nointern", "-certfile", filepath.Join(r.keys, receiver+".cert.pem"))
	if failure != nil {
		return failure, nil
	}
	return judged(string(report), entity, w), nil
}

// judged holds a report to say processed, with the MIC of what was signed, or of what
// was encrypted (RFC 4130 §7.3.1).
func judged(report string, entity []byte, w withOpenSSL) error {
	digest := "sha256"
	if w.sign != nil {
		digest = w.sign[1]
	}
	h := map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}[digest]()
	if _, err := h.Write(entity); err != nil {
		return err
	}
	mic := base64.StdEncoding.EncodeToString(h.Sum(nil))
	if !strings.Contains(report, "; processed\r\n") || !strings.Contains(report, "Received-content-MIC: "+mic) {
		return fmt.Errorf("the MDN has not the MIC %s, or does not say processed: %q", mic, report)
	}
	return nil
}

// splitHead gives the body of a MIME entity and puts its fields, unfolded, into
// fields.
func splitHead(file string, fields map[string]string) (body []byte, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	head, body, is := bytes.Cut(text, []byte("\r\n\r\n"))
	if !is {
		return nil, errors.New("openssl has written no header")
	}
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n ", " ", "\r\n\t", " ").Replace(string(head)), "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		fields[name] = value
	}
	return body, nil
}

// post sends it and asks for a signed MDN.
func post(ctx context.Context, m message, id string, fields map[string]string, body []byte) (answer []byte, kind string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	for name, value := range fields {
		request.Header.Set(name, value)
	}
	for name, value := range map[string]string{
		"AS2-Version": "1.1", "AS2-From": m.from, "AS2-To": `"` + m.to + `"`, "Message-ID": "<" + id + ">", "Disposition-Notification-To": "edi@brennholm.example",
		"Disposition-Notification-Options": "signed-receipt-protocol=required, pkcs7-signature; signed-receipt-micalg=optional, sha256",
	} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	answer, err = io.ReadAll(response.Body)
	return answer, response.Header.Get("Content-Type"), errors.Join(err, response.Body.Close())
}
