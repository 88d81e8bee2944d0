package partners

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/token"
)

// The shortest keys that are taken, in bits.
const (
	goodRSA    = 2048 // NIST SP 800-131A, draft-ietf-ediint-rfc4130bis
	weakestRSA = 1024 // what is shorter crypto/rsa refuses
	goodEC     = 256  // eDelivery AS4 2.0 begins with P-256
)

// oldRSA of as2.old_algorithms lets a partner use RSA keys of weakestRSA over AS2: some
// have certificates that are ten years old, and run for ten more.
const oldRSA = "rsa-1024"

// ErrWeak is wrapped where a certificate's key is too short for a purpose.
var ErrWeak = errors.New("its key is too short for the purpose")

// FewestRSA is the length of the shortest RSA key that the partner may use for a purpose,
// in bits. A TLS client is held to what crypto/tls takes: who connects is pinned, and signs
// nothing that lasts.
func (p *Partner) FewestRSA(purpose string) int { return fewestRSA(purpose, p.AS2.OldAlgorithms) }

func fewestRSA(purpose string, old []string) int {
	switch purpose {
	case TLSClient:
		return weakestRSA
	case AS2Sign, AS2Encrypt:
		if slices.Contains(old, oldRSA) {
			return weakestRSA
		}
	}
	return goodRSA
}

// short says that a certificate's key is too short for a purpose; nil if it is not. old
// are the partner's as2.old_algorithms.
func short(c *x509.Certificate, purpose string, old []string) error {
	switch key := c.PublicKey.(type) {
	case *rsa.PublicKey:
		if fewest := fewestRSA(purpose, old); key.N.BitLen() < fewest {
			return fmt.Errorf("%w: %s takes RSA keys of %d bits and more, and it has %d", ErrWeak, purpose, fewest, key.N.BitLen())
		}
	case *ecdsa.PublicKey:
		if bits := key.Curve.Params().BitSize; bits < goodEC && (purpose == AS4Sign || purpose == AS4Encrypt) {
			return fmt.Errorf("%w: %s takes EC keys of %d bits and more, and it has %d", ErrWeak, purpose, goodEC, bits)
		}
	}
	return nil
}

// place is where something stands in a document.
type place struct {
	path string
	at   *token.Token
}

// longEnough holds the keys of the partner's certificates against what they are for.
// purposes are where those of a certificate stand, by its label.
func (d *document) longEnough(s *PartnerSpec, purposes map[string]place) {
	for _, c := range s.Certificates {
		value, at := c.value(), purposes[c.Label]
		if value.X509 == nil {
			continue
		}
		for _, purpose := range c.Purposes {
			err := short(value.X509, purpose, s.AS2.OldAlgorithms)
			switch {
			case err == nil:
			case short(value.X509, purpose, []string{oldRSA}) == nil:
				d.fault(at.at, at.path, "%v; ask the partner for another certificate, or add %s to as2.old_algorithms until it has one", err, oldRSA)
			default:
				d.fault(at.at, at.path, "%v; ask the partner for another certificate", err)
			}
		}
	}
}
