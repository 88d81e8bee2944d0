package cms

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"fmt"
	"time"
)

// Certificate is what a message says of a key and its owner, read by ourselves:
// crypto/x509 refuses certificates that partners have in use, for a PrintableString
// with an underscore or for a serial number below zero. Its signature is not
// looked at.
//
// PublicKey is an *rsa.PublicKey, an *ecdsa.PublicKey, an *ecdh.PublicKey or an
// ed25519.PublicKey; nil, with the reason in KeyError, where the key is of
// another kind or broken. Everything else is there all the same.
type Certificate struct {
	Raw          []byte // DER or BER, as it came
	Issuer       []byte // Name, as it stands: RFC 5280 §4.1.2.4
	Subject      []byte
	Serial       []byte    // content octets of the INTEGER, as they stand
	SubjectKeyID []byte    // RFC 5280 §4.2.1.2; nil where it says none
	SPKI         []byte    // SubjectPublicKeyInfo, as it stands
	NotBefore    time.Time // zero where it cannot be read
	NotAfter     time.Time // its last second; likewise
	PublicKey    crypto.PublicKey
	KeyError     error

	keyUsage []byte   // BIT STRING, RFC 5280 §4.2.1.3; nil where it says none
	extended [][]byte // ExtendedKeyUsage, §4.2.1.12
}

// ParseCertificate reads a certificate in DER or BER: RFC 5280 §4.1. The error
// wraps ErrMalformed.
func ParseCertificate(text []byte) (*Certificate, error) {
	r := newReader(text, partDepth)
	start := r.at
	if err := r.enter(tagSequence); err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	c := &Certificate{}
	if err := c.read(r); err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	// The signature and its algorithm are not looked at.
	if err := r.leaveRest(); err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	c.Raw = text[start:r.at]
	if err := r.finish(); err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	c.PublicKey, c.KeyError = parsePublicKey(c.SPKI)
	return c, nil
}

// CertificateOf gives the certificate that crypto/x509 has read.
func CertificateOf(c *x509.Certificate) (*Certificate, error) { return ParseCertificate(c.Raw) }

// read reads the TBSCertificate.
func (c *Certificate) read(r *reader) (err error) {
	if err := r.enter(tagSequence); err != nil {
		return err
	}
	if r.next(tagged(0)) { // version
		if _, err := r.skip(); err != nil {
			return err
		}
	}
	if c.Serial, err = r.primitive(tagInteger); err != nil {
		return err
	}
	if _, err := r.skip(); err != nil { // the signature's algorithm
		return err
	}
	if c.Issuer, err = r.whole(tagSequence); err != nil {
		return err
	}
	if err := c.validity(r); err != nil {
		return err
	}
	if c.Subject, err = r.whole(tagSequence); err != nil {
		return err
	}
	if c.SPKI, err = r.whole(tagSequence); err != nil {
		return err
	}
	for _, t := range []tag{tagged(1), tagged(2)} { // unique identifiers
		if r.next(t) {
			if _, err := r.skip(); err != nil {
				return err
			}
		}
	}
	if r.next(tagged(3)) {
		if err := c.extensions(r); err != nil {
			return err
		}
	}
	return r.leaveRest()
}

// whole reads an element that has to have the tag, with header and end.
func (r *reader) whole(t tag) ([]byte, error) {
	if _, err := r.expect(t); err != nil {
		return nil, err
	}
	return r.skip()
}

func (c *Certificate) validity(r *reader) error {
	if err := r.enter(tagSequence); err != nil {
		return err
	}
	for _, at := range []*time.Time{&c.NotBefore, &c.NotAfter} {
		h, err := r.header()
		if err != nil {
			return err
		}
		text, err := r.primitive(h.tag)
		if err != nil {
			return err
		}
		// A date that cannot be read says nothing: it is for who looks at dates.
		*at, _ = parseTime(h.tag, text) // zero then
	}
	return r.leaveRest()
}

func (c *Certificate) extensions(r *reader) error {
	if err := r.enter(tagged(3)); err != nil {
		return err
	}
	if err := r.enter(tagSequence); err != nil {
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
		if r.next(tagBoolean) { // critical
			if _, err := r.skip(); err != nil {
				return err
			}
		}
		value, err := r.octets(tagOctetString)
		if err != nil {
			return err
		}
		c.extension(id, newReader(value.Bytes(), partDepth))
		if err := r.leaveRest(); err != nil {
			return err
		}
	}
	if err := r.leave(); err != nil {
		return err
	}
	return r.leaveRest()
}

// extension reads one that counts here. What cannot be read says nothing.
func (c *Certificate) extension(id []byte, in *reader) {
	switch {
	case bytes.Equal(id, oidSubjectKeyID) && c.SubjectKeyID == nil:
		if id, err := in.octets(tagOctetString); err == nil {
			c.SubjectKeyID = id.Bytes()
		}
	case bytes.Equal(id, oidKeyUsage) && c.keyUsage == nil:
		if bits, err := in.primitive(tagBitString); err == nil {
			c.keyUsage = bits
		}
	case bytes.Equal(id, oidExtKeyUsage) && c.extended == nil && in.enter(tagSequence) == nil:
		for in.more() && len(c.extended) < mostUsages {
			usage, err := in.primitive(tagOID)
			if err != nil {
				return
			}
			c.extended = append(c.extended, usage)
		}
	}
}

// mostUsages is how many extended key usages are read.
const mostUsages = 64

// String says which certificate it is, for people: its serial number in
// hexadecimal, as openssl writes it, and its subject.
func (c *Certificate) String() string {
	return "certificate " + hexSerial(c.Serial) + " of " + nameText(c.Subject)
}

// sameKey reports whether two certificates are of one key.
func (c *Certificate) sameKey(other *Certificate) bool {
	if bytes.Equal(c.SPKI, other.SPKI) {
		return true
	}
	key, ok := c.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	return ok && other.PublicKey != nil && key.Equal(other.PublicKey)
}
