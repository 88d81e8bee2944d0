package cms

import (
	"bytes"
	"fmt"
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
	Type         Kind           // of the content; "" is one that is not known here
	Content      *Octets        // nil where it stands outside: detached
	Certificates []*Certificate // that came with it; what cannot be read is left out

	typeID  []byte
	signers []*signer
}

// signer is a SignerInfo: RFC 5652 §5.3.
type signer struct {
	issuer     []byte // and serial; nil where keyID is told
	serial     []byte
	keyID      []byte
	digest     algorithm
	attributes []byte // [0] as it stands, nil where there are none
	signing    algorithm
	signature  []byte

	// Of the attributes.
	contentType   []byte
	messageDigest []byte
	signingTime   time.Time
}

// mostAttributeBytes is how long the signed attributes of a signer may be.
const mostAttributeBytes = 64 << 10

// ParseSigned reads a SignedData. The error wraps ErrMalformed, ErrLimit or
// ErrUnsupported.
func ParseSigned(der []byte, l Limits) (*Signed, error) {
	s := &Signed{}
	if err := open(der, l, "SignedData", func(r *reader) error { return s.read(r, l) }, oidSigned); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Signed) read(r *reader, l Limits) error {
	if _, err := r.primitive(tagInteger); err != nil { // version: what it says, the structure says
		return err
	}
	if _, err := r.whole(tagSet); err != nil { // digest algorithms: each signer names its own
		return err
	}
	if err := s.encapsulated(r); err != nil {
		return err
	}
	if r.next(tagged(0)) {
		if err := s.certificates(r, l); err != nil {
			return err
		}
	}
	if r.next(tagged(1)) { // CRLs: nothing is revoked by who signs
		if _, err := r.skip(); err != nil {
			return err
		}
	}
	if err := r.enter(tagSet); err != nil {
		return err
	}
	for r.more() {
		if len(s.signers) == l.signers() {
			return fmt.Errorf("%w: more than %d signers", ErrLimit, l.signers())
		}
		one, err := readSigner(r)
		if err != nil {
			return fmt.Errorf("signer %d: %w", len(s.signers)+1, err)
		}
		s.signers = append(s.signers, one)
	}
	return r.leave()
}

// encapsulated reads the EncapsulatedContentInfo: RFC 5652 §5.2.
func (s *Signed) encapsulated(r *reader) (err error) {
	if err := r.enter(tagSequence); err != nil {
		return err
	}
	if s.typeID, err = r.primitive(tagOID); err != nil {
		return err
	}
	s.Type = kindOf(s.typeID)
	if r.more() {
		if err := r.enter(tagged(0)); err != nil {
			return err
		}
		// What PKCS #7 1.5 had in place of the OCTET STRING, RFC 5652 §5.2.1, nobody
		// sends by AS2.
		content, err := r.octets(tagOctetString)
		if err != nil {
			return err
		}
		s.Content = &content
		if err := r.leave(); err != nil {
			return err
		}
	}
	return r.leave()
}

func (s *Signed) certificates(r *reader, l Limits) error {
	if err := r.enter(tagged(0)); err != nil {
		return err
	}
	for n := 0; r.more(); n++ {
		if n == l.certificates() {
			return fmt.Errorf("%w: more than %d certificates", ErrLimit, l.certificates())
		}
		raw, err := r.skip()
		if err != nil {
			return err
		}
		// What is no certificate of X.509, such as an attribute certificate, or is
		// broken, does not matter if another one is the signer's.
		if c, err := ParseCertificate(raw); err == nil {
			s.Certificates = append(s.Certificates, c)
		}
	}
	return r.leave()
}

func readSigner(r *reader) (*signer, error) {
	s := &signer{}
	if err := r.enter(tagSequence); err != nil {
		return nil, err
	}
	_, err := r.primitive(tagInteger) // version
	if err != nil {
		return nil, err
	}
	if s.issuer, s.serial, s.keyID, err = r.identifier(); err != nil {
		return nil, err
	}
	if s.digest, err = r.algorithm(); err != nil {
		return nil, err
	}
	if r.next(tagged(0)) {
		if s.attributes, err = r.skip(); err != nil {
			return nil, err
		}
		if len(s.attributes) > mostAttributeBytes {
			return nil, fmt.Errorf("%w: signed attributes of %d bytes; %d are the most", ErrLimit, len(s.attributes), mostAttributeBytes)
		}
		if err := s.readAttributes(); err != nil {
			return nil, fmt.Errorf("signed attributes: %w", err)
		}
	}
	if s.signing, err = r.algorithm(); err != nil {
		return nil, err
	}
	signature, err := r.octets(tagOctetString)
	if err != nil {
		return nil, err
	}
	if signature.Size() > mostRSA/8+64 {
		return nil, fmt.Errorf("%w: a signature of %d bytes", ErrLimit, signature.Size())
	}
	s.signature = signature.Bytes()
	// Unsigned attributes, such as countersignatures, prove nothing here.
	return s, r.leaveRest()
}

// readAttributes reads the attributes that count: RFC 5652 §11.
func (s *signer) readAttributes() error {
	r := newReader(s.attributes, partDepth)
	if err := r.enter(tagged(0)); err != nil {
		return err
	}
	for r.more() {
		if err := r.enter(tagSequence); err != nil {
			return err
		}
		id, err := r.primitive(tagOID)
		if err != nil {
			return err
		}
		if err := r.enter(tagSet); err != nil {
			return err
		}
		switch {
		case bytes.Equal(id, oidContentType):
			if s.contentType != nil {
				return r.malformed("two content types")
			}
			if s.contentType, err = r.primitive(tagOID); err != nil {
				return err
			}
			err = r.leave()
		case bytes.Equal(id, oidMessageDigest):
			if s.messageDigest != nil {
				return r.malformed("two message digests")
			}
			var digest Octets
			if digest, err = r.octets(tagOctetString); err != nil {
				return err
			}
			s.messageDigest = digest.Bytes()
			err = r.leave()
		case bytes.Equal(id, oidSigningTime):
			var h header
			if h, err = r.header(); err != nil {
				return err
			}
			var text []byte
			if text, err = r.primitive(h.tag); err != nil {
				return err
			}
			// A time that cannot be read is as one that is not told: it proves nothing.
			s.signingTime, _ = parseTime(h.tag, text)
			err = r.leaveRest()
		default:
			err = r.leaveRest()
		}
		if err != nil {
			return err
		}
		if err := r.leave(); err != nil {
			return err
		}
	}
	return r.leave()
}
