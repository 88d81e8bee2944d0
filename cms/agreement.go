package cms

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// derivations are the key agreements: RFC 5753 §7.1.4. Of the curves here the
// cofactor is one, so that both kinds agree on the same.
var derivations = []struct {
	id   []byte
	hash crypto.Hash
}{
	{[]byte("\x2b\x81\x05\x10\x86\x48\x3f\x00\x02"), crypto.SHA1}, // dhSinglePass-stdDH-sha1kdf
	{[]byte("\x2b\x81\x04\x01\x0b\x00"), crypto.SHA224},
	{[]byte("\x2b\x81\x04\x01\x0b\x01"), crypto.SHA256},
	{[]byte("\x2b\x81\x04\x01\x0b\x02"), crypto.SHA384},
	{[]byte("\x2b\x81\x04\x01\x0b\x03"), crypto.SHA512},
	{[]byte("\x2b\x81\x05\x10\x86\x48\x3f\x00\x03"), crypto.SHA1}, // dhSinglePass-cofactorDH-sha1kdf
	{[]byte("\x2b\x81\x04\x01\x0e\x00"), crypto.SHA224},
	{[]byte("\x2b\x81\x04\x01\x0e\x01"), crypto.SHA256},
	{[]byte("\x2b\x81\x04\x01\x0e\x02"), crypto.SHA384},
	{[]byte("\x2b\x81\x04\x01\x0e\x03"), crypto.SHA512},
}

// wraps are the key wraps: RFC 3565 §2.3.2, and that of 3DES, RFC 3217 §3.
var wraps = []struct {
	id  []byte
	key int // its length in bytes
}{
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x01\x05"), 16},
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x01\x19"), 24},
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x01\x2d"), 32},
	{oidWrap3DES, 24},
}

var oidWrap3DES = []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x03\x06")

// agree gives the content's key by ephemeral-static ECDH: RFC 5753 §3.1.
func (one *recipient) agree(k Key) ([]byte, error) {
	var hash crypto.Hash
	for _, d := range derivations {
		if one.algorithm.is(d.id) {
			hash = d.hash
		}
	}
	if hash == 0 {
		return nil, fmt.Errorf("%w: the key agreement %s", ErrUnsupported, dotted(one.algorithm.id))
	}
	if one.algorithm.parameters == nil {
		return nil, fmt.Errorf("%w: a key agreement without its key wrap", ErrMalformed)
	}
	wrap, err := newReader(one.algorithm.parameters, partDepth).algorithm()
	if err != nil {
		return nil, err
	}
	size := 0
	for _, w := range wraps {
		if wrap.is(w.id) {
			size = w.key
		}
	}
	if size == 0 {
		return nil, fmt.Errorf("%w: the key wrap %s", ErrUnsupported, dotted(wrap.id))
	}
	point, err := pointOf(k.Certificate, one.originator)
	if err != nil {
		return nil, err
	}
	key, _ := k.agreer()
	secret, err := key.ECDH(point)
	if err != nil {
		return nil, err
	}
	wrapDER, err := derOf(one.algorithm.parameters)
	if err != nil {
		return nil, err
	}
	kek := derive(hash, secret, sharedInfo(wrapDER, one.ukm, size), size)
	if wrap.is(oidWrap3DES) {
		return unwrap3DES(kek, one.encrypted)
	}
	return unwrapAES(kek, one.encrypted)
}

// pointOf reads a point of the curve of a certificate's key: SEC 1 §2.3.4,
// compressed or not.
func pointOf(c *Certificate, point []byte) (*ecdh.PublicKey, error) {
	key, ok := c.PublicKey.(*ecdsa.PublicKey)
	if !ok {
		return nil, errors.New("our certificate has no key of a curve")
	}
	own, err := key.ECDH()
	if err != nil {
		return nil, err
	}
	if len(point) > 0 && (point[0] == 2 || point[0] == 3) {
		x, y := elliptic.UnmarshalCompressed(key.Curve, point)
		if x == nil {
			return nil, errors.New("no point of the curve")
		}
		point = slices.Concat([]byte{4}, x.FillBytes(make([]byte, len(point)-1)), y.FillBytes(make([]byte, len(point)-1)))
	}
	return own.Curve().NewPublicKey(point)
}

// sharedInfo is ECC-CMS-SharedInfo in DER: RFC 5753 §7.2.
func sharedInfo(wrap, ukm []byte, size int) []byte {
	var user []byte
	if ukm != nil {
		user = explicit(0, element(byte(tagOctetString), ukm))
	}
	length := binary.BigEndian.AppendUint32(nil, uint32(8*size))
	return sequence(wrap, user, explicit(2, element(byte(tagOctetString), length)))
}

// derive is the key derivation function of ANSI X9.63: SEC 1 §3.6.1.
func derive(hash crypto.Hash, secret, info []byte, size int) []byte {
	var key []byte
	for counter := uint32(1); len(key) < size; counter++ {
		state := hash.New()
		state.Write(secret)
		state.Write(binary.BigEndian.AppendUint32(nil, counter))
		state.Write(info)
		key = state.Sum(key)
	}
	return key[:size]
}
