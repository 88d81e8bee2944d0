package wssec

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	_ "crypto/sha1" // only where Verification.SHA1 says so
	_ "crypto/sha256"
	_ "crypto/sha512"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
)

// Signature methods: RFC 4051 and RFC 9231 §2.3, XML Signature 1.1 §6.4.
const (
	RSASHA256    = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
	RSASHA384    = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384"
	RSASHA512    = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"
	PSSSHA256    = "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1"
	PSSSHA384    = "http://www.w3.org/2007/05/xmldsig-more#sha384-rsa-MGF1"
	PSSSHA512    = "http://www.w3.org/2007/05/xmldsig-more#sha512-rsa-MGF1"
	ECDSASHA256  = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"
	ECDSASHA384  = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384"
	ECDSASHA512  = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512"
	EdDSAEd25519 = "http://www.w3.org/2021/04/xmldsig-more#eddsa-ed25519"

	rsaSHA1   = "http://www.w3.org/2000/09/xmldsig#rsa-sha1"
	ecdsaSHA1 = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha1"
)

// Digest methods: XML Encryption 1.1 §5.7, RFC 4051 §2.1.
const (
	SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256"
	SHA384 = "http://www.w3.org/2001/04/xmldsig-more#sha384"
	SHA512 = "http://www.w3.org/2001/04/xmlenc#sha512"

	sha1URI = "http://www.w3.org/2000/09/xmldsig#sha1"
)

// digests are the digest methods that are read.
var digests = map[string]crypto.Hash{SHA256: crypto.SHA256, SHA384: crypto.SHA384, SHA512: crypto.SHA512, sha1URI: crypto.SHA1}

// signatures are the signature methods that are read.
var signatures = map[string]struct {
	kind string
	hash crypto.Hash // 0: the message is signed itself
}{
	RSASHA256: {"RSA", crypto.SHA256}, RSASHA384: {"RSA", crypto.SHA384}, RSASHA512: {"RSA", crypto.SHA512},
	PSSSHA256: {"RSA-PSS", crypto.SHA256}, PSSSHA384: {"RSA-PSS", crypto.SHA384}, PSSSHA512: {"RSA-PSS", crypto.SHA512},
	ECDSASHA256: {"ECDSA", crypto.SHA256}, ECDSASHA384: {"ECDSA", crypto.SHA384}, ECDSASHA512: {"ECDSA", crypto.SHA512},
	EdDSAEd25519: {"Ed25519", 0},
	rsaSHA1:      {"RSA", crypto.SHA1}, ecdsaSHA1: {"ECDSA", crypto.SHA1},
}

// MinRSA is the shortest RSA modulus that is taken if nothing else is said, in bits:
// NIST SP 800-131A.
const MinRSA = 2048

// minEC is the same for elliptic curves: eDelivery AS4 2.0 begins with P-256.
const minEC = 256

var errSignature = errors.New("the signature value does not fit")

// verifyValue verifies value over message with a certificate's key.
func verifyValue(method string, certificate *x509.Certificate, minRSA int, message, value []byte) error {
	s := signatures[method]
	digest := message
	if s.hash != 0 {
		h := s.hash.New()
		h.Write(message)
		digest = h.Sum(nil)
	}
	mismatch := fmt.Errorf("the signature method %s does not go with the certificate's key, a %T", method, certificate.PublicKey)
	switch key := certificate.PublicKey.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < minRSA {
			return fmt.Errorf("the RSA key has %d bits, at least %d are expected", key.N.BitLen(), minRSA)
		}
		switch s.kind {
		case "RSA":
			return rsa.VerifyPKCS1v15(key, s.hash, digest, value)
		case "RSA-PSS": // RFC 6931 §2.3.10: the salt is as long as the digest
			return rsa.VerifyPSS(key, s.hash, digest, value, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		}
	case *ecdsa.PublicKey:
		if s.kind != "ECDSA" {
			return mismatch
		}
		if bits := key.Curve.Params().BitSize; bits < minEC {
			return fmt.Errorf("the ECDSA key has %d bits, at least %d are expected", bits, minEC)
		}
		// RFC 4050 §3.3: r and s one after the other, each as long as the curve's order.
		size := (key.Curve.Params().N.BitLen() + 7) / 8
		if len(value) != 2*size {
			return fmt.Errorf("the ECDSA signature has %d bytes, %d are expected: %w", len(value), 2*size, errSignature)
		}
		r, s := new(big.Int).SetBytes(value[:size]), new(big.Int).SetBytes(value[size:])
		if !ecdsa.Verify(key, digest, r, s) {
			return errSignature
		}
		return nil
	case ed25519.PublicKey:
		if s.kind != "Ed25519" {
			return mismatch
		}
		if !ed25519.Verify(key, message, value) {
			return errSignature
		}
		return nil
	}
	return mismatch
}
