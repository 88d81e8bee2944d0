package keys

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
	"time"
)

// Certificate is one that names a key of ours, with those of its issuers.
type Certificate struct {
	Chain []*x509.Certificate // its own, then the issuers
	From  time.Time           // first instant we show it
	By    string              // who gave it to the key; "" where that was not written down
	Added time.Time
}

// Leaf is the key's own certificate.
func (c Certificate) Leaf() *x509.Certificate { return c.Chain[0] }

// Window is the first instant at which the certificate is shown and the first at
// which it is not, if none after it takes its place before: never outside its own
// validity, whose end is inclusive (RFC 5280 §4.1.2.5).
func (c Certificate) Window() (from, until time.Time) {
	from, until = c.From, c.Leaf().NotAfter.Add(time.Second)
	if c.Leaf().NotBefore.After(from) {
		from = c.Leaf().NotBefore
	}
	return from, until
}

// Shown is the certificate that the key shows at an instant: of those that hold
// the one whose use began last; nil where none holds.
func (k *Key) Shown(at time.Time) *Certificate {
	for i := len(k.Certificates) - 1; i >= 0; i-- {
		if from, until := k.Certificates[i].Window(); !at.Before(from) && at.Before(until) {
			return &k.Certificates[i]
		}
	}
	return nil
}

// Present is the certificate to tell of the key at an instant: the one it shows,
// else the next that it will show, else the last that it showed.
func (k *Key) Present(at time.Time) *Certificate {
	if c := k.Shown(at); c != nil {
		return c
	}
	for i := range k.Certificates {
		if from, _ := k.Certificates[i].Window(); from.After(at) {
			return &k.Certificates[i]
		}
	}
	return &k.Certificates[len(k.Certificates)-1]
}

// Next is the certificate that is shown after the one of an instant; nil where
// none is staged.
func (k *Key) Next(at time.Time) *Certificate {
	for i := range k.Certificates {
		if from, until := k.Certificates[i].Window(); from.After(at) && from.Before(until) {
			return &k.Certificates[i]
		}
	}
	return nil
}

// sortCertificates puts them into the order in which they are used.
func (k *Key) sortCertificates() {
	slices.SortStableFunc(k.Certificates, func(a, b Certificate) int {
		fromA, _ := a.Window()
		fromB, _ := b.Window()
		return cmp.Or(fromA.Compare(fromB), a.Added.Compare(b.Added))
	})
}

func (k *Key) has(leaf *x509.Certificate) int {
	return slices.IndexFunc(k.Certificates, func(c Certificate) bool { return bytes.Equal(c.Leaf().Raw, leaf.Raw) })
}

// Recipient is how a message says whose key it is encrypted to: by issuer and
// serial number, or by the subject key identifier (RFC 5652 §6.2.1, WSS X.509
// Token Profile 1.1 §3.2). What is not said is nil.
type Recipient struct {
	Issuer       []byte // Name, DER
	Serial       *big.Int
	SubjectKeyID []byte
}

// Named gives the certificate of the key's that a recipient names; nil where none
// of those it ever had does.
func (k *Key) Named(to Recipient) *x509.Certificate {
	for _, c := range slices.Backward(k.Certificates) {
		leaf := c.Leaf()
		switch {
		case to.Serial != nil && leaf.SerialNumber.Cmp(to.Serial) == 0 && sameName(leaf.RawIssuer, to.Issuer):
			return leaf
		case len(to.SubjectKeyID) > 0 && (bytes.Equal(leaf.SubjectKeyId, to.SubjectKeyID) || isOwnKeyID(leaf, to.SubjectKeyID)):
			return leaf
		}
	}
	return nil
}

// sameName compares two names.
//
// QUIRK: some stacks write the issuer anew, PrintableString as UTF8String, instead
// of copying it: then the attributes are compared, not their encoding.
func sameName(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var nameA, nameB pkix.RDNSequence
	restA, errA := asn1.Unmarshal(a, &nameA)
	restB, errB := asn1.Unmarshal(b, &nameB)
	return errA == nil && errB == nil && len(restA) == 0 && len(restB) == 0 && len(nameA) > 0 &&
		slices.EqualFunc(nameA, nameB, func(x, y pkix.RelativeDistinguishedNameSET) bool {
			return slices.EqualFunc(x, y, func(p, q pkix.AttributeTypeAndValue) bool {
				text, isText := p.Value.(string)
				other, otherIs := q.Value.(string)
				return p.Type.Equal(q.Type) && isText && otherIs && text == other
			})
		})
}

// isOwnKeyID reports whether id is one that a sender makes of the public key where
// the certificate has none, or in spite of what it has: the digest of the bits of
// subjectPublicKey (RFC 5280 §4.2.1.2 (1), RFC 7093 §2 (1)).
func isOwnKeyID(c *x509.Certificate, id []byte) bool {
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(c.RawSubjectPublicKeyInfo, &info); err != nil {
		return false
	}
	old := sha1.Sum(info.Key.Bytes) // it names a key, and protects nothing
	sum := sha256.Sum256(info.Key.Bytes)
	return bytes.Equal(id, old[:]) || bytes.Equal(id, sum[:20])
}
