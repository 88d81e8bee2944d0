package edifact

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// unfold reads half a file of testdata/broken: a segment a line, whose terminator
// is left out; \xNN is a byte, and a line that ends with a backslash has an
// object of a package behind it, up to the next such line.
func unfold(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	object := false
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		line, border := strings.CutSuffix(line, `\`)
		b.WriteString(line)
		if !object {
			b.WriteByte('\'')
		}
		object = object != border
	}
	return regexp.MustCompile(`\\x..`).ReplaceAllStringFunc(b.String(), func(s string) string {
		n, err := strconv.ParseUint(s[2:], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		return string([]byte{byte(n)})
	})
}

// TestBrokenInterchanges compares the answers to broken interchanges, byte for
// byte, with answers that were written by hand from ISO 9735-4 and the CONTRL
// messages of the Joint Syntax Working Group.
func TestBrokenInterchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, text, _ := strings.Cut(string(raw), "\n")
			sent, want, found := strings.Cut(text, "===\n")
			if !found {
				t.Fatal("no answer")
			}
			ic := one(t, Reader{}, unfold(t, sent))
			a := edi.Acknowledgement{Reference: "77", Prepared: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), Action: edi.ActionAcknowledged, Errors: ic.Errors}
			if edi.Worst(ic.Errors) >= edi.SeverityError {
				a.Action = edi.ActionRejected
			}
			for i := range ic.Messages {
				m := edi.MessageAnswer{Index: i, Action: edi.ActionAcknowledged, Errors: ic.MessageErrors[i]}
				if edi.Worst(m.Errors) >= edi.SeverityError {
					m.Action = edi.ActionRejected
				} else if a.Action == edi.ActionRejected {
					continue // rejected with the interchange
				}
				a.Messages = append(a.Messages, m)
			}
			_, got, err := Acknowledge(ic, a)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(unfold(t, want), string(got)); d != "" {
				t.Fatalf("%v\n%s", findings(ic), d)
			}
		})
	}
}
