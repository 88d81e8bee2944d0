// Package keys keeps the private keys of our organisations: those we sign with,
// those that partners encrypt to, those we show as a TLS client. A key is sealed
// with AES-256-GCM under a master key that comes from a file or the environment
// and never stands in the database; it is opened in memory by who uses it, and
// written nowhere.
//
// Several keys may serve a purpose, so that a new one overlaps the one before it,
// and a key may have had several certificates (RFC 5280). Ring is what a running
// gateway asks: Ring.Signer gives the key that signs at an instant with the
// certificate that it shows then; Ring.Opener finds the key that a message was
// encrypted to by any certificate that ever named it. A key opens from the moment
// it is made, and signs from the date that was said, so that partners can have its
// certificate before they see it.
//
// It owns the tables private_key and private_key_certificate. It knows no HTTP.
package keys

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/partners"
)

// What a key of ours is for.
const (
	AS2Sign    = "as2_sign"    // we sign what we send, and MDNs
	AS2Decrypt = "as2_decrypt" // partners encrypt to it
	AS4Sign    = "as4_sign"
	AS4Decrypt = "as4_decrypt"
	TLSClient  = "tls_client" // we connect with it

	EvidenceSign = "evidence_sign" // we sign what we export as evidence
)

// Purposes is every purpose there is.
var Purposes = []string{AS2Sign, AS2Decrypt, AS4Sign, AS4Decrypt, TLSClient, EvidenceSign}

// Algorithms are the kinds of keys that can be made.
var Algorithms = []string{"rsa-2048", "rsa-3072", "rsa-4096", "ec-p256", "ec-p384", "ec-p521", "ed25519", "x25519"}

// useOf is what a purpose asks of a certificate.
func useOf(purpose string) partners.Use {
	switch purpose {
	case TLSClient:
		return partners.Connects
	case AS2Decrypt, AS4Decrypt:
		return partners.EncryptedTo
	}
	return partners.Signs
}

// signs reports whether a key shows its certificate for a purpose, and is not just
// encrypted to.
func signs(purpose string) bool { return useOf(purpose) != partners.EncryptedTo }

// Key is a private key of ours as it is told: never the key itself.
type Key struct {
	Organisation string
	ID           uuid.UUID
	Label        string
	Purposes     []string
	Algorithm    string
	SPKI         [32]byte      // SHA-256 of its SubjectPublicKeyInfo
	Under        []byte        // id of the master key it is sealed under
	Certificates []Certificate // every one that ever named it, in the order in which they are used
	From         time.Time     // first instant it signs or connects; it opens from the start
	Until        *time.Time    // first instant it is not used at all; nil where nothing was said
	SuccessorOf  *uuid.UUID    // the key that it takes over from
	By           string
	Created      time.Time
	Retired      *time.Time
}

// Signs reports whether the key may sign or connect for purpose at an instant: it
// has begun, it has not ended, and it has a certificate to show.
func (k *Key) Signs(purpose string, at time.Time) bool {
	return signs(purpose) && k.used(purpose, at) && !at.Before(k.From) && k.Shown(at) != nil
}

// Opens reports whether what is encrypted to the key for purpose is opened at an
// instant. That its certificate has ended is no reason against it: the message may
// have been on its way, and what was received is not thrown away.
func (k *Key) Opens(purpose string, at time.Time) bool {
	return !signs(purpose) && k.used(purpose, at)
}

func (k *Key) used(purpose string, at time.Time) bool {
	return k.Retired == nil && slices.Contains(k.Purposes, purpose) && (k.Until == nil || at.Before(*k.Until))
}

// End is the first instant from which the key shows no certificate any more.
func (k *Key) End() time.Time {
	end := time.Time{}
	for _, c := range k.Certificates {
		if _, until := c.Window(); until.After(end) {
			end = until
		}
	}
	if k.Until != nil && k.Until.Before(end) {
		end = *k.Until
	}
	return end
}

// ErrUnfit is wrapped where a key cannot be as it is asked for.
var ErrUnfit = errors.New("not as asked")

// ErrUnknown is wrapped where there is no such key.
var ErrUnknown = errors.New("unknown key")

func unfit(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnfit, fmt.Errorf(format, args...))
}

func checkPurposes(purposes []string, key crypto.PublicKey) error {
	if len(purposes) == 0 {
		return unfit("a key is for at least one of %s", strings.Join(Purposes, ", "))
	}
	for i, p := range purposes {
		switch {
		case !slices.Contains(Purposes, p):
			return unfit("there is no purpose %q; there are %s", p, strings.Join(Purposes, ", "))
		case slices.Contains(purposes[:i], p):
			return unfit("%s stands twice", p)
		}
		if _, ed := key.(ed25519.PublicKey); ed && (p == AS2Decrypt || p == AS4Decrypt) {
			return unfit("nobody can encrypt to an Ed25519 key; take rsa or ec for %s", p)
		}
		if _, agrees := key.(*ecdh.PublicKey); agrees && p != AS4Decrypt {
			return unfit("an X25519 key is for %s alone, not for %s", AS4Decrypt, p)
		}
	}
	return nil
}

// generate makes a key of an algorithm.
func generate(algorithm string) (crypto.Signer, error) {
	switch algorithm {
	case "rsa-2048":
		return rsa.GenerateKey(rand.Reader, 2048)
	case "rsa-3072":
		return rsa.GenerateKey(rand.Reader, 3072)
	case "rsa-4096":
		return rsa.GenerateKey(rand.Reader, 4096)
	case "ec-p256":
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ec-p384":
		return ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "ec-p521":
		return ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case "ed25519":
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	case "x25519":
		key, err := ecdh.X25519().GenerateKey(rand.Reader)
		return Agreement{key}, err
	}
	return nil, unfit("there is no algorithm %q; there are %s", algorithm, strings.Join(Algorithms, ", "))
}

// algorithmOf names a key's algorithm; the error says what cannot be used.
func algorithmOf(key crypto.PublicKey) (string, error) {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() < 2048 {
			return "", unfit("an RSA key of %d bits is too short; 2048 are the least", k.N.BitLen())
		}
		return fmt.Sprintf("rsa-%d", k.N.BitLen()), nil
	case *ecdsa.PublicKey:
		if name := "ec-" + strings.ToLower(strings.ReplaceAll(k.Curve.Params().Name, "-", "")); name == "ec-p256" || name == "ec-p384" || name == "ec-p521" {
			return name, nil
		}
		return "", unfit("the curve %s is not used; P-256, P-384 and P-521 are", k.Curve.Params().Name)
	case ed25519.PublicKey:
		return "ed25519", nil
	case *ecdh.PublicKey:
		return "x25519", nil // the others are *ecdsa.PublicKey
	}
	return "", unfit("a key that is neither RSA, EC, Ed25519 nor X25519 is not used")
}

func spkiOf(key crypto.PublicKey) ([32]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	return sha256.Sum256(der), err
}
