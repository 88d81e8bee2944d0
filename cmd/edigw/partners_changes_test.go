package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPartnersFromTheCommandLine(t *testing.T) {
	g := serveGateway(t)
	dir := t.TempDir()
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	t.Run("what is exported is no difference, and applied no change", func(t *testing.T) {
		file := filepath.Join(dir, "export.yaml")
		writeText(t, file, []byte(g.must(nil, "partners", "export").out))
		if r := g.must(nil, "partners", "diff", "-f", file); r.out != "" || r.stderr != "no difference\n" {
			t.Errorf("%q %q", r.out, r.stderr)
		}
		if r := g.must(nil, "partners", "apply", "-f", file); r.out != "" {
			t.Errorf("%q", r.out)
		}
	})
	t.Run("a difference is told and ends in 3, and changes nothing", func(t *testing.T) {
		file := filepath.Join(dir, "other.yaml")
		writeText(t, file, []byte("kind: Partner\nid: acme\nname: ACME\norganisation: north\non_drift: hold\n"))
		for range 2 {
			r := g.do("partners", "diff", "-f", file)
			if r.code != exitFindings || !strings.Contains(r.out, "partner acme: changed (revision 2)\n") || !strings.Contains(r.out, "  on_drift: reject → hold\n") {
				t.Errorf("exit %d: %s%s", r.code, r.out, r.stderr)
			}
		}
	})
	t.Run("single settings change", func(t *testing.T) {
		r := g.must(nil, "partners", "set", "acme", "on_drift=hold", "retention.payloads=60d", "retention.deliveries=300d", "types=[INVOIC, 810]")
		want := "partner acme: changed (revision 2)\n  on_drift: reject → hold\n  retention.deliveries: 400d → 300d\n  retention.payloads: 90d → 60d\n" +
			`  types: ["810","856","DESADV","INVOIC"] → ["810","INVOIC"]` + "\n"
		if diff := cmp.Diff(want, r.out); diff != "" {
			t.Error(diff)
		}
		r = g.must(nil, "partners", "set", "acme", "on_drift=")
		if !strings.Contains(r.out, "  on_drift: hold → reject\n") {
			t.Errorf("%s", r.out)
		}
		if r := g.must(nil, "partners", "set", "acme", "on_drift=reject"); r.stderr != "nothing changed: it is so already\n" {
			t.Errorf("%s", r.stderr)
		}
	})
	for args, want := range map[string]string{
		"acme attemps=3":                              "attemps: unknown key; did you mean attempts?",
		"acme attempts":                               `"attempts" is no setting; write it like on_drift=hold`,
		"acme types=[INVOIC":                          "types: a list ends with ]",
		"acme retention=x retention.payloads=3d":      "retention.payloads: retention is given both as a whole and in part",
		"acme attempts=3 attempts=4":                  "attempts: is given twice",
		"nobody attempts=3":                           "There is no such thing",
		"acme processing=deferred processing.INVOIC=": "is given both as a whole and in part",
	} {
		t.Run("a fault says what: "+args, func(t *testing.T) {
			r := g.do(append([]string{"partners", "set"}, strings.Fields(args)...)...)
			if r.code == 0 || !strings.Contains(r.stderr, want) {
				t.Errorf("exit %d: %s", r.code, r.stderr)
			}
		})
	}
	t.Run("the history says who changed what", func(t *testing.T) {
		r := g.must(nil, "partners", "history", "acme")
		lines := strings.Split(strings.TrimSpace(r.out), "\n")
		if len(lines) != 4 || !strings.HasPrefix(lines[1], "3 ") || !strings.Contains(lines[1], "local") || !strings.HasSuffix(lines[1], "on_drift: hold → reject") ||
			!strings.HasSuffix(lines[3], "created") {
			t.Errorf("%s", r.out)
		}
		if r := g.must(nil, "partners", "history", "acme", "--revision", "2"); !strings.Contains(r.out, "on_drift: hold\n") {
			t.Errorf("%s", r.out)
		}
		if r := g.must(nil, "partners", "history", "north", "--organisation"); !strings.Contains(r.out, "local") {
			t.Errorf("%s", r.out)
		}
		if r := g.do("partners", "history", "north", "--organisation", "--revision", "1"); r.code != exitUsage {
			t.Errorf("exit %d", r.code)
		}
	})
	t.Run("a revision is restored", func(t *testing.T) {
		if r := g.must(nil, "partners", "restore", "acme", "1"); !strings.HasPrefix(r.out, "partner acme: changed (revision 4)\n") {
			t.Errorf("%s", r.out)
		}
		if r := g.must(nil, "partners", "restore", "acme", "2", "--with-credentials"); !strings.HasPrefix(r.out, "partner acme: changed (revision 5)\n") {
			t.Errorf("%s", r.out)
		}
		if r := g.do("partners", "restore", "acme", "99"); r.code != exitFailed || !strings.Contains(r.stderr, "revision 99 of partner acme") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
}

func TestPartnersTest(t *testing.T) {
	g := serveGateway(t)
	dir := t.TempDir()
	cert, _ := ownCertificate(t, dir, "acme")
	other, _ := ownCertificate(t, dir, "other")
	withCertificates(t, g, dir, "label: first, file: "+cert+", purposes: [tls_client]")
	t.Run("a file is judged, and nothing of it is done", func(t *testing.T) {
		for range 2 {
			r := g.must(nil, "partners", "test", "acme", "testdata/invoice.edi")
			if !strings.HasPrefix(r.out, "the file would be answered 201: accepted, first (I1b)\n") || !strings.HasSuffix(r.out, "nothing of it was done\n") {
				t.Errorf("%s", r.out)
			}
		}
		if r := g.must(nil, "messages", "list", "--partner", "acme"); strings.Count(r.out, "\n") != 1 {
			t.Errorf("%s", r.out)
		}
	})
	t.Run("one that would be refused ends in 3", func(t *testing.T) {
		if r := g.do("partners", "test", "acme", "testdata/wrong-count.edi"); r.code != exitFindings || !strings.HasPrefix(r.out, "the file would be answered 422: rejected") {
			t.Errorf("exit %d: %s%s", r.code, r.out, r.stderr)
		}
	})
	t.Run("a certificate is looked up", func(t *testing.T) {
		r := g.must(nil, "partners", "test", "acme", "--certificate", cert)
		if !strings.Contains(r.out, `tls_client   taken: it is "first"`) || !strings.Contains(r.out, "as2_sign     not taken: ") {
			t.Errorf("%s", r.out)
		}
		if r := g.do("partners", "test", "acme", "--certificate", other); r.code != exitFindings || strings.Contains(r.out, " taken: it is \"") {
			t.Errorf("exit %d: %s", r.code, r.out)
		}
	})
	t.Run("nothing to try is wrong usage", func(t *testing.T) {
		if r := g.do("partners", "test", "acme"); r.code != exitUsage {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
}
