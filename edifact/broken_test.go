package edifact

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/structure"
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
			if wrong := notAtItsLevel(t, string(got)); wrong != nil {
				t.Errorf("ISO 9735-4 annex A does not know %q", wrong)
			}
			if d := cmp.Diff(unsound[strings.TrimSuffix(filepath.Base(file), ".txt")], ownFindings(t, string(got))); d != "" {
				t.Errorf("our answer, read back: %s", d)
			}
		})
	}
}

// unsound is what our own reader has to say of answers that repeat what is missing in
// what they answer.
var unsound = map[string][]string{
	"unh-reference-missing": {"element-missing UCM 1"},
	"unh-type-missing":      {"element-missing UCM 2"},
	"ung-reference-missing": {"element-missing UCF 1"},
	"unb-reference-long":    {"element-too-long UCI 1"},
	"unb-sender-long":       {"unb-too-long UNB 3", "element-too-long UCI 2"},
}

var builtIn = sync.OnceValues(structure.BuiltIn)

// ownFindings reads an answer of ours, judges it by the built-in tables of CONTRL, and
// gives what is wrong.
func ownFindings(t *testing.T, text string) (list []string) {
	t.Helper()
	tables, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	ic := one(t, Reader{Check: tables.Checker(edi.Tolerance{Structure: edi.StructureRefused})}, text)
	if len(ic.Messages) != 1 || ic.Messages[0].Type.Type != "CONTRL" {
		t.Fatalf("no CONTRL: %s", text)
	}
	for _, e := range append(ic.Errors, ic.MessageErrors[0]...) {
		list = append(list, fmt.Sprintf("%s %s %d", e.Code, e.Tag, e.Element))
	}
	return list
}
