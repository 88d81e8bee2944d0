package cms

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rebuilt writes a certificate of the parts, as partners' authorities have written
// them. Its signature holds nowhere, and nobody looks.
func rebuilt(serial, issuer, spki []byte, extensions ...[]byte) []byte {
	algorithm := sequence(element(byte(tagOID), schemes[1].id), null)
	validity := sequence(element(byte(tagUTCTime), []byte("200101000000Z")), element(byte(tagUTCTime), []byte("491231235959Z")))
	parts := [][]byte{explicit(0, integer(2)), element(byte(tagInteger), serial), algorithm, issuer, validity, issuer, spki}
	if len(extensions) > 0 {
		parts = append(parts, explicit(3, sequence(extensions...)))
	}
	return sequence(sequence(parts...), algorithm, element(byte(tagBitString), make([]byte, 257)))
}

// named writes a Name of one attribute.
func nameOf(id []byte, t tag, value string) []byte {
	return sequence(setOf(sequence(element(byte(tagOID), id), element(byte(t), []byte(value)))))
}

var commonName = []byte("\x55\x04\x03")

// rsaInfo writes the SubjectPublicKeyInfo of an RSA key.
func rsaInfo(id, modulus, exponent []byte) []byte {
	key := sequence(element(byte(tagInteger), modulus), element(byte(tagInteger), exponent))
	return sequence(sequence(element(byte(tagOID), id), null), element(byte(tagBitString), []byte{0}, key))
}

func TestCertificatesThatOthersRefuse(t *testing.T) {
	k := testKey(t, "rsa")
	key := k.Private.(*rsa.PrivateKey)
	modulus := key.N.Bytes()
	good := nameOf(commonName, 0x13, "ACME EDI")
	info := k.Certificate.SPKI
	for _, c := range []struct {
		name string
		der  []byte
		text string
	}{
		{"an underscore in a PrintableString", rebuilt([]byte{7}, nameOf(commonName, 0x13, "ACME_EDI"), info), "certificate 7 of CN=ACME_EDI"},
		{"other characters in a PrintableString", rebuilt([]byte{7}, nameOf(commonName, 0x13, "edi@acme!#&*"), info), "certificate 7 of CN=edi@acme!#&*"},
		{"a serial number below zero", rebuilt([]byte{0x8f, 1}, good, info), "certificate -70FF of CN=ACME EDI"},
		{"a serial number with zeros in front", rebuilt([]byte{0, 0, 7}, good, info), "certificate 7 of CN=ACME EDI"},
		{"no serial number", rebuilt(nil, good, info), "certificate 0 of CN=ACME EDI"},
		{"a serial number of 70 bytes below zero", rebuilt(bytes.Repeat([]byte{0x87}, 70), good, info), "certificate with a number of 70 bytes of CN=ACME EDI"},
		{"a modulus without the zero in front", rebuilt([]byte{7}, good, rsaInfo(oidRSA, modulus, []byte{1, 0, 1})), "certificate 7 of CN=ACME EDI"},
		{"a key for PSS alone", rebuilt([]byte{7}, good, rsaInfo(oidPSS, append([]byte{0}, modulus...), []byte{1, 0, 1})), "certificate 7 of CN=ACME EDI"},
		{"a key for OAEP alone", rebuilt([]byte{7}, good, rsaInfo(oidOAEP, append([]byte{0}, modulus...), []byte{1, 0, 1})), "certificate 7 of CN=ACME EDI"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if x, err := x509.ParseCertificate(c.der); err == nil {
				if _, ok := x.PublicKey.(*rsa.PublicKey); ok {
					t.Error("crypto/x509 reads it by now: is it still a case?")
				}
			}
			got, err := ParseCertificate(c.der)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != c.text {
				t.Errorf("it is %s", got)
			}
			if !key.PublicKey.Equal(got.PublicKey) || !got.sameKey(k.Certificate) {
				t.Errorf("its key is %v, %v", got.PublicKey, got.KeyError)
			}
			// It signs, and is encrypted to.
			who := Key{got, key}
			if _, err := signedBy(t, who, Signature{}).Verify(InMemory(interchange), []*Certificate{got}, Policy{}); err != nil {
				t.Error(err)
			}
			der, err := Envelope{Recipients: []*Certificate{got}}.Encrypt(interchange)
			if err != nil {
				t.Fatal(err)
			}
			e, err := ParseEnveloped(der, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if d, err := e.Decrypt([]Key{who}); err != nil || !bytes.Equal(d.Content, interchange) {
				t.Error(Detail(err))
			}
		})
	}
}

func TestKeysInCertificates(t *testing.T) {
	k := testKey(t, "rsa")
	modulus := append([]byte{0}, k.Private.(*rsa.PrivateKey).N.Bytes()...)
	even := bytes.Clone(modulus)
	even[len(even)-1] &^= 1
	x, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	xInfo, err := x509.MarshalPKIXPublicKey(x.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		spki []byte
		want error // nil: the key is there
		text string
	}{
		{"RSA", k.Certificate.SPKI, nil, ""},
		{"EC", testKey(t, "p256").Certificate.SPKI, nil, ""},
		{"Ed25519", testKey(t, "ed25519").Certificate.SPKI, nil, ""},
		{"X25519", xInfo, nil, ""},
		{"RSA with an exponent of 3", rsaInfo(oidRSA, modulus, []byte{3}), nil, ""},
		{"RSA with an exponent of 1", rsaInfo(oidRSA, modulus, []byte{1}), ErrMalformed, "exponent"},
		{"RSA with an exponent of 2^32 + 1", rsaInfo(oidRSA, modulus, []byte{1, 0, 0, 0, 1}), ErrUnsupported, "exponent"},
		{"RSA with an exponent of 2^31 + 1", rsaInfo(oidRSA, modulus, []byte{0x80, 0, 0, 1}), ErrUnsupported, "exponent"},
		{"RSA without an exponent", rsaInfo(oidRSA, modulus, nil), ErrUnsupported, "exponent"},
		{"RSA with an even modulus", rsaInfo(oidRSA, even, []byte{3}), ErrMalformed, "even"},
		{"RSA of 8193 bits", rsaInfo(oidRSA, append([]byte{1}, bytes.Repeat([]byte{0xff}, 1024)...), []byte{3}), ErrUnsupported, "8193 bits"},
		{"RSA of many bits", rsaInfo(oidRSA, bytes.Repeat([]byte{0x7f}, 3000), []byte{3}), ErrUnsupported, "24000 bits"},
		{"a key of very many bits", rsaInfo(oidRSA, bytes.Repeat([]byte{0x7f}, 1<<20), []byte{3}), ErrUnsupported, "8192 are the most"},
		{"RSA in a BIT STRING of no bytes", sequence(sequence(element(byte(tagOID), oidRSA)), element(byte(tagBitString))), ErrMalformed, "unused bits"},
		{"DSA", sequence(sequence(element(byte(tagOID), []byte("\x2a\x86\x48\xce\x38\x04\x01"))), element(byte(tagBitString), []byte{0})), ErrUnsupported, "1.2.840.10040.4.1"},
		{"an EC key whose point is on no curve", sequence(sequence(element(byte(tagOID), oidECPublicKey), element(byte(tagOID), []byte("\x2a\x86\x48\xce\x3d\x03\x01\x07"))),
			element(byte(tagBitString), append([]byte{0, 4}, make([]byte, 64)...))), ErrUnsupported, "1.2.840.10045.2.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseCertificate(rebuilt([]byte{7}, nameOf(commonName, 0x0c, "x"), c.spki))
			if err != nil {
				t.Fatal(err)
			}
			if (got.PublicKey != nil) != (c.want == nil) || !errors.Is(got.KeyError, c.want) {
				t.Fatalf("%v, %v", got.PublicKey, got.KeyError)
			}
			if c.want != nil && !strings.Contains(got.KeyError.Error(), c.text) {
				t.Errorf("%v does not speak of %q", got.KeyError, c.text)
			}
		})
	}
}

func TestCertificateFields(t *testing.T) {
	c := testKey(t, "p256").Certificate
	x, err := x509.ParseCertificate(c.Raw)
	if err != nil {
		t.Fatal(err)
	}
	type fields struct {
		Issuer, Subject, SPKI, KeyID []byte
		Serial                       string
		From, Until                  time.Time
	}
	want := fields{x.RawIssuer, x.RawSubject, x.RawSubjectPublicKeyInfo, x.SubjectKeyId, x.SerialNumber.String(), x.NotBefore, x.NotAfter}
	got := fields{c.Issuer, c.Subject, c.SPKI, c.SubjectKeyID, new(big.Int).SetBytes(c.Serial).String(), c.NotBefore, c.NotAfter}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again, err := CertificateOf(x)
	if err != nil || again.String() != c.String() {
		t.Errorf("%v, %v", again, err)
	}
}

// What X509 gives is what crypto/x509 reads, where it does.
func TestX509(t *testing.T) {
	key := newP256(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(0x70ff), NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2055, 1, 1, 0, 0, 0, 0, time.UTC),
		Subject:      pkix.Name{CommonName: "Müller & Söhne", Organization: []string{"A", "B"}, Country: []string{"DE"}},
		SubjectKeyId: []byte{1, 2, 3}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyAgreement | x509.KeyUsageDecipherOnly,
		ExtKeyUsage:        []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection, x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageAny},
		UnknownExtKeyUsage: []asn1.ObjectIdentifier{{1, 2, 840, 999999}}}
	full, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	for _, der := range [][]byte{full, testKey(t, "rsa").Certificate.Raw, testKey(t, "ed25519").Certificate.Raw} {
		want, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		fields := func(x *x509.Certificate) []any {
			return []any{x.Raw, x.RawIssuer, x.RawSubject, x.RawSubjectPublicKeyInfo, x.SerialNumber.String(), x.SubjectKeyId, x.NotBefore, x.NotAfter,
				x.KeyUsage, x.ExtKeyUsage, x.UnknownExtKeyUsage, x.PublicKeyAlgorithm, x.Subject.String(), x.Issuer.String(), x.Version}
		}
		got := c.X509()
		if diff := cmp.Diff(fields(want), fields(got)); diff != "" {
			t.Error(diff)
		}
		if !got.PublicKey.(interface{ Equal(crypto.PublicKey) bool }).Equal(want.PublicKey) {
			t.Error("the key is another")
		}
	}
}

func TestSameName(t *testing.T) {
	const printable, utf8, teletex, bmp = 0x13, 0x0c, 0x14, 0x1e
	acme := nameOf(commonName, printable, "ACME GmbH")
	two := func(first, second string) []byte {
		return sequence(setOf(sequence(element(byte(tagOID), commonName), element(printable, []byte(first))),
			sequence(element(byte(tagOID), []byte("\x55\x04\x0a")), element(printable, []byte(second)))))
	}
	for _, c := range []struct {
		name string
		a, b []byte
		want bool
	}{
		{"itself", acme, acme, true},
		{"another string type", acme, nameOf(commonName, utf8, "ACME GmbH"), true},
		{"other case", acme, nameOf(commonName, printable, "Acme GMBH"), true},
		{"more spaces", acme, nameOf(commonName, printable, " ACME  GmbH "), true},
		{"sixteen bits", acme, nameOf(commonName, bmp, "\x00A\x00C\x00M\x00E\x00 \x00G\x00m\x00b\x00H"), true},
		{"Latin 1 beside UTF-8", nameOf(commonName, teletex, "M\xfcller"), nameOf(commonName, utf8, "Müller"), true},
		{"another name", acme, nameOf(commonName, printable, "ACME AG"), false},
		{"another attribute", acme, nameOf([]byte("\x55\x04\x0a"), printable, "ACME GmbH"), false},
		{"a part of it", acme, sequence(), false},
		{"a set in another order", two("A", "B"), two("A", "B"), true},
		{"a set of other values", two("A", "B"), two("B", "A"), false},
		{"no name", acme, []byte{1, 2, 3}, false},
		{"none and none", sequence(), element(byte(tagSequence) | constructed), true},
		{"broken alike", []byte{1, 2, 3}, []byte{1, 2, 3}, true},
		{"broken", []byte{1, 2, 3}, []byte{1, 2, 4}, false},
		{"very long, in other case", nameOf(commonName, utf8, strings.Repeat("a", 20000)), nameOf(commonName, utf8, strings.Repeat("A", 20000)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if sameName(c.a, c.b) != c.want || sameName(c.b, c.a) != c.want {
				t.Errorf("%s and %s: %v", nameText(c.a), nameText(c.b), !c.want)
			}
		})
	}
}

func TestSameSerial(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"\x07", "\x07", true}, {"\x00\x07", "\x07", true}, {"\x00\x8f", "\x8f", true}, {"\xff\x8f", "\x8f", true},
		{"\x07", "\x08", false}, {"\x07", "\x07\x00", false}, {"", "\x00", true}, {"\xff\xff", "\xff", true}, {"\x7f", "\xff", false},
	} {
		if got := sameSerial([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%x and %x: %v", c.a, c.b, got)
		}
	}
}

func TestTextOfIdentifiers(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{string(oidRSA), "1.2.840.113549.1.1.1"},
		{"\x55\x04\x03", "2.5.4.3"},
		{"\x00", "0.0"},
		{"\x27", "0.39"},
		{"\x4f", "1.39"},
		{"\x88\x37\x03", "2.999.3"},
		{"", "#"},
		{"\x2a\x86", "#2a86"},
		{"\x2a" + strings.Repeat("\xff", 20) + "\x01", "#2a" + strings.Repeat("ff", 20) + "01"},
		{strings.Repeat("\x81", 1<<20), "#" + strings.Repeat("81", 32)},
	} {
		if got := dotted([]byte(c.id)); got != c.want {
			t.Errorf("% x is %s, want %s", c.id[:min(len(c.id), 40)], got, c.want)
		}
	}
	name := sequence(setOf(sequence(element(byte(tagOID), commonName), element(0x0c, []byte("a\r\nb\x1b[1m")))),
		setOf(sequence(element(byte(tagOID), []byte("\x2a\x03")), element(0x0c, []byte("\xff")))),
		setOf(sequence(element(byte(tagOID), commonName), element(0x0c, []byte(strings.Repeat("x", 100))))))
	if got, want := nameText(name), "CN=a  b [1m, 1.2.3=#ff, CN="+strings.Repeat("x", 64)+"…"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		tag  tag
		text string
		want string
	}{
		{tagUTCTime, "261130100007Z", "2026-11-30T10:00:07Z"},
		{tagUTCTime, "491231235959Z", "2049-12-31T23:59:59Z"},
		{tagUTCTime, "500101000000Z", "1950-01-01T00:00:00Z"},
		{tagUTCTime, "2611301000Z", "2026-11-30T10:00:00Z"},
		{tagUTCTime, "261130120007+0200", "2026-11-30T10:00:07Z"},
		{tagGeneralizedTime, "20501130100007Z", "2050-11-30T10:00:07Z"},
		{tagGeneralizedTime, "20501130100007.25Z", "2050-11-30T10:00:07.25Z"},
		{tagUTCTime, "261330100007Z", ""},
		{tagUTCTime, "", ""},
		{tagUTCTime, strings.Repeat("2", 100), ""},
		{tagInteger, "261130100007Z", ""},
	} {
		at, err := parseTime(c.tag, []byte(c.text))
		if got := at.Format(time.RFC3339Nano); (err != nil) != (c.want == "") || err == nil && got != c.want {
			t.Errorf("%s %q: %s, %v", c.tag, c.text, got, err)
		}
	}
}
