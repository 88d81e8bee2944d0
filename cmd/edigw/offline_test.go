package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ran is what a command did.
type ran struct {
	code        int
	out, stderr string
}

// edigw runs a whole command in this process. env is NAME=value; nothing else
// stands in its environment.
func edigw(t *testing.T, stdin string, env []string, args ...string) ran {
	t.Helper()
	var out, stderr bytes.Buffer
	code := Run(t.Context(), args, strings.NewReader(stdin), &out, &stderr, lookup(env))
	return ran{code, out.String(), stderr.String()}
}

func lookup(env []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, e := range env {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v, true
			}
		}
		return "", false
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestInspect(t *testing.T) {
	for _, c := range []struct {
		name  string
		stdin string
		args  []string
		code  int
		want  string // file in testdata
	}{
		{"a sound interchange", "", []string{"testdata/invoice.edi"}, 0, "inspect.txt"},
		{"a sound interchange as JSON", "", []string{"testdata/invoice.edi", "-o", "json"}, 0, "inspect.json"},
		{"from standard input", read(t, "testdata/invoice.edi"), []string{"-", "-o", "json"}, 0, "inspect.json"},
		{"a wrong count", "", []string{"testdata/wrong-count.edi"}, 3, "inspect-wrong.txt"},
		{"a wrong count as JSON", "", []string{"testdata/wrong-count.edi", "-o", "json"}, 3, "inspect-wrong.json"},
		{"every segment", "", []string{"testdata/invoice.edi", "--segments"}, 0, "inspect-segments.txt"},
		{"every segment as JSON", "", []string{"testdata/invoice.edi", "--segments", "-o", "json"}, 0, "inspect-segments.json"},
		{"packages in packages", "", []string{"testdata/despatch.x12", "--tree"}, 0, "inspect-tree.txt"},
		{"packages in packages as JSON", "", []string{"testdata/despatch.x12", "--tree", "-o", "json"}, 0, "inspect-tree.json"},
		{"the place of an error in X12", "", []string{"testdata/despatch-faulty.x12"}, 3, "inspect-faulty-x12.txt"},
		{"what CONTRL and APERAK say of what", "", []string{"testdata/answers.edi"}, 0, "inspect-answers.txt"},
		{"what CONTRL and APERAK say, as JSON", "", []string{"testdata/answers.edi", "-o", "json"}, 0, "inspect-answers.json"},
		{"what TA1, 997 and 824 say of what, and that counts differ", "", []string{"testdata/answers.x12"}, 0, "inspect-answers-x12.txt"},
		{"nothing", "", []string{"-", "-o", "json"}, 3, "inspect-empty.json"},
		{"something else", "Dear Sir or Madam", []string{"-", "-o", "json"}, 3, "inspect-text.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edigw(t, c.stdin, nil, append([]string{"inspect"}, c.args...)...)
			if got.code != c.code || got.stderr != "" {
				t.Errorf("exit %d, want %d; stderr %q", got.code, c.code, got.stderr)
			}
			golden(t, c.want, got.out)
			if strings.HasSuffix(c.want, ".json") && !json.Valid([]byte(got.out)) {
				t.Error("no JSON")
			}
		})
	}
}

func TestInspectTellsEveryInterchangeAndMessage(t *testing.T) {
	two := read(t, "testdata/invoice.edi") + "\r\n" + strings.ReplaceAll(read(t, "testdata/wrong-count.edi"), "UNT+18+", "UNT+17+")
	got := edigw(t, two, nil, "inspect", "-", "-o", "json")
	var answer struct {
		Interchanges []struct {
			Syntax           string
			Sender           party
			ControlReference string `json:"control_reference"`
			MessageID        string `json:"message_id"`
			Payload          string `json:"payload_sha256"`
			Content          string `json:"content_sha256"`
			Messages         []inspectedMessage
		}
		Findings []struct{ Severity, Code string }
	}
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Interchanges) != 2 || len(answer.Interchanges[0].Messages) != 1 || len(answer.Interchanges[1].Messages) != 2 || len(answer.Findings) != 0 {
		t.Fatalf("%s", got.out)
	}
	want := inspectedMessage{Type: "INVOIC", Version: "D.96A.EAN008", Reference: "2", DocumentNumber: "RG-9", Segments: 17}
	if diff := cmp.Diff(want, answer.Interchanges[1].Messages[1]); diff != "" {
		t.Error(diff)
	}
}

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"an amount", []string{"testdata/invoice.edi", "testdata/changed.edi"}, 3, "diff.txt"},
		{"an amount in two columns", []string{"-y", "testdata/invoice.edi", "testdata/changed.edi"}, 3, "diff-columns.txt"},
		{"an amount as JSON", []string{"-o", "json", "testdata/invoice.edi", "testdata/changed.edi"}, 3, "diff.json"},
		{"a quantity and a package of X12", []string{"testdata/despatch.x12", "testdata/despatch-changed.x12"}, 3, "diff-x12.txt"},
		{"nothing", []string{"testdata/invoice.edi", "testdata/invoice.edi"}, 0, "diff-same.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edigw(t, "", nil, append([]string{"diff"}, c.args...)...)
			if got.code != c.code || got.stderr != "" {
				t.Errorf("exit %d, want %d; stderr %q", got.code, c.code, got.stderr)
			}
			golden(t, c.want, got.out)
		})
	}
	t.Run("in colour when told to", func(t *testing.T) {
		got := edigw(t, read(t, "testdata/changed.edi"), nil, "diff", "--color", "always", "testdata/invoice.edi", "-")
		if !strings.Contains(got.out, "\x1b[31m") {
			t.Errorf("no colour in %q", got.out)
		}
	})
}

// golden compares with a file of testdata; EDIGW_GOLDEN=write makes it anew.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("EDIGW_GOLDEN") == "write" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, path), got); diff != "" {
		t.Errorf("%s (-) and got (+):\n%s", path, diff)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		env    []string
		stderr string
	}{
		{"an unknown command", []string{"inspct", "x"}, nil, `edigw: there is no command "inspct"; there are: serve, demo, inspect, `},
		{"an unknown flag", []string{"inspect", "--fast", "x"}, nil, "edigw: unknown flag --fast; see edigw --help"},
		{"a value that is none", []string{"inspect", "-o", "xml", "x"}, nil, `edigw: --output must be one of "table","json" but got "xml"; see edigw --help`},
		{"a folder to inspect", []string{"inspect", "testdata"}, nil, "edigw: testdata is a folder; name a file in it, or - for standard input"},
		{"twice standard input", []string{"diff", "-", "-"}, nil, "edigw: only one of the two can be standard input"},
		{"an API without a token", []string{"messages", "list", "--api", "http://127.0.0.1:1"}, nil, "edigw: --api is given without a token: add --token, EDIGW_TOKEN or EDIGW_TOKEN_FILE; `edigw tokens create` makes one"},
		{"an API that is no address", []string{"messages", "list", "--api", "localhost", "--token", "x"}, nil, `edigw: --api must be an address like http://127.0.0.1:8081, not "localhost"`},
		{"a secret twice", []string{"messages", "list"}, []string{"EDIGW_API=http://127.0.0.1:1", "EDIGW_TOKEN=a", "EDIGW_TOKEN_FILE=b"}, "edigw: --token: both EDIGW_TOKEN and EDIGW_TOKEN_FILE are set; leave one out; see edigw --help"},
		{"a settings file that is not there", []string{"version", "--config", "nowhere.yaml"}, nil, "edigw: read the settings: open nowhere.yaml: no such file or directory; name another file with --config"},
		{"a setting from the environment that is none", []string{"serve"}, []string{"EDIGW_LOG_LEVEL=loud"}, `edigw: --log-level must be one of "debug","info","warn","error" but got "loud"; see edigw --help`},
		{"a token that ends before it begins", []string{"tokens", "create", "--role", "viewer", "--expires=-1h"}, nil, "edigw: --expires must be a while like 2160h, not -1h0m0s"},
		{"a partner's, too", []string{"partners", "token", "acme", "--label", "x", "--expires=-1h", "--api", "http://127.0.0.1:1", "--token", "x"}, nil, "edigw: --expires must be a while like 2160h, not -1h0m0s"},
		{"more days than a duration holds", []string{"keys", "create", "north", "2026", "--for", "as2_sign", "--days", "250000"}, nil, "edigw: --days must be a number of days from 0 to 73000, not 250000"},
		{"of an overlap", []string{"keys", "rotate", "north", "2026", "--to", "2027", "--overlap", "250000"}, nil, "edigw: --overlap must be a number of days from 0 to 73000, not 250000"},
		{"an ingest of several files under one id", []string{"ingest", "testdata", "--partner", "x", "--message-id", "m"}, nil, "edigw: --message-id names one message; testdata holds "},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edigw(t, "", c.env, c.args...)
			if got.code != exitUsage || !strings.HasPrefix(got.stderr, c.stderr) || got.out != "" {
				t.Errorf("exit %d, stdout %q, stderr %q", got.code, got.out, got.stderr)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		name   string
		args   []string
		stderr string
	}{
		{"a file that is not there", []string{"inspect", "nowhere.edi"}, "edigw: open nowhere.edi: no such file or directory\n"},
		{"no gateway on this machine", []string{"messages", "list", "--data-dir", empty}, "start one with `edigw serve`, name its data folder with --data-dir, or give --api and --token\n"},
		{"no gateway to send to", []string{"ingest", "testdata/invoice.edi", "--partner", "x", "--data-dir", empty}, "or give --ingress and --partner-token\n"},
		{"a gateway that does not answer", []string{"messages", "list", "--api", "http://127.0.0.1:1", "--token", "x"}, "is the gateway running there? `edigw doctor` tells more\n"},
		{"partners that are wrong", []string{"partners", "apply", "-f", "testdata/wrong.yaml", "--data-dir", empty}, "edigw: nothing was changed:\ntestdata/wrong.yaml:4:1: nane: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edigw(t, "", nil, c.args...)
			if got.code != exitFailed || !strings.Contains(got.stderr, c.stderr) || got.out != "" {
				t.Errorf("exit %d, stdout %q, stderr %q", got.code, got.out, got.stderr)
			}
		})
	}
}

// TestSettings shows where a setting comes from by the address that is tried.
func TestSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("edigw.yaml", "api: http://127.0.0.1:3\ntoken: from-file\nlog_level: warn\n")
	secret := write("token", "from-secret-file\n")
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"the file", nil, []string{"--config", file}, "127.0.0.1:3"},
		{"the file that the environment names", []string{"EDIGW_CONFIG=" + file}, nil, "127.0.0.1:3"},
		{"the environment before the file", []string{"EDIGW_API=http://127.0.0.1:2"}, []string{"--config=" + file}, "127.0.0.1:2"},
		{"the flag before both", []string{"EDIGW_API=http://127.0.0.1:2"}, []string{"--config", file, "--api", "http://127.0.0.1:1"}, "127.0.0.1:1"},
		{"a secret from a file of its own", []string{"EDIGW_API=http://127.0.0.1:2", "EDIGW_TOKEN_FILE=" + secret}, nil, "127.0.0.1:2"},
		{"a secret from a file that is not there", []string{"EDIGW_API=http://127.0.0.1:2", "EDIGW_TOKEN_FILE=nowhere"}, nil, "EDIGW_TOKEN_FILE: open nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edigw(t, "", c.env, append([]string{"messages", "list"}, c.args...)...)
			if !strings.Contains(got.stderr, c.want) {
				t.Errorf("exit %d, stderr %q", got.code, got.stderr)
			}
		})
	}
	t.Run("a secret that is there and empty is not taken for one that is not given", func(t *testing.T) {
		hollow, blank := write("hollow", "\n"), write("hollow.yaml", "database_url: \"\"\n")
		for want, c := range map[string]struct {
			env  []string
			args []string
		}{
			"EDIGW_DATABASE_URL_FILE: " + hollow + " is empty: write the value into it": {[]string{"EDIGW_DATABASE_URL_FILE=" + hollow}, nil},
			"EDIGW_DATABASE_URL is set, and empty: give it a value, or unset it":        {[]string{"EDIGW_DATABASE_URL="}, nil},
			blank + ": database_url is empty: give it a value":                          {nil, []string{"--config", blank}},
			"--database-url is empty: give it a value":                                  {nil, []string{"--database-url", " "}},
		} {
			got := edigw(t, "", append(c.env, "EDIGW_DATA_DIR="+filepath.Join(dir, "data")), append([]string{"migrate"}, c.args...)...)
			if got.code != exitUsage || !strings.Contains(got.stderr, want) {
				t.Errorf("exit %d, stderr %q", got.code, got.stderr)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "data")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a database was begun: %v", err)
		}
		if got := edigw(t, "", []string{"EDIGW_FORMER_MASTER_KEYS=", "EDIGW_DATA_DIR=" + dir}, "config", "check"); got.code != exitOK {
			t.Errorf("an empty list: exit %d %s%s", got.code, got.out, got.stderr)
		}
	})
	t.Run("a value of the file is what stands there, not what YAML makes of it", func(t *testing.T) {
		digits := strings.Repeat("0123456789", 6) + "0123"
		for text, want := range map[string]string{
			"master_key: " + digits + "\ndata_dir: 0755\n": "",
			"listen:\n":                       "edigw.yaml:1: listen has no value; leave the line out",
			"workers: 3\ndata_dir: ~\n":       "edigw.yaml:2: data_dir has no value",
			"listen:\n  port: 8080\n":         "edigw.yaml:1: listen must be a value, or a list of them, and has keys of its own",
			"workers: 3\nworkers: 4\n":        "workers",
			"workers: 3\n---\nlisten: x\n":    "holds 2 YAML documents; write all settings into one",
			"workers: 99999999999999999999\n": "99999999999999999999",
		} {
			got := edigw(t, "", nil, "config", "print", "--config", write("edigw.yaml", text))
			if want == "" && (got.code != exitOK || !regexp.MustCompile(`data_dir +0755 `).MatchString(got.out)) || want != "" && (got.code != exitUsage || !strings.Contains(got.stderr, want)) {
				t.Errorf("%q: exit %d %s%s", text, got.code, got.out, got.stderr)
			}
		}
		got := edigw(t, "", []string{"EDIGW_DATA_DIR=" + dir}, "config", "check", "--config", write("edigw.yaml", "master_key: "+digits+"\n"))
		if got.code != exitOK {
			t.Errorf("a key of digits: exit %d %s%s", got.code, got.out, got.stderr)
		}
	})
	t.Run("a key that is no setting is an error with those that are", func(t *testing.T) {
		got := edigw(t, "", nil, "version", "--config", write("bad.yaml", "lisetn: x\n"))
		if got.code != exitUsage || !strings.Contains(got.stderr, `there is no setting "lisetn"; there are: acknowledgement_dir, allow_targets, api, `) {
			t.Errorf("exit %d, stderr %q", got.code, got.stderr)
		}
	})
	t.Run("a flag that is no setting cannot stand in the file", func(t *testing.T) {
		got := edigw(t, "", nil, "version", "--config", write("bad.yaml", "output: json\n"))
		if got.code != exitUsage {
			t.Errorf("exit %d, stderr %q", got.code, got.stderr)
		}
	})
}

func TestVersion(t *testing.T) {
	if got := edigw(t, "", nil, "version"); got.code != 0 || !strings.HasPrefix(got.out, "edigw ") || strings.Count(got.out, "\n") != 1 {
		t.Errorf("%+v", got)
	}
}
