package cms

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// berStyle is one of the ways to write the same in BER.
type berStyle struct {
	name       string
	indefinite bool
	piece      int // bytes of a piece of an OCTET STRING; 0 is in one piece
	nested     int // how deep pieces stand in pieces
	zeros      int // before each length
}

var berStyles = []berStyle{
	{name: "DER"},
	{name: "indefinite lengths", indefinite: true},
	{name: "indefinite lengths, pieces of 10 bytes", indefinite: true, piece: 10},
	{name: "definite lengths, pieces of 1 byte", piece: 1},
	{name: "pieces in pieces in pieces", indefinite: true, piece: 7, nested: 3},
	{name: "lengths with zeros in front", zeros: 3},
	{name: "an empty piece of everything", indefinite: true, piece: 3, zeros: 1},
}

// write writes an element in DER in the style.
func (s berStyle) write(t testing.TB, der []byte) []byte {
	t.Helper()
	r := newReader(der, 64)
	var out []byte
	for r.more() {
		h, err := r.header()
		if err != nil {
			t.Fatal(err)
		}
		first := r.text[r.at]
		content := r.text[r.at+h.size : r.at+h.size+h.length]
		r.at += h.size + h.length
		switch {
		case h.constructed:
			out = append(out, s.wrap(first, s.write(t, content))...)
		case s.piece > 0 && (h.tag == tagOctetString || h.tag&0xc0 == contextSpecific):
			out = append(out, s.wrap(first|constructed, s.pieces(content))...)
		default:
			s := s
			s.indefinite = false
			out = append(out, s.wrap(first, content)...)
		}
	}
	return out
}

func (s berStyle) pieces(content []byte) (out []byte) {
	short := s
	short.indefinite = false
	for from := 0; from < len(content); from += s.piece {
		piece := short.wrap(byte(tagOctetString), content[from:min(from+s.piece, len(content))])
		for range s.nested {
			piece = s.wrap(byte(tagOctetString)|constructed, piece)
		}
		out = append(out, piece...)
		out = append(out, byte(tagOctetString), 0)
	}
	return out
}

func (s berStyle) wrap(first byte, content []byte) []byte {
	switch {
	case s.indefinite:
		return append(append([]byte{first, 0x80}, content...), 0, 0)
	case s.zeros > 0:
		n := len(content)
		header := append([]byte{first, byte(0x80 + s.zeros + 3)}, make([]byte, s.zeros)...)
		return append(append(header, byte(n>>16), byte(n>>8), byte(n)), content...)
	}
	return element(first, content)
}

// testKey reads a key with its certificate from testdata.
func testKey(t testing.TB, name string) Key {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".pem")
	if err != nil {
		t.Fatal(err)
	}
	private, rest := pem.Decode(text)
	certificate, _ := pem.Decode(rest)
	var k Key
	if k.Private, err = x509.ParsePKCS8PrivateKey(private.Bytes); err != nil {
		t.Fatal(err)
	}
	if k.Certificate, err = ParseCertificate(certificate.Bytes); err != nil {
		t.Fatal(err)
	}
	return k
}

// form is one kind of message, and how it is opened.
type form struct {
	name      string
	der       []byte
	content   []byte
	protected bool // no change of the content goes unseen
	open      func(der []byte) ([]byte, error)
}

// forms makes a message of every kind.
func forms(t testing.TB) (list []form) {
	t.Helper()
	content := []byte(strings.Repeat("UNB+UNOC:3+A+B+261130:1000+1'\r\n", 3))
	of, elliptic, ed := testKey(t, "rsa"), testKey(t, "p256"), testKey(t, "ed25519")
	signed := func(name string, by Key, s Signature, detached bool) {
		s.Key, s.Certificate = by.Private.(crypto.Signer), by.Certificate
		var der []byte
		var err error
		outside := Content(nil)
		if detached {
			outside = InMemory(content)
			der, err = s.Sign(outside)
		} else {
			der, err = s.SignAttached(content)
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, form{name, der, content, true, func(der []byte) ([]byte, error) {
			read, err := ParseSigned(der, Limits{})
			if err != nil {
				return nil, err
			}
			if _, err := read.Verify(outside, []*Certificate{s.Certificate}, Policy{}); err != nil {
				return nil, err
			}
			if read.Content != nil {
				return read.Content.Bytes(), nil
			}
			return content, nil
		}})
	}
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	signed("ECDSA", elliptic, Signature{Time: at}, true)
	signed("ECDSA, attached", elliptic, Signature{Time: at}, false)
	signed("ECDSA, without attributes", elliptic, Signature{NoAttributes: true, NoCertificates: true}, false)
	signed("RSA", of, Signature{Time: at}, false)
	signed("RSA-PSS", of, Signature{PSS: true, KeyIdentifier: true, Hash: crypto.SHA512}, true)
	signed("Ed25519", ed, Signature{Issuers: []*Certificate{of.Certificate}, Time: at}, true)
	signed("Ed25519, without attributes", ed, Signature{NoAttributes: true}, false)

	encrypted := func(name string, e Envelope, k Key) {
		e.Recipients = []*Certificate{k.Certificate}
		der, err := e.Encrypt(content)
		if err != nil {
			t.Fatal(err)
		}
		authenticated := e.Encryption == AES256GCM || e.Encryption == AES128CCM
		list = append(list, form{name, der, content, authenticated, func(der []byte) ([]byte, error) {
			read, err := ParseEnveloped(der, Limits{})
			if err != nil {
				return nil, err
			}
			d, err := read.Decrypt([]Key{k})
			if err != nil {
				return nil, err
			}
			return d.Content, nil
		}})
	}
	encrypted("AES-128-CBC by RSA", Envelope{}, of)
	encrypted("AES-256-GCM by RSA-OAEP", Envelope{Encryption: AES256GCM, OAEP: crypto.SHA256, KeyIdentifier: true}, of)
	encrypted("AES-256-GCM by ECDH", Envelope{Encryption: AES256GCM}, elliptic)
	encrypted("AES-128-CCM by ECDH", Envelope{Encryption: AES128CCM, KDF: crypto.SHA512}, elliptic)
	encrypted("3DES by ECDH", Envelope{Encryption: TripleDES, KeyIdentifier: true}, elliptic)

	der, err := Compress(content)
	if err != nil {
		t.Fatal(err)
	}
	return append(list, form{"compressed", der, content, true, func(der []byte) ([]byte, error) {
		read, err := ParseCompressed(der, Limits{})
		if err != nil {
			return nil, err
		}
		return read.Decompress(1 << 16)
	}})
}

func TestEveryKindOfBER(t *testing.T) {
	for _, f := range forms(t) {
		for _, s := range berStyles {
			for _, padding := range []string{"", "\n", "\r\n", "\x00\x00\x00\x00", "\x00\x00\r\n"} {
				t.Run(fmt.Sprintf("%s in %s, then %q", f.name, s.name, padding), func(t *testing.T) {
					ber := s.write(t, f.der)
					if s.name != "DER" && bytes.Equal(ber, f.der) {
						t.Fatal("it is written as DER")
					}
					got, err := f.open(append(ber, padding...))
					if err != nil {
						t.Fatalf("%v %s", err, Detail(err))
					}
					if !bytes.Equal(got, f.content) {
						t.Errorf("%q", got)
					}
				})
			}
		}
		t.Run(f.name+": a blank line stands before", func(t *testing.T) {
			got, err := f.open(append([]byte("\r\n"), f.der...))
			if err != nil || !bytes.Equal(got, f.content) {
				t.Errorf("%q, %v", got, err)
			}
			if kind := KindOf(append([]byte("\n"), f.der...)); kind != KindOf(f.der) || kind == "" {
				t.Errorf("it is %q", kind)
			}
		})
		t.Run(f.name+": something stands behind", func(t *testing.T) {
			if _, err := f.open(append(bytes.Clone(f.der), "x"...)); !errors.Is(err, ErrMalformed) {
				t.Error(err)
			}
		})
	}
}

// known reports whether an error is of a kind that is told.
func known(err error) bool {
	for _, kind := range []error{ErrMalformed, ErrLimit, ErrUnsupported, ErrForbidden, ErrUnknownSigner, ErrDigest, ErrSignature, ErrDecrypt, ErrDecompress} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func TestTruncated(t *testing.T) {
	for _, f := range forms(t) {
		for _, s := range berStyles[:3] {
			t.Run(f.name+" in "+s.name, func(t *testing.T) {
				ber := s.write(t, f.der)
				for n := range ber {
					if got, err := f.open(bytes.Clone(ber[:n])); err == nil || !known(err) {
						t.Fatalf("the first %d of %d bytes give %q, %v", n, len(ber), got, err)
					}
				}
			})
		}
	}
}

func TestFlippedBits(t *testing.T) {
	for _, f := range forms(t) {
		for _, s := range berStyles[:2] {
			t.Run(f.name+" in "+s.name, func(t *testing.T) {
				ber := s.write(t, f.der)
				for i := range ber {
					changed := bytes.Clone(ber)
					changed[i] ^= 1 << (i % 8)
					got, err := f.open(changed)
					switch {
					case err != nil && !known(err):
						t.Fatalf("byte %d: %v", i, err)
					case err == nil && f.protected && !bytes.Equal(got, f.content):
						t.Fatalf("byte %d: %q", i, got)
					}
				}
			})
		}
	}
}
