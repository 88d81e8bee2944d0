package x12_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
