package keys

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// issue makes the certificate of a key that is made here, whose usage is that of the
// purposes, with its issuer behind it where it has another one: of its own issue, or,
// where the key signs nothing, of one that is made for it alone.
func issue(key crypto.Signer, name string, purposes []string, from, until time.Time) ([]*x509.Certificate, error) {
	template, err := templateOf(key.Public(), name, from, until)
	if err != nil {
		return nil, err
	}
	for _, p := range purposes {
		switch p {
		case AS2Sign, AS4Sign, EvidenceSign:
			template.KeyUsage |= x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment
		case TLSClient:
			template.KeyUsage |= x509.KeyUsageDigitalSignature
			if len(purposes) == 1 { // with others beside it, an extended usage would exclude them
				template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
			}
		case AS2Decrypt, AS4Decrypt:
			switch key.(type) {
			case *ecdsa.PrivateKey, Agreement:
				template.KeyUsage |= x509.KeyUsageKeyAgreement // RFC 5480 §3, RFC 8410 §5
			default:
				template.KeyUsage |= x509.KeyUsageKeyEncipherment
			}
		}
	}
	agreement, agrees := key.(Agreement)
	if !agrees {
		own, err := signed(template, template, key.Public(), key)
		return []*x509.Certificate{own}, err
	}
	issuer, by, err := issuerFor(name, from, until)
	if err != nil {
		return nil, err
	}
	own, err := agreed(template, issuer, agreement, by)
	return []*x509.Certificate{own, issuer}, err
}

// agreed makes the certificate of an X25519 key, which crypto/x509 does not: that of an
// Ed25519 key with the other in its place, signed anew. Both have 32 bytes, and their
// algorithms no parameters (RFC 8410 §4).
func agreed(template, issuer *x509.Certificate, key Agreement, by ed25519.PrivateKey) (*x509.Certificate, error) {
	stand, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, stand, by)
	if err != nil {
		return nil, err
	}
	var c struct { // RFC 5280 §4.1
		TBS       asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &c); err != nil {
		return nil, err
	}
	its, err := x509.MarshalPKIXPublicKey(stand)
	if err != nil {
		return nil, err
	}
	own, err := x509.MarshalPKIXPublicKey(key.PublicKey())
	if err != nil {
		return nil, err
	}
	if len(its) != len(own) || bytes.Count(c.TBS.FullBytes, its) != 1 {
		return nil, errors.New("the place of the key in its certificate was not found")
	}
	c.TBS = asn1.RawValue{FullBytes: bytes.Replace(c.TBS.FullBytes, its, own, 1)}
	signature := ed25519.Sign(by, c.TBS.FullBytes)
	c.Signature = asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}
	if der, err = asn1.Marshal(c); err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// issuerFor makes who issues one certificate and never another: its key is forgotten.
// An X25519 key cannot sign its own certificate (RFC 8410 §3), and one of our signing
// keys would, to whoever checks chains, be no authority.
func issuerFor(name string, from, until time.Time) (*x509.Certificate, ed25519.PrivateKey, error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template, err := templateOf(public, "issuer of "+name, from, until)
	if err != nil {
		return nil, nil, err
	}
	template.IsCA, template.MaxPathLenZero, template.KeyUsage = true, true, x509.KeyUsageCertSign
	c, err := signed(template, template, public, key)
	return c, key, err
}

// templateOf is what all certificates that are made here have. The key identifier is
// there since AS4 partners may name a recipient by it alone (eDelivery AS4 2.0), and
// not all make one of the key.
func templateOf(key crypto.PublicKey, name string, from, until time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // RFC 5280 §4.1.2.2
	if err != nil {
		return nil, err
	}
	id, err := keyIDOf(key)
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{SerialNumber: serial.Add(serial, big.NewInt(1)), Subject: pkix.Name{CommonName: name}, SubjectKeyId: id,
		NotBefore: from.Truncate(time.Second), NotAfter: until.Truncate(time.Second), BasicConstraintsValid: true}, nil
}

// keyIDOf makes a key identifier: RFC 7093 §2 (1).
func keyIDOf(key crypto.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	sum := sha256.Sum256(info.Key.Bytes)
	return sum[:20], nil
}

func signed(template, issuer *x509.Certificate, key crypto.PublicKey, by crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key, by)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}
