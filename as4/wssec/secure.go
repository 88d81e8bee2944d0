package wssec

import (
	"crypto"
	"crypto/x509"

	"github.com/beevik/etree"
)

// TokenForm is how what we make names a certificate.
type TokenForm int

// The forms there are: WSS X.509 token profile 1.1 §3.2.
const (
	BinarySecurityToken TokenForm = iota // the certificate, as X509v3
	PKIPath                              // the certificate and its chain, as X509PKIPathv1
	SubjectKeyID                         // its subject key identifier
	IssuerSerial                         // its issuer's name and its serial number
)

// Signing is who signs what we send.
type Signing struct {
	Key         crypto.Signer // RSA, ECDSA on P-256, P-384 or P-521, or Ed25519
	Certificate *x509.Certificate
	Chain       []*x509.Certificate // issuers, nearest first; for PKIPath
	Token       TokenForm
	Method      string // algorithm URI; "" takes SHA-256 with RSA or ECDSA, or Ed25519, as the key is
}

// Encrypting is to whom the parts are encrypted.
type Encrypting struct {
	Recipient *x509.Certificate // RSA; P-256, P-384, P-521 or X25519 for key agreement
	Token     TokenForm
	Method    string // of the key: algorithm URI; "" takes RSA-OAEP with SHA-256 and MGF1-SHA-256, or key agreement with HKDF and AES-128 key wrap, as the key is
	Data      string // of the parts: algorithm URI; "" takes AES-128-GCM
}

// Outgoing is a message that we are about to send.
type Outgoing struct {
	Messaging *etree.Element // eb:Messaging; its wsu:Id is made if it has none
	Body      *etree.Element // the one element in the Body, such as S12:Fault; nil leaves it empty
	Parts     []Part         // already compressed; signed and encrypted as they are
}

// Secured is a message as it goes out.
type Secured struct {
	SOAP       []byte      // the envelope: UTF-8 without declaration, the same bytes whenever it is sent
	Parts      []Part      // as they travel: with Encrypting their Open gives nonce, ciphertext and tag
	References []Reference // what a receipt has to name; none if nothing is signed
}
