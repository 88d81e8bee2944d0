package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestKeys(t *testing.T) {
	g := serveGateway(t)
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	dir := t.TempDir()
	file := filepath.Join(dir, "master")
	writeText(t, file, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n"))
	do := func(args ...string) ran {
		t.Helper()
		return edigw(t, "", []string{"EDIGW_DATA_DIR=" + g.dir, "EDIGW_DATABASE_URL=" + g.url, "EDIGW_MASTER_KEY_FILE=" + file}, append([]string{"keys"}, args...)...)
	}
	must := func(args ...string) string {
		t.Helper()
		r := do(args...)
		if r.code != 0 {
			t.Fatalf("%v: exit %d %s", args, r.code, r.stderr)
		}
		if strings.Contains(r.out+r.stderr, "PRIVATE KEY") {
			t.Errorf("%v shows a private key", args)
		}
		return r.out
	}
	if out := must("create", "north", "2026", "--for", "as2_sign,as2_decrypt", "--algorithm", "ec-p256", "--name", "edi.north.example"); !strings.HasPrefix(out, `key "2026" of north (ec-p256) for as2_sign, as2_decrypt`) {
		t.Errorf("%s", out)
	}
	t.Run("a successor signs from the day that is said, and not without one", func(t *testing.T) {
		if r := do("rotate", "north", "2026", "--to", "2027"); r.code != exitFailed || !strings.Contains(r.stderr, `key "2026" of north (ec-p256) signs for as2_sign: say from when on "2027" does`) {
			t.Errorf("exit %d %s", r.code, r.stderr)
		}
		if r := do("rotate", "north", "2026", "--to", "2027", "--sign-from", "soon"); r.code != exitUsage {
			t.Errorf("exit %d %s", r.code, r.stderr)
		}
		soon := time.Now().AddDate(0, 1, 0).UTC().Format(time.DateOnly)
		if out := must("rotate", "north", "2026", "--to", "2027", "--sign-from", soon); !strings.Contains(out, "signs from   "+soon) {
			t.Errorf("%s", out)
		}
		out := must("list")
		for _, want := range []string{"signs until " + soon + ", opens until ", "signs from " + soon + ", opens"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s is not in\n%s", want, out)
			}
		}
		later := time.Now().AddDate(0, 2, 0).UTC().Format(time.DateOnly)
		if out := must("sign-from", "north", "2027", later); !strings.Contains(out, "signs from   "+later) {
			t.Errorf("%s", out)
		}
		must("sign-from", "north", "2027", "now")
	})
	t.Run("a running gateway without the master key says that it cannot use what was made, and is ready", func(t *testing.T) {
		for patience, status, text := 1000, 0, ""; !strings.Contains(text, "[!] private keys: 2 of 2 private keys cannot be opened (the master key does not open them)"); patience-- {
			if status, text = g.get("/readyz"); strings.Contains(text, "[-] private keys") || patience == 0 {
				t.Fatalf("%d %s", status, text)
			}
			time.Sleep(10 * time.Millisecond) // the gateway looks each second
		}
		if !strings.Contains(g.log.String(), `level=ERROR msg="a private key cannot be opened" organisation=north key=2027`) {
			t.Errorf("%s", g.log)
		}
	})
	cert, key := ownCertificate(t, dir, "own")
	both := filepath.Join(dir, "both.pem")
	text := []byte{}
	for _, f := range []string{key, cert} {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, b...)
	}
	writeText(t, both, text)
	must("import", "north", "bought", both, "--for", "tls_client")
	must("import", "north", "apart", key, "--chain", cert, "--for", "as4_sign")
	t.Run("the list has them all, and none of their secrets", func(t *testing.T) {
		out := must("list")
		for _, want := range []string{"2026", "2027", "bought", "apart", "as2_sign as2_decrypt", "ec-p256", "rsa-2048"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s is not in\n%s", want, out)
			}
		}
	})
	t.Run("what partners get is the certificate", func(t *testing.T) {
		out := must("show", "north", "2027")
		name := filepath.Join(dir, "shown.pem")
		writeText(t, name, []byte(out))
		if told, err := openssl(t, "x509", "-in", name, "-noout", "-subject"); err != nil || !strings.Contains(told, "edi.north.example") {
			t.Errorf("%v %s", err, told)
		}
	})
	t.Run("a request is one that openssl takes", func(t *testing.T) {
		name := filepath.Join(dir, "own.csr")
		writeText(t, name, []byte(must("request", "north", "2027", "--name", "edi.north.example")))
		if told, err := openssl(t, "req", "-in", name, "-verify", "-noout", "-subject"); err != nil || !strings.Contains(told, "edi.north.example") {
			t.Errorf("%v %s", err, told)
		}
	})
	t.Run("a certificate of another key is refused", func(t *testing.T) {
		if r := do("certify", "north", "2027", cert); r.code != exitFailed || !strings.Contains(r.stderr, "is of another key") {
			t.Errorf("exit %d %s", r.code, r.stderr)
		}
	})
	t.Run("the master key is replaced", func(t *testing.T) {
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		former := filepath.Join(dir, "former")
		writeText(t, former, old)
		writeText(t, file, []byte(strings.Repeat("ab", 32)))
		if r := do("request", "north", "2027", "--name", "x"); r.code != exitFailed || !strings.Contains(r.stderr, "the master key is missing: it is sealed under") {
			t.Errorf("exit %d %s", r.code, r.stderr)
		}
		r := edigw(t, "", []string{"EDIGW_DATA_DIR=" + g.dir, "EDIGW_DATABASE_URL=" + g.url, "EDIGW_MASTER_KEY_FILE=" + file, "EDIGW_FORMER_MASTER_KEYS_FILE=" + former}, "keys", "reseal")
		if r.code != 0 || r.stderr != "4 keys are sealed anew; former master keys are not needed any more\n" {
			t.Errorf("exit %d %s", r.code, r.stderr)
		}
		must("request", "north", "2027", "--name", "x")
	})
	t.Run("a retired key is shown as that", func(t *testing.T) {
		must("retire", "north", "2026")
		if out := must("list"); !strings.Contains(out, "retired 20") {
			t.Errorf("%s", out)
		}
	})
	t.Run("each act is in the audit log", func(t *testing.T) {
		db := connected(t, g.url)
		var acts string
		if err := db.QueryRow(t.Context(), `select string_agg(action, ' ' order by entry_id) from audit_entry where action like 'key%'`).Scan(&acts); err != nil {
			t.Fatal(err)
		}
		if want := "key.created key.rotated key.sign_from key.sign_from key.imported key.imported keys.resealed key.retired"; acts != want {
			t.Errorf("got %s", acts)
		}
		var detail string
		if err := db.QueryRow(t.Context(), `select string_agg(detail::text, ' ') from audit_entry where action like 'key%'`).Scan(&detail); err != nil || strings.Contains(detail, "PRIVATE") {
			t.Errorf("%v %s", err, detail)
		}
	})
	t.Run("that the master key does not open them is told by list and doctor, and a retired one is no matter", func(t *testing.T) {
		other := filepath.Join(dir, "other")
		writeText(t, other, []byte(strings.Repeat("cd", 32)))
		env := []string{"EDIGW_DATA_DIR=" + g.dir, "EDIGW_DATABASE_URL=" + g.url, "EDIGW_MASTER_KEY_FILE=" + other}
		r := edigw(t, "", env, "keys", "list")
		if r.code != 0 || strings.Count(r.out, "cannot be opened") != 3 || strings.Count(r.stderr, "the master key is missing: it is sealed under") != 3 {
			t.Errorf("exit %d %s%s", r.code, r.out, r.stderr)
		}
		r = edigw(t, "", env, "doctor")
		if r.code != exitFindings || !strings.Contains(r.out, `FAIL  private keys       key "2027" of north: the master key is missing`) {
			t.Errorf("exit %d %s", r.code, r.out)
		}
	})
	t.Run("a master key that others may read is told", func(t *testing.T) {
		if err := os.Chmod(file, 0o640); err != nil {
			t.Fatal(err)
		}
		if r := do("list"); r.code != 0 || r.stderr != "warning: "+file+" has mode 0640 and holds master_key: chmod 600 "+file+"\n" {
			t.Errorf("exit %d %s", r.code, r.stderr)
		}
		if r := edigw(t, "", []string{"EDIGW_DATA_DIR=" + g.dir, "EDIGW_MASTER_KEY_FILE=" + file}, "config", "check"); r.code != exitFindings || !strings.Contains(r.out, "has mode 0640 and holds master_key") {
			t.Errorf("exit %d %s", r.code, r.out)
		}
	})
	t.Run("without a master key it says how to make one", func(t *testing.T) {
		r := edigw(t, "", []string{"EDIGW_DATA_DIR=" + g.dir, "EDIGW_DATABASE_URL=" + g.url}, "keys", "create", "north", "x", "--for", "tls_client", "--sign-from", "now")
		if r.code != exitFailed || !strings.Contains(r.stderr, "openssl rand -base64 32") {
			t.Errorf("exit %d %s", r.code, r.stderr)
		}
		r = edigw(t, "", []string{"EDIGW_MASTER_KEY=short"}, "keys", "list")
		if r.code != exitUsage || strings.Contains(r.stderr, "short") {
			t.Errorf("exit %d %s", r.code, r.stderr)
		}
	})
}
