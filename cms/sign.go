package cms

import (
	"crypto"
	"time"
)

// Signature is how something is to be signed: by whom and with what.
type Signature struct {
	Key         crypto.Signer // RSA, ECDSA or Ed25519
	Certificate *Certificate  // of Key
	Issuers     []*Certificate
	Hash        crypto.Hash // 0 is SHA256
	PSS         bool        // with an RSA key: RSASSA-PSS in place of PKCS #1 v1.5
	Time        time.Time   // the signing time that is told; zero tells none

	KeyIdentifier  bool // names the signer by key identifier, not by issuer and serial number
	NoCertificates bool // leaves the certificates out
	NoAttributes   bool // signs the content itself: no signing time then
}

// Sign makes a detached SignedData in DER: RFC 5652 §5, the .p7s of S/MIME.
func (s Signature) Sign(content Content) ([]byte, error) { return nil, ErrUnsupported }

// SignAttached makes a SignedData in DER that holds the content.
func (s Signature) SignAttached(content []byte) ([]byte, error) { return nil, ErrUnsupported }
