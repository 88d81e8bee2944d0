package cms

import (
	"bytes"
	"crypto/sha1"
	"fmt"
)

// identifier reads a SignerIdentifier or RecipientIdentifier: RFC 5652 §5.3,
// §6.2.1.
func (r *reader) identifier() (issuer, serial, keyID []byte, err error) {
	if r.next(tagged(0)) {
		id, err := r.octets(tagged(0))
		if err != nil {
			return nil, nil, nil, err
		}
		return nil, nil, id.Bytes(), nil
	}
	if err := r.enter(tagSequence); err != nil {
		return nil, nil, nil, err
	}
	if issuer, err = r.whole(tagSequence); err != nil {
		return nil, nil, nil, err
	}
	if serial, err = r.primitive(tagInteger); err != nil {
		return nil, nil, nil, err
	}
	return issuer, serial, nil, r.leave()
}

// named reports whether an identifier of a message names the certificate.
//
// QUIRK: for a certificate that has no key identifier some take the SHA-1 of its
// key, which RFC 5280 §4.2.1.2 proposes.
func (c *Certificate) named(issuer, serial, keyID []byte) bool {
	if keyID == nil {
		return c.issued(issuer, serial)
	}
	return bytes.Equal(c.keyIdentifier(), keyID)
}

// issued reports whether issuer and serial number of a message name the
// certificate.
func (c *Certificate) issued(issuer, serial []byte) bool {
	return sameSerial(c.Serial, serial) && sameName(c.Issuer, issuer)
}

// mostSerial is how long a serial number may be, in bytes, to be compared as a number:
// RFC 5280 §4.1.2.2 has 20 at the most. A message that names a signer by megabytes of
// zeros would have them counted for each certificate.
const mostSerial = 256

// sameSerial compares two serial numbers as integers. Octets in front that add
// nothing do not count.
//
// QUIRK: a stack that takes serial numbers for positive writes a negative one with
// a zero in front, and the other way round. Who signed is proved by the key.
func sameSerial(a, b []byte) bool {
	if len(a) > mostSerial || len(b) > mostSerial {
		return bytes.Equal(a, b)
	}
	return bytes.Equal(bytes.TrimLeft(a, "\x00"), bytes.TrimLeft(b, "\x00")) || bytes.Equal(minimal(a), minimal(b))
}

// minimal strips what X.690 §8.3.2 says an INTEGER does not begin with.
func minimal(n []byte) []byte {
	for len(n) > 1 && (n[0] == 0 && n[1]&0x80 == 0 || n[0] == 0xff && n[1]&0x80 != 0) {
		n = n[1:]
	}
	return n
}

// keyIdentifier is what the certificate says, or what it should.
func (c *Certificate) keyIdentifier() []byte {
	if c.SubjectKeyID != nil {
		return c.SubjectKeyID
	}
	r := newReader(c.SPKI, partDepth)
	if len(c.SPKI) > mostKeyInfo || r.enter(tagSequence) != nil {
		return nil
	}
	if _, err := r.skip(); err != nil {
		return nil
	}
	bits, err := r.primitive(tagBitString)
	if err != nil || len(bits) == 0 {
		return nil
	}
	sum := sha1.Sum(bits[1:])
	return sum[:]
}

// identifierText says for people what an identifier names.
func identifierText(issuer, serial, keyID []byte) string {
	if keyID != nil {
		return fmt.Sprintf("the certificate of key identifier %X", keyID[:min(len(keyID), 64)])
	}
	return "certificate " + hexSerial(serial) + " issued by " + nameText(issuer)
}

// hexSerial writes a serial number as people compare it.
func hexSerial(serial []byte) string {
	if len(serial) > 64 {
		return fmt.Sprintf("with a number of %d bytes", len(serial))
	}
	return fmt.Sprintf("%X", serialNumber(serial))
}
