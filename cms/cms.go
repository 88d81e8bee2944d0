// Package cms reads and makes what S/MIME puts into its bodies: SignedData,
// EnvelopedData, AuthEnvelopedData and CompressedData of the Cryptographic Message
// Syntax (RFC 5652, 5083, 5084, 3274), as AS2 uses them (RFC 4130, RFC 5402).
//
// Partners send BER of every kind: indefinite lengths, OCTET STRINGs in thousands
// of pieces, padding behind the end. It is read where it lies, once, within
// Limits: a digest runs over the pieces, and a message is decrypted in place, so
// that it stands in memory about once.
//
// A certificate here is a Certificate of this package and not of crypto/x509,
// which refuses some that partners have used for years. No chains are built and no
// dates are looked at: whose certificates count is for who calls to say.
//
// Whatever fails in decrypting is one error, ErrDecrypt, reached by one path: RFC
// 3218, and Vaudenay's attack on the padding of CBC. No input causes a panic.
//
// It does not do DES, RC2, RC4 and Camellia, DSA, recipients who share a password
// or a symmetric key, CRLs, countersignatures and time stamps.
package cms

import (
	"bytes"
	"cmp"
	"errors"
)

// Kind is the content type of a CMS message.
type Kind string

// The kinds that AS2 knows: RFC 5652 §4 to §6, RFC 5083, RFC 3274.
const (
	Data              Kind = "data"
	SignedData        Kind = "signed-data"
	EnvelopedData     Kind = "enveloped-data"
	AuthEnvelopedData Kind = "auth-enveloped-data" // by ParseEnveloped, as EnvelopedData
	CompressedData    Kind = "compressed-data"
)

// What is wrong, as errors.Is finds it. The text around it says what and where.
var (
	// ErrMalformed is of what is not CMS, or broken off.
	ErrMalformed = errors.New("not well-formed CMS")
	// ErrLimit is of what is larger, deeper or more than Limits, or the caller, allow.
	ErrLimit = errors.New("over the limit")
	// ErrUnsupported is of an algorithm or a structure that is not done here.
	ErrUnsupported = errors.New("not supported")
	// ErrForbidden is of an algorithm or a key that the Policy does not allow.
	ErrForbidden = errors.New("not allowed")
	// ErrUnknownSigner is of a signature by a certificate that is not among the
	// candidates: nobody knows who signed.
	ErrUnknownSigner = errors.New("signer unknown")
	// ErrDigest is of content that is not what was signed.
	ErrDigest = errors.New("the content is not what was signed")
	// ErrSignature is of a signature that the signer's key did not make.
	ErrSignature = errors.New("the signature is wrong")
	// ErrDecrypt is all that is ever told of a failed decryption. What failed is
	// for a log that nobody outside reads: Detail.
	ErrDecrypt = errors.New("cannot be decrypted")
	// ErrDecompress is of compressed content that is broken.
	ErrDecompress = errors.New("cannot be decompressed")
)

// Limits bound what is read of a message. Zero fields are the defaults.
type Limits struct {
	Depth        int // of nested elements; 32
	Certificates int // in a SignedData; 64
	Signers      int // of a SignedData; 8
	Recipients   int // of an EnvelopedData; 64
}

func (l Limits) depth() int        { return cmp.Or(l.Depth, 32) }
func (l Limits) certificates() int { return cmp.Or(l.Certificates, 64) }
func (l Limits) signers() int      { return cmp.Or(l.Signers, 8) }
func (l Limits) recipients() int   { return cmp.Or(l.Recipients, 64) }

// KindOf says what a message is by its content type, which decides whatever MIME
// says; "" for what is none of the kinds here.
func KindOf(der []byte) Kind {
	r := newReader(begun(der), 1)
	if r.enter(tagSequence) != nil {
		return ""
	}
	id, err := r.primitive(tagOID)
	if err != nil {
		return ""
	}
	return kindOf(id)
}

func kindOf(id []byte) Kind {
	for _, k := range []struct {
		id   []byte
		kind Kind
	}{{oidData, Data}, {oidSigned, SignedData}, {oidEnveloped, EnvelopedData}, {oidAuthEnveloped, AuthEnvelopedData}, {oidCompressed, CompressedData}} {
		if bytes.Equal(k.id, id) {
			return k.kind
		}
	}
	return ""
}
