package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAPartnersSettingsDecideWhatBecomesOfStructure sends the same departures as a
// partner under each setting.
func TestAPartnersSettingsDecideWhatBecomesOfStructure(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	guide := file("guide.txt", "syntax edifact\ndirectory D 96A NORTH\nsegment CPS 7164! 7166 7075!\n")
	g := serveGateway(t, "--tables", guide)
	const desadv = "UNB+UNOC:3+9520001000010:14+9520002000019:14+261128:0914+REF'UNH+1+DESADV:D:96A:UN'BGM+351+LS-REF+9'DTM+137:20261128:102'" +
		"NAD+SU+9520001000010::9'CPS+1'LIN+1++9520000001018:EN'QTY+12:1:PCE'EXTRAUNT+N+1'UNZ+1+REF'"
	send := func(reference, extra string) ran {
		text := strings.NewReplacer("REF", reference, "EXTRA", extra, "+N+", map[bool]string{true: "+8+", false: "+9+"}[extra == ""]).Replace(desadv)
		return g.do("ingest", file(reference+".edi", text), "--partner", "acme", "-o", "json")
	}
	for i, c := range []struct {
		name, setting, extra string
		code                 int
		want                 []string
	}{
		{"a departure is a warning", "", "TOD+3'", 0, []string{`"segment-out-of-order"`, `"warning"`, "+7'UNT"}},
		{"or an error, told in CONTRL", "reading: {structure: refuse}", "TOD+3'", exitFailed,
			[]string{`"segment-out-of-order"`, `"error"`, "+4'UCM+1+DESADV:D:96A:UN+4'UCS+8+15'UNT"}},
		{"or nothing", "reading: {structure: off}", "TOD+3'", 0, []string{"+7'UNT"}},
		{"what is right is accepted", "reading: {structure: refuse}", "", 0, []string{"+7'UNT"}},
		{"a guide may ask for more", "reading: {structure: refuse, guide: NORTH}", "", exitFailed,
			[]string{`"element-missing"`, "+4'UCM+1+DESADV:D:96A:UN+4'UCS+5'UCD+13+4'UNT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			apply := read(t, "testdata/partners.yaml") + c.setting + "\n"
			g.must(nil, "partners", "apply", "-f", file("partners.yaml", apply))
			r := send(fmt.Sprintf("R%d", i), c.extra)
			if r.code != c.code {
				t.Errorf("exit %d, want %d: %s%s", r.code, c.code, r.out, r.stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(r.out, want) {
					t.Errorf("%s does not stand in %s", want, r.out)
				}
			}
		})
	}
	t.Run("a table that is wrong keeps the gateway from starting", func(t *testing.T) {
		r := edigw(t, "", nil, "serve", "--data-dir", t.TempDir(), "--tables", file("wrong.txt", "syntax edifact\ndirectory D 96A\nmessage X\n"))
		if r.code != exitFailed || !strings.Contains(r.stderr, `wrong.txt:3: the file ends before the "end" of a message`) {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
}

// TestWhatALateGroupInterruptsGoesOn draws a reference that stands behind the package
// it should stand before.
func TestWhatALateGroupInterruptsGoesOn(t *testing.T) {
	text := strings.Replace(despatchNote, "CPS+1'", "CPS+1'RFF+ON:1'RFF+ON:2'", 1)
	got := edigw(t, text, nil, "inspect", "-", "--tree")
	var drawn []string
	for _, line := range strings.Split(got.out, "\n") {
		line, opens := strings.CutSuffix(line, "]")
		words := strings.Fields(line)
		if len(words) < 2 || len(words[1]) != 3 || words[0] < "4" || words[0] > "8" {
			continue
		}
		row := line[:len(line)-len(strings.TrimLeft(line, " "))] + words[0] + " " + words[1]
		if opens {
			row += " " + words[len(words)-1] + "]"
		}
		drawn = append(drawn, row)
	}
	want := []string{"    4 CPS [10]", "      7 LIN [10/15]", "        8 QTY", "    5 RFF [1]", "    6 RFF [1]"}
	if diff := cmp.Diff(want, drawn); diff != "" {
		t.Errorf("%s\n%s", diff, got.out)
	}
}

// TestInspectFollowsAGuide reads a message by the groups of a guide that it does not
// name.
func TestInspectFollowsAGuide(t *testing.T) {
	guide := filepath.Join(t.TempDir(), "guide.txt")
	const tables = "syntax edifact\ndirectory D 96A ACME\nmessage DESADV\n  BGM M 1\n  group head M 1\n    DTM M 1\n    CPS M 1\n    group line M 9\n" +
		"      LIN M 1\n      QTY M 1\n      PCI M 1\n    end\n  end\nend\n"
	if err := os.WriteFile(guide, []byte(tables), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		args  []string
		wants []string
	}{
		{"by the directory", nil, []string{"[10/15] ", "0 findings"}},
		{"by the guide", []string{"--guide", "ACME"}, []string{"[head/line] ", "PCI is missing behind QTY", "1 finding (0 errors)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := edigw(t, despatchNote, nil, append([]string{"inspect", "-", "--segments", "--tables", guide}, c.args...)...)
			if got.code != 0 {
				t.Errorf("exit %d: %s", got.code, got.stderr)
			}
			for _, want := range c.wants {
				if !strings.Contains(got.out, want) {
					t.Errorf("%q does not stand in\n%s", want, got.out)
				}
			}
		})
	}
}
