package proxy

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// certificateIn reads the certificate a proxy wrote into a header; nil if it says
// that there was none.
func certificateIn(value string) (*x509.Certificate, error) {
	value = strings.TrimSpace(value)
	switch {
	// QUIRK: Apache writes (null) for a variable that has no value.
	case value == "" || value == "(null)":
		return nil, nil
	case strings.HasPrefix(value, ":"):
		return itemIn(value)
	case elementOf(value):
		return elementIn(value)
	}
	return encodedIn(value)
}

// itemIn reads Client-Cert of RFC 9440 §2.2: a byte sequence of RFC 8941 §3.3.5
// with the certificate in DER.
func itemIn(value string) (*x509.Certificate, error) {
	value, _, _ = strings.Cut(value, ";") // parameters mean nothing here
	text, ok := strings.CutSuffix(strings.TrimSpace(value)[1:], ":")
	if !ok {
		return nil, errors.New("no byte sequence between colons, as RFC 9440 wants it")
	}
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("between the colons is no base64")
	}
	return x509.ParseCertificate(der)
}

// elementOf reports whether a value is one of X-Forwarded-Client-Cert: keys and
// values, as Envoy writes them.
func elementOf(value string) bool {
	key, _, ok := strings.Cut(value, "=")
	if !ok {
		return false
	}
	switch strings.ToLower(key) {
	case "by", "hash", "cert", "chain", "subject", "uri", "dns":
		return true
	}
	return false
}

// elementIn reads the one element of X-Forwarded-Client-Cert: key=value pairs
// with ; between them, values in quotes where they hold , ; or =. A second
// element is what the client had sent itself, or another proxy's hearsay.
func elementIn(value string) (*x509.Certificate, error) {
	cert, found := "", false
	for rest := value; rest != ""; {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, errors.New("a key without a value")
		}
		text, end, err := quoted(after)
		if err != nil {
			return nil, err
		}
		if strings.EqualFold(strings.TrimSpace(key), "Cert") {
			if found {
				return nil, errors.New("the key Cert stands twice")
			}
			cert, found = text, true
		}
		switch {
		case end == "" || end[0] == ';':
			rest = strings.TrimPrefix(end, ";")
		default:
			return nil, errors.New("more than one element: let the proxy replace what its clients send (in Envoy forward_client_cert_details: SANITIZE_SET)")
		}
	}
	if !found {
		return nil, errors.New("no Cert in it: let the proxy send the certificate itself (in Envoy set_current_client_cert_details: {cert: true})")
	}
	return encodedIn(cert)
}

// quoted cuts one value off s, up to ; or , outside quotes.
func quoted(s string) (value, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		if i := strings.IndexAny(s, ";,"); i >= 0 {
			return s[:i], s[i:], nil
		}
		return s, "", nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			rest = s[i+1:]
			if rest != "" && rest[0] != ';' && rest[0] != ',' {
				return "", "", errors.New("text behind a closing quote")
			}
			return b.String(), rest, nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", errors.New("a quote that is not closed")
}

// encodedIn reads PEM, percent-encoded or with blanks for its line breaks, or DER
// in base64.
func encodedIn(value string) (*x509.Certificate, error) {
	// Not QueryUnescape: nginx and AWS leave the + of base64 as it is.
	text, err := url.PathUnescape(value)
	if err != nil {
		return nil, fmt.Errorf("percent-encoding: %w", err)
	}
	const begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
	body, isPEM := strings.CutPrefix(strings.TrimSpace(text), begin)
	if isPEM {
		inner, behind, ok := strings.Cut(body, end)
		if !ok {
			return nil, errors.New("PEM without its end")
		}
		if strings.Contains(behind, begin) {
			return nil, errors.New("more than one certificate; let the proxy send its client's alone")
		}
		body = inner
	} else {
		body = text
	}
	der, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields([]byte(body)), nil)))
	if err != nil {
		return nil, errors.New("neither PEM nor DER in base64")
	}
	return x509.ParseCertificate(der)
}
