package partners

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/edigw/edigw/cms"
)

// CertificateSpec is one certificate a partner uses. Only the public part ever
// stands in a configuration.
type CertificateSpec struct {
	Label       string     `yaml:"label" json:"label"`
	Certificate string     `yaml:"certificate" json:"certificate"` // DER in base64, on one line
	Purposes    []string   `yaml:"purposes" json:"purposes"`       // of Purposes
	Pin         string     `yaml:"pin" json:"pin"`                 // certificate or key
	KeyUsage    string     `yaml:"key_usage" json:"key_usage"`     // enforce or ignore
	From        *time.Time `yaml:"from,omitempty" json:"from,omitempty"`
	Until       *time.Time `yaml:"until,omitempty" json:"until,omitempty"` // first instant it is not used, UTC
}

// What stands in a partner's list of certificates at most: how many, and how
// many bytes of one. RSA 4096 with a dozen names is 2 KB; with the policies and
// statements of a qualified seal, or a hundred names, it is 4.
const (
	maxCertificates     = 8
	maxCertificateBytes = 6 << 10
)

func (d *document) certificates(into *[]CertificateSpec, purposes map[string]place) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		d.sequence(n, path, maxCertificates, func(item ast.Node, path string) { d.certificate(item, path, into, purposes) })
	}
}

// certificate reads one and adds it, and notes where its purposes stand.
func (d *document) certificate(item ast.Node, path string, into *[]CertificateSpec, purposes map[string]place) {
	c := CertificateSpec{Pin: "certificate", KeyUsage: "enforce"}
	before := len(d.faults)
	seen := d.mapping(item, path,
		field{"label", d.text(&c.Label, 60)},
		field{"certificate", func(n ast.Node, path string) {
			if s, ok := d.scalar(n, path); ok {
				d.decode(n, path, []byte(s), &c)
			}
		}},
		field{"file", func(n ast.Node, path string) {
			if text, ok := d.referenced(n, path, "give certificate here"); ok {
				d.decode(n, path, text, &c)
			}
		}},
		field{"purposes", func(n ast.Node, path string) { d.purposes(n, path, &c.Purposes) }},
		field{"pin", d.oneOf(&c.Pin, "certificate", "key")},
		field{"key_usage", d.oneOf(&c.KeyUsage, "enforce", "ignore")},
		field{"from", d.begins(&c.From)},
		field{"until", d.expires(&c.Until)},
	)
	if len(d.faults) > before {
		return
	}
	switch {
	case (seen["certificate"] == nil) == (seen["file"] == nil):
		d.fault(item.GetToken(), path, "needs one of certificate and file")
	case c.Label == "":
		d.fault(item.GetToken(), join(path, "label"), "is missing: a name to tell certificates apart, like `label: acme-2026`")
	case len(c.Purposes) == 0:
		d.fault(item.GetToken(), join(path, "purposes"), "is missing: what it is for, of %s", or(Purposes))
	case slices.ContainsFunc(*into, func(o CertificateSpec) bool { return o.Label == c.Label }):
		d.fault(item.GetToken(), join(path, "label"), "%q stands twice", c.Label)
	case c.From != nil && c.Until != nil && !c.From.Before(*c.Until):
		d.fault(seen["until"], join(path, "until"), "is not after from")
	default:
		d.fits(c, path, seen)
		*into = append(*into, c)
		purposes[c.Label] = place{join(path, "purposes"), seen["purposes"]}
	}
}

// fits holds what the certificate says against what it is to be for.
func (d *document) fits(c CertificateSpec, path string, seen map[string]*token.Token) {
	value := c.value()
	if value.X509 == nil {
		return
	}
	if _, err := x509.ParseCertificate(value.X509.Raw); err != nil && slices.Contains(c.Purposes, TLSClient) {
		d.fault(seen["purposes"], join(path, "purposes"), "nobody can connect over TLS with this certificate, which may only sign and be encrypted to: %v; ask the partner for another certificate for tls_client", err)
	}
	for _, purpose := range c.Purposes {
		if err := incapable(value.X509, useOf(purpose)); err != nil {
			d.fault(seen["purposes"], join(path, "purposes"), "%s: %v; ask the partner for another certificate", purpose, err)
		}
	}
	if value.AnyUsage {
		return
	}
	for _, purpose := range c.Purposes {
		if err := CheckUsage(value.X509, useOf(purpose), purpose); err != nil {
			d.fault(seen["purposes"], join(path, "purposes"), "%v; ask the partner for another certificate, or say key_usage: ignore", err)
		}
	}
	if from, until := value.Window(); !from.Before(until) {
		at := seen["from"]
		if at == nil {
			at = seen["until"]
		}
		d.fault(at, path, "is never used: the certificate is valid from %s to %s", value.X509.NotBefore.Format(time.RFC3339), value.X509.NotAfter.Format(time.RFC3339))
	}
}

// decode reads PEM, base64 or DER, and keeps DER in base64.
func (d *document) decode(n ast.Node, path string, text []byte, into *CertificateSpec) {
	cert, err := ParseCertificate(text)
	if err != nil {
		d.fault(n.GetToken(), path, "%v", err)
		return
	}
	if len(cert.Raw) > maxCertificateBytes {
		d.fault(n.GetToken(), path, "has %d bytes; at most %d are taken", len(cert.Raw), maxCertificateBytes)
		return
	}
	if err := weak(cert); err != nil {
		d.fault(n.GetToken(), path, "%v", err)
		return
	}
	into.Certificate = EncodeCertificate(cert)
}

// EncodeCertificate gives DER in base64, on one line.
func EncodeCertificate(c *x509.Certificate) string { return base64.StdEncoding.EncodeToString(c.Raw) }

// ParseCertificate reads a certificate as people have it: PEM, base64 without its
// lines, or DER. Of several in PEM it is the first, behind which their issuers
// stand. A private key beside it is refused: it is not the partner's to give, nor
// ours to have.
func ParseCertificate(text []byte) (*x509.Certificate, error) {
	var der []byte
	if bytes.Contains(text, []byte("-----BEGIN")) {
		for rest := text; ; {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				break
			}
			if strings.HasSuffix(block.Type, "PRIVATE KEY") {
				return nil, errors.New("holds a private key; give the certificate alone, and tell its owner to make a new one")
			}
			if block.Type == "CERTIFICATE" && der == nil {
				der = block.Bytes
			}
		}
		if der == nil {
			return nil, errors.New("holds no PEM block CERTIFICATE")
		}
	} else if packed := bytes.Join(bytes.Fields(text), nil); len(packed) > 0 && packed[0] == 'M' {
		plain, err := base64.StdEncoding.DecodeString(string(packed))
		if err != nil {
			return nil, errors.New("is no certificate in base64")
		}
		der = plain
	} else {
		der = text
	}
	cert, err := x509.ParseCertificate(der)
	if err == nil {
		return cert, nil
	}
	// QUIRK: authorities of partners have issued what crypto/x509 refuses, with an
	// underscore in a PrintableString or a serial number below zero.
	if read, other := cms.ParseCertificate(der); other == nil && read.PublicKey != nil && !read.NotBefore.IsZero() && !read.NotAfter.IsZero() {
		return read.X509(), nil
	}
	return nil, fmt.Errorf("is no certificate that can be read: %w", err)
}

// purposes reads the set of what a certificate is for.
func (d *document) purposes(n ast.Node, path string, into *[]string) {
	before := len(d.faults)
	d.sequence(n, path, len(Purposes), func(item ast.Node, path string) {
		s, ok := d.scalar(item, path)
		near := nearest(s, Purposes)
		switch {
		case !ok:
		case !slices.Contains(Purposes, s) && near != "":
			d.fault(item.GetToken(), path, "unknown purpose %q; did you mean %s?", s, near)
		case !slices.Contains(Purposes, s):
			d.fault(item.GetToken(), path, "must be %s, not %q", or(Purposes), s)
		case slices.Contains(*into, s):
			d.fault(item.GetToken(), path, "%s stands twice", s)
		default:
			*into = append(*into, s)
		}
	})
	if len(*into) == 0 && len(d.faults) == before {
		d.fault(n.GetToken(), path, "must name at least one of %s", or(Purposes))
	}
}

// referenced reads a file beside the configuration; only who applies it has one.
func (d *document) referenced(n ast.Node, path, instead string) ([]byte, bool) {
	name, ok := d.scalar(n, path)
	if !ok {
		return nil, false
	}
	if d.reader.ReadFile == nil {
		d.fault(n.GetToken(), path, "is only read on the machine that applies the file; %s", instead)
		return nil, false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(d.file), name)
	}
	text, err := d.reader.ReadFile(name)
	if err != nil {
		d.fault(n.GetToken(), path, "cannot be read: %v", err)
		return nil, false
	}
	return text, true
}

// begins reads a day, from its start in UTC, or an instant.
func (d *document) begins(into **time.Time) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		s, ok := d.scalar(n, path)
		if !ok {
			return
		}
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t, err = time.Parse(time.DateOnly, s)
		}
		if err != nil || t.Year() < 2000 || t.Year() > 9000 {
			d.fault(n.GetToken(), path, "must be a day like 2027-01-01, or an instant like 2027-01-01T06:00:00Z, not %q", s)
			return
		}
		t = t.UTC().Truncate(time.Second)
		*into = &t
	}
}

// value makes what the gateway works with. One that was taken once and cannot be
// read any more (a later x509 may be stricter) is not used, and stops nobody else.
func (s CertificateSpec) value() *Certificate {
	c := &Certificate{Label: s.Label, Purposes: s.Purposes, PinsKey: s.Pin == "key", AnyUsage: s.KeyUsage == "ignore"}
	if s.From != nil {
		c.From = *s.From
	}
	if s.Until != nil {
		c.Until = *s.Until
	}
	c.X509, c.Unread = ParseCertificate([]byte(s.Certificate))
	return c
}

func certificatesOf(specs []CertificateSpec) []*Certificate {
	var list []*Certificate
	for _, s := range specs {
		list = append(list, s.value())
	}
	return list
}

// normaliseCertificates sorts them by label, and each one's purposes.
func normaliseCertificates(list *[]CertificateSpec) {
	slices.SortFunc(*list, func(a, b CertificateSpec) int { return strings.Compare(a.Label, b.Label) })
	for i := range *list {
		slices.Sort((*list)[i].Purposes)
	}
	if len(*list) == 0 {
		*list = nil
	}
}
