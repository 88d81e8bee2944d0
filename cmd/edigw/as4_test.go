package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// as4Partner is a partner of acme's gateway that sends over AS4; further lines stand
// under as4.
func as4Partner(t *testing.T, g *gatewayUnderTest, dir, certificate, further string) {
	t.Helper()
	file := filepath.Join(dir, "ap.yaml")
	yaml := "kind: Organisation\nid: north\n---\nkind: Partner\nid: ap\norganisation: north\nidentifiers: [{qualifier: \"14\", id: \"9520001000034\"}]\n" +
		"as4:\n  profile: edelivery-1.15\n  from: {id: their-ap, type: urn:t}\n  to: {id: our-ap, type: urn:t}\n  services: [{service: urn:s, action: A}]\n" + further
	if certificate != "" {
		yaml += "certificates: [{label: as4, file: \"" + certificate + "\", purposes: [as4_sign], key_usage: ignore}]\n"
	}
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	g.must(nil, "partners", "apply", "-f", file)
}

func TestAS4(t *testing.T) {
	master := "EDIGW_MASTER_KEY=" + strings.Repeat("ab", 32)
	g := serveGateway(t, "--master-key", strings.Repeat("ab", 32))
	dir := t.TempDir()
	cert, key := ownCertificate(t, dir, "their-ap")
	env := []string{"EDIGW_DATA_DIR=" + g.dir, "EDIGW_DATABASE_URL=" + g.url, master}
	doctor := func() string {
		return edigw(t, "", env, "doctor", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0").out
	}
	t.Run("the doctor says what is missing, and that nobody is proved", func(t *testing.T) {
		as4Partner(t, g, dir, "", "")
		if text := doctor(); !strings.Contains(text, "north has no key for as4_sign") || !strings.Contains(text, "north has no key for as4_decrypt that holds now; what partner ap encrypts is told to come again") || !strings.Contains(text, "partner ap has none that holds now") {
			t.Error(text)
		}
		as4Partner(t, g, dir, cert, "  unsigned: accept\n")
		if text := doctor(); !strings.Contains(text, "whoever knows the names of partner ap") {
			t.Error(text)
		}
	})
	as4Partner(t, g, dir, cert, "")
	both := filepath.Join(dir, "both.pem")
	var text []byte
	for _, file := range []string{key, cert} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, b...)
	}
	if err := os.WriteFile(both, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("without a key of ours to decrypt with the partner is told to come again", func(t *testing.T) {
		r := edigw(t, "UNB", nil, "as4", "send", "-", "--url", g.at.Ingress+"/as4", "--from", "their-ap", "--from-type", "urn:t", "--to", "our-ap", "--to-type", "urn:t",
			"--key", both, "--token-reference", "issuer-serial", "--encrypt-to", cert, "--service", "urn:s", "--action", "A", "--retries", "0")
		if r.code != exitFailed || !strings.Contains(r.out+r.stderr, "EBMS:0202") {
			t.Errorf("exit %d\n%s%s\n%s", r.code, r.out, r.stderr, g.log)
		}
		waitFor(t, func() bool { return strings.Contains(g.log.String(), "organisation north has no key for as4_decrypt") })
	})
	if r := edigw(t, "", env, "keys", "create", "north", "as4", "--for", "as4_sign,as4_decrypt", "--algorithm", "rsa-2048"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	ours := filepath.Join(dir, "ours.pem")
	if err := os.WriteFile(ours, []byte(edigw(t, "", env, "keys", "show", "north", "as4").out), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("the doctor says that no key of ours is one that the partner takes", func(t *testing.T) {
		as4Partner(t, g, dir, cert, "  signatures: [ed25519]\n")
		if text := doctor(); !strings.Contains(text, "no key of north for as4_sign signs by an algorithm agreed with partner ap (ed25519)") {
			t.Error(text)
		}
		as4Partner(t, g, dir, cert, "")
	})
	t.Run("the doctor says that all is there", func(t *testing.T) {
		if text := doctor(); !strings.Contains(text, "1 partners, with the keys and certificates that they need") {
			t.Error(text)
		}
	})
	t.Run("the sheet tells the partner what to send", func(t *testing.T) {
		sheet := g.must(nil, "partners", "sheet", "ap").out
		for _, want := range []string{"## AS4 (edelivery-1.15)", "/as4` |", "| eb:From | `their-ap`, type `urn:t`", "| eb:Service | `urn:s`, without a type, action `A` |", "| Encrypted | always, to our certificate \"", "| Receipt | in the response, with non-repudiation information, signed by our certificate \"", "| Errors | an eb:Error, status 200 |",
			"| To try | service `http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/service`", "503 (with EBMS:0202)", "for as4_sign, as4_decrypt"} {
			if !strings.Contains(sheet, want) {
				t.Errorf("%q is not in\n%s", want, sheet)
			}
		}
	})
	send := func(stdin string, args ...string) (ran, as4Told) {
		t.Helper()
		r := edigw(t, stdin, nil, append([]string{"as4", "send", "--url", g.at.Ingress + "/as4", "--from", "their-ap", "--from-type", "urn:t", "--to", "our-ap", "--to-type", "urn:t",
			"--key", both, "--encrypt-to", ours, "--signer", ours, "-o", "json"}, args...)...)
		var told as4Told
		if r.out != "" {
			if err := json.Unmarshal([]byte(r.out), &told); err != nil {
				t.Fatalf("%v: %s", err, r.out)
			}
		}
		return r, told
	}
	t.Run("a ping is received", func(t *testing.T) {
		if r, told := send("", "--ping"); r.code != exitOK || told.Outcome != "received" || told.References != 2 || told.Signer == "" {
			t.Errorf("exit %d, %+v\n%s", r.code, told, r.stderr)
		}
	})
	t.Run("what is refused says why, and exits 1", func(t *testing.T) {
		r, told := send("no interchange", "-", "--service", "urn:s", "--action", "A")
		if r.code != exitFailed || told.Outcome != "refused" || len(told.Errors) != 1 || !strings.HasPrefix(told.Errors[0], "EBMS:0004") {
			t.Errorf("exit %d, %+v\n%s", r.code, told, r.stderr)
		}
	})
	t.Run("nobody there is unknown, and tried again", func(t *testing.T) {
		r := edigw(t, "x", nil, "as4", "send", "-", "--url", "http://127.0.0.1:1/as4", "--from", "a", "--to", "b", "--service", "s", "--action", "a", "--retries", "1", "-o", "json")
		if r.code != exitFailed || !strings.Contains(r.out, `"unknown"`) || !strings.Contains(r.out, `"attempts": 2`) {
			t.Errorf("exit %d\n%s%s", r.code, r.out, r.stderr)
		}
	})
	t.Run("what is missing on the command line is told", func(t *testing.T) {
		for _, args := range [][]string{{}, {"--ping", "--service", "s"}, {"--service", "s", "--action", "a"}, {"--service", "s", "x"}, {"--service-type", "t", "--ping"}, {"--ping", "--token-reference", "ski"}, {"--ping", "--key-password-file", both}, {"--ping", "--key", both, "--token-reference", "x509"}} {
			if r := edigw(t, "", nil, append([]string{"as4", "send", "--url", "http://127.0.0.1:1/as4", "--from", "a", "--to", "b"}, args...)...); r.code != exitUsage {
				t.Errorf("%v: exit %d, %s", args, r.code, r.stderr)
			}
		}
	})
}
