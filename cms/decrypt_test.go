package cms

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// certified gives a key with a certificate of its own issue.
func certified(t testing.TB, name string, key crypto.Signer) Key {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2049, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return Key{Certificate: c, Private: key}
}

func newRSA(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newP256(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// counting counts how often a key works.
type counting struct {
	crypto.Decrypter
	times int
}

func (c *counting) Decrypt(random io.Reader, text []byte, o crypto.DecrypterOpts) ([]byte, error) {
	c.times++
	return c.Decrypter.Decrypt(random, text, o)
}

// Whatever fails in decrypting is told alike, and is found out by the same work: the
// private key works once, and all of the content is decrypted.
func TestFailuresOfDecryptionAreOne(t *testing.T) {
	own, stranger := newRSA(t), newRSA(t)
	curve, other := certified(t, "us", newP256(t)), newP256(t)
	mine := certified(t, "us", own)
	content := bytes.Repeat([]byte("UNB+UNOC:3+A+B'"), 100)
	seal := func(c Encryption, to Key, oaep crypto.Hash) func() *Enveloped {
		der, err := Envelope{Recipients: []*Certificate{to.Certificate}, Encryption: c, OAEP: oaep}.Encrypt(content)
		if err != nil {
			t.Fatal(err)
		}
		return func() *Enveloped {
			e, err := ParseEnveloped(bytes.Clone(der), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
	}
	// raw encrypts a block without the padding that EncryptPKCS1v15 makes.
	raw := func(block []byte) []byte {
		m := new(big.Int).SetBytes(block)
		return m.Exp(m, big.NewInt(int64(own.E)), own.N).FillBytes(make([]byte, own.Size()))
	}
	padded := func(kind byte, key []byte) []byte {
		block := bytes.Repeat([]byte{0x5a}, own.Size())
		block[0], block[1] = 0, kind
		copy(block[len(block)-len(key):], key)
		block[len(block)-len(key)-1] = 0
		return raw(block)
	}
	for _, c := range []struct {
		name  string
		make  func() *Enveloped
		fault func(e *Enveloped)
		key   crypto.PrivateKey // in place of ours, under its name
		why   string            // what Detail tells
	}{
		{"another key of ours under the same name", seal(AES256CBC, mine, 0), nil, stranger, "padding"},
		{"padding of the key that begins with 1", seal(AES256CBC, mine, 0), func(e *Enveloped) {
			e.recipients[0].encrypted = padded(1, make([]byte, 32))
		}, nil, "padding"},
		{"a key that is too short", seal(AES256CBC, mine, 0), func(e *Enveloped) {
			e.recipients[0].encrypted = padded(2, make([]byte, 16))
		}, nil, "padding"},
		{"a key that is too long", seal(AES256CBC, mine, 0), func(e *Enveloped) {
			e.recipients[0].encrypted = padded(2, make([]byte, 48))
		}, nil, "padding"},
		{"no zero behind the padding of the key", seal(AES256CBC, mine, 0), func(e *Enveloped) {
			block := bytes.Repeat([]byte{0x5a}, own.Size())
			block[0], block[1] = 0, 2
			e.recipients[0].encrypted = raw(block)
		}, nil, "padding"},
		{"the right padding of the key, and another key", seal(AES256CBC, mine, 0), func(e *Enveloped) {
			e.recipients[0].encrypted = padded(2, bytes.Repeat([]byte{0x77}, 32))
		}, nil, "padding"},
		{"an encrypted key that is no number below the modulus", seal(AES256CBC, mine, 0), func(e *Enveloped) {
			e.recipients[0].encrypted = bytes.Repeat([]byte{0xff}, own.Size())
		}, nil, "rsa-pkcs1"},
		{"an encrypted key that is cut", seal(AES256CBC, mine, 0), func(e *Enveloped) {
			e.recipients[0].encrypted = e.recipients[0].encrypted[:100]
		}, nil, "padding"},
		{"an empty encrypted key", seal(AES256CBC, mine, 0), func(e *Enveloped) {
			e.recipients[0].encrypted = nil
		}, nil, "padding"},
		{"another last block of the content", seal(AES256CBC, mine, 0), func(e *Enveloped) {
			e.content.raw[len(e.content.raw)-1] ^= 1
		}, nil, "padding"},
		{"3DES, another last block of the content", seal(TripleDES, mine, 0), func(e *Enveloped) {
			e.content.raw[len(e.content.raw)-1] ^= 1
		}, nil, "padding"},
		{"OAEP with another key", seal(AES256CBC, mine, crypto.SHA256), nil, stranger, "rsa-oaep"},
		{"OAEP, changed", seal(AES256CBC, mine, crypto.SHA256), func(e *Enveloped) {
			e.recipients[0].encrypted[100] ^= 1
		}, nil, "rsa-oaep"},
		{"OAEP whose parameters say another hash", seal(AES256CBC, mine, crypto.SHA256), func(e *Enveloped) {
			e.recipients[0].algorithm.parameters = sequence()
		}, nil, "rsa-oaep"},
		{"OAEP of broken parameters", seal(AES256CBC, mine, crypto.SHA256), func(e *Enveloped) {
			e.recipients[0].algorithm.parameters = sequence(integer(1))
		}, nil, "rsa-oaep"},
		{"ECDH with another key", seal(AES256CBC, curve, 0), nil, other, "unwrapped"},
		{"ECDH, the wrapped key changed", seal(AES256CBC, curve, 0), func(e *Enveloped) {
			e.recipients[0].encrypted[3] ^= 1
		}, nil, "unwrapped"},
		{"ECDH with 3DES, the wrapped key changed", seal(TripleDES, curve, 0), func(e *Enveloped) {
			e.recipients[0].encrypted[3] ^= 1
		}, nil, "unwrapped"},
		{"ECDH, a point that is not on the curve", seal(AES256CBC, curve, 0), func(e *Enveloped) {
			e.recipients[0].originator[5] ^= 1
		}, nil, "ecdh"},
		{"ECDH, a key derivation nobody knows", seal(AES256CBC, curve, 0), func(e *Enveloped) {
			e.recipients[0].algorithm.id = oidData
		}, nil, "key agreement"},
		{"GCM with another key", seal(AES256GCM, mine, 0), nil, stranger, "tag"},
		{"GCM, changed content", seal(AES256GCM, mine, 0), func(e *Enveloped) {
			e.content.raw[7] ^= 1
		}, nil, "tag"},
		{"GCM, another tag", seal(AES256GCM, mine, 0), func(e *Enveloped) {
			e.tag[15] ^= 1
		}, nil, "tag"},
		{"GCM, the padding of the key wrong", seal(AES256GCM, mine, 0), func(e *Enveloped) {
			e.recipients[0].encrypted = padded(1, make([]byte, 32))
		}, nil, "tag"},
		{"CCM, another tag", seal(AES256CCM, mine, 0), func(e *Enveloped) {
			e.tag[15] ^= 1
		}, nil, "tag"},
		{"CCM with another key", seal(AES256CCM, mine, 0), nil, stranger, "tag"},
		{"GCM, attributes that were not authenticated", seal(AES256GCM, mine, 0), func(e *Enveloped) {
			e.attributes = setOf(integer(1))
		}, nil, "tag"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e *Enveloped
			var counter *counting
			var text, before []byte
			var d *Decrypted
			var err error
			// What comes out of a wrong key is padded well once in 256 times, and what was
			// encrypted by RSA may be no number of its modulus.
			for try := 0; try < 20 && (err == nil || strings.HasSuffix(Detail(err), rsa.ErrDecryption.Error())); try++ {
				if e = c.make(); c.fault != nil {
					c.fault(e)
				}
				key := mine
				if e.recipients[0].agreed {
					key = curve
				}
				if c.key != nil {
					key.Private = c.key
				}
				counter = &counting{}
				if d, ok := key.Private.(crypto.Decrypter); ok {
					counter.Decrypter, key.Private = d, counter
				}
				text = e.content.raw
				before = bytes.Clone(text)
				d, err = e.Decrypt([]Key{key})
			}
			if (d == nil) != e.Encryption.Authenticates() || !errors.Is(err, ErrDecrypt) {
				t.Fatalf("%v, %v", d, err)
			}
			for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
				if got := fmt.Sprintf(format, err); got != "cannot be decrypted" {
					t.Errorf("as %s it tells %q", format, got)
				}
			}
			if got := fmt.Sprintf("%#v", fmt.Errorf("open: %w", err)); strings.Contains(got, Detail(err)) {
				t.Errorf("wrapped it tells %q", got)
			}
			if !strings.Contains(Detail(err), c.why) {
				t.Errorf("Detail says %q, not of %q", Detail(err), c.why)
			}
			if counter.Decrypter != nil && counter.times != 1 {
				t.Errorf("the key worked %d times", counter.times)
			}
			for i := 0; i+16 <= len(text); i += 16 {
				if bytes.Equal(text[i:i+16], before[i:i+16]) {
					t.Fatalf("the block at byte %d was not decrypted", i)
				}
			}
		})
	}
	t.Run("decrypted twice", func(t *testing.T) {
		e := seal(AES128CBC, mine, 0)()
		if d, err := e.Decrypt([]Key{mine}); err != nil || !bytes.Equal(d.Content, content) {
			t.Fatal(err)
		}
		if _, err := e.Decrypt([]Key{mine}); !errors.Is(err, ErrDecrypt) {
			t.Error(err)
		}
	})
}

func TestPaddingOfTheContent(t *testing.T) {
	for n := range 256 {
		for wrong := range 17 {
			block := bytes.Repeat([]byte{byte(n)}, 16)
			if wrong < 16 {
				block[wrong] ^= 0x40
			}
			want := 0
			last := int(block[15])
			if last >= 1 && last <= 16 && !bytes.ContainsFunc(block[16-last:], func(r rune) bool { return r != rune(last) }) {
				want = 1
			}
			if length, good := paddingOf(block, 16); good != want || good == 1 && length != last {
				t.Errorf("% x: %d, %d; want %d", block, length, good, want)
			}
		}
	}
}

func TestKeysOfOurs(t *testing.T) {
	a, b := newRSA(t), newRSA(t)
	old, renewed, next := certified(t, "us", a), certified(t, "us, renewed", a), certified(t, "us, next", b)
	content := []byte("UNB+UNOC:3+A+B'")
	seal := func(c Encryption, to ...Key) *Enveloped {
		var certificates []*Certificate
		for _, k := range to {
			certificates = append(certificates, k.Certificate)
		}
		der, err := Envelope{Recipients: certificates, Encryption: c}.Encrypt(content)
		if err != nil {
			t.Fatal(err)
		}
		e, err := ParseEnveloped(der, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, c := range []Encryption{AES128CBC, AES256GCM, AES256CCM, TripleDES} {
		for _, with := range []struct {
			name string
			to   []Key
			keys []Key
			want *Certificate
		}{
			{"a certificate that was renewed with its key", []Key{old}, []Key{renewed}, renewed.Certificate},
			{"old and new key of ours, the message names the old one", []Key{old}, []Key{next, old}, old.Certificate},
			{"the message names both, and one is here", []Key{next, old}, []Key{old}, old.Certificate},
			{"a name that is told with other string types", []Key{{Certificate: teletex(old.Certificate)}}, []Key{next, old}, old.Certificate},
		} {
			t.Run(string(c)+": "+with.name, func(t *testing.T) {
				d, err := seal(c, with.to...).Decrypt(with.keys)
				if err != nil {
					t.Fatal(Detail(err))
				}
				if diff := cmp.Diff(string(content), string(d.Content)); diff != "" {
					t.Error(diff)
				}
				if d.Certificate != with.want {
					t.Errorf("by %s", d.Certificate)
				}
			})
		}
		t.Run(string(c)+": the first of two that are named cannot be unwrapped", func(t *testing.T) {
			// A random key ends in good padding once in 256 times.
			for try := 0; ; try++ {
				e := seal(c, next, old)
				if one := e.recipients[0]; !old.Certificate.named(one.issuer, one.serial, one.keyID) {
					t.Fatal("the recipients stand in another order")
				}
				e.recipients[0].encrypted[9] ^= 1
				d, err := e.Decrypt([]Key{old, next})
				if err == nil && bytes.Equal(d.Content, content) && d.Certificate == next.Certificate {
					return
				}
				if try == 5 {
					t.Fatal(Detail(err))
				}
			}
		})
		t.Run(string(c)+": nobody of us is meant", func(t *testing.T) {
			_, err := seal(c, old).Decrypt([]Key{certified(t, "us", newP256(t)), {Private: a}, {Certificate: old.Certificate, Private: "no key"}})
			if !strings.Contains(Detail(err), "certificate 7 issued by CN=us") {
				t.Error(Detail(err))
			}
		})
	}
	t.Run("a message of many recipients makes the key work four times at most", func(t *testing.T) {
		var to []Key
		for range 40 {
			to = append(to, old)
		}
		counter := &counting{Decrypter: a}
		if _, err := seal(AES128CBC, to...).Decrypt([]Key{{old.Certificate, counter}}); err != nil {
			t.Fatal(Detail(err))
		}
		if counter.times != mostPairs {
			t.Errorf("%d times", counter.times)
		}
	})
}

// teletex gives a certificate whose names are TeletexStrings of other case.
func teletex(c *Certificate) *Certificate {
	changed := *c
	changed.Issuer = bytes.Clone(c.Issuer)
	i := bytes.Index(changed.Issuer, []byte("us"))
	copy(changed.Issuer[i:], "US")
	changed.Issuer[i-2] = 0x14
	return &changed
}
