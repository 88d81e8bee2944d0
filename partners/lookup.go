package partners

import (
	"crypto/x509"
	"errors"
)

// ByCertificate finds the partner of this id if the certificate that was shown
// over TLS is one of its own for TLSClient. That the sender has the private key
// is for TLS, or the proxy that ends it, to have checked.
//
// The error says why not; for an id that is nobody's it is ErrNotPinned, as for a
// certificate that is nobody's. Two partners may have the same certificate (a
// company that sends as two): the id says which of them it is.
func (d *Directory) ByCertificate(shown *x509.Certificate, id string) (*Partner, *Certificate, error) {
	p := d.Partner(id)
	if p == nil || shown == nil {
		return nil, nil, ErrNotPinned
	}
	c, err := p.Recognises(shown, TLSClient, d.Store.now())
	if err != nil {
		return nil, nil, err
	}
	return p, c, nil
}

// WhyNot is one word for an error of Recognises, for logs and the journal.
func WhyNot(err error) string {
	switch {
	case errors.Is(err, ErrExpired):
		return "expired-certificate"
	case errors.Is(err, ErrNotYetValid):
		return "certificate-not-yet-valid"
	case errors.Is(err, ErrUsage):
		return "certificate-not-for-this"
	case errors.Is(err, ErrWeak):
		return "key-too-short"
	}
	return "unknown-certificate"
}
