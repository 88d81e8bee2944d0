package cases_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/as2"
	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/partners"
)

// signer is somebody who signs.
type signer struct {
	t           testing.TB
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newSigner(t testing.TB, name string) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c, err := selfSigned(name, key)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{t, key, c}
}

// selfSigned makes a certificate of ten years.
func selfSigned(name string, key crypto.Signer) (*x509.Certificate, error) {
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// settings is talquist as one who signs with this key.
func (s *signer) settings(more ...string) string {
	return fmt.Sprintf("as2: {%s}\ncertificates: [{label: now, certificate: %q, purposes: [as2_sign]}]\n",
		strings.Join(append([]string{"names: [TALQUIST-AS2]"}, more...), ", "), partners.EncodeCertificate(s.certificate))
}

func (s *signer) cms() *cms.Certificate {
	s.t.Helper()
	c, err := cms.CertificateOf(s.certificate)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// signature signs by SHA-256.
func (s *signer) signature() *cms.Signature {
	return &cms.Signature{Key: s.key, Certificate: s.cms(), Hash: crypto.SHA256, Time: time.Now()}
}

// wrap wraps a payload.
func (s *signer) wrap(w as2.Wrapping, payload string) as2.Composed {
	s.t.Helper()
	c, _, err := w.Wrap(as2.Composed{ContentType: "application/EDIFACT", Encoding: "binary", Body: []byte(payload)}, crypto.SHA256)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// signed signs a payload.
func (s *signer) signed(payload string) as2.Composed {
	return s.wrap(as2.Wrapping{Signature: s.signature()}, payload)
}

// toUs encrypts to our key.
func toUs(t testing.TB) *cms.Envelope {
	t.Helper()
	c, err := cms.CertificateOf(ours().Certificates[0])
	if err != nil {
		t.Fatal(err)
	}
	return &cms.Envelope{Recipients: []*cms.Certificate{c}}
}

// posting is a composed message of an id as it is posted, with further fields.
func posting(from, id, fields string, c as2.Composed) []byte {
	for _, f := range [][2]string{{"Content-Type", c.ContentType}, {"Content-Transfer-Encoding", c.Encoding}} {
		if f[1] != "" {
			fields += f[0] + ": " + f[1] + "\r\n"
		}
	}
	return append(fmt.Appendf(nil, "POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: %s\r\nAS2-To: NORDHAFEN-AS2\r\nMessage-ID: <%s@talquist.example>\r\n%sContent-Length: %d\r\n\r\n", from, id, fields, len(c.Body)), c.Body...)
}

// composed posts a composed message as talquist's.
func (r *rig) composed(id, fields string, c as2.Composed) *mdn {
	r.t.Helper()
	return r.rawBytes(posting("TALQUIST-AS2", id, fields, c))
}

// broken changes a byte of what was signed.
func broken(c as2.Composed) as2.Composed {
	c.Body = bytes.Replace(c.Body, []byte("UNB+UNOC:3"), []byte("UNB+UNOC:4"), 1)
	return c
}
