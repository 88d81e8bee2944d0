package documents

import (
	"fmt"
	"strings"
	"testing"
)

func TestDueDate(t *testing.T) {
	for _, c := range []struct {
		name, header, line, want string
	}{
		{"the first of several instalments", "PAT+21'DTM+13:20261227:102'PAT+21'DTM+13:20270127:102'", "", "2026-12-27"},
		{"the term's goes before a discount's", "PAT+22'DTM+13:20261207:102'PAT+1'DTM+13:20261227:102'", "", "2026-12-27"},
		{"and before a penalty's behind it", "PAT+1'DTM+13:20261227:102'PAT+20'DTM+13:20270127:102'", "", "2026-12-27"},
		{"a discount's alone is better than none", "PAT+22'DTM+13:20261207:102'", "", "2026-12-07"},
		{"also beside a term that says nothing", "PAT+22'DTM+13:20261207:102'PAT+1'", "", "2026-12-07"},
		{"a discount's is not when all is due where days are said", "PAT+22'DTM+13:20261207:102'PCD+12:2'PAT+1++5:3:D:30'", "", ""},
		{"nor where they are said before it", "PAT+1++5:3:D:30'PAT+22'DTM+13:20261207:102'PCD+12:2'", "", ""},
		{"nor is a penalty's", "PAT+20'DTM+13:20261207:102'PCD+15:9'PAT+1++5:3:D:30'", "", ""},
		{"nor where PYT says days", "PYT+22'DTM+13:20261207:102'PYT+3++5+3+D+30'", "", ""},
		{"nor where a week is said", "PAT+22'DTM+13:20261207:102'PAT+1'DTM+13:202653:616'", "", ""},
		{"nor where the header says days", "DTM+13:30:804'PAT+22'DTM+13:20261207:102'", "", ""},
		{"nor where words say when", "PAT+22'DTM+13:20261207:102'PAT+1+:::thirty days net'", "", ""},
		{"days of another discount are none of all that is due", "PAT+22'DTM+13:20261207:102'PAT+22++5:3:D:30'", "", "2026-12-07"},
		{"days of a line are the line's", "PAT+22'DTM+13:20261207:102'", "PAT+1++5:3:D:30'", "2026-12-07"},
		{"of a line it is not the document's", "", "PAT+1'DTM+13:20261227:102'", ""},
		{"a time wipes no day", "DTM+13:20261227:102'DTM+13:1000:401'", "", "2026-12-27"},
		{"a week is no day", "PAT+1'DTM+13:202648:616'PAT+1'DTM+13:20261227:102'", "", "2026-12-27"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := "UNH+1+INVOIC:D:96A:UN'BGM+380+R1'DTM+137:20261127:102'" + c.header + "LIN+1'QTY+47:2:PCE'" + c.line + "UNS+S'MOA+77:11.90'"
			d, _ := single(t, fmt.Appendf(nil, "UNB+UNOC:3+A:14+B:14+261127:1015+1'%sUNT+%d+1'UNZ+1+1'", body, strings.Count(body, "'")+1))
			if d.DueDate != c.want {
				t.Errorf("got %q, want %q", d.DueDate, c.want)
			}
		})
	}
}

func TestTermsThatAreACodeAlone(t *testing.T) {
	d, _ := single(t, invoice810(t, "DTM*011", "ITD*10*3~DTM*011", "SE*8", "SE*9"))
	if got := d.Detail.Invoice.Terms; len(got) != 1 || got[0].Code != "10" {
		t.Errorf("got %+v, want the code 10", got)
	}
}
