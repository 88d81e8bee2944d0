package wssec

import (
	"crypto/x509"
	"errors"

	"github.com/beevik/etree"
)

var errPending = errors.New("this part of wssec is being built")

// Decrypt gives the parts of a message as they were before encryption, in the order
// given: those that no xenc:EncryptedData names unchanged, the others with the
// MimeType of their EncryptedData and an Open that decrypts as it reads. The tag of
// every part is verified before it returns.
//
// Errors are *Fault: Undecryptable, always with the same Detail; NonCompliant for
// an algorithm outside the list, a part that is not encrypted where it has to be,
// or EncryptedData of anything but a part; Malformed. Others are of reading a part.
func (e *Envelope) Decrypt(parts []Part, d Decryption) ([]Part, error) { return nil, errPending }

// Verify verifies the one signature of the envelope over parts as Decrypt gave
// them. It has to cover eb:Messaging, the Body and every part.
//
// Errors are *Fault: Unauthenticated for a signer, a digest or a signature value
// that does not fit; NonCompliant for no signature, one that does not cover all, or
// an algorithm outside the list; Malformed. Others are of reading a part.
func (e *Envelope) Verify(parts []Part, v Verification) (*Signature, error) { return nil, errPending }

// SignatureToken gives how the signature names its certificate, for finding out
// who says to have signed. Nothing is verified.
func (e *Envelope) SignatureToken() (Token, error) { return Token{}, errPending }

// Pinned takes signatures of these certificates alone, whichever way the message
// names them.
func Pinned(certificates ...*x509.Certificate) func(Token) (*x509.Certificate, error) {
	return func(Token) (*x509.Certificate, error) { return nil, errPending }
}

// ParseReference reads a ds:Reference, such as that in a receipt's
// ebbp:MessagePartNRInformation.
func ParseReference(e *etree.Element) (Reference, error) { return Reference{}, errPending }

// Element gives the reference as a ds:Reference that declares its namespaces
// itself, for a receipt.
func (r Reference) Element() *etree.Element { return nil }

// Binding gives a digest over a set of references, whatever their order: the same
// for two signatures that the same receipt answers.
func Binding(references []Reference) [32]byte { return [32]byte{} }

// Compare says what a receipt's references lack, or name otherwise, of those that
// were sent; nil if they are the same set.
func Compare(sent, received []Reference) error { return errPending }

// Secure builds the envelope, signs eb:Messaging, the Body and every part, and
// encrypts every part; nil for signing or encrypting leaves that out. Parts are read
// twice when they are signed: here and when they are sent.
func (o Outgoing) Secure(signing *Signing, encrypting *Encrypting) (*Secured, error) {
	return nil, errPending
}
