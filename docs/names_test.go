package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// found are the first groups of all matches in the files that a pattern names.
func found(t *testing.T, files, what string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, files))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, m := range regexp.MustCompile(what).FindAllStringSubmatch(string(b), -1) {
			names = append(names, m[1])
		}
	}
	if len(names) == 0 {
		t.Fatalf("nothing in %s is like %s: the test looks for the wrong thing", files, what)
	}
	return names
}

func TestListsAreComplete(t *testing.T) {
	for _, c := range []struct{ name, files, what, page string }{
		{"tables", "migrations/*.sql", `(?m)^create table (\w+) \(`, "docs/explanation/architecture.md"},
		{"reasons", "httpin/*.go", `reason: +"([a-z-]+)"`, "docs/reference/metrics.md"},
		{"reasons of AS2", "as2/*.go", `reason: +"([a-z0-9-]+)"`, "docs/reference/metrics.md"},
		{"faults of AS2", "as2/fault.go", `(?m)^\t[a-zA-Z]+ += "([a-z-]+)"$`, "docs/reference/metrics.md"},
		{"fields of the log", "gateway/logline.go", `add\(slog\.\w+\("(\w+)"`, "docs/how-to/monitor.md"},
		{"peers", "bench/peers/peers.go", `(?m)^\t\{"([a-z0-9-]+)", "\d`, "docs/explanation/other-parsers.md"},
		{"make's targets that a stranger needs", "Makefile", `(?m)^(demo|test|bench|big|model|crash|verify):`, "README.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := readPage(t, c.page).text
			for _, name := range found(t, c.files, c.what) {
				if !regexp.MustCompile("`(make )?" + name + "`").MatchString(text) {
					t.Errorf("%s does not name %s", c.page, name)
				}
			}
		})
	}
}
