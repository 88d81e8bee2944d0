package x12_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/x12"
)

// repeated are what our answer may have wrong with it, since it repeats what the
// sender wrote: a qualifier, control number or tag that is missing, or is none.
var repeated = []string{"element-missing", "element-too-short", "element-too-long", "element-characters", "isa-qualifier-invalid", "isa-width"}

// FuzzAcknowledge: what is said in answer to any text is sound by our own reading and by
// the tables, at every level, and counts what was there.
func FuzzAcknowledge(f *testing.F) {
	files, err := filepath.Glob("testdata/broken/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		b := readBroken(f, file)
		f.Add([]byte(b.sent), b.settings["form"], b.settings["ta1"])
	}
	f.Fuzz(func(t *testing.T, raw []byte, form, ta1 string) {
		if form != "997" && form != "999" {
			form = ""
		}
		p := edi.Bytes(raw)
		if _, err := (x12.Reader{}).Split(p, 0); err != nil {
			return
		}
		b := broken{settings: map[string]string{"structure": "refuse", "form": form, "ta1": ta1}, sent: string(raw)}
		ic, answer := b.scanned(t)
		if answer == "" {
			return
		}
		for _, line := range findings(t, answer) {
			if code, _, _ := strings.Cut(line, " "); !slices.Contains(repeated, code) {
				t.Fatalf("our answer is not sound: %s\n%q", line, answer)
			}
		}
		sets := 0
		for i := range ic.Messages {
			if t := ic.Messages[i].Type.Type; t != "997" && t != "999" {
				sets++
			}
		}
		d := answer[3:4] // ISA is 106 bytes, its terminator the last
		if n := strings.Count(answer, answer[105:106]+"AK2"+d); n > sets {
			t.Fatalf("%d sets are answered, of %d\n%q", n, sets, answer)
		}
	})
}

// FuzzAdvise: any interchange can be advised on, with any number and words, by an 824 that
// our own reader has nothing against and finds each set in.
func FuzzAdvise(f *testing.F) {
	files, err := filepath.Glob("testdata/824/*.txt")
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
		f.Add([]byte(strings.ReplaceAll(sent, "\n", "")), "INV*~1", "It is\x00 hëld:~ "+strings.Repeat("x", 200), len(files)%2 == 0)
	}
	f.Fuzz(func(t *testing.T, raw []byte, number, text string, whole bool) {
		p, r := edi.Bytes(raw), x12.Reader{}
		ic, err := r.Split(p, 0)
		if err != nil {
			return
		}
		if err := r.Scan(p, ic, nil); err != nil {
			t.Fatal(err)
		}
		a := edi.Advice{Reference: "77", Prepared: time.Date(2026, 11, 30, 9, 5, 0, 0, time.UTC), Acceptance: edi.Rejected, Reason: edi.AdviceInvalid, Text: text}
		for i := range ic.Messages {
			if ic.Messages[i].Group >= 0 && !whole {
				a.Messages = append(a.Messages, edi.AdvisedMessage{Index: i, Number: number, Errors: ic.MessageErrors[i]})
			}
		}
		_, advice, err := x12.Advise(ic, a)
		if advice == nil || err != nil {
			if len(ic.Groups) > 0 && !strings.Contains(err.Error(), "does not fit into ISA") {
				t.Fatalf("no advice: %v", err)
			}
			return
		}
		for _, line := range findings(t, string(advice)) {
			if code, _, _ := strings.Cut(line, " "); !slices.Contains(repeated, code) && !strings.HasPrefix(code, "isa-") && !strings.HasPrefix(code, "gs-") {
				t.Fatalf("our advice is not sound: %s\n%q", line, advice)
			}
		}
		d := string(advice[3:4])
		if n := strings.Count(string(advice), string(advice[105:106])+"OTI"+d); n < max(len(a.Messages), 1) {
			t.Fatalf("%d are advised on, of %d\n%q", n, len(a.Messages), advice)
		}
	})
}
