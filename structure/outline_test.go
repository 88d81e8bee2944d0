package structure

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func TestOutline(t *testing.T) {
	tables, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	d := edi.Delimiters{Component: ':', Element: '+', Release: '?', Terminator: '\''}
	for _, c := range []struct {
		name, text string
		want       []string // path of each segment, * where it opens its group
	}{
		{"groups in groups", "UNH'BGM+380'DTM+137'NAD+SU'RFF+VA'NAD+BY'LIN+1'QTY+47:1'PRI+AAA:1'LIN+2'UNS+S'MOA+77'UNT'",
			[]string{"", "", "", "2*", "2/3*", "2*", "25*", "25", "25/28*", "25*", "", "48*", ""}},
		{"a segment that is none of the message's stands with the one before it", "UNH'BGM+380'NAD+SU'XXX+1'NAD+BY'UNT'",
			[]string{"", "", "2*", "2", "2*", ""}},
		{"a group without its first segment", "UNH'BGM+380'LOC+1'UNT'", []string{"", "", "2", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := edi.NewBody([]byte(c.text), 0, 1, d, nil)
			ic := &edi.Interchange{Syntax: "edifact", Messages: []edi.Message{{Type: &edi.MessageType{Type: "INVOIC", Version: "D", Release: "96A"}}}}
			var got []string
			for _, p := range tables.Outline(ic, 0, b, "") {
				got = append(got, strings.Join(p.Groups, "/")+map[bool]string{true: "*"}[p.Opens])
			}
			if diff := cmp.Diff(fmt.Sprint(c.want), fmt.Sprint(got)); diff != "" {
				t.Error(diff)
			}
			ic.Messages[0].Type = &edi.MessageType{Type: "ORDERS", Version: "D", Release: "96A"}
			if tables.Outline(ic, 0, b, "") != nil {
				t.Error("an outline of a type without a table")
			}
		})
	}
	t.Run("groups that come too late stand beside each other, however many there are", func(t *testing.T) {
		const late = 100_000
		text := "UNH'BGM'DTM'CPS+1'PAC'" + strings.Repeat("RFF+ON:1'DTM'", late/2) + strings.Repeat("TDT'LOC'DTM'RFF+ON:1'", late/4) + "LIN+1'QTY'UNT'"
		b := edi.NewBody([]byte(text), 0, 1, d, nil)
		ic := &edi.Interchange{Syntax: "edifact", Messages: []edi.Message{{Type: &edi.MessageType{Type: "DESADV", Version: "D", Release: "96A"}}}}
		places := tables.Outline(ic, 0, b, "")
		table := tables.message(ic.Syntax, ic.Messages[0].Type, "")
		told := map[string]int{}
		for i, p := range places {
			if len(p.Groups) > depthOf(&table.root) {
				t.Fatalf("segment %d stands in %v", i+1, p.Groups)
			}
			s := b.Segments[i].Tag() + " " + strings.Join(p.Groups, "/")
			if p.Opens {
				s += "*"
			}
			told[s]++
		}
		want := map[string]int{"UNH ": 1, "BGM ": 1, "DTM ": 1, "CPS 10*": 1, "PAC 10/11*": 1, "RFF 1*": late/2 + late/4, "DTM 1": late / 2,
			"TDT 6*": late / 4, "LOC 6/7*": late / 4, "DTM 6/7": late / 4, "LIN 10/15*": 1, "QTY 10/15": 1, "UNT ": 1}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Error(diff)
		}
	})
}

// depthOf is how many groups stand in each other.
func depthOf(g *group) (n int) {
	for i := range g.items {
		if in := g.items[i].group; in != nil {
			n = max(n, 1+depthOf(in))
		}
	}
	return n
}
