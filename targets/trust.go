package targets

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/edigw/edigw/outbox"
)

// trusting makes what TLS to a target goes by: at least TLS 1.2 (RFC 8996), and
// certificates of the issuers that ca names in PEM, or of those the system knows.
func trusting(ca string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca == "" {
		return c, nil
	}
	list, err := outbox.Certificates(ca)
	if err != nil {
		return nil, err
	}
	c.RootCAs = x509.NewCertPool()
	for _, issuer := range list {
		c.RootCAs.AddCert(issuer)
	}
	return c, nil
}
