package as2

import (
	"crypto"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/partners"
)

// TestMICIsOver computes the check of each kind of message from the bytes that RFC 4130
// §7.3.1 and RFC 5402 §4 name, written out here and made by nothing of ours but the
// CMS around them.
func TestMICIsOver(t *testing.T) {
	all := known()
	const (
		body   = "UNB+UNOC:3+A+B+261129:1015+1'\nUNZ+0+1'\n"
		header = "Content-Type: application/EDIFACT\r\nContent-Transfer-Encoding: binary\r\nX-Odd:  two  blanks\r\n\r\n"
		part   = header + body
		text   = "Content-Type: application/EDIFACT\r\nContent-Transfer-Encoding: base64\r\n\r\nVU5CK1VOT0M6MytBK0IrMSc=\r\n"
	)
	detached := func(content string) string {
		der, err := signature(all.partner, func(s *cms.Signature) { s.Hash = crypto.SHA384 }).Sign(cms.InMemory([]byte(content)))
		if err != nil {
			t.Fatal(err)
		}
		return "preamble\r\n--sig\r\n" + content + "\r\n--sig\r\nContent-Type: application/pkcs7-signature\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
			base64.StdEncoding.EncodeToString(der) + "\r\n--sig--\r\n"
	}
	const multipart = `multipart/signed; protocol="application/pkcs7-signature"; micalg=SHA384; boundary=sig`
	encrypted := func(content string) string {
		der, err := envelope(all.us, func(e *cms.Envelope) { e.Encryption = cms.AES128GCM }).Encrypt([]byte(content))
		if err != nil {
			t.Fatal(err)
		}
		return string(der)
	}
	compressed := func(content string) string {
		der, err := cms.Compress([]byte(content))
		if err != nil {
			t.Fatal(err)
		}
		return string(der)
	}
	const pkcs7 = "application/pkcs7-mime"
	inside := func(contentType, body string) string {
		return "Content-Type: " + contentType + "\r\nContent-Transfer-Encoding: binary\r\n\r\n" + body
	}
	squeezed := inside(pkcs7, compressed(part))
	attachments := "--a\r\n" + part + "\r\n--a\r\nContent-Type: application/pdf\r\n\r\n%PDF\r\n--a--\r\n"
	by1 := func(s string) string { sum := sha1.Sum([]byte(s)); return base64.StdEncoding.EncodeToString(sum[:]) }
	by256 := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return base64.StdEncoding.EncodeToString(sum[:])
	}
	by384 := func(s string) string {
		sum := sha512.Sum384([]byte(s))
		return base64.StdEncoding.EncodeToString(sum[:])
	}
	for _, c := range []struct {
		name, contentType, body string
		asked                   []string
		want                    string
		change                  func(*partners.Partner)
	}{
		{"signed: the part without the line end before the boundary, by the signature's algorithm", multipart, detached(part), []string{"sha1"}, by384(part) + ", SHA384", unsigned},
		{"signed, by the algorithm that is asked for where the partner is set so", multipart, detached(part), []string{"Sha_1", "rsa-sha1"}, by1(part) + ", rsa-sha1", func(p *partners.Partner) { p.AS2.MICRequested = true }},
		{"signed, and encrypted", pkcs7, encrypted(inside(multipart, detached(part))), nil, by384(part) + ", SHA384", unsigned},
		{"signed, compressed inside: over what is compressed", multipart, detached(squeezed), []string{"sha-384"}, by384(squeezed) + ", sha-384", unsigned},
		{"signed, compressed around it: over what was signed", pkcs7, compressed(inside(multipart, detached(part))), nil, by384(part) + ", SHA384", unsigned},
		{"signed, several attachments", multipart, detached("Content-Type: multipart/mixed; boundary=a\r\n\r\n" + attachments), nil,
			by384("Content-Type: multipart/mixed; boundary=a\r\n\r\n"+attachments) + ", SHA384", unsigned},
		{"encrypted: with its header", pkcs7, encrypted(part), nil, by1(part) + ", sha1", unsigned},
		{"encrypted, by the first that is known", pkcs7, encrypted(part), []string{"tiger", "SHA-256", "sha1"}, by256(part) + ", SHA-256", unsigned},
		{"encrypted without an entity", pkcs7, encrypted(body), nil, by1(body) + ", sha1", unsigned},
		{"encrypted, its transfer encoding as it stands", pkcs7, encrypted(text), nil, by1(text) + ", sha1", unsigned},
		{"encrypted, several attachments", pkcs7, encrypted("Content-Type: multipart/mixed; boundary=a\r\n\r\n" + attachments), nil, by1("Content-Type: multipart/mixed; boundary=a\r\n\r\n"+attachments) + ", sha1", unsigned},
		{"plain: without a header", "application/EDIFACT", body, nil, by1(body) + ", sha1", unsigned},
		{"plain, several attachments", "multipart/mixed; boundary=a", attachments, []string{"sha256"}, by256(attachments) + ", sha256", unsigned},
		{"compressed: what was decompressed, with its header and transfer encoding", pkcs7, compressed(text), []string{"sha2_256"}, by256(text) + ", sha2_256", unsigned},
		{"compressed, and encrypted", pkcs7, encrypted(squeezed), nil, by1(part) + ", sha1", unsigned},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newIngress(t, c.change)
			fields := []string{}
			if c.asked != nil {
				fields = append(fields, "Disposition-Notification-Options: signed-receipt-protocol=optional, pkcs7-signature; signed-receipt-micalg=optional, "+strings.Join(c.asked, ","))
			}
			a := in.send(Composed{ContentType: c.contentType, Body: []byte(c.body)}, fields...)
			if a.report == nil || a.report.Disposition != processed {
				t.Fatalf("got %s: %s", a.says(), a.body)
			}
			if got := a.report.MIC.String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if !strings.Contains(string(a.body), "\r\nReceived-content-MIC: "+c.want+"\r\n") {
				t.Errorf("it is folded, or spelled otherwise:\n%s", a.body)
			}
		})
	}
}
