package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReference holds the list of findings in the documentation against the code.
func TestReference(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/documents.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z]+(?:-[a-z]+)+) \| (?:error|warning|note)`).FindAllStringSubmatch(string(page), -1) {
		documented[row[1]] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?:m\.warn\(|m\.note\(|m\.report\([a-zA-Z.]+, |Code: )"([a-z-]+)"`)
	used := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(source), -1) {
			used[m[1]] = true
		}
	}
	if len(used) < 20 {
		t.Fatalf("found only %d codes", len(used))
	}
	for code := range used {
		if !documented[code] {
			t.Errorf("finding %s is not in docs/reference/documents.md", code)
		}
	}
	for code := range documented {
		if !used[code] {
			t.Errorf("docs/reference/documents.md lists %s, which nothing reports", code)
		}
	}
}
