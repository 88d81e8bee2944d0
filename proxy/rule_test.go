package proxy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/proxy"
)

// made is a certificate called name.
func made(t testing.TB, name string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// partners is one certificate for all tests.
var partners = func() func(testing.TB) *x509.Certificate {
	var once sync.Once
	var c *x509.Certificate
	return func(t testing.TB) *x509.Certificate {
		once.Do(func() { c = made(t, "partner") })
		return c
	}
}()

func asPEM(c *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
}

// forms is the certificate as one proxy or another writes it.
func forms(c *x509.Certificate) map[string]string {
	text, der := asPEM(c), base64.StdEncoding.EncodeToString(c.Raw)
	escaped := strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	return map[string]string{
		"RFC 9440":                               ":" + der + ":",
		"nginx $ssl_client_escaped_cert":         escaped,
		"AWS, whose + stays":                     strings.NewReplacer("%2B", "+", "%2F", "/", "%3D", "=").Replace(escaped),
		"Apache, blanks for line breaks":         strings.ReplaceAll(text, "\n", " "),
		"HAProxy ssl_c_der,base64":               der,
		"Envoy":                                  `By=spiffe://a/b;Hash=468ed33be74eee6556d90c0149c1309e9ba61d6425303443c0748a02dd8de688;Cert="` + escaped + `";Subject="/C=US/CN=a\"; Cert=";URI=http://x`,
		"Envoy with a chain behind it":           `Cert="` + escaped + `";Chain="` + escaped + escaped + `"`,
		"Envoy, keys in small letters, no quote": `hash=00;cert=` + escaped,
	}
}

func TestOf(t *testing.T) {
	trusted, err := proxy.ParseTrusted([]string{"10.0.0.0/24", " 192.0.2.7", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	rule := proxy.Rule{Trusted: trusted, Header: "X-Client"}
	request := func(from string, headers ...string) *http.Request {
		r := httptest.NewRequest("POST", "/in/acme", nil)
		r.RemoteAddr = from
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		return r
	}
	c := partners(t)
	for name, text := range forms(c) {
		t.Run("a trusted proxy is believed: "+name, func(t *testing.T) {
			got, err := rule.Of(request("10.0.0.9:1234", "X-Client", text, "X-Forwarded-For", "203.0.113.5"))
			want := proxy.Client{Address: "203.0.113.5", Certificate: c, Proxy: "10.0.0.9"}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
		t.Run("from anybody else it is forged: "+name, func(t *testing.T) {
			got, err := rule.Of(request("203.0.113.5:1234", "X-Client", text))
			if !errors.Is(err, proxy.ErrForged) || got.Certificate != nil || got.Address != "203.0.113.5" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	t.Run("an empty header from anybody else is forged, too", func(t *testing.T) {
		if _, err := rule.Of(request("203.0.113.5:1", "X-Client", "")); !errors.Is(err, proxy.ErrForged) {
			t.Error(err)
		}
	})
	t.Run("a proxy that says there was none is believed", func(t *testing.T) {
		for _, none := range []string{"", " ", "(null)"} {
			if got, err := rule.Of(request("10.0.0.9:1", "X-Client", none)); err != nil || got.Certificate != nil {
				t.Errorf("%q: %+v, %v", none, got, err)
			}
		}
	})
	t.Run("what the proxy added to what its client had sent is doubtful", func(t *testing.T) {
		forged, own := forms(made(t, "forged"))["Envoy"], forms(c)["Envoy"]
		for _, r := range []*http.Request{request("10.0.0.9:1", "X-Client", forged, "X-Client", own), request("10.0.0.9:1", "X-Client", forged+","+own)} {
			if got, err := rule.Of(r); !errors.Is(err, proxy.ErrDoubtful) || got.Certificate != nil {
				t.Errorf("%+v, %v", got, err)
			}
		}
	})
	for name, text := range map[string]string{
		"a hash alone": "Hash=468ed33be74eee6556d90c0149c1309e9ba61d6425303443c0748a02dd8de688", "an open quote": `Cert="abc`, "no value": "Cert", "two Certs": `Cert="";Cert=""`,
		"text behind a quote": `Cert="a"b`, "half an escape": "%2", "no end": "-----BEGIN CERTIFICATE-----", "no base64": "what?", "no byte sequence": ":abc", "no certificate": ":AAAA:",
		"two certificates": asPEM(c) + asPEM(c), "a key": "-----BEGIN PRIVATE KEY----- AAAA -----END PRIVATE KEY-----",
	} {
		t.Run("a header that holds no one certificate is doubtful: "+name, func(t *testing.T) {
			if got, err := rule.Of(request("10.0.0.9:1", "X-Client", text)); !errors.Is(err, proxy.ErrDoubtful) || got.Certificate != nil {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	t.Run("without a header's name none is looked at", func(t *testing.T) {
		if got, err := (proxy.Rule{}).Of(request("203.0.113.5:1", "X-Client", asPEM(c))); err != nil || got.Certificate != nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("over TLS the certificate is the sender's, but never the proxy's own", func(t *testing.T) {
		for from, want := range map[string]*x509.Certificate{"203.0.113.5:1": c, "10.0.0.9:1": nil} {
			r := request(from)
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{c, made(t, "issuer")}}
			if got, err := rule.Of(r); err != nil || got.Certificate != want {
				t.Errorf("%s: %+v, %v", from, got, err)
			}
		}
	})
	t.Run("the address is the last that no trusted proxy has", func(t *testing.T) {
		for _, c := range []struct{ from, forwarded, want string }{
			{"203.0.113.5:1", "198.51.100.1", "203.0.113.5"},
			{"10.0.0.9:1", "", "10.0.0.9"},
			{"10.0.0.9:1", "198.51.100.1, 203.0.113.6", "203.0.113.6"},
			{"10.0.0.9:1", "198.51.100.1, 203.0.113.6, 192.0.2.7", "203.0.113.6"},
			{"10.0.0.9:1", "10.0.0.1, 10.0.0.2", "10.0.0.1"},
			{"10.0.0.9:1", "unknown, 10.0.0.2", "10.0.0.2"},
			{"10.0.0.9:1", "203.0.113.6:4711", "203.0.113.6"},
			{"10.0.0.9:1", "[2001:db8::1]:4711", "2001:db8::1"},
			{"[::ffff:10.0.0.9]:1", "::ffff:203.0.113.6", "203.0.113.6"},
			{"[fd00::1]:1", "2001:db8::1", "2001:db8::1"},
			{"[fe80::1%eth0]:1", "", "fe80::1%eth0"},
		} {
			got, err := rule.Of(request(c.from, "X-Forwarded-For", c.forwarded))
			if err != nil || got.Address != c.want {
				t.Errorf("%+v: got %s, %v", c, got.Address, err)
			}
		}
	})
}

func TestParseTrusted(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0":            `"10.0.0" is no address and no network: write 10.0.0.7 or 10.0.0.0/24`,
		"proxy":             `"proxy" is no address and no network: write 10.0.0.7 or 10.0.0.0/24`,
		"":                  `"" is no address and no network: write 10.0.0.7 or 10.0.0.0/24`,
		"0.0.0.0/0":         "0.0.0.0/0 trusts everybody to say who they are: name the proxies' own addresses",
		"::ffff:0.0.0.0/96": "::ffff:0.0.0.0/96 trusts everybody to say who they are: name the proxies' own addresses",
		"::/0":              "::/0 trusts everybody to say who they are: name the proxies' own addresses",
	} {
		if _, err := proxy.ParseTrusted([]string{"10.0.0.1", text}); err == nil || err.Error() != want {
			t.Errorf("%q: got %v", text, err)
		}
	}
	t.Run("IPv4 within IPv6 is IPv4", func(t *testing.T) {
		trusted, err := proxy.ParseTrusted([]string{"::ffff:10.0.0.0/104", "::ffff:192.0.2.7"})
		if err != nil || len(trusted) != 2 || trusted[0].String() != "10.0.0.0/8" || trusted[1].String() != "192.0.2.7/32" {
			t.Errorf("%v, %v", trusted, err)
		}
	})
}

func FuzzHeader(f *testing.F) {
	for _, text := range forms(partners(f)) {
		f.Add(text)
	}
	f.Add(`Cert="abc`)
	f.Add("(null)")
	trusted, err := proxy.ParseTrusted([]string{"10.0.0.1"})
	if err != nil {
		f.Fatal(err)
	}
	rule := proxy.Rule{Trusted: trusted, Header: "Client-Cert"}
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest("POST", "/in/acme", nil)
		r.RemoteAddr = "10.0.0.1:1"
		r.Header["Client-Cert"] = []string{text}
		c, err := rule.Of(r)
		if err != nil {
			if !errors.Is(err, proxy.ErrDoubtful) || c.Certificate != nil {
				t.Fatalf("%+v, %v", c, err)
			}
			return
		}
		if c.Certificate == nil {
			return
		}
		// What was read is what any proxy would write for it.
		for name, form := range forms(c.Certificate) {
			r.Header["Client-Cert"] = []string{form}
			if again, err := rule.Of(r); err != nil || !again.Certificate.Equal(c.Certificate) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}
