package wssec_test

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beevik/etree"
	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as4/infoset"
	"github.com/edigw/edigw/as4/wssec"
)

// identity is a key with its certificate, of a kind: rsa, p256, p384, p521, ed25519
// or x25519; rsa1024 and p224 are too weak.
type identity struct {
	key         crypto.PrivateKey
	certificate *x509.Certificate
}

var identities sync.Map

// of gives the same identity for the same name and kind in all tests.
func of(t testing.TB, name, kind string) identity {
	t.Helper()
	made, ok := identities.Load(name + kind)
	if ok {
		return made.(identity)
	}
	var key crypto.PrivateKey
	var public crypto.PublicKey
	var err error
	switch kind {
	case "rsa":
		var k *rsa.PrivateKey
		k, err = rsa.GenerateKey(rand.Reader, 2048)
		key, public = k, &k.PublicKey
	case "rsa1024":
		var k *rsa.PrivateKey
		k, err = rsa.GenerateKey(rand.Reader, 1024)
		key, public = k, &k.PublicKey
	case "p224", "p256", "p384", "p521":
		var k *ecdsa.PrivateKey
		k, err = ecdsa.GenerateKey(map[string]elliptic.Curve{"p224": elliptic.P224(), "p256": elliptic.P256(), "p384": elliptic.P384(), "p521": elliptic.P521()}[kind], rand.Reader)
		key, public = k, &k.PublicKey
	case "ed25519":
		public, key, err = ed25519.GenerateKey(rand.Reader)
	case "x25519":
		var k *ecdh.PrivateKey
		k, err = ecdh.X25519().GenerateKey(rand.Reader)
		key, public = k, k.PublicKey()
	}
	if err != nil {
		t.Fatal(err)
	}
	issuer := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	parent := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Issuer, of tests", Organization: []string{`"Testing" + more`}, Country: []string{"EU"}}, SerialNumber: big.NewInt(1),
		IsCA: true, BasicConstraintsValid: true, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name + " " + kind}, SerialNumber: new(big.Int).SetBytes([]byte(name + kind)),
		NotBefore: parent.NotBefore, NotAfter: parent.NotAfter, SubjectKeyId: []byte(name + kind),
	}
	signed := public
	if kind == "x25519" { // which crypto/x509 reads and does not write
		signed = ed25519.PublicKey(public.(*ecdh.PublicKey).Bytes())
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, signed, issuer)
	if err != nil {
		t.Fatal(err)
	}
	if kind == "x25519" { // RFC 8410 §3
		of := func(oid byte) []byte {
			return append([]byte{0x06, 0x03, 0x2b, 0x65, oid, 0x03, 0x21, 0x00}, signed.(ed25519.PublicKey)...)
		}
		der = bytes.Replace(der, of(0x70), of(0x6e), 1)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	id := identity{key, c}
	identities.Store(name+kind, id)
	return id
}

// issuer is the certificate that issued all others, for paths.
func issuer(t testing.TB) *x509.Certificate {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "Issuer, of tests"}, SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (i identity) signing() *wssec.Signing {
	return &wssec.Signing{Key: i.key.(crypto.Signer), Certificate: i.certificate}
}

func (i identity) decryption() wssec.DecryptionKey {
	return wssec.DecryptionKey{Certificate: i.certificate, Key: i.key}
}

// messaging is an eb:Messaging, of which only the name counts here.
func messaging(t testing.TB) *etree.Element {
	t.Helper()
	doc, err := infoset.Parse([]byte(`<eb:Messaging xmlns:eb="`+wssec.EBMS3+`"><eb:UserMessage><eb:MessageInfo><eb:MessageId>1@example</eb:MessageId></eb:MessageInfo></eb:UserMessage></eb:Messaging>`), infoset.Header)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Root()
}

// parts are of every kind that is digested apart.
func parts() []wssec.Part {
	return []wssec.Part{
		part("gzip@example", "application/gzip", bytes.Repeat([]byte{0x1f, 0x8b, 0, '\n', '\r'}, 20_000)),
		part("invoice 1+2@example", "application/xml", []byte("<?xml version='1.0'?>\r\n<!-- x --><a  b='1'\r\n c=\"2\"/>")),
		part("text@example", "text/plain; charset=utf-8", []byte("UNA:+.? '\nUNB+UNOC\r\nUNZ\r")),
		part("empty@example", "application/edifact", nil),
	}
}

// secure is Outgoing.Secure that must not fail.
func secure(t testing.TB, parts []wssec.Part, signing *wssec.Signing, encrypting *wssec.Encrypting) *wssec.Secured {
	t.Helper()
	s, err := wssec.Outgoing{Messaging: messaging(t), Parts: parts}.Secure(signing, encrypting)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t testing.TB, soap []byte) *wssec.Envelope {
	t.Helper()
	e, err := wssec.Read(soap)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// wire gives parts as they arrive: the bytes that were sent, which nothing changes
// any more.
func wire(t testing.TB, parts []wssec.Part) []wssec.Part {
	t.Helper()
	arrived := make([]wssec.Part, len(parts))
	for i, p := range parts {
		arrived[i] = part(p.ContentID, p.MimeType, content(t, p))
	}
	return arrived
}

func TestSignatureMethods(t *testing.T) {
	for kind, methods := range map[string][]string{
		"rsa":     {"", wssec.RSASHA256, wssec.RSASHA384, wssec.RSASHA512, wssec.PSSSHA256, wssec.PSSSHA384, wssec.PSSSHA512},
		"p256":    {"", wssec.ECDSASHA256, wssec.ECDSASHA384, wssec.ECDSASHA512},
		"p384":    {wssec.ECDSASHA384},
		"p521":    {wssec.ECDSASHA512},
		"ed25519": {"", wssec.EdDSAEd25519},
	} {
		for _, method := range methods {
			for form, name := range map[wssec.TokenForm]string{
				wssec.BinarySecurityToken: "BinarySecurityToken", wssec.PKIPath: "PKIPath", wssec.SubjectKeyID: "SubjectKeyID", wssec.IssuerSerial: "IssuerSerial",
			} {
				t.Run(fmt.Sprintf("%s %s %s", kind, method[strings.LastIndexByte(method, '#')+1:], name), func(t *testing.T) {
					signer := of(t, "signer", kind)
					signing := signer.signing()
					signing.Method, signing.Token, signing.Chain = method, form, []*x509.Certificate{issuer(t)}
					sent := secure(t, parts(), signing, nil)
					e := read(t, sent.SOAP)
					s, err := e.Verify(wire(t, sent.Parts), wssec.Verification{Signer: wssec.Pinned(of(t, "another", "p256").certificate, signer.certificate)})
					if err != nil {
						t.Fatalf("%v\n%s", err, sent.SOAP)
					}
					if s.Messaging != e.Messaging || s.Body != e.Body || len(s.Parts) != 4 || len(s.References) != 6 || !s.Certificate.Equal(signer.certificate) {
						t.Errorf("%+v", s)
					}
					if err := wssec.Compare(sent.References, s.References); err != nil {
						t.Error(err)
					}
					if wssec.Binding(sent.References) != wssec.Binding(s.References) {
						t.Error("the references bind otherwise after they were sent")
					}
					if _, err := e.Verify(sent.Parts, wssec.Verification{Signer: wssec.Pinned(of(t, "another", "rsa").certificate)}); wssec.ReasonOf(err) != wssec.Unauthenticated {
						t.Errorf("a signer that is not pinned: %v", err)
					}
				})
			}
		}
	}
}

func TestWeakKeys(t *testing.T) {
	for kind, want := range map[string]string{
		"rsa1024": "the RSA key has 1024 bits, at least 2048 are expected",
		"p224":    "the ECDSA key has 224 bits, at least 256 are expected",
	} {
		signer := of(t, "signer", kind)
		e := read(t, secure(t, nil, signer.signing(), nil).SOAP)
		v := wssec.Verification{Signer: wssec.Pinned(signer.certificate)}
		if _, err := e.Verify(nil, v); wssec.ReasonOf(err) != wssec.Unauthenticated || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
		v.MinRSA = 1024
		if _, err := e.Verify(nil, v); (err == nil) != (kind == "rsa1024") {
			t.Errorf("%s where 1024 bits are agreed: %v", kind, err)
		}
	}
}

func TestEncryption(t *testing.T) {
	for _, c := range []struct {
		kind, method string
		concat       bool
	}{
		{"rsa", "", false}, {"rsa", wssec.RSAOAEP, false}, {"rsa", wssec.RSAOAEPMGF1P, false},
		{"p256", "", false}, {"p256", wssec.ECDHES, true}, {"p384", "", false}, {"p521", "", true},
		{"x25519", "", false}, {"x25519", wssec.X25519, true},
	} {
		for _, data := range []string{"", wssec.AES128GCM, wssec.AES192GCM, wssec.AES256GCM} {
			for _, form := range []wssec.TokenForm{wssec.BinarySecurityToken, wssec.PKIPath, wssec.SubjectKeyID, wssec.IssuerSerial} {
				t.Run(fmt.Sprintf("%s %s %v %s %d", c.kind, c.method, c.concat, data, form), func(t *testing.T) {
					signer, recipient := of(t, "signer", "ed25519"), of(t, "recipient", c.kind)
					sent := secure(t, parts(), signer.signing(), &wssec.Encrypting{
						Recipient: recipient.certificate, Token: form, Method: c.method, ConcatKDF: c.concat, Data: data,
					})
					for _, p := range sent.Parts {
						if !p.Encrypted || p.MimeType != "application/octet-stream" {
							t.Errorf("part %s goes out as %s, encrypted: %v", p.ContentID, p.MimeType, p.Encrypted)
						}
						if first, second := content(t, p), content(t, p); !bytes.Equal(first, second) {
							t.Errorf("part %s is other bytes when it is sent again", p.ContentID)
						}
					}
					e := read(t, sent.SOAP)
					if !e.Encrypted() {
						t.Error("nothing is told to be encrypted")
					}
					keys := []wssec.DecryptionKey{of(t, "another", "rsa").decryption(), of(t, "another", c.kind).decryption(), recipient.decryption()}
					plain, err := e.Decrypt(wire(t, sent.Parts), wssec.Decryption{Keys: keys, Required: true})
					if err != nil {
						t.Fatalf("%v\n%s", err, sent.SOAP)
					}
					for i, p := range parts() {
						if got := plain[i]; got.ContentID != p.ContentID || got.MimeType != p.MimeType || !got.Encrypted {
							t.Errorf("part %d came as %+v", i, got)
						}
						for range 2 {
							if !bytes.Equal(content(t, p), content(t, plain[i])) {
								t.Errorf("part %d is not what was sent", i)
							}
						}
					}
					if _, err := e.Verify(plain, wssec.Verification{Signer: wssec.Pinned(signer.certificate)}); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

func TestSentAgain(t *testing.T) {
	signer := of(t, "signer", "rsa")
	first, second := secure(t, parts(), signer.signing(), nil), secure(t, parts(), signer.signing(), nil)
	t.Run("what is signed again with RSA is the same bytes", func(t *testing.T) {
		if diff := cmp.Diff(string(first.SOAP), string(second.SOAP)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what is encrypted again keeps its references, for the receipt of the first", func(t *testing.T) {
		encrypting := &wssec.Encrypting{Recipient: of(t, "recipient", "rsa").certificate}
		if err := wssec.Compare(first.References, secure(t, parts(), signer.signing(), encrypting).References); err != nil {
			t.Error(err)
		}
	})
	t.Run("an id of the header's own is kept, and one of ours in it is refused", func(t *testing.T) {
		m := messaging(t)
		m.CreateAttr("xmlns:u", wssec.WSU)
		m.CreateAttr("u:Id", "its-own")
		s, err := wssec.Outgoing{Messaging: m}.Secure(signer.signing(), nil)
		if err != nil || s.References[0].URI != "#its-own" {
			t.Error(err, s)
		}
		m = messaging(t)
		m.ChildElements()[0].CreateAttr("id", "body")
		if _, err := (wssec.Outgoing{Messaging: m}).Secure(signer.signing(), nil); err == nil {
			t.Error("two elements have the id body")
		}
	})
	t.Run("without signing and encryption it is a bare envelope", func(t *testing.T) {
		s, err := wssec.Outgoing{Messaging: messaging(t)}.Secure(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		e := read(t, s.SOAP)
		if e.Security != nil || s.References != nil || e.Encrypted() {
			t.Errorf("%s", s.SOAP)
		}
	})
}

func TestSecureRefuses(t *testing.T) {
	rsa, ec, x := of(t, "signer", "rsa"), of(t, "signer", "p256"), of(t, "recipient", "x25519")
	for _, c := range []struct {
		what       string
		parts      []wssec.Part
		signing    *wssec.Signing
		encrypting *wssec.Encrypting
		want       string
	}{
		{"a method of another key", nil, &wssec.Signing{Key: rsa.key.(crypto.Signer), Certificate: rsa.certificate, Method: wssec.ECDSASHA256}, nil, "sign: the signature method \"http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256\" does not go with a *rsa.PublicKey"},
		{"SHA-1", nil, &wssec.Signing{Key: rsa.key.(crypto.Signer), Certificate: rsa.certificate, Method: "http://www.w3.org/2000/09/xmldsig#rsa-sha1"}, nil, "sign: the signature method \"http://www.w3.org/2000/09/xmldsig#rsa-sha1\" does not go with a *rsa.PublicKey"},
		{"a method that is none", nil, &wssec.Signing{Key: ec.key.(crypto.Signer), Certificate: ec.certificate, Method: "x"}, nil, "sign: the signature method \"x\" does not go with a *ecdsa.PublicKey"},
		{"no key", nil, &wssec.Signing{}, nil, "sign: a key and its certificate are needed"},
		{"XML that is none", []wssec.Part{part("a", "text/xml", []byte("UNB"))}, rsa.signing(), nil, "sign: part a has the type text/xml and is not XML: it cannot be signed as that"},
		{"two parts of one Content-ID", append(parts(), parts()[0]), nil, nil, "each part needs a Content-ID of its own, not \"gzip@example\""},
		{"a part without Content-ID", []wssec.Part{part("", "text/plain", nil)}, nil, nil, "each part needs a Content-ID of its own, not \"\""},
		{"no recipient", parts(), nil, &wssec.Encrypting{}, "encrypt: a recipient's certificate is needed"},
		{"CBC", parts(), nil, &wssec.Encrypting{Recipient: rsa.certificate, Data: "http://www.w3.org/2001/04/xmlenc#aes128-cbc"}, "encrypt: \"http://www.w3.org/2001/04/xmlenc#aes128-cbc\" does not encrypt what we send; AES-GCM does"},
		{"key transport to a key that agrees", parts(), nil, &wssec.Encrypting{Recipient: x.certificate, Method: wssec.RSAOAEP}, "encrypt: \"http://www.w3.org/2009/xmlenc11#rsa-oaep\" does not go with a key on X25519"},
		{"agreement with an RSA key", parts(), nil, &wssec.Encrypting{Recipient: rsa.certificate, Method: wssec.X25519}, "encrypt: \"http://www.w3.org/2021/04/xmldsig-more#x25519\" does not go with an RSA key"},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, err := wssec.Outgoing{Messaging: messaging(t), Parts: c.parts}.Secure(c.signing, c.encrypting)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	t.Run("a part that cannot be read", func(t *testing.T) {
		broken := wssec.Part{ContentID: "a", Open: func() (io.ReadCloser, error) { return nil, io.ErrClosedPipe }}
		if _, err := (wssec.Outgoing{Messaging: messaging(t), Parts: []wssec.Part{broken}}).Secure(rsa.signing(), nil); err == nil || wssec.ReasonOf(err) != 0 {
			t.Error(err)
		}
	})
}
