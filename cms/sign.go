package cms

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"time"
)

// Signature is how something is to be signed: by whom and with what.
type Signature struct {
	Key         crypto.Signer // RSA, ECDSA or Ed25519
	Certificate *Certificate  // of Key
	Issuers     []*Certificate
	Hash        crypto.Hash // 0 is SHA256; Ed25519 always takes SHA512 (RFC 8419 §2.3)
	PSS         bool        // with an RSA key: RSASSA-PSS in place of PKCS #1 v1.5
	Time        time.Time   // the signing time that is told, in seconds; zero tells none

	KeyIdentifier  bool // names the signer by key identifier, not by issuer and serial number
	NoCertificates bool // leaves the certificates out
	NoAttributes   bool // signs the content itself: no signing time then
}

// HashFunc is the hash that the content is digested with: the micalg of S/MIME, and
// that of the MIC.
func (s Signature) HashFunc() crypto.Hash {
	if s.Key != nil {
		if _, edwards := s.Key.Public().(ed25519.PublicKey); edwards {
			return crypto.SHA512
		}
	}
	return cmp.Or(s.Hash, crypto.SHA256)
}

// Sign makes a detached SignedData in DER: RFC 5652 §5, the .p7s of S/MIME. The
// error is content's, the key's, or says what of Signature does not fit.
func (s Signature) Sign(content Content) ([]byte, error) { return s.sign(content, nil) }

// SignAttached makes a SignedData in DER that holds the content.
func (s Signature) SignAttached(content []byte) ([]byte, error) {
	if content == nil {
		content = []byte{} // to hold nothing is not to be detached
	}
	return s.sign(InMemory(content), content)
}

// sign signs the content; with attached it stands inside.
func (s Signature) sign(content Content, attached []byte) (der []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("sign: %w", err)
		}
	}()
	if s.Key == nil || s.Certificate == nil {
		return nil, errors.New("neither key nor certificate may be missing")
	}
	_, edwards := s.Key.Public().(ed25519.PublicKey)
	hash := s.HashFunc()
	hashID := hashIdentifier(hash)
	if hashID == nil {
		return nil, fmt.Errorf("%w: the digest algorithm %s", ErrUnsupported, hash)
	}
	state := hash.New()
	var whole bytes.Buffer
	to := io.Writer(state)
	if edwards && s.NoAttributes {
		to = io.MultiWriter(state, &capped{buffer: &whole, most: mostSignedWhole})
	}
	if err := content(to); err != nil {
		return nil, err
	}
	digest := state.Sum(nil)

	message, signedDigest, attributes := whole.Bytes(), digest, []byte(nil)
	if !s.NoAttributes {
		message = s.attributes(digest)
		state.Reset()
		state.Write(message)
		signedDigest = state.Sum(nil)
		attributes = bytes.Clone(message)
		attributes[0] = byte(contextSpecific) | constructed
	}
	algorithm, options, err := s.algorithm(hash)
	if err != nil {
		return nil, err
	}
	if !edwards {
		message = signedDigest
	}
	signature, err := s.Key.Sign(rand.Reader, message, options)
	if err != nil {
		return nil, err
	}

	version, id := byte(1), sequence(s.Certificate.Issuer, element(byte(tagInteger), s.Certificate.Serial))
	if s.KeyIdentifier {
		version, id = 3, element(byte(contextSpecific), s.Certificate.keyIdentifier())
	}
	info := sequence(integer(version), id, sequence(hashID), attributes, algorithm, element(byte(tagOctetString), signature))
	var certificates []byte
	if !s.NoCertificates {
		raw := [][]byte{s.Certificate.Raw}
		for _, c := range s.Issuers {
			raw = append(raw, c.Raw)
		}
		certificates = explicit(0, raw...)
	}
	encapsulated := sequence(element(byte(tagOID), oidData))
	if attached != nil {
		encapsulated = sequence(element(byte(tagOID), oidData), explicit(0, element(byte(tagOctetString), attached)))
	}
	return contentInfo(oidSigned, integer(version), setOf(sequence(hashID)), encapsulated, certificates, setOf(info)), nil
}

// attributes writes the signed attributes as they are signed: RFC 5652 §5.4 and
// §11.
func (s Signature) attributes(digest []byte) []byte {
	attribute := func(id, value []byte) []byte {
		return sequence(element(byte(tagOID), id), setOf(value))
	}
	list := [][]byte{
		attribute(oidContentType, element(byte(tagOID), oidData)),
		attribute(oidMessageDigest, element(byte(tagOctetString), digest)),
	}
	if !s.Time.IsZero() {
		list = append(list, attribute(oidSigningTime, timeElement(s.Time.UTC())))
	}
	return setOf(list...)
}

// timeElement writes a time: RFC 5652 §11.3.
func timeElement(at time.Time) []byte {
	if at.Year() >= 1950 && at.Year() < 2050 {
		return element(byte(tagUTCTime), []byte(at.Format("060102150405Z")))
	}
	return element(byte(tagGeneralizedTime), []byte(at.Format("20060102150405Z")))
}

// algorithm gives the signature's AlgorithmIdentifier, and what the key is to be
// asked with.
func (s Signature) algorithm(hash crypto.Hash) ([]byte, crypto.SignerOpts, error) {
	switch s.Key.Public().(type) {
	case *rsa.PublicKey:
		if s.PSS {
			return pssIdentifier(hash), &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}, nil
		}
		return sequence(element(byte(tagOID), oidRSA), null), hash, nil
	case *ecdsa.PublicKey:
		for _, known := range schemes {
			if known.scheme == ECDSA && known.hash == hash {
				return sequence(element(byte(tagOID), known.id)), hash, nil
			}
		}
		return nil, nil, fmt.Errorf("%w: ECDSA with %s", ErrUnsupported, hash)
	case ed25519.PublicKey:
		return sequence(element(byte(tagOID), oidEd25519)), crypto.Hash(0), nil
	}
	return nil, nil, fmt.Errorf("%w: a key of kind %T", ErrUnsupported, s.Key.Public())
}

// hashIdentifier gives the OBJECT IDENTIFIER of a digest algorithm, nil for one
// that is not known. Its parameters are left out: RFC 5754 §2.
func hashIdentifier(h crypto.Hash) []byte {
	for _, d := range digests {
		if d.hash == h {
			return element(byte(tagOID), d.id)
		}
	}
	return nil
}

// maskIdentifier gives MGF1 with a hash: RFC 4055 §2.2.
func maskIdentifier(h crypto.Hash) []byte {
	return sequence(element(byte(tagOID), oidMGF1), sequence(hashIdentifier(h), null))
}

// pssIdentifier gives RSASSA-PSS with a hash and a salt of its length: RFC 4055
// §3.1. What is the default is left out, as DER wants.
func pssIdentifier(h crypto.Hash) []byte {
	var parameters [][]byte
	if h != crypto.SHA1 {
		parameters = append(parameters, explicit(0, sequence(hashIdentifier(h), null)), explicit(1, maskIdentifier(h)))
	}
	if h.Size() != 20 {
		parameters = append(parameters, explicit(2, integer(byte(h.Size()))))
	}
	return sequence(element(byte(tagOID), oidPSS), sequence(parameters...))
}
