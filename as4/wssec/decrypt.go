package wssec

import (
	"crypto"
	"crypto/x509"
)

// DecryptionKey is a private key of ours that partners encrypt to: *rsa.PrivateKey,
// or *ecdsa.PrivateKey or *ecdh.PrivateKey for key agreement.
type DecryptionKey struct {
	Certificate *x509.Certificate
	Key         crypto.PrivateKey
}

// Decryption is how the parts of one message are decrypted.
type Decryption struct {
	Keys     []DecryptionKey // all that may still be encrypted to
	Required bool            // every part has to be encrypted
	CBC      bool            // AES-CBC is taken too: no protection of integrity beside the signature
}
