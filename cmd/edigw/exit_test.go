package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// leaves are all commands of the grammar.
func leaves(t *testing.T) []*kong.Node {
	t.Helper()
	a := &app{env: lookup(nil), stdout: &buffer{}, stderr: &buffer{}, grammar: &grammar{}}
	parser, err := a.parser(&settings{env: a.env})
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model.Leaves(false)
}

func flagOf(leaf *kong.Node, name string) *kong.Flag {
	for _, group := range leaf.AllFlags(false) {
		for _, f := range group {
			if f.Name == name {
				return f
			}
		}
	}
	return nil
}

func TestWhatIsShownIsShownToProgramsToo(t *testing.T) {
	shown := 0
	for _, leaf := range leaves(t) {
		if leaf.Name != "list" && leaf.Name != "show" || leaf.Path() == "keys show" { // which writes PEM
			continue
		}
		shown++
		f := flagOf(leaf, "output")
		if f == nil || f.Short != 'o' || !slices.Contains(strings.Split(f.Enum, ","), "json") {
			t.Errorf("%s has no -o json", leaf.Path())
		}
	}
	if shown < 10 {
		t.Errorf("only %d commands list or show: the test looks for the wrong thing", shown)
	}
}

func TestEveryCommandHelps(t *testing.T) {
	for _, leaf := range leaves(t) {
		r := edigw(t, "", nil, append(strings.Fields(leaf.FullPath())[1:], "--help")...)
		if r.code != exitOK || !strings.Contains(r.out, "Usage: edigw") || leaf.Help == "" || r.stderr != "" {
			t.Errorf("%s --help: exit %d, help %q\n%s%s", leaf.FullPath(), r.code, leaf.Help, r.out, r.stderr)
		}
		for _, group := range leaf.AllFlags(false) {
			for _, f := range group {
				if f.Help == "" {
					t.Errorf("%s: --%s says nothing", leaf.FullPath(), f.Name)
				}
			}
		}
	}
}

// TestExitCodesOfAGateway asks a gateway that answers every question alike.
func TestExitCodesOfAGateway(t *testing.T) {
	const refused = `{"type":"https://edigw.dev/problems/x","title":"No","status":400,"detail":"so"}`
	for _, c := range []struct {
		name   string
		status int
		answer string
		args   []string
		code   int
		stderr string // all of what has to stand in it
	}{
		{"a list", 200, `{"items":[]}`, []string{"partners", "list"}, exitOK, ""},
		{"a list for programs", 200, `{"items":[]}`, []string{"drift", "list", "-o", "json"}, exitOK, ""},
		{"the next page", 200, `{"items":[],"next":"abc"}`, []string{"messages", "list"}, exitOK, "there are more: add --cursor abc"},
		{"what the gateway refuses", 400, refused, []string{"partners", "list"}, exitFailed, "edigw: No: so"},
		{"nobody who may", 401, refused, []string{"tokens", "list"}, exitFailed, "edigw: No: so"},
		{"a gateway that has too much to do", 503, refused, []string{"users", "list"}, exitFailed, "edigw: No: so"},
		{"something that is no gateway", 200, `<html>`, []string{"partners", "list"}, exitFailed, "is not what this version expects"},
		{"an error of something that is no gateway", 404, `<html>`, []string{"partners", "list"}, exitFailed, "is the address right?"},
		{"what was revoked", 204, "", []string{"tokens", "revoke", "x"}, exitOK, "token x is revoked"},
		{"a flag that is not there", 200, "", []string{"partners", "list", "--nane", "x"}, exitUsage, "unknown flag --nane"},
		{"an argument too few", 200, "", []string{"partners", "show"}, exitUsage, `expected "<partner>"`},
		{"a word that is none of those allowed", 200, "", []string{"partners", "list", "-o", "xml"}, exitUsage, "--output must be one of"},
		{"a command that is not there", 200, "", []string{"partner", "list"}, exitUsage, `there is no command "partner"; there are: `},
		{"a number that is none", 200, "", []string{"messages", "list", "--limit", "many"}, exitUsage, "--limit"},
		{"dead letters of nobody", 200, "", []string{"deadletters", "replay"}, exitUsage, "name a partner"},
		{"a letter that is refused", 200, `{"items":[{"refused_because":{"partner":"acme","message_id":"k","code":"key-not-kept","why":["it is gone"]}}]}`,
			[]string{"deadletters", "replay", "acme", "k"}, exitFailed, "it is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer t" {
					t.Errorf("asked with %q", r.Header.Get("Authorization"))
				}
				w.WriteHeader(c.status)
				if _, err := w.Write([]byte(c.answer)); err != nil && c.status != http.StatusNoContent {
					t.Error(err)
				}
			}))
			defer server.Close()
			r := edigw(t, "", []string{"EDIGW_API=" + server.URL, "EDIGW_TOKEN=t"}, c.args...)
			if r.code != c.code || !strings.Contains(r.stderr, c.stderr) {
				t.Errorf("exit %d, want %d with %q\n%s%s", r.code, c.code, c.stderr, r.out, r.stderr)
			}
		})
	}
	t.Run("a gateway that is not there", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		r := edigw(t, "", []string{"EDIGW_API=" + server.URL, "EDIGW_TOKEN=t"}, "partners", "list")
		if r.code != exitFailed || !strings.Contains(r.stderr, "is the gateway running there?") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("an address without a token", func(t *testing.T) {
		r := edigw(t, "", []string{"EDIGW_API=http://127.0.0.1:1"}, "partners", "list")
		if r.code != exitUsage || !strings.Contains(r.stderr, "EDIGW_TOKEN_FILE") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("no gateway on this machine", func(t *testing.T) {
		r := edigw(t, "", []string{"EDIGW_DATA_DIR=" + t.TempDir()}, "partners", "list")
		if r.code != exitFailed || !strings.Contains(r.stderr, "start one with `edigw serve`") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
}
