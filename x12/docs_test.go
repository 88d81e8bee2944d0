package x12

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFindingsAreDocumented holds docs/reference/x12.md to the codes that the package
// can report.
func TestFindingsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/x12.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../edi/pass.go", "../edi/message.go", "../edi/findings.go", "../edi/stray.go", "../edi/lead.go")
	code := regexp.MustCompile(`(?:\bSeverity\w+, (?:[sp]\.[\w.]+, )?|refuse\((?:e, |m\.element, )?|\.Stop\(|[cC]ode[TDE]\w+ += |Code: |seg, \d, [^"]+)"([a-z]+[a-z0-9]*(?:-[a-z0-9]+)+)"`)
	known := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") || f == "acknowledge.go" {
			continue
		}
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(source), -1) {
			known[m[1]] = true
		}
	}
	if len(known) < 50 {
		t.Fatalf("only %d codes found in the source", len(known))
	}
	for c := range known {
		if !strings.Contains(string(page), "`"+c+"`") {
			t.Errorf("%s is not documented", c)
		}
	}
	for _, m := range regexp.MustCompile("`([a-z0-9]+-[a-z0-9-]+)`").FindAllStringSubmatch(string(page), -1) {
		if !known[m[1]] {
			t.Errorf("%s is documented, but nothing reports it", m[1])
		}
	}
}
