package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatGoesInTheClearIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		flags listenFlags
		want  string
	}{
		"this machine alone":           {listenFlags{Listen: "127.0.0.1:8080", OpsListen: "[::1]:8081"}, ""},
		"by its name":                  {listenFlags{Listen: "localhost:8080", OpsListen: "127.9.9.9:8081"}, ""},
		"every address":                {listenFlags{Listen: ":8080", OpsListen: "[::]:8081"}, "--listen --ops-listen"},
		"an address of the network":    {listenFlags{Listen: "10.0.0.5:8080", OpsListen: "127.0.0.1:8081"}, "--listen"},
		"a name":                       {listenFlags{Listen: "127.0.0.1:8080", OpsListen: "gateway.example:8081"}, "--ops-listen"},
		"IPv4 as IPv6":                 {listenFlags{Listen: "[::ffff:127.0.0.1]:8080", OpsListen: "[::ffff:10.0.0.5]:8081"}, "--ops-listen"},
		"with TLS":                     {listenFlags{Listen: ":8443", TLSCert: "a", TLSKey: "b", OpsListen: ":8444", OpsTLSCert: "a", OpsTLSKey: "b"}, ""},
		"with TLS for partners alone":  {listenFlags{Listen: ":8443", TLSCert: "a", TLSKey: "b", OpsListen: ":8081"}, "--ops-listen"},
		"behind a proxy that ends TLS": {listenFlags{Listen: ":8080", OpsListen: ":8081", TrustedProxies: []string{"10.0.0.1"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, told := range c.flags.inTheClear() {
				got = append(got, told.flag)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("by doctor and config check, as a finding", func(t *testing.T) {
		for _, args := range [][]string{{"config", "check"}, {"doctor", "--database-url", "postgres:///?host=" + t.TempDir()}} {
			r := edigw(t, "", []string{"EDIGW_DATA_DIR=" + t.TempDir()}, append(args, "--listen", "0.0.0.0:0", "--ops-listen", "127.0.0.1:0")...)
			if r.code != exitFindings || !strings.Contains(r.out, "FAIL  plain HTTP         --listen 0.0.0.0:0: what is sent there, tokens too, can be read on the way") || !strings.Contains(r.out, "--tls-cert") || strings.Contains(r.out, "--ops-listen 127") {
				t.Errorf("%v: exit %d %s%s", args, r.code, r.out, r.stderr)
			}
		}
	})
	t.Run("in the log at the start", func(t *testing.T) {
		g := serveGateway(t, "--ops-listen", "0.0.0.0:0")
		if want := `level=WARN msg="what is sent there can be read on the way" flag=--ops-listen address=0.0.0.0:0`; !strings.Contains(g.log.String(), want) || strings.Contains(g.log.String(), "flag=--listen") {
			t.Errorf("%s", g.log)
		}
	})
}

func TestSecretsThatOthersMayReadAreTold(t *testing.T) {
	dir := t.TempDir()
	file, config := filepath.Join(dir, "token"), filepath.Join(dir, "edigw.yaml")
	writeText(t, file, []byte("edigw_t_x\n"))
	writeText(t, config, []byte("master_key: "+strings.Repeat("ab", 32)+"\n"))
	env := []string{"EDIGW_DATA_DIR=" + dir, "EDIGW_TOKEN_FILE=" + file, "EDIGW_CONFIG=" + config}
	if r := edigw(t, "", env, "config", "check"); r.code != exitOK {
		t.Fatalf("exit %d %s%s", r.code, r.out, r.stderr)
	}
	for _, name := range []string{file, config} {
		for mode, known := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o602: true} {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
			r := edigw(t, "", env, "config", "check")
			if told := strings.Contains(r.out, "FAIL  secrets            "+name+" has mode "); told != known || (r.code == exitFindings) != known || strings.Contains(r.out, "abab") {
				t.Errorf("%s %o: exit %d %s%s", name, mode, r.code, r.out, r.stderr)
			}
		}
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
