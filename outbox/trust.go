package outbox

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// maxPEM bounds the certificates of a subscription, in bytes.
const maxPEM = 64 << 10

// Certificates reads PEM text (RFC 7468 §5) that holds certificates and nothing else.
func Certificates(text string) (list []*x509.Certificate, err error) {
	if len(text) > maxPEM {
		return nil, fmt.Errorf("are %d bytes; at most %d are taken", len(text), maxPEM)
	}
	if strings.ContainsRune(text, 0) { // which no database keeps
		return nil, errors.New("hold a NUL: they must be certificates in PEM, as text")
	}
	rest := []byte(text)
	for strings.TrimSpace(string(rest)) != "" {
		var block *pem.Block
		switch block, rest = pem.Decode(rest); {
		case block == nil:
			return nil, errors.New("must be certificates in PEM, from -----BEGIN CERTIFICATE----- on")
		case strings.Contains(block.Type, "PRIVATE KEY"):
			return nil, errors.New("holds a private key, which must not stand here: replace it, since it was sent to the gateway")
		case block.Type != "CERTIFICATE":
			return nil, fmt.Errorf("holds %s, not only certificates", block.Type)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d cannot be read: %w", len(list)+1, err)
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, errors.New("holds no certificate")
	}
	return list, nil
}

// trusted checks the CA of a target.
func trusted(ca, key string, tls bool, instead string, fault faultOf) error {
	if ca == "" {
		return nil
	}
	if !tls {
		return fault(key, "is of no use without TLS: %s", instead)
	}
	if _, err := Certificates(ca); err != nil {
		return fault(key, "%v", err)
	}
	return nil
}
