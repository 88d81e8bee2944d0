package cms

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"
)

// What follows are messages that name us or a partner, as anybody can who knows a
// certificate, and want more memory or work for it than their bytes are worth.

// signedWith writes a SignedData, detached, of signers that are written out.
func signedWith(certificates []byte, signers ...[]byte) []byte {
	return contentInfo(oidSigned, integer(1), setOf(), sequence(element(byte(tagOID), oidData)), certificates, setOf(signers...))
}

// claim writes the SignerInfo of somebody who says that the certificate signed.
func claim(c *Certificate, digest, scheme, attributes, signature []byte) []byte {
	return sequence(integer(1), sequence(c.Issuer, element(byte(tagInteger), c.Serial)), sequence(element(byte(tagOID), digest)), attributes,
		sequence(element(byte(tagOID), scheme)), element(byte(tagOctetString), signature))
}

func TestSizesOfParts(t *testing.T) {
	r, e := testKey(t, "rsa"), testKey(t, "p256")
	sha256 := digests[0].id
	transported := func(algorithm, key []byte) []byte {
		return sequence(integer(0), sequence(r.Certificate.Issuer, element(byte(tagInteger), r.Certificate.Serial)), algorithm, element(byte(tagOctetString), key))
	}
	agreed := func(point, ukm, algorithm, key []byte) []byte {
		return explicit(1, integer(3), explicit(0, explicit(1, sequence(element(byte(tagOID), oidECPublicKey)), element(byte(tagBitString), []byte{0}, point))),
			explicit(1, element(byte(tagOctetString), ukm)), algorithm,
			sequence(sequence(sequence(e.Certificate.Issuer, element(byte(tagInteger), e.Certificate.Serial)), element(byte(tagOctetString), key))))
	}
	enveloped := func(info []byte) []byte {
		head := encryptedHead(ciphers[1], element(byte(tagOctetString), make([]byte, 16)), 16)
		return contentInfo(oidEnveloped, integer(2), setOf(info), head, make([]byte, 16))
	}
	rsaID, long := sequence(element(byte(tagOID), oidRSA), null), make([]byte, 2000)
	wrap := element(byte(tagOID), wraps[0].id)
	agreement := func(parameters ...[]byte) []byte {
		return sequence(element(byte(tagOID), derivations[2].id), sequence(append([][]byte{wrap}, parameters...)...))
	}
	theirs, err := newP256(t).ECDH()
	if err != nil {
		t.Fatal(err)
	}
	point := theirs.PublicKey().Bytes()
	tiny := sequence(bytes.Repeat(null, 1<<19))
	for _, c := range []struct {
		name string
		read func() error
		want error
	}{
		{"signed attributes of 64 KiB", readSigned(signedWith(nil, claim(r.Certificate, sha256, oidRSA, explicit(0, make([]byte, 64<<10)), nil))), ErrLimit},
		{"a signature of 2,000 bytes", readSigned(signedWith(nil, claim(r.Certificate, sha256, oidRSA, nil, long))), ErrLimit},
		{"a signature's parameters of a mebibyte", readSigned(signedWith(nil, sequence(integer(1), sequence(r.Certificate.Issuer, element(byte(tagInteger), []byte{7})),
			sequence(element(byte(tagOID), sha256)), sequence(element(byte(tagOID), oidPSS), tiny), element(byte(tagOctetString))))), ErrLimit},
		{"an encrypted key of 2,000 bytes", decrypting(enveloped(transported(rsaID, long)), r, e), ErrLimit},
		{"an encrypted key of 1,088 bytes", decrypting(enveloped(transported(rsaID, long[:1088])), r, e), ErrDecrypt},
		{"a label of OAEP of a mebibyte", decrypting(enveloped(transported(sequence(element(byte(tagOID), oidOAEP), tiny), long[:256])), r, e), ErrLimit},
		{"a wrapped key of 2,000 bytes", decrypting(enveloped(agreed(point, nil, agreement(), long)), r, e), ErrLimit},
		{"keying material of 2,000 bytes", decrypting(enveloped(agreed(point, long, agreement(), long[:24])), r, e), ErrLimit},
		{"a point of 2,000 bytes", decrypting(enveloped(agreed(long, nil, agreement(), long[:24])), r, e), ErrMalformed},
		{"parameters of a key wrap that are half a million elements", decrypting(enveloped(agreed(point, nil, agreement(tiny), long[:24])), r, e), ErrLimit},
		{"parameters of a key wrap of 4,000 bytes", decrypting(enveloped(agreed(point, nil, agreement(sequence(bytes.Repeat(null, 1990))), long[:24])), r, e), ErrDecrypt},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			got := allocated(func() { err = c.read() })
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if got > 4<<20 {
				t.Errorf("%d bytes allocated", got)
			}
		})
	}
	t.Run("authenticated attributes of 64 KiB", func(t *testing.T) {
		der, err := Envelope{Recipients: []*Certificate{e.Certificate}, Encryption: AES128GCM}.Encrypt(interchange)
		if err != nil {
			t.Fatal(err)
		}
		fields := fieldsOf(t, der, oidAuthEnveloped)
		fields = slices.Insert(fields, 3, explicit(1, make([]byte, 64<<10)))
		if _, err := ParseEnveloped(contentInfo(oidAuthEnveloped, fields...), Limits{}); !errors.Is(err, ErrLimit) {
			t.Error(err)
		}
	})
}

// readSigned reads a SignedData.
func readSigned(der []byte) func() error {
	return func() error { _, err := ParseSigned(der, Limits{}); return err }
}

// decrypting reads an EnvelopedData and decrypts it.
func decrypting(der []byte, keys ...Key) func() error {
	return func() error {
		e, err := ParseEnveloped(der, Limits{})
		if err != nil {
			return err
		}
		_, err = e.Decrypt(keys)
		return err
	}
}

// fieldsOf gives the fields of a content.
func fieldsOf(t *testing.T, der, id []byte) (fields [][]byte) {
	t.Helper()
	if err := open(der, Limits{}, "", func(r *reader) error {
		for r.more() {
			field, err := r.skip()
			if err != nil {
				return err
			}
			fields = append(fields, field)
		}
		return nil
	}, id); err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestLongSerials(t *testing.T) {
	zeros := make([]byte, 1<<20)
	seven := append(bytes.Clone(zeros), 7)
	for _, c := range []struct {
		name string
		a, b []byte
		want bool
	}{
		{"a long one is itself", seven, bytes.Clone(seven), true},
		{"a long one is not taken for a number", seven, []byte{7}, false},
		{"of two long ones each byte counts", seven, append(bytes.Clone(zeros), 0, 7), false},
		{"one of 256 bytes is a number still", seven[len(seven)-256:], []byte{7}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if sameSerial(c.a, c.b) != c.want || sameSerial(c.b, c.a) != c.want {
				t.Errorf("%v", !c.want)
			}
		})
	}
}

func TestNobodyMakesUsKeepContent(t *testing.T) {
	ed, r := testKey(t, "ed25519"), testKey(t, "rsa")
	content := make([]byte, 8<<20)
	for _, c := range []struct {
		name string
		of   *Certificate
		most uint64
	}{
		{"Ed25519 is said of a key of RSA", r.Certificate, 1 << 20},
		{"of one of Ed25519, which needs the content at once", ed.Certificate, 32 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParseSigned(signedWith(nil, claim(c.of, digests[2].id, oidEd25519, nil, make([]byte, 64))), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got := allocated(func() {
				if _, err := s.Verify(InMemory(content), []*Certificate{c.of}, Policy{}); !errors.Is(err, ErrSignature) {
					t.Error(err)
				}
			})
			if got > c.most {
				t.Errorf("%d bytes allocated for %d", got, len(content))
			}
		})
	}
}

func TestManyRecipientsThatAreUs(t *testing.T) {
	k := testKey(t, "p256")
	to := slices.Repeat([]*Certificate{k.Certificate}, 64)
	for _, c := range []Encryption{AES256CBC, AES256GCM, AES256CCM} {
		t.Run(string(c)+": none of their keys is right, and memory is taken for one more content at most", func(t *testing.T) {
			der, err := Envelope{Recipients: to, Encryption: c}.Encrypt(make([]byte, 1<<20))
			if err != nil {
				t.Fatal(err)
			}
			e, err := ParseEnveloped(der, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range e.recipients {
				one.encrypted[5] ^= 1
			}
			got := allocated(func() {
				if _, err = e.Decrypt([]Key{k}); c.Authenticates() && !errors.Is(err, ErrDecrypt) {
					t.Error(err)
				}
			})
			if got > 3<<19 {
				t.Errorf("%d bytes allocated for a mebibyte", got)
			}
		})
	}
}

// A password is turned into a key by as many rounds as its sender likes (RFC 8018
// §5.2): nobody of us has one, and none is done.
func TestRoundsForPasswords(t *testing.T) {
	k := testKey(t, "p256")
	der, err := Envelope{Recipients: []*Certificate{k.Certificate}}.Encrypt(interchange)
	if err != nil {
		t.Fatal(err)
	}
	fields := fieldsOf(t, der, oidEnveloped)
	rounds := sequence(element(byte(tagOctetString), []byte("salt")), element(byte(tagInteger), []byte{0x7f, 0xff, 0xff, 0xff}))
	password := explicit(3, integer(0), explicit(0, element(byte(tagOID), []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0c")), rounds),
		sequence(element(byte(tagOID), []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x03\x09"))), element(byte(tagOctetString), make([]byte, 32)))
	r := newReader(fields[1], partDepth)
	if err := r.enter(tagSet); err != nil {
		t.Fatal(err)
	}
	fields[1] = element(byte(tagSet)|constructed, password, r.text[r.at:])
	e, err := ParseEnveloped(contentInfo(oidEnveloped, fields...), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := e.Decrypt([]Key{k}); err != nil || !bytes.Equal(d.Content, interchange) {
		t.Error(Detail(err))
	}
}

func TestPointsOfOthers(t *testing.T) {
	k := testKey(t, "p256")
	p256, p384 := elliptic.P256().Params(), elliptic.P384().Params()
	coordinate := func(n *big.Int, size int) []byte { return n.FillBytes(make([]byte, size)) }
	good := slices.Concat([]byte{4}, coordinate(p256.Gx, 32), coordinate(p256.Gy, 32))
	// Half of all numbers are the x of no point.
	var none []byte
	for n := int64(1); none == nil; n++ {
		point := append([]byte{2}, coordinate(big.NewInt(n), 32)...)
		if x, _ := elliptic.UnmarshalCompressed(elliptic.P256(), point); x == nil {
			none = point
		}
	}
	for _, c := range []struct {
		name  string
		point []byte
		want  bool
	}{
		{"one of the curve", good, true},
		{"compressed", append([]byte{byte(2 + p256.Gy.Bit(0))}, good[1:33]...), true},
		{"none", nil, false},
		{"at infinity", []byte{0}, false},
		{"zero", slices.Concat([]byte{4}, make([]byte, 64)), false},
		{"beside the curve", slices.Concat(good[:64], []byte{good[64] ^ 1}), false},
		{"of another curve", slices.Concat([]byte{4}, coordinate(p384.Gx, 48), coordinate(p384.Gy, 48)), false},
		{"of another curve, compressed", append([]byte{2}, coordinate(p384.Gx, 48)...), false},
		{"a coordinate that is larger than the field", slices.Concat([]byte{4}, coordinate(new(big.Int).Add(p256.Gx, p256.P), 33)[1:], good[33:]), false},
		{"compressed, of no point", none, false},
		{"compressed, and cut", good[:1], false},
		{"compressed, of two bytes", []byte{2, 1}, false},
		{"in the hybrid form", slices.Concat([]byte{byte(6 + p256.Gy.Bit(0))}, good[1:]), false},
		{"with a byte behind it", append(bytes.Clone(good), 0), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			point, err := pointOf(k.Certificate, c.point)
			if (err == nil) != c.want || (point != nil) != c.want {
				t.Errorf("%v, %v", point, err)
			}
			one := &recipient{agreed: true, originator: c.point, encrypted: make([]byte, 24),
				algorithm: algorithm{derivations[2].id, sequence(element(byte(tagOID), wraps[0].id))}}
			key, err := one.unwrap(k, KeyECDH, 16)
			if err == nil || len(key) != 16 || bytes.Equal(key, make([]byte, 16)) {
				t.Errorf("in place of the content's key: %x, %v", key, err)
			}
		})
	}
	t.Run("our certificate is of another kind of key", func(t *testing.T) {
		if _, err := pointOf(testKey(t, "rsa").Certificate, good); err == nil {
			t.Error("it has a curve")
		}
		short, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pointOf(&Certificate{PublicKey: &short.PublicKey}, good); err == nil {
			t.Error("it has a curve that is done")
		}
	})
}

func TestLengthsOfVectorsAndTags(t *testing.T) {
	message := func(kind []byte, c Encryption, parameters []byte, tag int) []byte {
		i := slices.IndexFunc(ciphers, func(known cipherOf) bool { return known.name == c })
		head := encryptedHead(ciphers[i], parameters, 32)
		fields := [][]byte{integer(0), setOf(), head, make([]byte, 32)}
		if tag >= 0 {
			fields = append(fields, element(byte(tagOctetString), make([]byte, tag)))
		}
		return contentInfo(kind, fields...)
	}
	octets := func(n int) []byte { return element(byte(tagOctetString), make([]byte, n)) }
	with := func(nonce int, size ...byte) []byte {
		if len(size) == 0 {
			return sequence(octets(nonce))
		}
		return sequence(octets(nonce), element(byte(tagInteger), size))
	}
	const none = -1 // no tag behind the content
	for _, c := range []struct {
		kind       []byte
		encryption Encryption
		parameters []byte
		tag        int
		want       error
	}{
		{oidEnveloped, AES128CBC, octets(16), none, nil},
		{oidEnveloped, AES128CBC, octets(0), none, ErrMalformed},
		{oidEnveloped, AES128CBC, octets(8), none, ErrMalformed},
		{oidEnveloped, AES128CBC, octets(15), none, ErrMalformed},
		{oidEnveloped, AES128CBC, octets(17), none, ErrMalformed},
		{oidEnveloped, AES128CBC, null, none, ErrMalformed},
		{oidEnveloped, AES128CBC, nil, none, ErrMalformed},
		{oidEnveloped, TripleDES, octets(8), none, nil},
		{oidEnveloped, TripleDES, octets(16), none, ErrMalformed},
		{oidAuthEnveloped, AES128CBC, octets(16), 16, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(12, 16), 16, nil},
		{oidAuthEnveloped, AES128GCM, with(12), 12, nil},
		{oidAuthEnveloped, AES128GCM, with(1, 16), 16, nil},
		{oidAuthEnveloped, AES128GCM, with(64, 16), 16, nil},
		{oidAuthEnveloped, AES128GCM, with(0, 16), 16, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(65, 16), 16, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(12, 4), 4, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(12, 11), 11, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(12, 16), 11, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(12, 16), 0, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(12, 16), 17, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(13, 12), 12, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(12, 0), 16, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(12, 0xff), 16, ErrUnsupported},
		{oidAuthEnveloped, AES128GCM, with(12, 0, 0, 0, 16), 16, ErrMalformed},
		{oidAuthEnveloped, AES128GCM, nil, 16, ErrMalformed},
		{oidAuthEnveloped, AES128GCM, with(12, 16), none, ErrMalformed},
		{oidAuthEnveloped, AES256CCM, with(12, 16), 16, nil},
		{oidAuthEnveloped, AES256CCM, with(7, 8), 8, nil},
		{oidAuthEnveloped, AES256CCM, with(13, 8), 8, nil},
		{oidAuthEnveloped, AES256CCM, with(6, 8), 8, ErrUnsupported},
		{oidAuthEnveloped, AES256CCM, with(14, 8), 8, ErrUnsupported},
		{oidAuthEnveloped, AES256CCM, with(12, 4), 4, ErrUnsupported},
		{oidAuthEnveloped, AES256CCM, with(12, 6), 6, ErrUnsupported},
		{oidAuthEnveloped, AES256CCM, with(12, 9), 9, ErrUnsupported},
		{oidEnveloped, AES128GCM, with(12, 16), none, nil},
		{oidEnveloped, AES128GCM, with(12, 33), none, ErrUnsupported},
	} {
		name := fmt.Sprintf("%s of parameters % x, a tag of %d", c.encryption, c.parameters[:min(len(c.parameters), 4)], c.tag)
		t.Run(name, func(t *testing.T) {
			if _, err := ParseEnveloped(message(c.kind, c.encryption, c.parameters, c.tag), Limits{}); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// A signature by which each of eight signers names another digest makes as many passes
// as there are digests that are allowed, and no more; what is not allowed is not made.
func TestDigestsThatAreMade(t *testing.T) {
	k := testKey(t, "rsa")
	var claims [][]byte
	for _, d := range digests[:8] {
		claims = append(claims, claim(k.Certificate, d.id, oidRSA, nil, make([]byte, 256)))
	}
	s, err := ParseSigned(signedWith(nil, claims...), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	attempts, err := s.attempts([]*Certificate{k.Certificate}, Policy{})
	if len(attempts) != 4 || !errors.Is(err, ErrForbidden) {
		t.Fatalf("%d are tried, %v", len(attempts), err)
	}
	d, err := digestsOf(InMemory(interchange), attempts)
	if err != nil {
		t.Fatal(err)
	}
	for h := range d.sums {
		if err := (Policy{}).allows(h); err != nil {
			t.Error(err)
		}
	}
	if _, made := d.sums[crypto.SHA1]; made || len(d.sums) != 4 {
		t.Errorf("%d digests", len(d.sums))
	}
}
