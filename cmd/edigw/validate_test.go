package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const despatchNote = "UNB+UNOC:3+A+B+261128:0914+1'UNH+1+DESADV:D:96A:UN'BGM+351+LS-1+9'DTM+137:20261128:102'" +
	"CPS+1'LIN+1++4000000000013:EN'QTY+12:1:PCE'UNT+7+1'UNZ+1+1'"

func TestValidate(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sound := file("sound.edi", despatchNote)
	late := file("late.edi", strings.Replace(despatchNote, "CPS+1'", "CPS+1'RFF+ON:1'", 1))
	late = file("late.edi", strings.Replace(read(t, late), "UNT+7", "UNT+8", 1))
	guide := file("guide.txt", "syntax edifact\ndirectory D 96A ACME\nsegment BGM C002! 1004! 1225! 4343!\nmessage DESADV\n  BGM M 1\nend\n")
	wrong := file("wrong.txt", "syntax edifact\ndirectory D 96A\nmessage DESADV\n  BGM M 0\nend\n")
	for _, c := range []struct {
		name  string
		stdin string
		args  []string
		code  int
		want  string // with FILE for the folder
	}{
		{"a sound file", "", []string{sound}, 0, "DIR/sound.edi: sound, 1 message\n1 file, 0 refused: 0 findings (0 errors)\n"},
		{"a segment out of its place", "", []string{sound, late}, 3, "DIR/sound.edi: sound, 1 message\nDIR/late.edi: refused, 1 message\n" +
			"✗ error   segment 5 RFF, byte 93: RFF comes too late: in message DESADV it stands before CPS (segment-out-of-order)\n" +
			"2 files, 1 refused: 1 finding (1 error)\n"},
		{"only warned of", "", []string{late, "--structure", "note"}, 0, "DIR/late.edi: sound, 1 message\n" +
			"⚠ warning segment 5 RFF, byte 93: RFF comes too late: in message DESADV it stands before CPS (segment-out-of-order)\n" +
			"1 file, 0 refused: 1 finding (0 errors)\n"},
		{"not looked at", "", []string{late, "--structure", "off"}, 0, "DIR/late.edi: sound, 1 message\n1 file, 0 refused: 0 findings (0 errors)\n"},
		{"errors alone", "", []string{"-q", sound, late}, 3, "DIR/late.edi: refused, 1 message\n" +
			"✗ error   segment 5 RFF, byte 93: RFF comes too late: in message DESADV it stands before CPS (segment-out-of-order)\n" +
			"2 files, 1 refused: 1 finding (1 error)\n"},
		{"a directory that no table describes", strings.Replace(despatchNote, "D:96A", "D:07A", 1), []string{"-"}, 0, "-: sound, 1 message\n" +
			"· note    segment 1 UNH, byte 29: there is no table for DESADV D 07A; what stands in it was not judged (structure-unknown)\n" +
			"1 file, 0 refused: 1 finding (0 errors)\n"},
		{"a guide of one's own", strings.Replace(despatchNote, "CPS+1'LIN+1++4000000000013:EN'QTY+12:1:PCE'UNT+7", "UNT+4", 1),
			[]string{"--tables", guide, "--guide", "ACME", "-q", "-"}, 3, "-: refused, 1 message\n" +
				"✗ error   segment 2 BGM, element 4, byte 51: element 4 (4343) of BGM is missing (element-missing)\n" +
				"✗ error   segment 3 DTM, byte 66: DTM is no segment of message DESADV in directory D 96A ACME (segment-foreign)\n" +
				"1 file, 1 refused: 2 findings (2 errors)\n"},
		{"a table that is wrong", "", []string{"--tables", wrong, sound}, 1, "edigw: --tables: DIR/wrong.txt:4: \"0\" is no maximum: a number from 1, or *\n"},
		{"no such table", "", []string{"--tables", filepath.Join(dir, "none"), sound}, 1, "edigw: --tables: stat DIR/none: no such file or directory\n"},
		{"no such file", "", []string{filepath.Join(dir, "none.edi")}, 1, "edigw: validate DIR/none.edi: open DIR/none.edi: no such file or directory\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edigw(t, c.stdin, nil, append([]string{"validate"}, c.args...)...)
			if got.code != c.code {
				t.Errorf("exit %d, want %d", got.code, c.code)
			}
			if diff := cmp.Diff(c.want, strings.ReplaceAll(got.out+got.stderr, dir, "DIR")); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("as JSON", func(t *testing.T) {
		got := edigw(t, "", nil, "validate", "-o", "json", sound, late)
		var said struct {
			Files []validatedFile `json:"files"`
		}
		if err := json.Unmarshal([]byte(got.out), &said); err != nil || got.code != 3 {
			t.Fatalf("exit %d, %v", got.code, err)
		}
		if n := len(said.Files); n != 2 || said.Files[0].Refused || !said.Files[1].Refused || said.Files[1].Findings[0].Location.Tag != "RFF" {
			t.Errorf("%+v", said)
		}
	})
}

// TestWarningsHideNoError has one error behind more warnings than are listed: of one
// message, and of all.
func TestWarningsHideNoError(t *testing.T) {
	const warned = "UNH+N+DESADV:D:96A:UN'BGM+351+LS-1+9'DTM+137:20261128:102'CPS+1'LIN+1++4000000000013:EN'QTY+12:1:PCE'LATEUNT+C+N'"
	text := func(messages, late int, last string) string {
		var b strings.Builder
		b.WriteString("UNB+UNOC:3+A+B+261128:0914+1'")
		for i := range messages {
			count := 7 + late
			if i == messages-1 {
				count += 5
			}
			b.WriteString(strings.NewReplacer("+N+", fmt.Sprintf("+%d+", i+1), "+C+N'", fmt.Sprintf("+%d+%d'", count, i+1),
				"LATE", strings.Repeat("TOD+3'", late)).Replace(warned))
		}
		return b.String() + last
	}
	for _, c := range []struct {
		name, text string
	}{
		{"in one message", text(1, 60, "UNZ+1+1'")},
		{"in all of them", text(1100, 1, "UNZ+1100+1'")},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, quiet := range []bool{false, true} {
				args := []string{"validate", "--structure", "note", "-o", "json", "-"}
				if quiet {
					args = append(args, "-q")
				}
				got := edigw(t, c.text, nil, args...)
				var said struct {
					Files []validatedFile `json:"files"`
				}
				if err := json.Unmarshal([]byte(got.out), &said); err != nil || got.code != 3 {
					t.Fatalf("exit %d, %v", got.code, err)
				}
				f := said.Files[0]
				shown := slices.IndexFunc(f.Findings, func(e finding) bool { return e.Refuses() && e.Code == "unt-count-mismatch" })
				if shown < 0 || !f.Refused || f.Errors != 1 {
					t.Errorf("refused %v, %d errors, %d findings", f.Refused, f.Errors, len(f.Findings))
				}
				if quiet && (len(f.Findings) != 1 || f.Omitted != 0) || !quiet && f.Omitted == 0 {
					t.Errorf("quiet %v: %d findings, %d omitted", quiet, len(f.Findings), f.Omitted)
				}
			}
		})
	}
}
