package documents

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the expected files anew")

// TestGolden maps whole messages and compares what they became with a file that
// a person has read.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.edi")
	if err != nil || len(files) == 0 {
		t.Fatalf("no messages: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".edi")
		t.Run(name, func(t *testing.T) {
			_, all := read(t, testdata(t, name+".edi"))
			type golden struct {
				Document *Document
				Findings []string
			}
			var got []golden
			for _, m := range all {
				g := golden{Document: m.doc}
				for _, e := range m.errs {
					g.Findings = append(g.Findings, e.Severity.String()+" "+e.Error())
				}
				got = append(got, g)
			}
			b, err := json.MarshalIndent(got, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			expected := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(expected, append(b, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(expected)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(b)+"\n"); diff != "" {
				t.Error(diff)
			}
		})
	}
}
