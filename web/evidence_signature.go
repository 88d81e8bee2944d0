package web

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// Signature is over a manifest, by a key of the partner's organisation.
type Signature struct {
	Value        []byte              // PKCS #1 v1.5 or ECDSA over SHA-256, or Ed25519
	Certificates []*x509.Certificate // the signer's, then its issuers
}

// ErrUnsigned is wrapped where a manifest cannot be signed for want of a key. It says
// what to do.
var ErrUnsigned = errors.New("the manifest is not signed")

// sign writes the signature over the manifest and who made it, and gives what
// README.txt says of it.
func (e *evidence) sign(manifest []byte) (told string, err error) {
	p, err := e.api.Partners.Get(e.ctx(), e.key.Partner)
	if err != nil {
		return "", err
	}
	s, err := e.api.SignEvidence(e.ctx(), p.Organisation, manifest)
	if errors.Is(err, ErrUnsigned) {
		return fmt.Sprintf("  Nobody has signed it: %s.\n", strings.TrimPrefix(err.Error(), ErrUnsigned.Error()+": ")), nil
	}
	if err != nil {
		return "", err
	}
	var chain bytes.Buffer
	for _, c := range s.Certificates {
		if err := pem.Encode(&chain, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}); err != nil {
			return "", err
		}
	}
	if err := e.file("manifest.sig", "", bytes.NewReader(s.Value)); err != nil {
		return "", err
	}
	if err := e.file("signer.pem", "", &chain); err != nil {
		return "", err
	}
	signer := s.Certificates[0]
	verify := "openssl dgst -sha256 -verify signer.key -signature manifest.sig manifest.json"
	if _, is := signer.PublicKey.(ed25519.PublicKey); is {
		verify = "openssl pkeyutl -verify -pubin -inkey signer.key -rawin -in manifest.json -sigfile manifest.sig"
	}
	return fmt.Sprintf(`  It is signed by
    %s
  issued by
    %s
  Compare the fingerprint with the one that the receiver has told you by another way:

    openssl x509 -in signer.pem -noout -fingerprint -sha256
    openssl x509 -in signer.pem -noout -pubkey > signer.key
    %s
`, printableLine(signer.Subject.String()), printableLine(signer.Issuer.String()), verify), nil
}

// printableLine keeps a name from being more than one line.
func printableLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
