package partners_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/edigw/edigw/partners"
)

var year = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issued is a certificate of its own issue; change says in what it differs from
// one that may sign in 2026.
func issued(t testing.TB, key crypto.Signer, change func(*x509.Certificate)) *x509.Certificate {
	t.Helper()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "partner.example"},
		NotBefore: year, NotAfter: year.AddDate(1, 0, 0).Add(-time.Second),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyAgreement,
	}
	if change != nil {
		change(c)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func b64(c *x509.Certificate) string { return base64.StdEncoding.EncodeToString(c.Raw) }

func base64Of(t testing.TB, path string) string {
	t.Helper()
	block, _ := pem.Decode(readFile(t, path))
	return base64.StdEncoding.EncodeToString(block.Bytes)
}

// longCertificate has nearly as many bytes as one may have.
var longCertificate = func() func(t testing.TB) string {
	var once sync.Once
	var text string
	return func(t testing.TB) string {
		once.Do(func() {
			text = b64(issued(t, newKey(t), func(c *x509.Certificate) {
				c.NotAfter = year.AddDate(10, 0, 0)
				for i := range 185 {
					c.DNSNames = append(c.DNSNames, fmt.Sprintf("host-%016d.example", i))
				}
			}))
		})
		return text
	}
}()

// anyCertificates draws a list; every field of one, or the test fails.
func anyCertificates(t *rapid.T) []partners.CertificateSpec {
	var list []partners.CertificateSpec
	for _, label := range rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string { return anyText(t, 60) }), 0, 3, rapid.ID).Draw(t, "labels") {
		from := year.AddDate(0, 0, rapid.IntRange(400, 900).Draw(t, "from"))
		until := from.Add(time.Duration(rapid.IntRange(1, 1e6).Draw(t, "until")) * time.Second)
		set := map[string]any{
			".Label": label, ".Certificate": variedDER(), ".Pin": rapid.SampledFrom([]string{"certificate", "key"}).Draw(t, "pin"),
			".Purposes": rapid.SliceOfNDistinct(rapid.SampledFrom(partners.Purposes), 1, 5, rapid.ID).Draw(t, "purposes"),
			".KeyUsage": "ignore", ".From": rapid.SampledFrom([]*time.Time{nil, &from}).Draw(t, "from"), ".Until": rapid.SampledFrom([]*time.Time{nil, &until}).Draw(t, "until"),
		}
		c := partners.CertificateSpec{}
		v := reflect.ValueOf(&c).Elem()
		for i := range v.NumField() {
			value, ok := set["."+v.Type().Field(i).Name]
			if !ok {
				t.Fatalf("%s of a certificate is not drawn", v.Type().Field(i).Name)
			}
			v.Field(i).Set(reflect.ValueOf(value))
		}
		list = append(list, c)
	}
	return list
}

var variedDER = sync.OnceValue(func() string {
	text, err := reader.ReadFile("varied.pem")
	if err != nil {
		panic(err)
	}
	block, _ := pem.Decode(text)
	return base64.StdEncoding.EncodeToString(block.Bytes)
})

// holder is partner acme with certificates given as YAML flow mappings.
func holder(t *testing.T, certificates ...string) *partners.Partner {
	t.Helper()
	text := "kind: Partner\nid: acme\norganisation: north\n"
	if len(certificates) > 0 {
		text += "certificates:\n"
	}
	for _, c := range certificates {
		text += "  - {" + c + "}\n"
	}
	return partners.PartnerOf(*specs(t, "acme.yaml", text)[0].Partner)
}

func entry(label string, c *x509.Certificate, more ...string) string {
	return strings.Join(append([]string{"label: " + label, "certificate: \"" + b64(c) + "\""}, more...), ", ")
}

// everywhere is each place a partner's certificate is looked up for.
const everywhere = "purposes: [tls_client, as2_sign, as2_encrypt, as4_sign, as4_encrypt]"

func TestCertificateRollOver(t *testing.T) {
	until := func(y, m, d int) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.NotAfter = time.Date(y, time.Month(m), d, 23, 59, 59, 0, time.UTC) }
	}
	older := issued(t, newKey(t), until(2026, 6, 30))
	newer := issued(t, newKey(t), func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 6, 30, 23, 59, 59, 0, time.UTC)
	})
	p := holder(t, entry("older", older, everywhere), entry("newer", newer, everywhere))
	for _, day := range []struct {
		at           time.Time
		older, newer string
		encryptTo    string
	}{
		{time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC), "certificate-not-yet-valid", "certificate-not-yet-valid", "nobody"},
		{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "taken", "certificate-not-yet-valid", "older"},
		{time.Date(2026, 5, 31, 23, 59, 59, 0, time.UTC), "taken", "certificate-not-yet-valid", "older"},
		{time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), "taken", "taken", "newer"},
		{time.Date(2026, 6, 30, 23, 59, 59, 0, time.UTC), "taken", "taken", "newer"},
		{time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), "expired-certificate", "taken", "newer"},
		{time.Date(2027, 7, 1, 0, 0, 0, 0, time.UTC), "expired-certificate", "expired-certificate", "nobody"},
	} {
		for _, purpose := range partners.Purposes {
			t.Run(fmt.Sprintf("%s for %s", day.at.Format(time.DateTime), purpose), func(t *testing.T) {
				for _, c := range []struct {
					shown *x509.Certificate
					want  string
				}{{older, day.older}, {newer, day.newer}} {
					if got := recognised(p, c.shown, purpose, day.at); got != c.want {
						t.Errorf("got %s, want %s", got, c.want)
					}
				}
				to := "nobody"
				if list := p.CertificatesFor(purpose, day.at); len(list) > 0 {
					to = list[0].Label
				}
				if to != day.encryptTo {
					t.Errorf("the first is %s, want %s", to, day.encryptTo)
				}
			})
		}
	}
}

func recognised(p *partners.Partner, c *x509.Certificate, purpose string, at time.Time) string {
	if _, err := p.Recognises(c, purpose, at); err != nil {
		return partners.WhyNot(err)
	}
	return "taken"
}

func TestRecognises(t *testing.T) {
	key := newKey(t)
	at := year.AddDate(0, 6, 0)
	first := issued(t, key, nil)
	renewed := issued(t, key, func(c *x509.Certificate) { c.SerialNumber = big.NewInt(2) })
	stranger := issued(t, newKey(t), nil)
	t.Run("a stranger's certificate of the same name is not taken", func(t *testing.T) {
		if got := recognised(holder(t, entry("a", first, everywhere)), stranger, partners.TLSClient, at); got != "unknown-certificate" {
			t.Error(got)
		}
	})
	t.Run("a renewal under the same key is taken where the key is pinned, and only there", func(t *testing.T) {
		if got := recognised(holder(t, entry("a", first, everywhere)), renewed, partners.TLSClient, at); got != "unknown-certificate" {
			t.Error(got)
		}
		p := holder(t, entry("a", first, everywhere, "pin: key"))
		if got := recognised(p, renewed, partners.TLSClient, at); got != "taken" {
			t.Error(got)
		}
		past := issued(t, key, func(c *x509.Certificate) { c.NotAfter = year.AddDate(0, 1, 0) })
		if got := recognised(p, past, partners.TLSClient, at); got != "expired-certificate" {
			t.Errorf("the shown one has ended: %s", got)
		}
		server := issued(t, key, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })
		if got := recognised(p, server, partners.TLSClient, at); got != "certificate-not-for-this" {
			t.Errorf("the shown one is a server's: %s", got)
		}
	})
	t.Run("a certificate is for what it is configured for", func(t *testing.T) {
		p := holder(t, entry("a", first, "purposes: [as2_sign]"))
		if got := recognised(p, first, partners.AS4Sign, at); got != "unknown-certificate" {
			t.Error(got)
		}
		if got := recognised(p, first, partners.AS2Sign, at); got != "taken" {
			t.Error(got)
		}
	})
	t.Run("from and until narrow what it says itself, and do not widen it", func(t *testing.T) {
		p := holder(t, entry("a", first, everywhere, "from: 2026-03-01", "until: 2026-03-31"))
		for at, want := range map[string]string{"2026-02-28T23:59:59Z": "certificate-not-yet-valid", "2026-03-01T00:00:00Z": "taken",
			"2026-03-31T23:59:59Z": "taken", "2026-04-01T00:00:00Z": "expired-certificate"} {
			when, err := time.Parse(time.RFC3339, at)
			if err != nil {
				t.Fatal(err)
			}
			if got := recognised(p, first, partners.AS2Sign, when); got != want {
				t.Errorf("%s: %s, want %s", at, got, want)
			}
		}
		wide := holder(t, entry("a", first, everywhere, "from: 2020-01-01", "until: 2040-01-01"))
		if got := recognised(wide, first, partners.AS2Sign, year.AddDate(2, 0, 0)); got != "expired-certificate" {
			t.Error(got)
		}
	})
	t.Run("of two entries of one certificate the one that holds counts", func(t *testing.T) {
		p := holder(t, entry("a", first, everywhere, "until: 2026-01-31"), entry("b", first, everywhere, "from: 2026-02-01"))
		c, err := p.Recognises(first, partners.TLSClient, at)
		if err != nil || c.Label != "b" {
			t.Errorf("%v, %v", c, err)
		}
	})
	t.Run("what cannot be read any more is not used and hides nobody", func(t *testing.T) {
		spec := partners.Defaults()
		spec.Certificates = []partners.CertificateSpec{{Label: "a", Certificate: "MIIB", Purposes: partners.Purposes}, {Label: "b", Certificate: b64(first), Purposes: partners.Purposes}}
		p := partners.PartnerOf(spec)
		if got := recognised(p, first, partners.TLSClient, at); got != "taken" {
			t.Error(got)
		}
		if list := p.CertificatesFor(partners.AS2Encrypt, at); len(list) != 1 || list[0].Label != "b" {
			t.Errorf("got %v", list)
		}
		if err := p.Certificates[0].Usable(partners.TLSClient, at); err == nil {
			t.Error("usable")
		}
	})
}

func TestKeyUsage(t *testing.T) {
	with := func(usage x509.KeyUsage, extended ...x509.ExtKeyUsage) *x509.Certificate {
		return issued(t, newKey(t), func(c *x509.Certificate) { c.KeyUsage, c.ExtKeyUsage = usage, extended })
	}
	for _, c := range []struct {
		name string
		cert *x509.Certificate
		may  string
	}{
		{"one that says nothing may everything", with(0), "tls_client as2_sign as2_encrypt as4_sign as4_encrypt"},
		{"digitalSignature signs and connects", with(x509.KeyUsageDigitalSignature), "tls_client as2_sign as4_sign"},
		{"nonRepudiation signs", with(x509.KeyUsageContentCommitment), "as2_sign as4_sign"},
		{"keyEncipherment is encrypted to", with(x509.KeyUsageKeyEncipherment), "as2_encrypt as4_encrypt"},
		{"keyAgreement is encrypted to", with(x509.KeyUsageKeyAgreement), "as2_encrypt as4_encrypt"},
		{"a server's does not connect", with(x509.KeyUsageDigitalSignature, x509.ExtKeyUsageServerAuth), "as2_sign as4_sign"},
		{"a client's does all that its key usage allows", with(x509.KeyUsageDigitalSignature, x509.ExtKeyUsageClientAuth), "tls_client as2_sign as4_sign"},
		{"an issuer's does nothing", with(x509.KeyUsageCertSign), ""},
		{"an X25519 key is agreed on over AS4", x25519(t), "as4_encrypt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := partners.Defaults()
			spec.Certificates = []partners.CertificateSpec{{Label: "a", Certificate: b64(c.cert), Purposes: partners.Purposes}}
			p := partners.PartnerOf(spec)
			var may []string
			for _, purpose := range partners.Purposes {
				_, err := p.Recognises(c.cert, purpose, year)
				if err == nil {
					may = append(may, purpose)
				} else if !errors.Is(err, partners.ErrUsage) {
					t.Error(err)
				}
			}
			if diff := cmp.Diff(c.may, strings.Join(may, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAKeyThatCannotDoWhatItIsFor(t *testing.T) {
	of := func(key any) *x509.Certificate {
		t.Helper()
		c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "odd"}, NotBefore: year, NotAfter: year.AddDate(1, 0, 0)}
		der, err := x509.CreateCertificate(rand.Reader, c, c, key, newKey(t))
		if err != nil {
			t.Fatal(err)
		}
		made, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long := &rsa.PublicKey{N: new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 9000), big.NewInt(1)), E: 65537}
	for _, c := range []struct {
		name, purposes, usage string
		cert                  *x509.Certificate
		want                  string // "" where it is taken
	}{
		{"Ed25519 signs and connects", "as2_sign, as4_sign, tls_client", "enforce", of(edwards), ""},
		{"nobody encrypts to Ed25519", "as4_sign, as4_encrypt", "enforce", of(edwards), "as4_encrypt: nobody can encrypt to an Ed25519 key; ask the partner for another certificate"},
		{"whatever the usage says", "as2_encrypt", "ignore", of(edwards), "as2_encrypt: nobody can encrypt to an Ed25519 key"},
		{"a long RSA key signs", "as2_sign", "enforce", of(long), ""},
		{"TLS takes none so long", "tls_client", "enforce", of(long), "tls_client: an RSA key of 9001 bits cannot connect: TLS takes 8192 at most here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "kind: Partner\nid: acme\norganisation: north\ncertificates:\n  - {" + entry("a", c.cert, "purposes: ["+c.purposes+"]", "key_usage: "+c.usage) + "}\n"
			_, err := reader.Read("acme.yaml", []byte(text))
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// x25519 is a certificate of an X25519 key, which crypto/x509 does not make: that of an
// Ed25519 key with the other's number in it (RFC 8410 §3).
func x25519(t *testing.T) *x509.Certificate {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: year.AddDate(-1, 0, 0), NotAfter: year.AddDate(1, 0, 0), KeyUsage: x509.KeyUsageKeyAgreement}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	info := func(number byte) []byte {
		return append([]byte{0x06, 0x03, 0x2b, 0x65, number, 0x03, 0x21, 0x00}, public...)
	}
	c, err := partners.ParseCertificate(bytes.Replace(der, info(0x70), info(0x6e), 1))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseCertificate(t *testing.T) {
	text := readFile(t, "testdata/varied.pem")
	block, _ := pem.Decode(text)
	packed := base64.StdEncoding.EncodeToString(block.Bytes)
	for name, form := range map[string][]byte{
		"PEM": text, "DER": block.Bytes, "base64": []byte(packed), "base64 in lines": []byte(packed[:64] + "\r\n" + packed[64:] + "\n"),
		"a chain in PEM, the partner's first": append(append([]byte("subject=CN = x\n"), text...), readFile(t, "testdata/server-only.pem")...),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := partners.ParseCertificate(form)
			if err != nil || c.Subject.CommonName != "varied.example" {
				t.Errorf("%v, %v", c, err)
			}
		})
	}
	t.Run("fingerprint and pin are those that openssl gives", func(t *testing.T) {
		c, err := partners.ParseCertificate(text)
		if err != nil {
			t.Fatal(err)
		}
		got := "sha256 Fingerprint=" + partners.Fingerprint(c) + "\n" + partners.KeyPin(c) + "\n"
		if diff := cmp.Diff(string(readFile(t, "testdata/varied.fingerprint")), got); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzParseCertificate(f *testing.F) {
	for _, name := range []string{"varied", "server-only", "short-rsa"} {
		f.Add(readFile(f, "testdata/"+name+".pem"))
		block, _ := pem.Decode(readFile(f, "testdata/"+name+".pem"))
		f.Add(block.Bytes)
	}
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nMAAA\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := partners.ParseCertificate(text)
		if err != nil {
			return
		}
		again, err := partners.ParseCertificate([]byte(b64(c)))
		if err != nil || !again.Equal(c) {
			t.Fatalf("in base64 it is another: %v", err)
		}
	})
}

func TestEnds(t *testing.T) {
	c := issued(t, newKey(t), func(c *x509.Certificate) { c.NotAfter = year.AddDate(3, 0, 0) })
	window := func(label, from, until string) string {
		return entry(label, c, "purposes: [as2_sign]", "from: "+from, "until: "+until)
	}
	at := year.AddDate(0, 1, 0)
	for _, k := range []struct {
		name         string
		certificates []string
		want         string
	}{
		{"none", nil, ""},
		{"one", []string{window("a", "2026-01-01", "2026-03-31")}, "as2_sign a 2026-04-01"},
		{"one that overlaps the next", []string{window("a", "2026-01-01", "2026-03-31"), window("b", "2026-03-01", "2026-06-30")}, "as2_sign b 2026-07-01"},
		{"one that begins when the other ends", []string{window("b", "2026-04-01", "2026-06-30"), window("a", "2026-01-01", "2026-03-31")}, "as2_sign b 2026-07-01"},
		{"a gap", []string{window("a", "2026-01-01", "2026-03-31"), window("b", "2026-04-02", "2026-06-30")}, "as2_sign a 2026-04-01"},
		{"one that ended", []string{window("a", "2026-01-01", "2026-01-15")}, "as2_sign a 2026-01-16"},
		{"one that has not begun", []string{window("a", "2026-03-01", "2026-03-31")}, "as2_sign a 2026-02-01"},
		{"two that ended: the last is named", []string{window("a", "2026-01-01", "2026-01-20"), window("b", "2026-01-01", "2026-01-15")}, "as2_sign a 2026-01-21"},
		{"a shorter one inside a longer", []string{window("a", "2026-01-01", "2026-12-31"), window("b", "2026-01-01", "2026-03-31")}, "as2_sign a 2027-01-01"},
	} {
		t.Run(k.name, func(t *testing.T) {
			var got []string
			for _, e := range holder(t, k.certificates...).Ends(at) {
				got = append(got, e.Purpose+" "+e.Label+" "+e.At.Format(time.DateOnly))
			}
			if diff := cmp.Diff(k.want, strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
