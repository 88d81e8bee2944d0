package edifact

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edigw/edigw/edi"
)

// repeated are what our answer may have wrong with it, since it repeats what the
// sender wrote: a reference that is missing, too long or of other characters.
var repeated = []string{"element-missing", "element-too-long", "element-characters", "unb-too-long"}

// FuzzAcknowledge: whatever can be identified can be answered, by a CONTRL that our own
// reader has nothing against and that says each code where it may be said.
func FuzzAcknowledge(f *testing.F) {
	seeds(f)
	files, err := filepath.Glob("testdata/broken/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, text, _ := strings.Cut(string(raw), "\n")
		sent, _, _ := strings.Cut(text, "===\n")
		f.Add([]byte(strings.ReplaceAll(sent, "\n", "'")))
	}
	tables, err := builtIn()
	if err != nil {
		f.Fatal(err)
	}
	check := tables.Checker(edi.Tolerance{Structure: edi.StructureRefused})
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := edi.Bytes(raw)
		r := Reader{Check: check}
		ic, err := r.Split(p, 0)
		if err != nil {
			return
		}
		if err := r.Scan(p, ic, nil); err != nil {
			t.Fatal(err)
		}
		a := edi.Acknowledgement{Reference: "77", Prepared: prepared, Action: edi.ActionAcknowledged, Errors: ic.Errors}
		if edi.Worst(ic.Errors) >= edi.SeverityError {
			a.Action = edi.ActionRejected
		}
		for i := range ic.Messages {
			m := edi.MessageAnswer{Index: i, Action: edi.ActionAcknowledged, Errors: ic.MessageErrors[i]}
			if edi.Worst(m.Errors) >= edi.SeverityError {
				m.Action = edi.ActionRejected
			}
			a.Messages = append(a.Messages, m)
		}
		_, answer, err := Acknowledge(ic, a)
		if err != nil {
			t.Fatalf("no answer: %v", err)
		}
		own, err := r.Split(edi.Bytes(answer), 0)
		if err == nil {
			err = r.Scan(edi.Bytes(answer), own, nil)
		}
		if err != nil || own.Length != int64(len(answer)) || len(own.Messages) != 1 || !own.Complete {
			t.Fatalf("our answer cannot be read: %v\n%q", err, answer)
		}
		for _, e := range slices.Concat(own.Errors, own.MessageErrors[0]) {
			if e.Severity == edi.SeverityError && !slices.Contains(repeated, e.Code) {
				t.Fatalf("our answer is not sound: %v\n%q", e, answer)
			}
		}
		mangled := slices.ContainsFunc(ic.Errors, func(e *edi.Error) bool { return e.Standard == "21" && e.Tag == "UNB" }) // and said to be
		if !mangled && (own.Sender != ic.Recipient || own.Recipient != ic.Sender) || own.Test != ic.Test {
			t.Fatalf("our answer is from %v to %v\n%q", own.Sender, own.Recipient, answer)
		}
		if wrong := notAtItsLevel(t, string(answer)); wrong != nil {
			t.Fatalf("ISO 9735-4 annex A does not know %q\n%q", wrong, answer)
		}
	})
}
