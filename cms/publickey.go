package cms

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"math/big"
)

// mostKeyInfo is how long a SubjectPublicKeyInfo may be in bytes.
const mostKeyInfo = 8 << 10

// parsePublicKey reads a SubjectPublicKeyInfo: RFC 5280 §4.1.2.7, RFC 3279 §2.3.
//
// RSA is read by ourselves: crypto/x509 refuses a modulus whose INTEGER lacks the
// zero in front, and keys that are for PSS or OAEP alone (RFC 4055 §1.2). What
// such a key restricts is not looked at: the signature says how it was made.
func parsePublicKey(spki []byte) (crypto.PublicKey, error) {
	if len(spki) > mostKeyInfo {
		return nil, fmt.Errorf("%w: a key of %d bytes; %d are the most", ErrUnsupported, len(spki), mostKeyInfo)
	}
	r := newReader(spki, partDepth)
	if err := r.enter(tagSequence); err != nil {
		return nil, err
	}
	a, err := r.algorithm()
	if err != nil {
		return nil, err
	}
	bits, err := r.primitive(tagBitString)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.Equal(a.id, oidRSA), bytes.Equal(a.id, oidPSS), bytes.Equal(a.id, oidOAEP):
		if len(bits) < 1 || bits[0] != 0 {
			return nil, fmt.Errorf("%w: an RSA key of unused bits", ErrMalformed)
		}
		key, err := parseRSA(bits[1:])
		if err != nil {
			return nil, err
		}
		return key, nil
	}
	inDER, err := derOf(spki)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(inDER)
	if err != nil {
		return nil, fmt.Errorf("%w: a key of %s: %w", ErrUnsupported, dotted(a.id), err)
	}
	return key, nil
}

// mostRSA is the longest modulus that is taken, in bits: work grows with its cube.
const mostRSA = 8192

// parseRSA reads an RSAPublicKey: RFC 8017 §A.1.1.
func parseRSA(text []byte) (*rsa.PublicKey, error) {
	r := newReader(text, partDepth)
	if err := r.enter(tagSequence); err != nil {
		return nil, err
	}
	n, err := r.primitive(tagInteger)
	if err != nil {
		return nil, err
	}
	e, err := r.primitive(tagInteger)
	if err != nil {
		return nil, err
	}
	if err := r.leave(); err != nil {
		return nil, err
	}
	if len(n) > mostRSA/8+16 {
		return nil, fmt.Errorf("%w: an RSA key of %d bits; %d are the most", ErrUnsupported, 8*len(n), mostRSA)
	}
	e = bytes.TrimLeft(e, "\x00")
	if len(e) == 0 || len(e) > 4 || len(e) == 4 && e[0]&0x80 != 0 {
		return nil, fmt.Errorf("%w: an RSA key whose exponent is not between 1 and 2^31", ErrUnsupported)
	}
	key := &rsa.PublicKey{N: new(big.Int).SetBytes(n)}
	for _, b := range e {
		key.E = key.E<<8 | int(b)
	}
	if bits := key.N.BitLen(); bits > mostRSA {
		return nil, fmt.Errorf("%w: an RSA key of %d bits; %d are the most", ErrUnsupported, bits, mostRSA)
	}
	if key.E < 3 || key.E&1 == 0 || key.N.Bit(0) == 0 {
		return nil, fmt.Errorf("%w: an RSA key with an even modulus or exponent", ErrMalformed)
	}
	return key, nil
}
