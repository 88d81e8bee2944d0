package wssec_test

import (
	"bytes"
	"crypto/sha1"
	"crypto/x509"
	"encoding/asn1"
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/edigw/edigw/as4/wssec"
)

// jks reads the private keys of a Java key store of the old format, in which the
// samples of phase4 and Domibus have theirs.
func jks(t *testing.T, path, password string) (keys []wssec.DecryptionKey) {
	t.Helper()
	r := bytes.NewReader(sample(t, path))
	number := func(n int) (v uint64) {
		b := make([]byte, n)
		if _, err := r.Read(b); err != nil {
			t.Fatal(err)
		}
		return binary.BigEndian.Uint64(append(make([]byte, 8-n), b...))
	}
	next := func(n uint64) []byte {
		b := make([]byte, n)
		if _, err := r.Read(b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	if magic, version := number(4), number(4); magic != 0xFEEDFEED || version != 2 {
		t.Fatalf("%s is no JKS", path)
	}
	certificate := func() *x509.Certificate {
		next(number(2)) // X.509
		c, err := x509.ParseCertificate(next(number(4)))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for range number(4) {
		kind := number(4)
		next(number(2) + 8) // the alias, the date
		if kind == 2 {
			certificate()
			continue
		}
		key, err := x509.ParsePKCS8PrivateKey(unprotect(t, next(number(4)), password))
		if err != nil {
			t.Fatal(err)
		}
		k := wssec.DecryptionKey{Key: key, Certificate: nil}
		for i := range number(4) {
			if c := certificate(); i == 0 {
				k.Certificate = c
			}
		}
		keys = append(keys, k)
	}
	return keys
}

// unprotect takes off the protection that JKS gives a key: the XOR of SHA-1 sums.
func unprotect(t *testing.T, der []byte, password string) []byte {
	t.Helper()
	var info struct {
		Algorithm asn1.RawValue
		Data      []byte
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		t.Fatal(err)
	}
	var secret []byte
	for _, u := range utf16.Encode([]rune(password)) {
		secret = binary.BigEndian.AppendUint16(secret, u)
	}
	salt, plain := info.Data[:20], info.Data[20:len(info.Data)-20]
	for i := 0; i < len(plain); i += 20 {
		sum := sha1.Sum(append(secret[:len(secret):len(secret)], salt...))
		for j := i; j < min(i+20, len(plain)); j++ {
			plain[j] ^= sum[j-i]
		}
		salt = sum[:]
	}
	return plain
}
