package cms

import (
	"bytes"
	"crypto"
	"fmt"
)

// signing is what a signature's AlgorithmIdentifier says.
type signing struct {
	scheme Scheme
	hash   crypto.Hash // of what is signed; 0 where the digest algorithm says it
	mgf    crypto.Hash // of PSS
}

// schemes are the signature algorithms: RFC 3370 §3.2, RFC 4056, RFC 5754 §3,
// RFC 8702 §3.2, RFC 8419.
//
// QUIRK: what should be the signature's algorithm is often that of its key, and
// the digest algorithm says the rest (RFC 3370 §3.2 wants that of RSA).
var schemes = []struct {
	id     []byte
	scheme Scheme
	hash   crypto.Hash
}{
	{oidRSA, RSAPKCS1, 0},
	{[]byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b"), RSAPKCS1, crypto.SHA256},
	{[]byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c"), RSAPKCS1, crypto.SHA384},
	{[]byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d"), RSAPKCS1, crypto.SHA512},
	{[]byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0e"), RSAPKCS1, crypto.SHA224},
	{[]byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05"), RSAPKCS1, crypto.SHA1},
	{[]byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x04"), RSAPKCS1, crypto.MD5},
	{[]byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0f"), RSAPKCS1, crypto.SHA512_224},
	{[]byte("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x10"), RSAPKCS1, crypto.SHA512_256},
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x03\x0d"), RSAPKCS1, crypto.SHA3_224},
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x03\x0e"), RSAPKCS1, crypto.SHA3_256},
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x03\x0f"), RSAPKCS1, crypto.SHA3_384},
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x03\x10"), RSAPKCS1, crypto.SHA3_512},
	{[]byte("\x2b\x0e\x03\x02\x1d"), RSAPKCS1, crypto.SHA1}, // OIW, as old toolkits write
	{oidPSS, RSAPSS, 0},
	{oidECPublicKey, ECDSA, 0},
	{[]byte("\x2a\x86\x48\xce\x3d\x04\x01"), ECDSA, crypto.SHA1},
	{[]byte("\x2a\x86\x48\xce\x3d\x04\x03\x01"), ECDSA, crypto.SHA224},
	{[]byte("\x2a\x86\x48\xce\x3d\x04\x03\x02"), ECDSA, crypto.SHA256},
	{[]byte("\x2a\x86\x48\xce\x3d\x04\x03\x03"), ECDSA, crypto.SHA384},
	{[]byte("\x2a\x86\x48\xce\x3d\x04\x03\x04"), ECDSA, crypto.SHA512},
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x03\x09"), ECDSA, crypto.SHA3_224},
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x03\x0a"), ECDSA, crypto.SHA3_256},
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x03\x0b"), ECDSA, crypto.SHA3_384},
	{[]byte("\x60\x86\x48\x01\x65\x03\x04\x03\x0c"), ECDSA, crypto.SHA3_512},
	{oidEd25519, Ed25519, 0},
}

// signingOf reads a signature's algorithm. digest is the hash that the digest
// algorithm names.
func signingOf(a algorithm, digest crypto.Hash) (signing, error) {
	for _, known := range schemes {
		if !bytes.Equal(known.id, a.id) {
			continue
		}
		s := signing{scheme: known.scheme, hash: known.hash}
		if s.hash == 0 {
			s.hash = digest
		}
		if s.scheme == RSAPSS {
			s.mgf = s.hash
			return s, s.parametersPSS(a.parameters)
		}
		return s, nil
	}
	return signing{}, fmt.Errorf("%w: the signature algorithm %s", ErrUnsupported, dotted(a.id))
}

// parametersPSS reads RSASSA-PSS-params: RFC 4055 §3.1. The length of the salt is
// not looked at: it is found in the signature.
//
// QUIRK: pyas2lib leaves the parameters out, and takes the digest's hash for both;
// RFC 4056 §3 wants them there.
func (s *signing) parametersPSS(text []byte) error {
	if text == nil || text[0] == byte(tagNull) {
		return nil
	}
	s.hash, s.mgf = crypto.SHA1, crypto.SHA1
	r := newReader(text, partDepth)
	if err := r.enter(tagSequence); err != nil {
		return err
	}
	if err := r.hash(tagged(0), &s.hash); err != nil {
		return err
	}
	if err := r.maskGenerator(tagged(1), &s.mgf); err != nil {
		return err
	}
	if r.next(tagged(2)) { // length of the salt
		if _, err := r.skip(); err != nil {
			return err
		}
	}
	if r.next(tagged(3)) {
		if err := r.enter(tagged(3)); err != nil {
			return err
		}
		if trailer, err := r.primitive(tagInteger); err != nil || !bytes.Equal(minimal(trailer), []byte{1}) {
			return fmt.Errorf("%w: a trailer field of PSS that is not 1", ErrUnsupported)
		}
		if err := r.leave(); err != nil {
			return err
		}
	}
	return r.leave()
}

// hash reads a hash algorithm with an explicit tag, if it is there.
func (r *reader) hash(t tag, into *crypto.Hash) error {
	if !r.next(t) {
		return nil
	}
	if err := r.enter(t); err != nil {
		return err
	}
	a, err := r.algorithm()
	if err != nil {
		return err
	}
	if *into = hashOf(a.id); *into == 0 {
		return fmt.Errorf("%w: the digest algorithm %s", ErrUnsupported, dotted(a.id))
	}
	return r.leave()
}

// maskGenerator reads the hash of MGF1 with an explicit tag, if it is there: RFC
// 4055 §2.2.
func (r *reader) maskGenerator(t tag, into *crypto.Hash) error {
	if !r.next(t) {
		return nil
	}
	if err := r.enter(t); err != nil {
		return err
	}
	a, err := r.algorithm()
	if err != nil {
		return err
	}
	if !a.is(oidMGF1) {
		return fmt.Errorf("%w: the mask generation function %s", ErrUnsupported, dotted(a.id))
	}
	if a.parameters == nil {
		return r.malformed("MGF1 without its hash")
	}
	inner := newReader(a.parameters, partDepth)
	h, err := inner.algorithm()
	if err != nil {
		return err
	}
	if *into = hashOf(h.id); *into == 0 {
		return fmt.Errorf("%w: the digest algorithm %s", ErrUnsupported, dotted(h.id))
	}
	return r.leave()
}
