package keys

import (
	"crypto"
	"crypto/ecdh"
	"crypto/x509"
	"errors"
	"io"
)

// Agreement is an X25519 key (RFC 7748, RFC 8410): partners agree with it on the key
// that they encrypt with, as eDelivery AS4 2.0 has it. It is a crypto.Signer only so
// that it is kept as the others are; it signs nothing.
type Agreement struct{ *ecdh.PrivateKey }

// Sign always gives an error.
func (Agreement) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return nil, errors.New("an X25519 key signs nothing")
}

// usable gives a private key that was read as one that is kept.
func usable(key any) (crypto.Signer, error) {
	switch k := key.(type) {
	case *ecdh.PrivateKey:
		if k.Curve() == ecdh.X25519() {
			return Agreement{k}, nil
		}
	case crypto.Signer:
		return k, nil
	}
	return nil, unfit("a key of kind %T does not sign", key)
}

// kept gives what of a key is sealed: PKCS#8 (RFC 5208).
func kept(key crypto.Signer) ([]byte, error) {
	if a, ok := key.(Agreement); ok {
		return x509.MarshalPKCS8PrivateKey(a.PrivateKey)
	}
	return x509.MarshalPKCS8PrivateKey(key)
}

// publicOf gives the key of a certificate. crypto/x509 leaves out those that verify
// nothing, and reads them apart.
func publicOf(c *x509.Certificate) (crypto.PublicKey, error) {
	if c.PublicKey != nil {
		return c.PublicKey, nil
	}
	return x509.ParsePKIXPublicKey(c.RawSubjectPublicKeyInfo)
}
