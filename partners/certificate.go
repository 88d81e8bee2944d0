package partners

import (
	"bytes"
	"cmp"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

// What a partner's certificate is for. A purpose is looked up by all transports
// alike: who signs, to whom is encrypted, who connects.
const (
	TLSClient  = "tls_client"  // who connects over TLS: RFC 8446 §4.4.2
	AS2Sign    = "as2_sign"    // signs S/MIME: RFC 4130, RFC 8551
	AS2Encrypt = "as2_encrypt" // is encrypted to: RFC 4130
	AS4Sign    = "as4_sign"    // signs WS-Security: AS4 profile §5.1
	AS4Encrypt = "as4_encrypt" // is encrypted to: AS4 profile §5.1
)

// Purposes is every purpose there is.
var Purposes = []string{TLSClient, AS2Sign, AS2Encrypt, AS4Sign, AS4Encrypt}

// Certificate is one certificate of a partner as configured. Several may stand
// for one purpose, so that an old and a new one overlap.
type Certificate struct {
	Label    string
	Purposes []string
	PinsKey  bool              // any certificate of the same key is taken
	AnyUsage bool              // its key usage is not looked at
	X509     *x509.Certificate // nil where Unread says why
	Unread   error             // what stored long ago cannot be read by this program
	From     time.Time         // zero is from the start of its own validity
	Until    time.Time         // zero is to the end of its own validity
}

// Why a certificate is not taken, as errors.Is finds it.
var (
	ErrNotPinned   = errors.New("it is not configured for this partner and purpose")
	ErrExpired     = errors.New("it is no longer valid")
	ErrNotYetValid = errors.New("it is not valid yet")
	ErrUsage       = errors.New("its key usage does not allow the purpose")
)

// Window gives the first instant the certificate is used and the first it is
// not: what it says itself (RFC 5280 §4.1.2.5, whose end is inclusive), narrowed
// by from and until.
func (c *Certificate) Window() (from, until time.Time) {
	if c.X509 == nil {
		return time.Time{}, time.Time{}
	}
	return c.windowOf(c.X509)
}

func (c *Certificate) windowOf(shown *x509.Certificate) (from, until time.Time) {
	from, until = shown.NotBefore, shown.NotAfter.Add(time.Second)
	if c.From.After(from) {
		from = c.From
	}
	if !c.Until.IsZero() && c.Until.Before(until) {
		until = c.Until
	}
	return from, until
}

// Usable says why the certificate is not to be used for purpose at an instant;
// nil if it is.
func (c *Certificate) Usable(purpose string, at time.Time) error {
	if c.X509 == nil {
		return fmt.Errorf("certificate %q: %w", c.Label, c.Unread)
	}
	return c.accepts(c.X509, purpose, at)
}

// accepts judges a certificate that was shown, of the same key.
func (c *Certificate) accepts(shown *x509.Certificate, purpose string, at time.Time) error {
	from, until := c.windowOf(shown)
	switch {
	case !slices.Contains(c.Purposes, purpose):
		return fmt.Errorf("certificate %q for %s: %w", c.Label, purpose, ErrNotPinned)
	case at.Before(from):
		return fmt.Errorf("certificate %q: %w: from %s on", c.Label, ErrNotYetValid, from.UTC().Format(time.RFC3339))
	case !at.Before(until):
		return fmt.Errorf("certificate %q: %w: it ended %s", c.Label, ErrExpired, until.UTC().Format(time.RFC3339))
	case c.AnyUsage:
		return nil
	}
	if err := CheckUsage(shown, useOf(purpose), purpose); err != nil {
		return fmt.Errorf("certificate %q: %w", c.Label, err)
	}
	return nil
}

// pins reports whether shown is the certificate, or one of its key where that is
// what is pinned.
func (c *Certificate) pins(shown *x509.Certificate) bool {
	switch {
	case c.X509 == nil:
		return false
	case c.PinsKey:
		return bytes.Equal(c.X509.RawSubjectPublicKeyInfo, shown.RawSubjectPublicKeyInfo)
	}
	return bytes.Equal(c.X509.Raw, shown.Raw)
}

// Use is what is done with a certificate's key.
type Use int

// The uses that differ in what a certificate has to allow.
const (
	Signs       Use = iota // its owner signs
	EncryptedTo            // others encrypt to it
	Connects               // its owner is a TLS client
)

// useOf is the use that a partner's purpose comes to.
func useOf(purpose string) Use {
	switch purpose {
	case TLSClient:
		return Connects
	case AS2Encrypt, AS4Encrypt:
		return EncryptedTo
	}
	return Signs
}

// CheckUsage holds key usage and extended key usage against a use; purpose is its
// name in the error, which wraps ErrUsage. A certificate that says nothing of a
// kind allows everything of it: RFC 5280 §4.2.1.3, §4.2.1.12.
func CheckUsage(c *x509.Certificate, use Use, purpose string) error {
	if agrees(c) && (use != EncryptedTo || purpose == AS2Encrypt) {
		return fmt.Errorf("%w: an X25519 key is for %s alone, not for %s", ErrUsage, AS4Encrypt, purpose)
	}
	usage, name := x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment, "digitalSignature or nonRepudiation"
	extended, extendedName := []x509.ExtKeyUsage(nil), ""
	switch use {
	case Connects:
		usage, name = x509.KeyUsageDigitalSignature, "digitalSignature"
		extended, extendedName = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, "clientAuth"
	case EncryptedTo:
		// Keys are wrapped, or agreed on: RFC 5753.
		usage, name = x509.KeyUsageKeyEncipherment|x509.KeyUsageKeyAgreement|x509.KeyUsageDataEncipherment, "keyEncipherment or keyAgreement"
	}
	if c.KeyUsage != 0 && c.KeyUsage&usage == 0 {
		return fmt.Errorf("%w: %s needs %s", ErrUsage, purpose, name)
	}
	// QUIRK: AS2 partners sign and encrypt with what they bought for their web
	// server, so only a client is held to its extended usage.
	none := len(c.ExtKeyUsage) == 0 && len(c.UnknownExtKeyUsage) == 0
	if extended != nil && !none && !slices.ContainsFunc(c.ExtKeyUsage, func(u x509.ExtKeyUsage) bool {
		return u == x509.ExtKeyUsageAny || slices.Contains(extended, u)
	}) {
		return fmt.Errorf("%w: %s needs the extended usage %s", ErrUsage, purpose, extendedName)
	}
	return nil
}

// CertificatesFor gives the partner's certificates that may be used for purpose
// at an instant, the one whose use began last first: that is whom to encrypt to,
// and all of them may have signed.
func (p *Partner) CertificatesFor(purpose string, at time.Time) []*Certificate {
	var list []*Certificate
	for _, c := range p.Certificates {
		if c.Usable(purpose, at) == nil && short(c.X509, purpose, p.AS2.OldAlgorithms) == nil {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *Certificate) int {
		fromA, untilA := a.Window()
		fromB, untilB := b.Window()
		return cmp.Or(fromB.Compare(fromA), untilB.Compare(untilA))
	})
	return list
}

// Recognises says which certificate of the partner's is the one that was shown
// for purpose. The error says why it is not taken: of several reasons the one
// that comes nearest.
func (p *Partner) Recognises(shown *x509.Certificate, purpose string, at time.Time) (*Certificate, error) {
	err := error(ErrNotPinned)
	for _, c := range p.Certificates {
		if !c.pins(shown) {
			continue
		}
		refused := c.accepts(shown, purpose, at)
		if refused == nil {
			refused = short(shown, purpose, p.AS2.OldAlgorithms)
		}
		if refused == nil {
			return c, nil
		}
		if errors.Is(err, ErrNotPinned) {
			err = refused
		}
	}
	return nil, err
}

// Fingerprint is the SHA-256 of a certificate, in the form that people compare:
// AB:CD:….
func Fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	text := []byte{}
	for i, b := range sum {
		if i > 0 {
			text = append(text, ':')
		}
		text = append(text, hex.EncodeToString([]byte{b})...)
	}
	return string(bytes.ToUpper(text))
}

// KeyPin is the SHA-256 of a certificate's SubjectPublicKeyInfo in base64, as
// RFC 7469 §2.4 and curl --pinnedpubkey write it.
func KeyPin(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// weak says what is wrong with a certificate's key; nil if nothing is.
func weak(c *x509.Certificate) error {
	if key, ok := c.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() < weakestRSA {
		return fmt.Errorf("has an RSA key of %d bits; fewer than %d are not taken, and 2048 are good", key.N.BitLen(), weakestRSA)
	}
	if (c.PublicKeyAlgorithm == x509.UnknownPublicKeyAlgorithm || c.PublicKeyAlgorithm == x509.DSA) && !agrees(c) {
		return errors.New("has a key that is neither RSA, EC, Ed25519 nor X25519")
	}
	return nil
}

// strongestRSA is the longest RSA key that crypto/tls takes from a client, in bits.
const strongestRSA = 8192

// incapable says why a key cannot do what is wanted of it, whatever its certificate
// allows; nil if it can.
func incapable(c *x509.Certificate, use Use) error {
	switch key := c.PublicKey.(type) {
	case ed25519.PublicKey:
		if use == EncryptedTo {
			return errors.New("nobody can encrypt to an Ed25519 key") // RFC 8032: it signs
		}
	case *rsa.PublicKey:
		if use == Connects && key.N.BitLen() > strongestRSA {
			return fmt.Errorf("an RSA key of %d bits cannot connect: TLS takes %d at most here", key.N.BitLen(), strongestRSA)
		}
	}
	return nil
}

// agrees tells a certificate of an X25519 key (RFC 8410), with which one agrees on the
// key to encrypt with. crypto/x509 reads such a key only apart from its certificate.
func agrees(c *x509.Certificate) bool {
	if c.PublicKeyAlgorithm != x509.UnknownPublicKeyAlgorithm {
		return false
	}
	key, err := x509.ParsePKIXPublicKey(c.RawSubjectPublicKeyInfo)
	_, agrees := key.(*ecdh.PublicKey)
	return err == nil && agrees
}

// End is when a partner's certificates for one purpose end.
type End struct {
	Purpose string
	Label   string // of the certificate that ends last
	At      time.Time
}

// Ends says for each purpose that any of the partner's certificates is for when
// the last of them ends that follow each other from now on without a gap: from
// then on there is none. Where all have ended it is when the last did, and now
// where none has begun.
func (p *Partner) Ends(now time.Time) []End {
	var ends []End
	for _, purpose := range Purposes {
		end, named := End{Purpose: purpose, At: now}, false
		latest := time.Time{}
		for _, c := range p.Certificates {
			if !slices.Contains(c.Purposes, purpose) {
				continue
			}
			if _, until := c.Window(); !named || until.After(latest) {
				latest, end.Label = until, c.Label
			}
			named = true
		}
		for moved := true; moved; {
			moved = false
			for _, c := range p.Certificates {
				// A certificate that does not hold at the end so far is one that ended, or
				// that leaves a gap.
				if c.Usable(purpose, end.At) != nil {
					continue
				}
				if _, until := c.Window(); until.After(end.At) {
					end.At, end.Label, moved = until, c.Label, true
				}
			}
		}
		if latest.Before(end.At) {
			end.At = latest
		}
		if named {
			ends = append(ends, end)
		}
	}
	return ends
}
