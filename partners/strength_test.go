package partners_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/edigw/edigw/partners"
)

func TestShortKeys(t *testing.T) {
	made := func(key crypto.Signer, err error) *x509.Certificate {
		if err != nil {
			t.Fatal(err)
		}
		return issued(t, key, func(c *x509.Certificate) { c.KeyUsage |= x509.KeyUsageKeyEncipherment })
	}
	keys := map[string]*x509.Certificate{}
	for _, bits := range []int{1024, 2047, 2048} {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		keys[fmt.Sprint("RSA ", bits)] = made(key, err)
	}
	for _, curve := range []elliptic.Curve{elliptic.P224(), elliptic.P256()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		keys[curve.Params().Name] = made(key, err)
	}
	const lengthened = "ask the partner for another certificate, or add rsa-1024 to as2.old_algorithms until it has one"
	for name, c := range map[string]struct {
		// What configuration says of it for each purpose: "" takes it.
		as2, as2Allowed, as4 string
	}{
		"RSA 1024": {lengthened, "", "as4_sign takes RSA keys of 2048 bits and more, and it has 1024; ask the partner for another certificate"},
		"RSA 2047": {lengthened, "", "as4_sign takes RSA keys of 2048 bits and more, and it has 2047"},
		"RSA 2048": {},
		"P-224":    {"", "", "as4_sign takes EC keys of 256 bits and more, and it has 224"},
		"P-256":    {},
	} {
		t.Run(name, func(t *testing.T) {
			for _, try := range []struct{ purpose, settings, want string }{
				{partners.TLSClient, "", ""},
				{partners.AS2Sign, "", c.as2},
				{partners.AS2Encrypt, "", c.as2},
				{partners.AS2Sign, "as2: {old_algorithms: [sha1]}\n", c.as2},
				{partners.AS2Sign, "as2: {old_algorithms: [rsa-1024]}\n", c.as2Allowed},
				{partners.AS2Encrypt, "as2: {old_algorithms: [rsa-1024]}\n", c.as2Allowed},
				{partners.AS4Sign, "", c.as4},
				{partners.AS4Sign, "as2: {old_algorithms: [rsa-1024]}\n", c.as4},
				{partners.AS4Encrypt, "", strings.ReplaceAll(c.as4, "as4_sign", "as4_encrypt")},
			} {
				text := "kind: Partner\nid: acme\norganisation: north\n" + try.settings + "certificates:\n  - {" + entry("a", keys[name], "purposes: ["+try.purpose+"]") + "}\n"
				got, err := reader.Read("acme.yaml", []byte(text))
				if try.want == "" {
					if err != nil {
						t.Errorf("%s %s: %v", try.purpose, try.settings, err)
						continue
					}
					if p := partners.PartnerOf(*got[0].Partner); recognised(p, keys[name], try.purpose, year) != "taken" || len(p.CertificatesFor(try.purpose, year)) != 1 {
						t.Errorf("%s %s: it is configured, and not taken", try.purpose, try.settings)
					}
					continue
				}
				if err == nil || !strings.Contains(err.Error(), "certificates[1].purposes: its key is too short for the purpose: "+try.purpose) || !strings.Contains(err.Error(), try.want) {
					t.Errorf("%s %s: %v", try.purpose, try.settings, err)
				}
			}
		})
	}
	t.Run("one that is configured already is told when it is tried, and not used", func(t *testing.T) {
		p := holder(t, entry("a", keys["RSA 1024"], "purposes: [tls_client]"))
		p.Certificates[0].Purposes = []string{partners.AS2Sign, partners.AS2Encrypt}
		if _, err := p.Recognises(keys["RSA 1024"], partners.AS2Sign, year); !errors.Is(err, partners.ErrWeak) || partners.WhyNot(err) != "key-too-short" {
			t.Errorf("got %v", err)
		}
		if len(p.CertificatesFor(partners.AS2Encrypt, year)) != 0 {
			t.Error("it is encrypted to")
		}
		p.AS2.OldAlgorithms = []string{"rsa-1024"}
		if len(p.CertificatesFor(partners.AS2Encrypt, year)) != 1 {
			t.Error("it is allowed, and not used")
		}
	})
}
