package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPartnersSheet(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := selfSigned(t, dir, "edi.north.example")
	g := serveGateway(t, "--tls-cert", certFile, "--tls-key", keyFile, "--public-url", "https://edi.north.example/", "--max-body", "1000000")
	cert, _ := ownCertificate(t, dir, "acme")
	withCertificates(t, g, dir, "label: first, file: "+cert+", purposes: [tls_client, as2_sign], pin: key")
	token := strings.TrimSpace(g.must(nil, "partners", "token", "acme", "--label", "warehouse").out)
	g.must(nil, "partners", "token", "acme", "--label", "gone")
	g.must(nil, "partners", "revoke", "acme", "gone")
	master := []string{"EDIGW_DATA_DIR=" + g.dir, "EDIGW_DATABASE_URL=" + g.url, "EDIGW_MASTER_KEY=" + strings.Repeat("ab", 32)}
	if r := edigw(t, "", master, "keys", "create", "north", "2026", "--for", "as2_sign", "--algorithm", "ec-p256"); r.code != 0 {
		t.Fatalf("%s", r.stderr)
	}
	fingerprint := func(file string) string {
		t.Helper()
		out, err := openssl(t, "x509", "-in", file, "-noout", "-fingerprint", "-sha256")
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(strings.TrimSpace(out), "=")
		return text
	}
	sheet := g.must(nil, "partners", "sheet", "acme").out
	for what, want := range map[string]string{
		"the address":                    "| Send to | `POST https://edi.north.example/in/acme` |",
		"its ids":                        "| Your addresses (UNB 0004, ISA06) | `14:9520001000010` |",
		"our ids":                        "| Our addresses (UNB 0010, ISA08) | `14:9520002000019` |",
		"the types":                      "| Message types | 810, 856, DESADV, INVOIC |",
		"the limit":                      "| At most | 1000000 bytes a request |",
		"its certificate's fingerprint":  fingerprint(cert),
		"what is pinned":                 "(the key is pinned)",
		"the server's fingerprint":       fingerprint(certFile),
		"our certificate":                "\"2026\" for as2_sign",
		"our certificate itself":         "-----BEGIN CERTIFICATE-----",
		"its token, by its label":        "- token \"warehouse\", for ever",
		"how long to send again":         "for up to 30 days",
		"how it is answered in X12":      "997 or 999 by the version of the group",
		"what a faulty message means":    "An interchange with a faulty message is refused whole.",
		"who it is for, and who we are":  "# Sending EDI to North\n\nFor ACME (`acme`).",
		"the action of CONTRL":           "action 7",
		"what the partner proves itself": "By a token (`Authorization: Bearer …`, or as the password of Basic), or by your client certificate.",
	} {
		t.Run("it says "+what, func(t *testing.T) {
			if !strings.Contains(sheet, want) {
				t.Errorf("%q is not in\n%s", want, sheet)
			}
		})
	}
	t.Run("it holds no secret, and nothing that has ended", func(t *testing.T) {
		for _, no := range []string{token, "PRIVATE KEY", "gone"} {
			if strings.Contains(sheet, no) {
				t.Errorf("%q is in\n%s", no, sheet)
			}
		}
	})
	t.Run("as JSON it is the API's", func(t *testing.T) {
		var told sheetTold
		if err := json.Unmarshal([]byte(g.must(nil, "partners", "sheet", "acme", "-o", "json").out), &told); err != nil || told.Limits.KnownDays != 400 || len(told.Ours) != 1 {
			t.Errorf("%v %+v", err, told)
		}
	})
}
