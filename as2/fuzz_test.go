package as2

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"testing"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/partners"
)

// stored reads a key with its certificate from testdata: what the corpus is signed and
// encrypted with has to stay the same, and making keys is slow.
func stored(f *testing.F, name string) *pair {
	f.Helper()
	text, err := os.ReadFile("testdata/" + name + ".pem")
	if err != nil {
		f.Fatal(err)
	}
	private, rest := pem.Decode(text)
	certificate, _ := pem.Decode(rest)
	key, err := x509.ParsePKCS8PrivateKey(private.Bytes)
	if err != nil {
		f.Fatal(err)
	}
	read, err := x509.ParseCertificate(certificate.Bytes)
	if err != nil {
		f.Fatal(err)
	}
	c, err := cms.CertificateOf(read)
	if err != nil {
		f.Fatal(err)
	}
	return &pair{key.(crypto.Signer), read, c}
}

// FuzzOpen opens whatever there is: it never panics, nothing is taken that is not signed,
// no signature is found that was not made, and what cannot be decrypted says no more.
func FuzzOpen(f *testing.F) {
	partner, us, curve := stored(f, "partner"), stored(f, "us"), stored(f, "curve")
	rules := &partners.Partner{ID: "talquist", Active: true, Organisation: "nordhafen", Certificates: []*partners.Certificate{certificate("now", partner)},
		AS2: partners.AS2{Names: []string{"TALQUIST-AS2"}, SignatureRequired: true, OldAlgorithms: []string{"3des", "sha1"}}}
	o := &Opener{Partner: rules, Leads: begins, Now: noon.AddDate(1, 0, 0), Max: 1 << 20, Keys: func() ([]cms.Key, error) {
		return []cms.Key{{Certificate: us.cms, Private: us.key}, {Certificate: curve.cms, Private: curve.key}}, nil
	}}
	wanted := Wanted{MDN: true, MICs: []string{"sha-256"}}
	signed := map[string]bool{} // all that ever was
	add := func(contentType, encoding string, body []byte) {
		h := http.Header{"Content-Type": {contentType}, "Content-Transfer-Encoding": {encoding}}
		if m, err := o.Open(outerEntity(h, bytes.Clone(body)), wanted); m.Signed {
			if err != nil {
				f.Fatal(err)
			}
			signed[string(m.checked)] = true
		}
		f.Add(contentType, encoding, body)
	}
	// What is signed is the same in each process: nothing in it is random.
	for _, content := range []Composed{edifact, {ContentType: "multipart/related; boundary=outer", Body: []byte("--outer\r\n" + string(edifact.bytes()) +
		"\r\n--outer\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0=\r\n--outer--\r\n")}} {
		for _, w := range []Wrapping{
			{}, {Signature: signature(partner)}, {Signature: signature(partner, func(s *cms.Signature) { s.NoAttributes = true })}, {Compress: true},
			{Signature: signature(partner), Compress: true}, {Signature: signature(partner), Compress: true, CompressAfter: true},
		} {
			for _, e := range []*cms.Envelope{nil, envelope(us), envelope(curve), envelope(curve, func(e *cms.Envelope) { e.Encryption = cms.AES128GCM }),
				envelope(curve, func(e *cms.Envelope) { e.Encryption, e.Recipients = cms.TripleDES, append(e.Recipients, us.cms) })} {
				w.Envelope = e
				c, _, err := w.Wrap(content, crypto.SHA256)
				if err != nil {
					f.Fatal(err)
				}
				add(c.ContentType, c.Encoding, c.Body)
				add(c.ContentType, "base64", []byte(lines(c.Body)))
			}
		}
		der, err := signature(partner).SignAttached(content.bytes())
		if err != nil {
			f.Fatal(err)
		}
		add("application/pkcs7-mime; smime-type=signed-data", "", der)
	}
	add("multipart/mixed; boundary=b", "", []byte("--b\r\n\r\nUNB+\r\n--b--\r\n"))
	if len(signed) != 4 { // two, and compressed
		f.Fatalf("%d entities are signed", len(signed))
	}
	f.Fuzz(func(t *testing.T, contentType, encoding string, body []byte) {
		h := http.Header{"Content-Type": {contentType}, "Content-Transfer-Encoding": {encoding}}
		was := bytes.Clone(body)
		m, err := o.Open(outerEntity(h, body), wanted)
		if err == nil && !m.Signed && m.Report == nil {
			t.Fatal("what is not signed was taken")
		}
		if m.Signed && !signed[string(m.checked)] {
			t.Fatalf("nobody signed %q", m.checked)
		}
		if err != nil {
			f := faultOf(err)
			if f == nil {
				t.Fatalf("no fault: %v", err)
			}
			if _, ok := reasonNamed(f.Reason); !ok || f.Detail == "" {
				t.Fatalf("a fault without a reason or words: %+v", f)
			}
			if f.Reason == decryptionFailed && (f.Detail != cannotDecrypt(nil).Detail || m.Signed || m.Parts != nil || m.MIC.Digest != nil || m.Notes != nil) {
				t.Fatalf("of what cannot be decrypted it says %+v, %+v", f, m)
			}
		}
		if !m.Encrypted && !bytes.Equal(was, body) {
			t.Fatal("a message that was not decrypted was changed")
		}
	})
}

func FuzzOptions(f *testing.F) {
	f.Add("signed-receipt-protocol=required, pkcs7-signature; signed-receipt-micalg=optional, sha1")
	f.Add(";=,;")
	f.Fuzz(func(t *testing.T, text string) {
		w := wantedOf(http.Header{"Disposition-Notification-To": {"x"}, "Disposition-Notification-Options": {text}})
		if h, name := w.mic(); h == 0 || digestNamed(name) != h {
			t.Fatalf("%v %q", h, name)
		}
		if n, err := ParseName(text); err == nil {
			if again, err := ParseName(NameOf(n.Plain).Raw); err != nil || again.Plain != n.Plain {
				t.Fatalf("%q became %q, %v", n.Plain, again.Plain, err)
			}
		}
		if id, ok := ParseMessageID(text); ok && id.Plain == "" {
			t.Fatal("an empty id")
		}
		if m, err := ParseMIC(text); err == nil && !m.Equal(m) {
			t.Fatal("a check that is not itself")
		}
	})
}
