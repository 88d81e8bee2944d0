package as2

import (
	"crypto"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseName(t *testing.T) {
	for _, c := range []struct{ name, raw, plain, written string }{
		{"a plain one", "TALQUIST-AS2", "TALQUIST-AS2", "TALQUIST-AS2"},
		{"in quotation marks without need", `"TALQUIST-AS2"`, "TALQUIST-AS2", "TALQUIST-AS2"},
		{"with a blank", `"Talquist Works"`, "Talquist Works", `"Talquist Works"`},
		{"with a blank and no quotation marks", "Talquist Works", "Talquist Works", `"Talquist Works"`},
		{"with escapes", `"Nordhafen \"Port\" AS2 \\ x"`, `Nordhafen "Port" AS2 \ x`, `"Nordhafen \"Port\" AS2 \\ x"`},
		{"a quotation mark that is not closed", `"abc`, `"abc`, `"\"abc"`},
		{"text behind the closing one", `"abc" d`, `"abc" d`, `"\"abc\" d"`},
		{"blanks around it", "  A  ", "A", "A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := ParseName(c.raw)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{n.Plain, n.Raw, NameOf(n.Plain).Raw}
			if diff := cmp.Diff([]string{c.plain, strings.TrimSpace(c.raw), c.written}, got); diff != "" {
				t.Error(diff)
			}
			if again, err := ParseName(c.written); err != nil || again.Plain != c.plain {
				t.Errorf("written and read again it is %q, %v", again.Plain, err)
			}
		})
	}
	for name, raw := range map[string]string{"empty": " ", "empty in quotation marks": `""`, "too long": strings.Repeat("x", 129), "with a control character": "a\x01b"} {
		t.Run("no name: "+name, func(t *testing.T) {
			if n, err := ParseName(raw); err == nil {
				t.Errorf("got %+v", n)
			}
		})
	}
}

func TestParseMessageID(t *testing.T) {
	for _, c := range []struct{ name, raw, plain string }{
		{"as RFC 5322 has it", "<a@b>", "a@b"},
		{"without brackets", "a@b", "a@b"},
		{"without @", "<4711>", "4711"},
		{"with blanks inside", "<a b @c>", "a b @c"},
		{"blanks around it, as a fold leaves them", " < a@b > ", "a@b"},
		{"one bracket", "<a@b", "<a@b"},
		{"a path", "<../../tmp/x@talquist.example>", "../../tmp/x@talquist.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, ok := ParseMessageID(c.raw)
			if want := (MessageID{c.plain, strings.TrimSpace(c.raw)}); !ok || id != want {
				t.Errorf("got %+v %v", id, ok)
			}
		})
	}
	for name, raw := range map[string]string{"nothing": "", "brackets alone": "<>", "too long": strings.Repeat("x", 999), "a control character": "a\x00b"} {
		t.Run("no id: "+name, func(t *testing.T) {
			if id, ok := ParseMessageID(raw); ok || id != (MessageID{}) {
				t.Errorf("got %+v", id)
			}
		})
	}
}

func TestWanted(t *testing.T) {
	fields := func(lines ...string) http.Header {
		h := http.Header{}
		for _, l := range lines {
			name, value, _ := strings.Cut(l, ": ")
			h.Add(name, value)
		}
		return h
	}
	const to, options = "Disposition-Notification-To: edi@talquist.example", "Disposition-Notification-Options: "
	for _, c := range []struct {
		name   string
		header http.Header
		want   Wanted
	}{
		{"nothing", fields(), Wanted{}},
		{"options alone ask for nothing", fields(options + "signed-receipt-protocol=required, pkcs7-signature"), Wanted{}},
		{"an unsigned one", fields(to), Wanted{MDN: true}},
		{"an empty address is one", fields("Disposition-Notification-To: "), Wanted{MDN: true}},
		{"a signed one", fields(to, options+"signed-receipt-protocol=optional, pkcs7-signature; signed-receipt-micalg=optional, sha-256"), Wanted{MDN: true, Signed: true, MICs: []string{"sha-256"}}},
		{"algorithms in the sender's order and spelling", fields(to, options+"signed-receipt-micalg=required, sha512,SHA1 , rsa-sha1;signed-receipt-protocol=required,pkcs7-signature;"),
			Wanted{MDN: true, Signed: true, SignedRequired: true, MICs: []string{"sha512", "SHA1", "rsa-sha1"}}},
		{"upper case, tabs, no importance", fields(to, options+"Signed-Receipt-Protocol\t=\tPKCS7-Signature;\tSIGNED-RECEIPT-MICALG=MD5"), Wanted{MDN: true, Signed: true, MICs: []string{"MD5"}}},
		{"an importance for each value", fields(to, options+"signed-receipt-protocol=optional,pkcs7-signature;signed-receipt-micalg=optional,sha256,optional,sha1"), Wanted{MDN: true, Signed: true, MICs: []string{"sha256", "sha1"}}},
		{"two fields", fields(to, options+"signed-receipt-protocol=optional, pkcs7-signature", options+"signed-receipt-micalg=optional, sha1"), Wanted{MDN: true, Signed: true, MICs: []string{"sha1"}}},
		{"algorithms nobody knows, optional", fields(to, options+"signed-receipt-micalg=optional, whirlpool, sha1"), Wanted{MDN: true, MICs: []string{"sha1"}}},
		{"algorithms nobody knows, required", fields(to, options+"signed-receipt-micalg=required, whirlpool, tiger"), Wanted{MDN: true, UnknownMICs: "whirlpool, tiger"}},
		{"a protocol nobody knows, required", fields(to, options+"signed-receipt-protocol=required, pgp"), Wanted{MDN: true, UnknownProtocol: "pgp"}},
		{"a protocol nobody knows, optional", fields(to, options+"signed-receipt-protocol=optional, pgp"), Wanted{MDN: true}},
		{"asynchronous", fields(to, "Receipt-Delivery-Option: https://as2.talquist.example/mdn?x=y"), Wanted{MDN: true, Async: "https://as2.talquist.example/mdn?x=y"}},
		{"a blank address is none", fields(to, "Receipt-Delivery-Option:  "), Wanted{MDN: true}},
		{"unknown options", fields(to, options+";;x=required, y;=;"), Wanted{MDN: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, wantedOf(c.header)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("the check's algorithm is the first asked for, else SHA-1, in the sender's spelling", func(t *testing.T) {
		h, name := Wanted{MICs: []string{"SHA512", "sha1"}}.mic()
		if h != crypto.SHA512 || name != "SHA512" {
			t.Errorf("got %v %s", h, name)
		}
		if h, name = (Wanted{}).mic(); h != crypto.SHA1 || name != "sha1" {
			t.Errorf("got %v %s", h, name)
		}
		w := Wanted{MICs: []string{"sha256"}}
		got := []string{w.spelling(crypto.SHA256, "SHA-256"), w.spelling(crypto.SHA1, "sha-1"), w.spelling(crypto.SHA384, "unknown")}
		if diff := cmp.Diff([]string{"sha256", "sha-1", "sha-384"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an address for MDNs has to be one of the partner's hosts", func(t *testing.T) {
		hosts := []string{"as2.talquist.example", "mdn.talquist.example:8443", "[2001:db8::1]"}
		for address, why := range map[string]string{
			"https://as2.talquist.example/mdn?a=b":         "",
			"http://AS2.talquist.example/":                 "",
			"https://mdn.talquist.example:8443/x":          "",
			"https://as2.talquist.example:443/x":           "",
			"https://[2001:db8::1]/x":                      "",
			"https://[2001:db8::1]:443/x":                  "",
			"http://as2.talquist.example:443/x":            "names a host that is not among the partner's mdn_hosts",
			"https://as2.talquist.example@evil.example/":   "holds a name or password",
			"https://[2001:db8::2]/x":                      "names a host that is not among the partner's mdn_hosts",
			"https://as2.talquist.example:5432/":           "names a host that is not among the partner's mdn_hosts",
			"https://mdn.talquist.example/x":               "names a host that is not among the partner's mdn_hosts",
			"http://169.254.169.254/latest":                "names a host that is not among the partner's mdn_hosts",
			"https://as2.talquist.example.evil.example/":   "names a host that is not among the partner's mdn_hosts",
			"https://user:secret@as2.talquist.example/mdn": "holds a name or password",
			"file:///etc/passwd":                           "is neither http nor https",
			"mailto:edi@talquist.example":                  "is neither http nor https",
			"https://[::1":                                 "is no address",
			"https://as2.talquist.example/\xff":            "is no address",
		} {
			if _, got := (Wanted{Async: address}).asyncURL(hosts); got != why {
				t.Errorf("%s: got %q, want %q", address, got, why)
			}
		}
	})
}

func TestMIC(t *testing.T) {
	m := MIC{[]byte{1, 2, 3}, "SHA1"}
	if got := m.String(); got != "AQID, SHA1" {
		t.Errorf("got %q", got)
	}
	for _, text := range []string{"AQID, sha-1", "AQID,sha1", "AQ ID=,\tSHA-1", "AQID"} {
		o, err := ParseMIC(text)
		if err != nil || !m.Equal(o) {
			t.Errorf("%q: %+v, %v", text, o, err)
		}
	}
	for _, text := range []string{"AQIE, sha1", "AQID, sha256"} {
		if o, err := ParseMIC(text); err != nil || m.Equal(o) {
			t.Errorf("%q: %+v, %v", text, o, err)
		}
	}
	for _, text := range []string{"", ", sha1", "!, sha1"} {
		if o, err := ParseMIC(text); err == nil {
			t.Errorf("%q: %+v", text, o)
		}
	}
	if (MIC{}).Equal(MIC{}) {
		t.Error("no check is equal to another")
	}
}
