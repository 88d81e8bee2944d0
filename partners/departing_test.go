package partners_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/partners"
)

// departing gives certificates of a key that crypto/x509 refuses, and partners use.
func departing(t *testing.T) map[string][]byte {
	t.Helper()
	key := newKey(t)
	made := issued(t, key, func(c *x509.Certificate) {
		c.Subject = pkix.Name{CommonName: "ACME EDI"}
		c.SerialNumber = big.NewInt(0x7f11)
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection}
		c.UnknownExtKeyUsage = append(c.UnknownExtKeyUsage, []int{1, 2, 3, 4})
	})
	changed := func(old, with string) []byte {
		if !bytes.Contains(made.Raw, []byte(old)) {
			t.Fatalf("%q stands nowhere in it", old)
		}
		return bytes.ReplaceAll(made.Raw, []byte(old), []byte(with))
	}
	return map[string][]byte{
		"an underscore in a PrintableString": changed("\x13\x08ACME EDI", "\x13\x08ACME_EDI"),
		"a serial number below zero":         changed("\x02\x02\x7f\x11", "\x02\x02\x8f\x11"),
		"a serial number with a zero ahead":  changed("\x02\x02\x7f\x11", "\x02\x02\x00\x11"),
	}
}

func TestCertificatesThatDepartFromTheStandard(t *testing.T) {
	for name, der := range departing(t) {
		t.Run(name, func(t *testing.T) {
			if _, err := x509.ParseCertificate(der); err == nil {
				t.Fatal("crypto/x509 reads it by now: is it still a case?")
			}
			c, err := partners.ParseCertificate(der)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(der)
			if got := strings.ReplaceAll(partners.Fingerprint(c), ":", ""); got != strings.ToUpper(hex.EncodeToString(sum[:])) {
				t.Errorf("its fingerprint is %s", got)
			}
			p := holder(t, entry("old", c, "purposes: [as2_sign]", "pin: key"))
			at := year.AddDate(0, 6, 0)
			if got := p.CertificatesFor(partners.AS2Sign, at); len(got) != 1 || !bytes.Equal(got[0].X509.Raw, der) {
				t.Fatalf("%d certificates may sign", len(got))
			}
			from, until := p.Certificates[0].Window()
			if diff := cmp.Diff([]time.Time{year, year.AddDate(1, 0, 0)}, []time.Time{from, until}); diff != "" {
				t.Error(diff)
			}
			if c.KeyUsage != x509.KeyUsageDigitalSignature|x509.KeyUsageKeyAgreement || len(c.ExtKeyUsage) != 1 || len(c.UnknownExtKeyUsage) != 1 {
				t.Errorf("its usages are %b, %v, %v", c.KeyUsage, c.ExtKeyUsage, c.UnknownExtKeyUsage)
			}
			if !strings.HasPrefix(c.Subject.CommonName, "ACME") || c.SerialNumber.BitLen() == 0 {
				t.Errorf("it is %s of %s", c.SerialNumber, c.Subject)
			}
			if p.Certificates[0].Usable(partners.TLSClient, at) == nil {
				t.Error("it may connect")
			}
			_, err = reader.Read("acme.yaml", []byte("kind: Partner\nid: acme\norganisation: north\ncertificates:\n  - {"+
				entry("old", c, "purposes: [as2_sign, tls_client]", "key_usage: ignore")+"}\n"))
			if err == nil || !strings.Contains(err.Error(), "nobody can connect over TLS with this certificate") {
				t.Errorf("for tls_client: %v", err)
			}
		})
	}
}
