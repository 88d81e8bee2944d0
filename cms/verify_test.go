package cms

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

var interchange = []byte("UNB+UNOC:3+A+B+261130:1000+1'UNZ+0+1'")

// signedBy makes a SignedData and reads it.
func signedBy(t *testing.T, k Key, s Signature) *Signed {
	t.Helper()
	s.Key, s.Certificate = k.Private.(crypto.Signer), k.Certificate
	der, err := s.Sign(InMemory(interchange))
	if err != nil {
		t.Fatal(err)
	}
	read, err := ParseSigned(der, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestWhoSigned(t *testing.T) {
	a, b := testKey(t, "rsa"), certified(t, "b", newRSA(t))
	renewed := certified(t, "renewed", a.Private.(crypto.Signer))
	impostor := certified(t, "rsa", newRSA(t))
	impostor.Certificate.Issuer, impostor.Certificate.Serial = a.Certificate.Issuer, a.Certificate.Serial
	all := func(list ...Key) (certificates []*Certificate) {
		for _, k := range list {
			certificates = append(certificates, k.Certificate)
		}
		return certificates
	}
	for _, c := range []struct {
		name       string
		by         Key
		how        Signature
		candidates []*Certificate
		want       *Certificate
		matched    Match
		shown      bool
		err        error
	}{
		{"by the certificate that is named", a, Signature{}, all(b, a), a.Certificate, ByIdentifier, true, nil},
		{"by one that did not come along", a, Signature{NoCertificates: true}, all(b, a), a.Certificate, ByIdentifier, false, nil},
		{"by the key identifier", a, Signature{KeyIdentifier: true}, all(b, a), a.Certificate, ByIdentifier, true, nil},
		{"by the SHA-1 of the key where there is no key identifier", without(b), Signature{KeyIdentifier: true}, all(a, without(b)), without(b).Certificate, ByIdentifier, true, nil},
		{"by a certificate that was renewed with its key", renewed, Signature{}, all(b, a), a.Certificate, ByKey, true, nil},
		{"by one that was renewed and did not come along", renewed, Signature{NoCertificates: true}, all(b, a), a.Certificate, ByKey, false, nil},
		{"by a stranger", b, Signature{}, all(a), nil, "", false, ErrUnknownSigner},
		{"by a stranger whose certificate did not come along", b, Signature{NoCertificates: true}, all(a), nil, "", false, ErrUnknownSigner},
		{"where nobody is known", b, Signature{}, nil, nil, "", false, ErrUnknownSigner},
		{"by a stranger under a known name", impostor, Signature{}, all(b, a), nil, "", false, ErrSignature},
		{"by a stranger under a known name, without a certificate", impostor, Signature{NoCertificates: true}, all(b, a), nil, "", false, ErrSignature},
		{"of two candidates of one name the one whose key it is", a, Signature{}, all(impostor, a), a.Certificate, ByIdentifier, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := signedBy(t, c.by, c.how).Verify(InMemory(interchange), c.candidates, Policy{})
			if !errors.Is(err, c.err) {
				t.Fatalf("%v, want %v", err, c.err)
			}
			if c.err != nil {
				return
			}
			if !bytes.Equal(v.Certificate.Raw, c.want.Raw) || v.Matched != c.matched || (v.Shown != nil) != c.shown {
				t.Errorf("%s by %s, shown %v", v.Certificate, v.Matched, v.Shown)
			}
		})
	}
}

// without gives a key whose certificate tells no key identifier.
func without(k Key) Key {
	c := *k.Certificate
	c.SubjectKeyID = nil
	return Key{&c, k.Private}
}

func TestWhatWasSigned(t *testing.T) {
	k := testKey(t, "p256")
	of := []*Certificate{k.Certificate}
	other := InMemory([]byte("UNB+UNOC:3+A+B+261130:1000+2'UNZ+0+2'"))
	broken := errors.New("disk is gone")
	for _, c := range []struct {
		name    string
		how     Signature
		change  func(*Signed)
		content Content
		want    error
	}{
		{"what was signed", Signature{}, nil, nil, nil},
		{"in pieces", Signature{}, nil, InMemory(interchange[:10], nil, interchange[10:]), nil},
		{"other content", Signature{}, nil, other, ErrDigest},
		{"other content, without attributes", Signature{NoAttributes: true}, nil, other, ErrSignature},
		{"content that cannot be read", Signature{}, nil, func(io.Writer) error { return broken }, broken},
		{"another signature", Signature{}, func(s *Signed) { s.signers[0].signature[30] ^= 1 }, nil, ErrSignature},
		{"other attributes", Signature{Time: time.Unix(1e9, 0)}, func(s *Signed) {
			text := s.signers[0].attributes
			i := bytes.Index(text, oidSigningTime) + len(oidSigningTime) + 4
			text[i] ^= 1
		}, nil, ErrSignature},
		{"a digest algorithm nobody knows", Signature{}, func(s *Signed) { s.signers[0].digest.id = oidData }, nil, ErrUnsupported},
		{"a signature algorithm nobody knows", Signature{}, func(s *Signed) { s.signers[0].signing.id = oidData }, nil, ErrUnsupported},
		{"a signature algorithm of another kind of key", Signature{}, func(s *Signed) { s.signers[0].signing.id = oidRSA }, nil, ErrSignature},
		{"no message digest", Signature{}, func(s *Signed) { s.signers[0].messageDigest = nil }, nil, ErrMalformed},
		{"another content type than was signed", Signature{}, func(s *Signed) { s.typeID = oidEnveloped }, nil, ErrMalformed},
		{"no signer", Signature{}, func(s *Signed) { s.signers = nil }, nil, ErrUnknownSigner},
		{"content in it and outside", Signature{}, func(s *Signed) { s.Content = &Octets{raw: interchange} }, nil, ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := signedBy(t, k, c.how)
			if c.change != nil {
				c.change(s)
			}
			if c.content == nil {
				c.content = InMemory(interchange)
			}
			if v, err := s.Verify(c.content, of, Policy{}); !errors.Is(err, c.want) || (v == nil) != (err != nil) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
	t.Run("content that is nowhere", func(t *testing.T) {
		if _, err := signedBy(t, k, Signature{}).Verify(nil, of, Policy{}); !errors.Is(err, ErrMalformed) {
			t.Error(err)
		}
	})
	t.Run("the hash is the one that was said", func(t *testing.T) {
		for _, c := range []struct {
			key        string
			told, want crypto.Hash
		}{{"rsa", 0, crypto.SHA256}, {"rsa", crypto.SHA384, crypto.SHA384}, {"ed25519", 0, crypto.SHA512}, {"ed25519", crypto.SHA256, crypto.SHA512}} {
			k := testKey(t, c.key)
			how := Signature{Key: k.Private.(crypto.Signer), Certificate: k.Certificate, Hash: c.told}
			v, err := signedBy(t, k, how).Verify(InMemory(interchange), []*Certificate{k.Certificate}, Policy{})
			if err != nil || v.Hash != c.want || how.HashFunc() != c.want {
				t.Errorf("%s with %s: %v, said %s, %v", c.key, c.told, v, how.HashFunc(), err)
			}
		}
	})
	t.Run("the signing time is told", func(t *testing.T) {
		for _, at := range []time.Time{{}, time.Date(2026, 11, 30, 10, 0, 7, 0, time.UTC), time.Date(2051, 1, 2, 3, 4, 5, 0, time.UTC)} {
			v, err := signedBy(t, k, Signature{Time: at}).Verify(InMemory(interchange), of, Policy{})
			if err != nil || !v.SigningTime.Equal(at) {
				t.Errorf("%v %v, want %v", v, err, at)
			}
		}
	})
}

func sum(h crypto.Hash, text []byte) []byte {
	state := h.New()
	state.Write(text)
	return state.Sum(nil)
}

func TestPolicy(t *testing.T) {
	k := testKey(t, "rsa")
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	weak := certified(t, "short", short)
	for _, d := range digests {
		t.Run(d.hash.String(), func(t *testing.T) {
			s := signedBy(t, k, Signature{Hash: d.hash})
			_, err := s.Verify(InMemory(interchange), []*Certificate{k.Certificate}, Policy{})
			if d.old && (!errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), d.hash.String())) || !d.old && err != nil {
				t.Error(err)
			}
			if _, err := s.Verify(InMemory(interchange), []*Certificate{k.Certificate}, Policy{Old: []crypto.Hash{d.hash}}); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("an old digest of the attributes under a good one of the content", func(t *testing.T) {
		s := signedBy(t, k, Signature{})
		s.signers[0].signing.id = schemes[5].id // sha1WithRSAEncryption
		if _, err := s.Verify(InMemory(interchange), []*Certificate{k.Certificate}, Policy{}); !errors.Is(err, ErrForbidden) {
			t.Error(err)
		}
		one := s.signers[0]
		one.signature, err = rsa.SignPKCS1v15(nil, k.Private.(*rsa.PrivateKey), crypto.SHA1, sum(crypto.SHA1, asSet(one.attributes)))
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Verify(InMemory(interchange), []*Certificate{k.Certificate}, Policy{Old: []crypto.Hash{crypto.SHA1}})
		if err != nil || v.Hash != crypto.SHA256 || v.SignedHash != crypto.SHA1 {
			t.Errorf("%v, %v", v, err)
		}
	})
	t.Run("a short key", func(t *testing.T) {
		s := signedBy(t, weak, Signature{})
		for _, c := range []struct {
			fewest int
			want   error
		}{{0, ErrForbidden}, {2048, ErrForbidden}, {1024, nil}, {512, nil}} {
			if _, err := s.Verify(InMemory(interchange), []*Certificate{weak.Certificate}, Policy{RSA: c.fewest}); !errors.Is(err, c.want) {
				t.Errorf("%d bits: %v", c.fewest, err)
			}
		}
	})
	t.Run("a candidate whose key cannot be read", func(t *testing.T) {
		c := *k.Certificate
		c.PublicKey, c.KeyError = nil, fmt.Errorf("%w: a key of DSA", ErrUnsupported)
		if _, err := signedBy(t, k, Signature{}).Verify(InMemory(interchange), []*Certificate{&c}, Policy{}); !errors.Is(err, ErrUnsupported) {
			t.Error(err)
		}
	})
}

func TestSeveralSigners(t *testing.T) {
	a, b, stranger := testKey(t, "rsa"), testKey(t, "p256"), certified(t, "stranger", newP256(t))
	join := func(list ...*Signed) *Signed {
		all := &Signed{typeID: oidData}
		for _, s := range list {
			all.signers = append(all.signers, s.signers...)
			all.Certificates = append(all.Certificates, s.Certificates...)
		}
		return all
	}
	byA, byB := signedBy(t, a, Signature{Hash: crypto.SHA256}), signedBy(t, b, Signature{Hash: crypto.SHA512})
	byOld := signedBy(t, a, Signature{Hash: crypto.SHA1})
	other := signedBy(t, stranger, Signature{Hash: crypto.SHA512})
	of := []*Certificate{a.Certificate, b.Certificate}
	for _, c := range []struct {
		name string
		s    *Signed
		want crypto.Hash
		err  error
	}{
		{"the strongest digest counts", join(byA, byB), crypto.SHA512, nil},
		{"in whatever order", join(byB, byA), crypto.SHA512, nil},
		{"a stranger beside", join(other, byA), crypto.SHA256, nil},
		{"an old digest beside a good one", join(byOld, byA), crypto.SHA256, nil},
		{"an old digest and a stranger", join(other, byOld), 0, ErrForbidden},
		{"a stranger and an old digest", join(byOld, other), 0, ErrForbidden},
		{"strangers alone", join(other, other), 0, ErrUnknownSigner},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := c.s.Verify(InMemory(interchange), of, Policy{})
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			if err == nil && v.Hash != c.want {
				t.Errorf("by %s", v.Hash)
			}
		})
	}
}

// What is in the field departs from RFC 5652 and RFC 8017, and is taken.
func TestSignaturesOfTheWild(t *testing.T) {
	k := testKey(t, "rsa")
	key := k.Private.(*rsa.PrivateKey)
	sum := func(text []byte) []byte { return sum(crypto.SHA256, text) }
	verify := func(t *testing.T, one *signer) (*Verified, error) {
		t.Helper()
		one.issuer, one.serial = k.Certificate.Issuer, k.Certificate.Serial
		one.digest = algorithm{id: digests[0].id}
		s := &Signed{typeID: oidData, signers: []*signer{one}}
		return s.Verify(InMemory(interchange), []*Certificate{k.Certificate}, Policy{})
	}
	sign := func(hash crypto.Hash, digest []byte) []byte {
		signature, err := rsa.SignPKCS1v15(nil, key, hash, digest)
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	attributes := Signature{}.attributes(sum(interchange))
	t.Run("attributes that are not sorted, signed as they are", func(t *testing.T) {
		r := newReader(attributes, partDepth)
		if err := r.enter(tagSet); err != nil {
			t.Fatal(err)
		}
		var list [][]byte
		for r.more() {
			one, err := r.skip()
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, one)
		}
		slices.Reverse(list)
		sent := element(byte(tagSet)|constructed, list...)
		one := &signer{attributes: explicit(0, list...), signing: algorithm{id: oidRSA}, signature: sign(crypto.SHA256, sum(sent))}
		if err := one.readAttributes(); err != nil {
			t.Fatal(err)
		}
		if _, err := verify(t, one); err != nil {
			t.Error(err)
		}
		one.signature = sign(crypto.SHA256, sum(attributes))
		if _, err := verify(t, one); err != nil {
			t.Error("signed sorted, sent otherwise:", err)
		}
	})
	t.Run("a DigestInfo without NULL", func(t *testing.T) {
		info := bareDigestInfo(crypto.SHA256, sum(interchange))
		if _, err := verify(t, &signer{signing: algorithm{id: oidRSA}, signature: sign(0, info)}); err != nil {
			t.Error(err)
		}
	})
	t.Run("a signature without its leading zeros", func(t *testing.T) {
		for n := range 4096 {
			content := fmt.Appendf(bytes.Clone(interchange), "%d", n)
			signature := sign(crypto.SHA256, sum(content))
			if signature[0] != 0 {
				continue
			}
			one := &signer{issuer: k.Certificate.Issuer, serial: k.Certificate.Serial, digest: algorithm{id: digests[0].id},
				signing: algorithm{id: oidRSA}, signature: bytes.TrimLeft(signature, "\x00")}
			s := &Signed{typeID: oidData, signers: []*signer{one}}
			if _, err := s.Verify(InMemory(content), []*Certificate{k.Certificate}, Policy{}); err != nil {
				t.Error(err)
			}
			return
		}
		t.Fatal("no signature begins with zero")
	})
	t.Run("PSS without parameters", func(t *testing.T) {
		signature, err := rsa.SignPSS(rand.Reader, key, crypto.SHA256, sum(interchange), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, parameters := range [][]byte{nil, null} {
			v, err := verify(t, &signer{signing: algorithm{oidPSS, parameters}, signature: signature})
			if err != nil || v.Scheme != RSAPSS {
				t.Error(err)
			}
		}
	})
	t.Run("RSA with SHA-256 is named in place of RSA", func(t *testing.T) {
		if _, err := verify(t, &signer{signing: algorithm{id: schemes[1].id}, signature: sign(crypto.SHA256, sum(interchange))}); err != nil {
			t.Error(err)
		}
	})
	t.Run("ECDSA under the name of its key", func(t *testing.T) {
		e := testKey(t, "p256")
		signature, err := ecdsa.SignASN1(rand.Reader, e.Private.(*ecdsa.PrivateKey), sum(interchange))
		if err != nil {
			t.Fatal(err)
		}
		s := &Signed{typeID: oidData, signers: []*signer{{issuer: e.Certificate.Issuer, serial: e.Certificate.Serial,
			digest: algorithm{id: digests[0].id}, signing: algorithm{id: oidECPublicKey}, signature: signature}}}
		if _, err := s.Verify(InMemory(interchange), []*Certificate{e.Certificate}, Policy{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("attributes shown as content are refused", func(t *testing.T) {
		s := &Signed{typeID: oidData, signers: []*signer{{issuer: k.Certificate.Issuer, serial: k.Certificate.Serial,
			digest: algorithm{id: digests[0].id}, signing: algorithm{id: oidRSA}, signature: sign(crypto.SHA256, sum(attributes))}}}
		if _, err := s.Verify(InMemory(attributes), []*Certificate{k.Certificate}, Policy{}); !errors.Is(err, ErrForbidden) {
			t.Error(err)
		}
	})
}

// verifyPSS of our own is held to crypto/rsa where both can.
func TestPSSAgreesWithRSA(t *testing.T) {
	key := testKey(t, "rsa").Private.(*rsa.PrivateKey)
	odd, err := rsa.GenerateKey(rand.Reader, 1025) // whose encoded message has no unused bits
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []*rsa.PrivateKey{key, odd} {
		for _, hash := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA384} {
			for _, salt := range []int{rsa.PSSSaltLengthAuto, rsa.PSSSaltLengthEqualsHash, 1} {
				state := hash.New()
				state.Write(interchange)
				digest := state.Sum(nil)
				signature, err := rsa.SignPSS(rand.Reader, key, hash, digest, &rsa.PSSOptions{SaltLength: salt})
				if err != nil {
					t.Fatal(err)
				}
				for i := -1; i < len(signature); i += 7 {
					changed := bytes.Clone(signature)
					if i >= 0 {
						changed[i] ^= 4
					}
					bits := key.N.BitLen() - 1
					m := new(big.Int).SetBytes(changed)
					want := rsa.VerifyPSS(&key.PublicKey, hash, digest, changed, nil) == nil
					got := false
					if m.Cmp(key.N) < 0 {
						if m.Exp(m, big.NewInt(int64(key.E)), key.N).BitLen() <= bits {
							got = verifyEncodedPSS(m.FillBytes(make([]byte, (bits+7)/8)), bits, hash, hash, digest)
						}
					}
					if got != want || want != (i < 0) {
						t.Errorf("%d bits, %s, salt %d, byte %d changed: %v, crypto/rsa says %v", bits+1, hash, salt, i, got, want)
					}
				}
			}
		}
	}
}
