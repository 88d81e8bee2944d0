package cms

import (
	"crypto"
	"io"
	"time"
)

// Content writes the bytes that are signed to w. Octets.Write is one, of what
// stands in a message; InMemory makes one.
type Content func(w io.Writer) error

// InMemory gives the Content that is these pieces, one behind the other.
func InMemory(pieces ...[]byte) Content {
	return func(w io.Writer) error {
		for _, p := range pieces {
			if _, err := w.Write(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// Signed is a SignedData that was read: RFC 5652 §5. It lies in the bytes that it
// was read from.
type Signed struct {
	Type         Kind           // of the content
	Content      *Octets        // nil where it stands outside: detached
	Certificates []*Certificate // that came with it; what cannot be read is left out
}

// Policy is what a signature may be made of. The zero Policy allows SHA-256,
// SHA-384, SHA-512, SHA-512/256 and SHA3-256, -384, -512, and RSA keys of 2048
// bits or more.
type Policy struct {
	Old []crypto.Hash // digests that are allowed besides: MD5, SHA1, SHA224, SHA512_224, SHA3_224
	RSA int           // fewest bits of an RSA key; 0 is 2048; under 1024 none is taken
}

// Match is how the signer's certificate was found.
type Match string

const (
	// ByIdentifier: the signature names the candidate's issuer and serial number, or
	// its key identifier.
	ByIdentifier Match = "identifier"
	// ByKey: the signature names another certificate, which has the candidate's key.
	ByKey Match = "key"
)

// Verified is what is proved of a signature.
type Verified struct {
	Certificate *Certificate // the candidate
	Matched     Match
	Shown       *Certificate // that the signature names and that came with it; nil where it was left out
	Scheme      Scheme
	Hash        crypto.Hash // of the content: the algorithm of the MIC, RFC 4130 §7.4.3
	Digest      []byte      // of the content by Hash
	SigningTime time.Time   // what the signer says; zero where nothing. It proves nothing
}

// ParseSigned reads a SignedData. The error wraps ErrMalformed, ErrLimit or
// ErrUnsupported.
func ParseSigned(der []byte, l Limits) (*Signed, error) { return nil, ErrUnsupported }

// Verify checks that one of the candidates signed the content: all of it, as it
// is. content is nil where it stands in the message. Of several signers who are
// candidates one suffices; the strongest digest is tried first.
//
// The error wraps ErrUnknownSigner where no candidate is meant, ErrForbidden where
// the policy does not allow how it was signed, ErrUnsupported, ErrDigest where the
// content is another, ErrSignature where the key did not sign; or it is content's.
func (s *Signed) Verify(content Content, candidates []*Certificate, p Policy) (*Verified, error) {
	return nil, ErrUnsupported
}
