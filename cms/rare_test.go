package cms

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"math/big"
	"strings"
	"testing"
)

// What the standards have and openssl does not make.

// agreeing writes a KeyAgreeRecipientInfo to a certificate as another sender does: of a
// compressed point and with user keying material, with SHA-384 and the cofactor.
func agreeing(t *testing.T, to *Certificate, key []byte, compressed bool, ukm []byte) []byte {
	t.Helper()
	public, err := to.PublicKey.(*ecdsa.PublicKey).ECDH()
	if err != nil {
		t.Fatal(err)
	}
	ephemeral, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := ephemeral.ECDH(public)
	if err != nil {
		t.Fatal(err)
	}
	wrap := sequence(element(byte(tagOID), wraps[0].id))
	wrapped, err := wrapAES(derive(crypto.SHA384, secret, sharedInfo(wrap, ukm, 16), 16), key)
	if err != nil {
		t.Fatal(err)
	}
	point := ephemeral.PublicKey().Bytes()
	if compressed {
		x, y := new(big.Int).SetBytes(point[1:33]), new(big.Int).SetBytes(point[33:])
		point = elliptic.MarshalCompressed(elliptic.P256(), x, y)
	}
	parts := [][]byte{integer(3), explicit(0, explicit(1, sequence(element(byte(tagOID), oidECPublicKey), null), element(byte(tagBitString), []byte{0}, point)))}
	if ukm != nil {
		parts = append(parts, explicit(1, element(byte(tagOctetString), ukm)))
	}
	return explicit(1, append(parts, sequence(element(byte(tagOID), derivations[8].id), wrap),
		sequence(sequence(explicit(0, element(byte(tagOctetString), to.keyIdentifier()), element(byte(tagGeneralizedTime), []byte("20261130000000Z"))),
			element(byte(tagOctetString), wrapped))))...)
}

func TestRareRecipients(t *testing.T) {
	k := testKey(t, "p256")
	key := bytes.Repeat([]byte{9}, 16)
	attribute := func(id, value []byte) []byte { return sequence(element(byte(tagOID), id), setOf(value)) }
	type rare struct {
		name       string
		compressed bool
		ukm        []byte
		before     [][]byte // recipients
		attributes [][]byte // authenticated, as sent
		originator []byte
		unprotect  []byte
	}
	for _, c := range []rare{
		{name: "a compressed point", compressed: true},
		{name: "user keying material", ukm: []byte("nonce")},
		{name: "empty user keying material", ukm: []byte{}},
		{name: "recipients who share a key or a password", before: [][]byte{explicit(2, integer(4)), explicit(3, integer(0)), explicit(4, element(byte(tagOID), oidData))}},
		{name: "a sender whose key stands in a certificate", before: [][]byte{explicit(1, integer(3), explicit(0, explicit(0, null)), sequence(element(byte(tagOID), derivations[0].id)), sequence())}},
		{name: "certificates of the sender", originator: explicit(0, explicit(0, k.Certificate.Raw))},
		{name: "authenticated attributes", attributes: [][]byte{attribute(oidContentType, element(byte(tagOID), oidData)), attribute(oidMessageDigest, null)}},
		{name: "authenticated attributes that are not sorted", attributes: [][]byte{attribute(oidSigningTime, null), attribute(oidContentType, element(byte(tagOID), oidData))}},
		{name: "attributes that are not authenticated", unprotect: explicit(2, attribute(oidSigningTime, null))},
	} {
		t.Run(c.name, func(t *testing.T) {
			known := ciphers[4]
			aead, err := known.aead(key, 12, 16)
			if err != nil {
				t.Fatal(err)
			}
			nonce, data := make([]byte, 12), []byte(nil)
			var authenticated []byte
			if c.attributes != nil {
				authenticated, data = explicit(1, c.attributes...), setOf(c.attributes...)
			}
			sealed := aead.Seal(nil, nonce, interchange, data)
			text, tag := sealed[:len(interchange)], sealed[len(interchange):]
			infos := element(byte(tagSet)|constructed, append(c.before, agreeing(t, k.Certificate, key, c.compressed, c.ukm))...)
			message := contentInfo(oidAuthEnveloped, integer(0), c.originator, infos,
				encryptedHead(known, sequence(element(byte(tagOctetString), nonce), integer(16)), len(text)), text,
				authenticated, element(byte(tagOctetString), tag), c.unprotect)
			for _, s := range berStyles {
				e, err := ParseEnveloped(s.write(t, message), Limits{})
				if err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
				if n := len(e.Recipients()); n < 1+len(c.before)-1 {
					t.Errorf("%d recipients", n)
				}
				d, err := e.Decrypt([]Key{k})
				if err != nil || !bytes.Equal(d.Content, interchange) {
					t.Fatalf("%s: %s", s.name, Detail(err))
				}
			}
			if c.attributes == nil {
				return
			}
			changed := bytes.Clone(message)
			i := bytes.Index(changed, oidContentType)
			changed[i] ^= 1
			e, err := ParseEnveloped(changed, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Decrypt([]Key{k}); !errors.Is(err, ErrDecrypt) {
				t.Error("changed attributes are taken:", err)
			}
		})
	}
	t.Run("attributes in the clear beside AES-CBC", func(t *testing.T) {
		known := ciphers[1]
		block, err := known.new(key)
		if err != nil {
			t.Fatal(err)
		}
		der, err := sealCBC(block, known, integer(2), setOf(agreeing(t, k.Certificate, key, false, nil)), interchange)
		if err != nil {
			t.Fatal(err)
		}
		fields := fieldsOf(t, der, oidEnveloped)
		e, err := ParseEnveloped(contentInfo(oidEnveloped, append(fields, explicit(1, attribute(oidSigningTime, null)))...), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := e.Decrypt([]Key{k}); err != nil || !bytes.Equal(d.Content, interchange) {
			t.Error(Detail(err))
		}
	})
}

func TestRarePartsOfASignature(t *testing.T) {
	k := testKey(t, "p256")
	state := crypto.SHA256.New()
	state.Write(interchange)
	digest := state.Sum(nil)
	s := Signature{Key: k.Private.(crypto.Signer), Certificate: k.Certificate}
	der, err := s.Sign(InMemory(interchange))
	if err != nil {
		t.Fatal(err)
	}
	fields := fieldsOf(t, der, oidSigned)
	version, algorithms, content, signers := fields[0], fields[1], fields[2], fields[4]
	r := newReader(signers, partDepth)
	if err := r.enter(tagSet); err != nil {
		t.Fatal(err)
	}
	if err := r.enter(tagSequence); err != nil {
		t.Fatal(err)
	}
	info := r.text[r.at:]
	countersigned := setOf(sequence(info, explicit(1, sequence(element(byte(tagOID), oidData), setOf(integer(1))))))
	broken := sequence(sequence(integer(1)))
	for _, c := range []struct {
		name  string
		parts [][]byte
	}{
		{"certificate revocation lists", [][]byte{version, algorithms, content, explicit(0, k.Certificate.Raw), explicit(1, sequence(integer(1))), signers}},
		{"a countersignature", [][]byte{version, algorithms, content, explicit(0, k.Certificate.Raw), countersigned}},
		{"no digest algorithms", [][]byte{version, setOf(), content, signers}},
		{"certificates of other kinds, and broken ones", [][]byte{version, algorithms, content, explicit(0, explicit(1, integer(1)), broken, k.Certificate.Raw), signers}},
	} {
		t.Run(c.name, func(t *testing.T) {
			read, err := ParseSigned(contentInfo(oidSigned, c.parts...), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			v, err := read.Verify(InMemory(interchange), []*Certificate{k.Certificate}, Policy{})
			if err != nil || !bytes.Equal(v.Digest, digest) {
				t.Error(err)
			}
		})
	}
}

// Parameters that are wrong or unknown are told, and are no panic.
func TestParametersOfRSA(t *testing.T) {
	sha256 := sequence(hashIdentifier(crypto.SHA256), null)
	unknown := sequence(element(byte(tagOID), oidData))
	for _, c := range []struct {
		name       string
		parameters []byte
		pss, oaep  error
		hash, mgf  crypto.Hash // where there is no error
	}{
		{"none", nil, nil, nil, crypto.SHA512, crypto.SHA512},
		{"empty", sequence(), nil, nil, crypto.SHA1, crypto.SHA1},
		{"a digest", sequence(explicit(0, sha256)), nil, nil, crypto.SHA256, crypto.SHA1},
		{"a mask", sequence(explicit(1, maskIdentifier(crypto.SHA384))), nil, nil, crypto.SHA1, crypto.SHA384},
		{"an unknown digest", sequence(explicit(0, unknown)), ErrUnsupported, ErrUnsupported, 0, 0},
		{"an unknown mask", sequence(explicit(1, unknown)), ErrUnsupported, ErrUnsupported, 0, 0},
		{"a mask without its digest", sequence(explicit(1, sequence(element(byte(tagOID), oidMGF1)))), ErrMalformed, ErrMalformed, 0, 0},
		{"a mask of an unknown digest", sequence(explicit(1, sequence(element(byte(tagOID), oidMGF1), unknown))), ErrUnsupported, ErrUnsupported, 0, 0},
		{"a salt of 20 bytes and the trailer 1", sequence(explicit(2, integer(20)), explicit(3, integer(1))), nil, ErrMalformed, crypto.SHA1, crypto.SHA1},
		{"the trailer 2", sequence(explicit(3, integer(2))), ErrUnsupported, ErrMalformed, 0, 0},
		{"a label of another source", sequence(explicit(2, sequence(element(byte(tagOID), oidData), null))), nil, ErrUnsupported, crypto.SHA1, crypto.SHA1},
		{"no sequence", integer(1), ErrMalformed, ErrMalformed, 0, 0},
		{"something else in it", sequence(integer(1)), ErrMalformed, ErrMalformed, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := signingOf(algorithm{oidPSS, c.parameters}, crypto.SHA512)
			if !errors.Is(err, c.pss) || err == nil && (s.hash != c.hash || s.mgf != c.mgf) {
				t.Errorf("PSS: %s, %s, %v", s.hash, s.mgf, err)
			}
			o, err := optionsOAEP(c.parameters)
			if !errors.Is(err, c.oaep) || o == nil || !o.Hash.Available() || !o.MGFHash.Available() {
				t.Errorf("OAEP: %v, %v", o, err)
			}
			if err == nil && c.parameters != nil && (o.Hash != c.hash || o.MGFHash != c.mgf) {
				t.Errorf("OAEP: %s, %s", o.Hash, o.MGFHash)
			}
		})
	}
}

// What cannot be made says what does not fit.
func TestWhatCannotBeMade(t *testing.T) {
	r, e, ed := testKey(t, "rsa"), testKey(t, "p256"), testKey(t, "ed25519")
	curve, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	weak := certified(t, "P-224", curve)
	short := *r.Certificate
	short.PublicKey = &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 511), E: 3}
	unread := Certificate{KeyError: errors.New("a key of DSA"), Subject: sequence()}
	to := func(list ...*Certificate) []*Certificate { return list }
	for _, c := range []struct {
		name string
		e    Envelope
		want string
	}{
		{"to nobody", Envelope{}, "encrypt: there is no recipient"},
		{"an unknown cipher", Envelope{Recipients: to(r.Certificate), Encryption: "des"}, `encrypt: not supported: the content encryption "des"`},
		{"to a key that cannot be read", Envelope{Recipients: to(r.Certificate, &unread)}, "encrypt: to certificate 0 of no name: a key of DSA"},
		{"to a key that only signs", Envelope{Recipients: to(ed.Certificate)}, "nobody encrypts to a key of kind ed25519.PublicKey"},
		{"to a curve that is not done", Envelope{Recipients: to(weak.Certificate)}, "not supported: ecdsa: unsupported curve by crypto/ecdh"},
		{"to a key that is too short", Envelope{Recipients: to(&short)}, "512-bit keys are insecure"},
		{"with a digest that OAEP does not have", Envelope{Recipients: to(r.Certificate), OAEP: crypto.RIPEMD160}, "RSA-OAEP with RIPEMD-160"},
		{"with a digest that is no key derivation's", Envelope{Recipients: to(e.Certificate), KDF: crypto.MD5}, "a key derivation with MD5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if der, err := c.e.Encrypt(interchange); der != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	for _, c := range []struct {
		name string
		s    Signature
		want string
	}{
		{"by nobody", Signature{}, "sign: neither key nor certificate may be missing"},
		{"with a digest that is not known", Signature{Key: r.Private.(crypto.Signer), Certificate: r.Certificate, Hash: crypto.RIPEMD160}, "RIPEMD-160"},
		{"by ECDSA with a digest that it has no name for", Signature{Key: e.Private.(crypto.Signer), Certificate: e.Certificate, Hash: crypto.MD5}, "ECDSA with MD5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if der, err := c.s.Sign(InMemory(interchange)); der != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("nothing, attached", func(t *testing.T) {
		der, err := Signature{Key: e.Private.(crypto.Signer), Certificate: e.Certificate}.SignAttached(nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseSigned(der, Limits{})
		if err != nil || s.Content == nil {
			t.Fatal(s, err)
		}
		if _, err := s.Verify(nil, []*Certificate{e.Certificate}, Policy{}); err != nil {
			t.Error(err)
		}
	})
}
