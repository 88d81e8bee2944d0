package wssec_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"testing"
	"time"

	"github.com/edigw/edigw/as4/wssec"
)

// issued is a certificate with a serial number, of an issuer.
func issued(t *testing.T, serial int64, issuer pkix.Name) *x509.Certificate {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	parent := &x509.Certificate{Subject: issuer, SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "x"}, SerialNumber: big.NewInt(serial), NotBefore: parent.NotBefore, NotAfter: parent.NotAfter}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestIssuerSerial(t *testing.T) {
	ours := issued(t, 7, pkix.Name{CommonName: `Acme, "the" CA+1`, Organization: []string{"Größe  & Co"}, Country: []string{"DE"},
		ExtraNames: []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}, Value: "ca@example.org"}}})
	other := issued(t, 7, pkix.Name{CommonName: "Another CA", Country: []string{"DE"}})
	for _, c := range []struct {
		name   string
		serial int64
		want   *x509.Certificate
	}{
		{`CN=Acme\, \"the\" CA\+1,O=Größe & Co,C=DE`, 7, ours},
		{`C=DE, O=GRÖSSE & Co, CN=Another CA`, 7, nil},
		{`C=DE, O=größe & co, CN="Acme, \"the\" CA+1"`, 7, ours},
		{`1.2.840.113549.1.9.1=#160e6361406578616d706c652e6f7267,CN=Acme\2C \22the\22 CA\2B1,OID.2.5.4.10=Gr\C3\B6\C3\9Fe & Co,C=DE`, 7, ours},
		{`emailAddress=ca@example.org + CN=Acme\, \"the\" CA\+1; C=DE`, 7, ours},
		{"CN=Another CA,C=DE", 7, other},
		{"CN=Another CA,C=DE", 8, nil},
		{"CN=Nobody", 7, nil},
		{`CN=Another CA\`, 7, nil},
		{"C=DE", 7, ours}, // both are of it; the first that is pinned goes
	} {
		got, err := wssec.Pinned(ours, other)(wssec.Token{Issuer: c.name, Serial: big.NewInt(c.serial)})
		if got != c.want || (err == nil) != (c.want != nil) {
			t.Errorf("%s, %d: %v, %v", c.name, c.serial, got, err)
		}
	}
}

func TestTokensInWords(t *testing.T) {
	c := issued(t, 7, pkix.Name{CommonName: "CA"})
	for _, x := range []struct {
		token wssec.Token
		want  string
	}{
		{wssec.Token{Certificate: c}, `certificate of "CN=x", serial number 7`},
		{wssec.Token{SubjectKeyID: []byte{1, 0xab}}, "certificate with subject key identifier 01ab"},
		{wssec.Token{Thumbprint: []byte{1, 0xab}}, "certificate with SHA-1 thumbprint 01ab"},
		{wssec.Token{Issuer: "CN=CA", Serial: big.NewInt(7)}, `certificate of issuer "CN=CA", serial number 7`},
		{wssec.Token{}, "no certificate"},
	} {
		if got := x.token.String(); got != x.want {
			t.Errorf("got %s, want %s", got, x.want)
		}
		if x.token.Names(c) != (x.token.Certificate != nil || x.token.Serial != nil) {
			t.Errorf("%v names the certificate: %v", x.token, x.token.Names(c))
		}
	}
}

func TestContentIDs(t *testing.T) {
	for _, id := range []string{"a@b", "invoice 1+2@x", "100%@x", "<>@x", "ä@x", "a/b?c#d@x", "~._-!$'()*,=@x"} {
		uri := wssec.CID(id)
		if got, ok := wssec.ContentID(uri); !ok || got != id {
			t.Errorf("%q is written as %s and read as %q", id, uri, got)
		}
	}
	for uri, want := range map[string]string{"cid:a+b@x": "a+b@x", "CID:a%2Bb%40x": "a+b@x", "cid:a@b": "a@b", "cid:": "", "cid:%zz": "", "#a": "", "http://x/": "", "": ""} {
		if got, ok := wssec.ContentID(uri); got != want || ok != (want != "") {
			if ok || want != "" {
				t.Errorf("%s is read as %q, %v", uri, got, ok)
			}
		}
	}
}
