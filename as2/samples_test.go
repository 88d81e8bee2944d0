package as2

import (
	"bufio"
	"bytes"

	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/partners"
)

// shared reads a file beside the project, and skips without it.
func shared(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", path))
	if os.IsNotExist(err) {
		t.Skip("shared absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// request reads a header with its body, with or without a request line before it, as
// net/http does: folds are joined.
func request(t *testing.T, raw []byte) (http.Header, *entity.Entity) {
	t.Helper()
	head, body, ok := bytes.Cut(raw, []byte("\r\n\r\n"))
	end := "\r\n\r\n"
	if lone, rest, lf := bytes.Cut(raw, []byte("\n\n")); lf && (!ok || len(lone) < len(head)) {
		head, body, end = lone, rest, "\n\n"
	}
	if first, _, _ := bytes.Cut(head, []byte("\n")); !bytes.Contains(first, []byte(": ")) {
		_, head, _ = bytes.Cut(head, []byte("\n"))
	}
	text := "POST / HTTP/1.0\r\n" + strings.TrimRight(string(head), "\r\n") + end
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	return r.Header, outerEntity(r.Header, bytes.Clone(body))
}

func parsePEM(t *testing.T, text []byte) any {
	t.Helper()
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			t.Fatal("no certificate and no key")
		}
		switch block.Type {
		case "CERTIFICATE":
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			return c
		case "PRIVATE KEY":
			k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			return k
		case "RSA PRIVATE KEY":
			k, err := x509.ParsePKCS1PrivateKey(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		text = rest
	}
}

// sampleOpener trusts the certificate and decrypts with the key.
func sampleOpener(t *testing.T, signer, ours, key []byte) *Opener {
	o := opener(rules(unsigned))
	o.Leads = nil
	o.Partner.Certificates = nil
	if signer != nil {
		o.Partner.Certificates = []*partners.Certificate{{Label: "sample", Purposes: []string{partners.AS2Sign}, X509: parsePEM(t, signer).(*x509.Certificate)}}
		o.Now = o.Partner.Certificates[0].X509.NotBefore.Add(time.Hour)
	}
	o.Keys = nil
	if key != nil {
		c, err := cms.CertificateOf(parsePEM(t, ours).(*x509.Certificate))
		if err != nil {
			t.Fatal(err)
		}
		private := parsePEM(t, key)
		o.Keys = func() ([]cms.Key, error) { return []cms.Key{{Certificate: c, Private: private}}, nil }
	}
	return o
}

func TestSamples(t *testing.T) {
	const generated, libas2 = "samples/as2/generated/", "samples/as2/node-libas2/"
	pyas2 := func(t *testing.T) *Opener {
		c, k := shared(t, generated+"pyas2-key.crt"), shared(t, generated+"pyas2-key.key")
		return sampleOpener(t, c, c, k)
	}
	for _, c := range []struct{ name, file, mic, begins string }{
		{"pyas2lib, signed", generated + "sig.http", "R2aEmC3p0FOt3p3N+QojUfhyCaCCRWahRFfJ3IdHe/4=, sha256", "UNB+"},
		{"pyas2lib, compressed, signed and encrypted with 3DES", generated + "sec.http", "kAFy1p2h9oOoG3epgDsLVGaUFUGOWsRhgmbmIUlI07k=, sha256", "UNB+"},
		{"pyas2lib, a PSS that leaves its parameters out, and RSA-OAEP", generated + "pssoaep.http", "R2aEmC3p0FOt3p3N+QojUfhyCaCCRWahRFfJ3IdHe/4=, sha256", "UNB+"},
		{"pyas2lib, plain", generated + "plain.http", "", "UNB+"},
		{"pyas2lib, compressed", generated + "comp.http", "", "UNB+"},
		{"pyas2lib, encrypted", generated + "enc.http", "", "UNB+"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, e := request(t, shared(t, c.file))
			m, err := pyas2(t).Open(e, wantedOf(h))
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Parts) != 1 || !bytes.HasPrefix(m.Parts[0].Body, []byte(c.begins)) || m.Parts[0].Filename != "order.edi" {
				t.Errorf("the payload is %.80q, %q", m.Parts[0].Body, m.Parts[0].Filename)
			}
			if c.mic != "" && m.MIC.String() != c.mic {
				t.Errorf("got %s, want %s", m.MIC, c.mic)
			}
			if from, err := ParseName(h.Get("AS2-From")); err != nil || from.Plain != "some organization" {
				t.Errorf("from %+v", from)
			}
		})
	}
	t.Run("libas2, kept with LF: the signature is over CRLF", func(t *testing.T) {
		h, e := request(t, shared(t, libas2+"content.signed.txt"))
		m, err := sampleOpener(t, shared(t, libas2+"libas2community.cer"), nil, nil).Open(e, wantedOf(h))
		if err != nil {
			m, err = sampleOpener(t, shared(t, libas2+"as2testing.cer"), nil, nil).Open(e, wantedOf(h))
		}
		if err != nil {
			t.Fatal(err)
		}
		if !m.Signed || !bytes.HasPrefix(m.Parts[0].Body, []byte("ISA*")) || m.Parts[0].Filename != "message.edi" {
			t.Errorf("got %+v", m)
		}
	})
	t.Run("libas2, encrypted", func(t *testing.T) {
		h, e := request(t, shared(t, libas2+"content.encrypted.txt"))
		c := shared(t, libas2+"libas2community.cer")
		m, err := sampleOpener(t, nil, c, shared(t, libas2+"libas2community.key")).Open(e, wantedOf(h))
		if err != nil {
			t.Fatal(err)
		}
		if !m.Encrypted || !bytes.HasPrefix(m.Parts[0].Body, []byte("ISA*")) {
			t.Errorf("got %.60q", m.Parts[0].Body)
		}
	})
	t.Run("openssl's messages are opened, or fail, as their algorithms say", func(t *testing.T) {
		const dir = generated + "cms/"
		content := shared(t, dir+"p.mime")
		for _, f := range []struct{ file, key, want string }{
			{"sig-sha256", "s", "ok"}, {"sig-sha384", "s", "ok"}, {"sig-sha512", "s", "ok"}, {"sig-pss", "s", "ok"}, {"sig-noattr", "s", "ok"},
			{"sig-nocerts", "s", "ok"}, {"sig-keyid", "s", "ok"}, {"sig-sha1", "s", "ok"}, {"sig-sha224", "s", insufficientSecurity}, {"sig-md5", "s", insufficientSecurity},
			{"sig-ecdsa", "e", "ok"},
		} {
			der := shared(t, dir+f.file+".der")
			body := "--b\r\n" + string(content) + "\r\n--b\r\nContent-Type: application/pkcs7-signature\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString(der) + "\r\n--b--\r\n"
			e := received(Composed{ContentType: "multipart/signed; boundary=b", Body: []byte(body)})
			m, err := sampleOpener(t, shared(t, dir+f.key+".crt"), nil, nil).Open(e, Wanted{})
			if got := says(m, err); got != f.want {
				t.Errorf("%s: %s, %v", f.file, got, err)
			}
		}
		for _, f := range []struct{ file, key, want string }{
			{"enc-des-ede3-cbc", "r", "ok"}, {"enc-aes128", "r", "ok"}, {"enc-aes192", "r", "ok"}, {"enc-aes256", "r", "ok"}, {"enc-aes-128-gcm", "r", "ok"}, {"enc-aes-256-gcm", "r", "ok"},
			{"enc-oaep", "r", "ok"}, {"enc-oaep256", "r", "ok"}, {"enc-gcm-oaep256", "r", "ok"}, {"enc-keyid", "r", "ok"}, {"enc-two", "r", "ok"}, {"enc-ber", "r", "ok"},
			{"enc-ec", "e", "ok"}, {"enc-ec-gcm", "e", "ok"}, {"enc-ec-kdf256", "e", "ok"}, {"enc-ec-keyid", "e", "ok"},
			{"enc-des", "r", decryptionFailed}, {"enc-camellia128", "r", decryptionFailed}, {"enc-rc2-40", "r", decryptionFailed}, {"enc-aes128", "e", decryptionFailed},
		} {
			e := received(Composed{ContentType: "application/pkcs7-mime", Body: shared(t, dir+f.file+".der")})
			m, err := sampleOpener(t, nil, shared(t, dir+f.key+".crt"), shared(t, dir+f.key+".key")).Open(e, Wanted{})
			if got := says(m, err); got != f.want {
				t.Errorf("%s: %s, %v", f.file, got, err)
			}
		}
	})
}

// TestCaseFiles opens the signed messages of the situations beside the project, byte
// for byte.
func TestCaseFiles(t *testing.T) {
	for _, c := range []struct{ name, file, signer, mic string }{
		{"48, the first", "48-resigned-resend-a", "48-resigned-resend", "ATb7BXpLqtty4tN+orYNFoj8yCmieujawtb2Q0JjgmI="},
		{"48, signed anew", "48-resigned-resend-b", "48-resigned-resend", "ATb7BXpLqtty4tN+orYNFoj8yCmieujawtb2Q0JjgmI="},
		{"50, folded fields", "50-as2-folded-headers", "50-as2-folded-headers", "IcUNAyfZFw4d5YX8HrXsXcmHYQuGu+gFicRffTBqrtk="},
		{"52, signed over CRLF and sent with LF", "52-as2-mic-line-ends-a", "52-as2-mic-line-ends", "uZllyUPYSHBdRGbKBww0k3t45YIpyDpIs5SUSZNDOME="},
		{"52, signed as sent, with LF", "52-as2-mic-line-ends-b", "52-as2-mic-line-ends", "Pn0f10GHZcLz6fQFCQYGSX9tR5i3RKgRHOm9sh8dwrI="},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, e := request(t, shared(t, "cases/"+c.file+".http"))
			o := sampleOpener(t, shared(t, "cases/"+c.signer+"-signer.pem"), nil, nil)
			o.Now = noon
			m, err := o.Open(e, wantedOf(h))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := m.MIC.String(), c.mic+", sha-256"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			lone := bytes.Count(m.Parts[0].Body, []byte("\n")) - bytes.Count(m.Parts[0].Body, []byte("\r\n"))
			if c.file == "52-as2-mic-line-ends-b" && lone == 0 {
				t.Error("the payload has lost its line ends")
			}
		})
	}
	t.Run("65, an expired certificate, and one of nobody", func(t *testing.T) {
		h, e := request(t, shared(t, "cases/65-as2-expired-cert.http"))
		o := sampleOpener(t, shared(t, "cases/65-as2-expired-cert-signer.pem"), nil, nil)
		o.Now = noon
		if m, err := o.Open(e, wantedOf(h)); says(m, err) != authenticationFailed {
			t.Errorf("got %v", err)
		}
		o.Partner.AS2.ExpiredAccepted = true
		if m, err := o.Open(e, wantedOf(h)); err != nil || len(m.Notes) != 1 {
			t.Errorf("got %v", err)
		}
		foreign := sampleOpener(t, shared(t, "cases/48-resigned-resend-signer.pem"), nil, nil)
		foreign.Now = noon
		if m, err := foreign.Open(e, wantedOf(h)); says(m, err) != authenticationFailed {
			t.Errorf("got %v", err)
		}
	})
}
