package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConfigPrint(t *testing.T) {
	dir := t.TempDir()
	file, secret := filepath.Join(dir, "edigw.yaml"), filepath.Join(dir, "url")
	writeText(t, file, []byte("listen: 0.0.0.0:8443\nlog_format: json\nlog_level: warn\ntrusted_proxies: [10.0.0.1, 10.0.0.2]\n"))
	writeText(t, secret, []byte("postgres://edigw:geheim@db/edigw\n"))
	env := []string{"EDIGW_CONFIG=" + file, "EDIGW_LOG_LEVEL=debug", "EDIGW_DATABASE_URL_FILE=" + secret, "EDIGW_TOKEN=edigw_secret", "EDIGW_DATA_DIR=" + dir}
	r := edigw(t, "", env, "config", "print", "--ops-listen", "127.0.0.1:9999", "--workers=5", "-o", "json")
	if r.code != 0 {
		t.Fatalf("exit %d %s", r.code, r.stderr)
	}
	var told struct{ Items []setting }
	if err := json.Unmarshal([]byte(r.out), &told); err != nil {
		t.Fatal(err)
	}
	by := map[string]string{}
	for _, s := range told.Items {
		by[s.Key] = s.Value + " from " + s.Origin
	}
	for key, want := range map[string]string{
		"ops_listen":      "127.0.0.1:9999 from flag",
		"workers":         "5 from flag",
		"log_level":       "debug from $EDIGW_LOG_LEVEL",
		"log_format":      "json from " + file,
		"listen":          "0.0.0.0:8443 from " + file,
		"trusted_proxies": "10.0.0.1,10.0.0.2 from " + file,
		"database_url":    "(not shown) from $EDIGW_DATABASE_URL_FILE, " + secret,
		"token":           "(not shown) from $EDIGW_TOKEN",
		"tls_cert":        " from default",
		"stop_timeout":    "30s from default",
		"data_dir":        dir + " from $EDIGW_DATA_DIR",
	} {
		t.Run(key+" says where it comes from", func(t *testing.T) {
			if by[key] != want {
				t.Errorf("got %s, want %s", by[key], want)
			}
		})
	}
	t.Run("no secret is shown, in whatever form", func(t *testing.T) {
		table := edigw(t, "", env, "config", "print")
		for _, out := range []string{r.out, table.out} {
			if strings.Contains(out, "geheim") || strings.Contains(out, "edigw_secret") {
				t.Errorf("%s", out)
			}
		}
		if !strings.HasPrefix(table.out, "SETTING ") {
			t.Errorf("%s", table.out)
		}
	})
	t.Run("every setting of the reference is in it", func(t *testing.T) {
		if len(told.Items) < 25 || !slices.IsSortedFunc(told.Items, func(a, b setting) int { return strings.Compare(a.Key, b.Key) }) {
			t.Errorf("%d settings", len(told.Items))
		}
	})
}

func TestConfigCheck(t *testing.T) {
	check := func(environ []string, args ...string) ran {
		t.Helper()
		var out, stderr bytes.Buffer
		a := &app{ctx: t.Context(), stdout: &out, stderr: &stderr, env: lookup(environ), environ: func() []string { return environ }}
		code := a.end(append([]string{"config", "check"}, args...))
		return ran{out: out.String(), stderr: stderr.String(), code: code}
	}
	dir := t.TempDir()
	cert, key := selfSigned(t, dir, "gw")
	t.Run("settings with which nothing is wrong", func(t *testing.T) {
		if r := check([]string{"EDIGW_DATA_DIR=" + dir, "PATH=/bin"}); r.code != 0 || !strings.Contains(r.out, "nothing is wrong with them") {
			t.Errorf("exit %d %s%s", r.code, r.out, r.stderr)
		}
	})
	for want, c := range map[string]struct {
		environ []string
		args    []string
	}{
		"EDIGW_LISTN        is set, and is no setting":  {[]string{"EDIGW_LISTN=x"}, nil},
		"is no address and no network":                  {[]string{"EDIGW_TRUSTED_PROXIES=10.0.0"}, nil},
		"ingress TLS        ":                           {nil, []string{"--tls-cert", cert, "--tls-key", cert}},
		"renew it":                                      {nil, []string{"--tls-cert", cert, "--tls-key", key}},
		"master_key         the master key must be":     {[]string{"EDIGW_MASTER_KEY=short"}, nil},
		"token              environment: both":          {[]string{"EDIGW_TOKEN=a", "EDIGW_TOKEN_FILE=b"}, nil},
		"ops_listen         127.0.0.1:1 is that of":     {nil, []string{"--listen", "127.0.0.1:1", "--ops-listen", "127.0.0.1:1"}},
		"FAIL  tables":                                  {[]string{"EDIGW_TABLES=" + dir + "/none"}, nil},
		"partner_token      environment: EDIGW_PARTNER": {[]string{"EDIGW_PARTNER_TOKEN_FILE=" + dir + "/none"}, nil},
	} {
		t.Run("what is wrong is a finding: "+want, func(t *testing.T) {
			r := check(append(c.environ, "EDIGW_DATA_DIR="+dir), c.args...)
			if r.code != exitFindings || !strings.Contains(r.out, want) {
				t.Errorf("exit %d %s%s", r.code, r.out, r.stderr)
			}
		})
	}
	t.Run("a private key that everybody can read is a finding, and one of a group is none", func(t *testing.T) {
		for mode, known := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true} {
			if err := os.Chmod(key, mode); err != nil {
				t.Fatal(err)
			}
			r := check([]string{"EDIGW_DATA_DIR=" + dir}, "--tls-cert", cert, "--tls-key", key)
			if told := strings.Contains(r.out, fmt.Sprintf("%s has mode %04o: everybody", key, mode)); told != known {
				t.Errorf("%o: %s%s", mode, r.out, r.stderr)
			}
		}
	})
	t.Run("what cannot be read at all is wrong usage", func(t *testing.T) {
		for says, environ := range map[string]string{"workers": "EDIGW_WORKERS=many", "log-level": "EDIGW_LOG_LEVEL=loud"} {
			if r := check([]string{environ}); r.code != exitUsage || !strings.Contains(r.stderr, says) {
				t.Errorf("%s: exit %d %s", environ, r.code, r.stderr)
			}
		}
	})
	t.Run("a variable of another command is read as well", func(t *testing.T) {
		if r := check([]string{"EDIGW_DATA_DIR=" + dir, "EDIGW_DATABASE_CONNECTIONS=x"}); r.code == 0 {
			t.Errorf("%s", r.out)
		}
	})
}

func TestCompletion(t *testing.T) {
	for typed, want := range map[string]string{
		"part":                             "partners",
		"partners e":                       "export",
		"partners export -o j":             "",
		"partners list -o ":                "json table",
		"partners list --output j":         "json",
		"partners list --output=t":         "--output=table",
		"partners diff --fi":               "--file",
		"serve --log-f":                    "--log-format",
		"serve --log-format json --log-l":  "--log-level",
		"keys rotate north 2026 --ov":      "--overlap",
		"tokens create --role ap":          "approver",
		"--data-dir x partners set a o":    "",
		"partners apply --file part":       "",
		"completion ":                      "bash fish words zsh",
		"nothing of ours":                  "",
		"partners list --no-such-flag pa":  "",
		"config pri":                       "print",
		"--config edigw.yaml config check": "check",
	} {
		t.Run("edigw "+typed, func(t *testing.T) {
			r := edigw(t, "", nil, append([]string{"completion", "words", "--"}, strings.Split(typed, " ")...)...)
			if diff := cmp.Diff(want, strings.Join(strings.Fields(r.out), " ")); r.code != 0 || diff != "" {
				t.Errorf("exit %d %s %s", r.code, r.stderr, diff)
			}
		})
	}
	t.Run("bash takes its script, and completes by it", func(t *testing.T) {
		dir := t.TempDir()
		script := edigw(t, "", nil, "completion", "bash").out
		// The words come from a stand-in for the program, which writes what it was asked.
		fake := "#!/bin/sh\nshift 3\nprintf '%s\\n' \"$#\" \"$@\"\n"
		if err := os.WriteFile(filepath.Join(dir, "edigw"), []byte(fake), 0o700); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), "bash", "-euc", script+"\nCOMP_WORDS=(edigw partners 'a b' --f rest) COMP_CWORD=3\n_edigw\nprintf '[%s]' \"${COMPREPLY[@]}\"")
		c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if err != nil || string(out) != "[3][partners][a b][--f]" {
			t.Errorf("%v %s", err, out)
		}
	})
	t.Run("bash completes the value behind =, which it cuts off", func(t *testing.T) {
		script := edigw(t, "", nil, "completion", "bash").out
		dir := t.TempDir()
		// A stand-in that notes what it is asked.
		fake := "#!/bin/sh\nshift 3\necho \"$*\" >>" + filepath.Join(dir, "asked") + "\ncase \"$*\" in *--output=) printf '%s\\n' --output=json --output=table;; *--output=j) echo --output=json;; *) echo none;; esac\n"
		if err := os.WriteFile(filepath.Join(dir, "edigw"), []byte(fake), 0o700); err != nil {
			t.Fatal(err)
		}
		for words, want := range map[string]string{
			"edigw partners list --output =":          "partners list --output=[json][table]",
			"edigw partners list --output = j":        "partners list --output=j[json]",
			"edigw partners list --output = json --l": "partners list --output=json --l[none]",
			"edigw audit list --from = a = b":         "audit list --from=a = b[none]",
		} {
			c := exec.CommandContext(t.Context(), "bash", "-euc", script+"\nCOMP_WORDS=("+words+") COMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_edigw\ntail -n 1 "+filepath.Join(dir, "asked")+" | tr -d '\\n'\nprintf '[%s]' \"${COMPREPLY[@]}\"")
			c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			if out, err := c.CombinedOutput(); err != nil || string(out) != want {
				t.Errorf("%s: %v %s", words, err, out)
			}
		}
	})
	for _, shell := range []string{"zsh", "fish"} {
		t.Run(shell+" has a script that asks the program", func(t *testing.T) {
			if out := edigw(t, "", nil, "completion", shell).out; !strings.Contains(out, "edigw completion words -- ") {
				t.Errorf("%s", out)
			}
		})
	}
}

// TestExitCodes holds the table of the reference against commands that end so.
func TestExitCodes(t *testing.T) {
	text := read(t, "../../docs/reference/cli.md")
	for code, c := range map[string]struct {
		want int
		args []string
	}{
		"| 0 | done |":                         {exitOK, []string{"version"}},
		"| 1 | failed |":                       {exitFailed, []string{"partners", "list", "--data-dir", t.TempDir()}},
		"| 2 | the command was used wrongly |": {exitUsage, []string{"partners", "lst"}},
		"| 3 | done, with findings":            {exitFindings, []string{"diff", "testdata/invoice.edi", "testdata/changed.edi"}},
	} {
		t.Run(code, func(t *testing.T) {
			if !strings.Contains(text, code) {
				t.Error("the reference does not say so")
			}
			if r := edigw(t, "", nil, c.args...); r.code != c.want {
				t.Errorf("%v: exit %d %s", c.args, r.code, r.stderr)
			}
		})
	}
	t.Run("| 5 | partly done |", func(t *testing.T) {
		g := serveGateway(t)
		g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
		dir := t.TempDir()
		for _, name := range []string{"invoice.edi", "wrong-count.edi"} {
			b, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			writeText(t, filepath.Join(dir, name), bytes.ReplaceAll(b, []byte("REF000709"), []byte("R"+name[:5])))
		}
		if r := g.do("ingest", dir, "--partner", "acme"); r.code != exitPartly || !strings.Contains(text, "| 5 | partly done |") {
			t.Errorf("exit %d %s%s", r.code, r.out, r.stderr)
		}
	})
}
