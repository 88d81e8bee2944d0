package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestAnApplyUndoesNobodysWork(t *testing.T) {
	g := serveGateway(t)
	dir := t.TempDir()
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	file := filepath.Join(dir, "mine.yaml")
	text := g.must(nil, "partners", "export", "acme").out
	g.must(nil, "partners", "set", "acme", "on_drift=hold", "attempts=4", "types=[INVOIC, 810, DESADV, 856, ORDERS]")
	for _, c := range []struct{ before, after, want string }{
		{"acceptance: interchange", "acceptance: message", "partner acme: attempts: 4 → 5 (revision 2 by local, "},
		{"attempts: 5", "attempts: 7", "partner acme: on_drift: hold → reject (revision 2 by local, "},
	} {
		edited := strings.Replace(text, c.before, c.after, 1)
		if edited == text {
			t.Fatalf("%q is not in\n%s", c.before, text)
		}
		writeText(t, file, []byte(edited))
		r := g.do("partners", "apply", "-f", file)
		if r.code != exitFailed || !strings.Contains(r.stderr, "nothing was changed: it would undo what was changed since the file was exported\n") || !strings.Contains(r.stderr, c.want) ||
			!strings.Contains(r.stderr, `types: ["810","856","DESADV","INVOIC","ORDERS"] → ["810","856","DESADV","INVOIC"]`) {
			t.Errorf("exit %d: %s%s", r.code, r.out, r.stderr)
		}
		if strings.Contains(r.stderr, "attempts: 4 → 7") {
			t.Errorf("what both have changed is told as undone: %s", r.stderr)
		}
	}
	r := g.must(nil, "partners", "apply", "-f", file, "--overwrite")
	if !strings.Contains(r.out, "attempts: 4 → 7") || strings.Count(r.stderr, "overwritten: partner acme: ") != 3 {
		t.Errorf("%s%s", r.out, r.stderr)
	}
	t.Run("and an apply of one's own in between is no matter", func(t *testing.T) {
		text := strings.Replace(g.must(nil, "partners", "export", "acme").out, "attempts: 7", "attempts: 8", 1)
		for _, attempts := range []string{"attempts: 8", "attempts: 9"} {
			writeText(t, file, []byte(strings.Replace(text, "attempts: 8", attempts, 1)))
			g.must(nil, "partners", "apply", "-f", file)
		}
	})
	t.Run("however many revisions came between", func(t *testing.T) {
		text := g.must(nil, "partners", "export", "acme").out
		g.must(nil, "partners", "set", "acme", "on_drift=hold")
		for i := range 60 { // more than a page
			g.must(nil, "partners", "set", "acme", "attempts="+strconv.Itoa(2+i%2))
		}
		edited := strings.Replace(text, "acceptance: interchange", "acceptance: message", 1)
		if edited == text {
			t.Fatal(text)
		}
		writeText(t, file, []byte(edited))
		if r := g.do("partners", "apply", "-f", file); r.code != exitFailed || !strings.Contains(r.stderr, "it would undo what was changed since the file was exported") || !strings.Contains(r.stderr, "on_drift: hold → reject") {
			t.Errorf("exit %d: %s%s", r.code, r.out, r.stderr)
		}
		g.must(nil, "partners", "set", "acme", "attempts=9", "on_drift=reject")
	})
	t.Run("a revision of another gateway, of the same number, says nothing", func(t *testing.T) {
		text := g.must(nil, "partners", "export", "acme").out
		at := strings.Index(text, "# Partner acme, revision ")
		heading := text[at : at+strings.Index(text[at:], "\n")]
		writeText(t, file, []byte(strings.Replace(strings.Replace(text, heading, "# Partner acme, revision 1 of 2020-01-01T00:00:00Z", 1), "attempts: 9", "attempts: 5", 1)))
		g.must(nil, "partners", "apply", "-f", file)
	})
}

func TestUndoes(t *testing.T) {
	for name, c := range map[string]struct {
		base, now, after string
		want             bool
	}{
		"the old value":                     {"5", "4", "5", true},
		"another value":                     {"5", "4", "7", false},
		"an item that was added is missing": {`["a"]`, `["a","b"]`, `["a","c"]`, true},
		"an item that was added is there":   {`["a"]`, `["a","b"]`, `["a","b","c"]`, false},
		"an item that was taken out":        {`["a","b"]`, `["a"]`, `["a","b","c"]`, true},
		"the first item that was added":     {"", `["a"]`, `["b"]`, true},
		"of objects":                        {`[{"id":"a"}]`, `[{"id":"a"},{"id":"b"}]`, `[{"id":"a"},{"id":"b"},{"id":"c"}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := undoes(c.base, c.now, c.after); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
