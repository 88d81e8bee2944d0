package edifact

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFindingsAreDocumented holds docs/reference/edifact.md to the codes that the
// package can report.
func TestFindingsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/edifact.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../edi/pass.go", "../edi/message.go", "../edi/findings.go", "../edi/stray.go", "../edi/lead.go")
	code := regexp.MustCompile(`(?:\bSeverity\w+, (?:[sp]\.[\w.]+, )?|refuse\(|\.Stop\(|Code = |CodeText += |CodeEndMark = |\.Date, |seg, \d, [\w.(\[\])]+, |Code: )"([a-z][a-z0-9-]+)"|"(un[a-z]-(?:incomplete|malformed|date-length))"(?:, "\d+"|\))`)
	known := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(source), -1) {
			known[m[1]+m[2]] = true
		}
	}
	if len(known) < 40 {
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
