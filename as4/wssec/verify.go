package wssec

import (
	"crypto/x509"

	"github.com/beevik/etree"
)

// Token is how a message names a certificate. Exactly one of its forms is set.
type Token struct {
	Certificate *x509.Certificate   // it is in the message: BinarySecurityToken or ds:X509Certificate
	Chain       []*x509.Certificate // the others of a PKIPath, root first; not verified

	SubjectKeyID []byte // RFC 5280 §4.2.1.2

	Issuer string // distinguished name as it stands in ds:X509IssuerName
	Serial string // decimal
}

// Verification is what a signature has to be and to cover.
type Verification struct {
	// Signer gives the certificate to verify with, or says why the token is not the
	// partner's; that error becomes a Fault Unauthenticated with its text as Detail.
	// It is called before any cryptography is done. Pinned is the usual one.
	Signer func(Token) (*x509.Certificate, error)

	SHA1         bool // the signature and its digests may use SHA-1
	UnsignedBody bool // an empty Body need not be covered: BDEW, signals of old peers
}

// Signature is a verified signature. What it holds is to be used in place of what
// the envelope held before: each was the very element or part whose digest fits.
type Signature struct {
	Certificate *x509.Certificate
	Method      string      // algorithm URI
	References  []Reference // in their order
	Messaging   *etree.Element
	Body        *etree.Element // nil if it is not covered
	Parts       []Part         // every part, in the order given
}

// Reference is one ds:Reference of a signature, or of a receipt's
// NonRepudiationInformation.
type Reference struct {
	URI          string // as it stands: "#…" or "cid:…"
	Transforms   []Transform
	DigestMethod string // algorithm URI
	DigestValue  []byte
}

// Transform is one ds:Transform of a reference.
type Transform struct {
	Algorithm  string
	PrefixList string // of ec:InclusiveNamespaces; "" if there is none
}
