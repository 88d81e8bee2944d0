package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/edigw/edigw/documents/checks"
)

// TestCodes holds the list of what may be found against what the code reports.
func TestCodes(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	reported := regexp.MustCompile(`(?:m\.warn\(|m\.note\(|m\.report\([a-zA-Z.]+, |Code: )"([a-z-]+)"`).FindAllStringSubmatch(source.String(), -1)
	if len(reported) < 30 {
		t.Fatalf("found only %d reports", len(reported))
	}
	for _, m := range reported {
		if _, listed := checks.Find(m[1]); !listed {
			t.Errorf("%s is reported and not listed", m[1])
		}
	}
	for _, c := range checks.All {
		if !strings.Contains(source.String(), `"`+c.Code+`"`) {
			t.Errorf("%s is listed, and nothing reports it", c.Code)
		}
	}
}
