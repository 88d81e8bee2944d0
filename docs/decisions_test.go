package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A decision is spoken of by its number.
func TestDecisionsAreNumbered(t *testing.T) {
	files, err := filepath.Glob("decisions/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d decisions, %v", len(files), err)
	}
	name := regexp.MustCompile(`^([0-9]{4})-[a-z0-9-]+\.md$`)
	by := map[int]string{}
	for _, file := range files {
		parts := name.FindStringSubmatch(filepath.Base(file))
		if parts == nil {
			t.Errorf("%s: name it like 0001-what-was-decided.md", file)
			continue
		}
		number, err := strconv.Atoi(parts[1])
		if err != nil {
			t.Fatal(err)
		}
		if other := by[number]; other != "" {
			t.Errorf("%s has the number of %s", file, other)
		}
		by[number] = file
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if title, _, _ := strings.Cut(string(text), "\n"); !strings.HasPrefix(title, "# "+strconv.Itoa(number)+". ") {
			t.Errorf("%s begins with %q, not with its number", file, title)
		}
	}
}
