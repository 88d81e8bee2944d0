package documents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/structure"
)

// syntaxOnly are the facts that a document of one syntax has and its twin in the other
// has not, or has in other words. A path is the end of one in the document's JSON, or a
// column of its rows.
var syntaxOnly = []struct{ path, why string }{
	{"message_type", "INVOIC D.96A is no 810"},
	{"qualifier", "what was sent stands beside the role it was mapped to"},
	{"raw", "what was sent stands beside what was read"},
	{"format", "2379: dates of X12 have one format"},
	{"raw_type", "BIG07 stands beside the type it was mapped to"},
	{"raw_code", "SAC02, and a code of 7161 that 5189 has too, stand beside the code they were mapped to"},
	{"raw_unit", "355 stands beside the unit it was mapped to"},
	{"raw_level", "HL03 stands beside the level it was mapped to"},
	{"terms.code", "ITD01 stands beside the types of terms that were made of it"},
	{"subject", "4451 and NTE01 stand beside the role they were mapped to"},
	{"hierarchy_id", "HL numbers all levels, CPS packages alone"},
	{"hierarchy_parent", "the same of parents"},
	{"marking", "MAN01 says with the SSCC what PCI says before it"},
	{"counts.quantity", "CTT01 counts IT1 or HL; CNT 2 counts LIN, sub-lines among them"},
	{"counts.role", "for which they are lines or levels"},
	{"accounts", "an 810 has no place for a bank account"},
	{"line_total", "an 810 has one total: TDS01. The others are not reckoned for it"}, {"totals.lines", "the same"},
	{"allowance_total", "the same"}, {"totals.allowances", "the same"},
	{"charge_total", "the same"}, {"totals.charges", "the same"},
	{"tax_exclusive", "the same"},
	{"tax_total", "the same"}, {"totals.tax", "the same"},
	{"variances", "an 856 has ordered and shipped, and no segment for the difference"},
}

// alikeOf is JSON without what is of one syntax alone, and without what is empty then.
// It notes in used which of syntaxOnly it left out.
func alikeOf(v any, path string, used map[string]bool) any {
	for _, o := range syntaxOnly {
		if path == o.path || strings.HasSuffix(path, "."+o.path) {
			used[o.path] = true
			return nil
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if v[key] = alikeOf(value, path+"."+key, used); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = alikeOf(v[i], path, used)
		}
		v = slices.DeleteFunc(v, func(e any) bool { return e == nil })
		if len(v) == 0 {
			return nil
		}
		return v
	}
	return v
}

// alikeText is alikeOf as indented text.
func alikeText(t *testing.T, raw []byte, used map[string]bool) string {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(alikeOf(v, "", used), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// twins are messages that say the same.
var twins = map[string][]string{
	"invoice":  {"invoice-d96a.edi", "invoice-d01b.edi", "invoice-810.edi"},
	"despatch": {"despatch-d96a.edi", "despatch-d01b.edi", "despatch-856.edi"},
}

func TestTwinsAreSound(t *testing.T) {
	tables, err := structure.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range twins {
		for _, file := range files {
			t.Run(file+" is as its directory has it, and nothing is found", func(t *testing.T) {
				text := testdata(t, "alike/"+file)
				p, syntax := edi.Bytes(text), syntaxOf(text)
				ic, err := syntax.split(p, 0)
				if err != nil {
					t.Fatal(err)
				}
				err = syntax.scan(p, ic, func(i int, b *edi.Body) error {
					for _, e := range tables.Check(ic, i, b, edi.SeverityError, "") {
						t.Error(e)
					}
					return nil
				})
				if err != nil || len(ic.Errors) > 0 || len(ic.MessageErrors) > 0 {
					t.Errorf("got %v, %v and %v", err, ic.Errors, ic.MessageErrors)
				}
				if _, errs := single(t, text); len(errs) > 0 {
					t.Errorf("got %v", errs)
				}
			})
		}
	}
}

func TestBothSyntaxesAlike(t *testing.T) {
	used := map[string]bool{}
	for kind, files := range twins {
		first, _ := single(t, testdata(t, "alike/"+files[0]))
		want := alikeText(t, []byte(asJSON(t, first)), used)
		for _, file := range files[1:] {
			t.Run("the same "+kind+" as "+files[0]+" and as "+file, func(t *testing.T) {
				d, _ := single(t, testdata(t, "alike/"+file))
				if diff := cmp.Diff(want, alikeText(t, []byte(asJSON(t, d)), used)); diff != "" {
					t.Error(diff)
				}
				if kind == "despatch" {
					if diff := cmp.Diff(unnumbered(first), unnumbered(d)); diff != "" {
						t.Error(diff)
					}
				}
			})
		}
	}

	pool := testPool(t)
	ctx := context.Background()
	rows := func(t *testing.T, partner string, id uuid.UUID) string {
		t.Helper()
		var all strings.Builder
		for _, sql := range []string{
			`select to_jsonb(d) - array['document_id', 'message_id', 'partner_id', 'received_at', 'message_sha256'] from document d where partner_id = $1 and document_id = $2`,
			`select to_jsonb(l) - array['document_id', 'partner_id'] from document_line l where partner_id = $1 and document_id = $2 order by line`,
			`select to_jsonb(p) - array['document_id', 'partner_id'] from document_package p where partner_id = $1 and document_id = $2 order by package`,
		} {
			found, err := pool.Query(ctx, sql, partner, id)
			if err != nil {
				t.Fatal(err)
			}
			for found.Next() {
				var row []byte
				if err := found.Scan(&row); err != nil {
					t.Fatal(err)
				}
				all.WriteString(alikeText(t, row, used) + "\n")
			}
			if err := found.Err(); err != nil {
				t.Fatal(err)
			}
		}
		return all.String()
	}
	for kind, files := range twins {
		want := ""
		for i, file := range files {
			d, _ := single(t, testdata(t, "alike/"+file))
			d.ID = newID(t)
			write(t, pool, "twins", Row{Document: d, State: StateLive, MessageID: "key:" + file})
			got := rows(t, "twins", d.ID)
			if i == 0 {
				want = got
				continue
			}
			t.Run("the rows of the "+kind+" from "+file+" are those from "+files[0], func(t *testing.T) {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
	t.Run("each difference that is granted there is", func(t *testing.T) {
		for _, o := range syntaxOnly {
			if !used[o.path] {
				t.Errorf("%s: %s; nothing has it", o.path, o.why)
			}
		}
	})
}

// unnumbered draws the tree of a despatch without the numbers of its packages.
func unnumbered(d *Document) string {
	c := *d
	c.Packages = slices.Clone(d.Packages)
	for i := range c.Packages {
		c.Packages[i].HierarchyID = ""
	}
	return drawn(&c)
}

// TestShipmentLevel holds the tree beneath a CPS that stands for the whole shipment, as
// many write one, to be that of the 856, whose level S is no package.
func TestShipmentLevel(t *testing.T) {
	text := string(testdata(t, "alike/despatch-d96a.edi"))
	text = strings.Replace(text, "CPS+1++3'", "CPS+0++5'\nPAC+2'\nCPS+1+0+3'", 1)
	text = strings.Replace(text, "CPS+4++3'", "CPS+4+0+3'", 1)
	d, errs := single(t, change(t, []byte(text), "UNT+"+count(text, -2), "UNT+"+count(text, 0)))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if d.Packages[0].Level != "5" || d.Packages[0].Parent != 0 {
		t.Fatalf("got %+v", d.Packages[0])
	}
	d.Packages = d.Packages[1:]
	for i := range d.Packages {
		d.Packages[i].Parent = max(d.Packages[i].Parent-1, 0)
	}
	for i := range d.Lines {
		d.Lines[i].Package--
	}
	notice, _ := single(t, testdata(t, "alike/despatch-856.edi"))
	if diff := cmp.Diff(unnumbered(notice), unnumbered(d)); diff != "" {
		t.Error(diff)
	}
}

// count is how many segments a message of one a line has, and some more.
func count(text string, more int) string {
	return fmt.Sprint(strings.Count(text, "'\n") - 2 + more)
}

func TestTwinsAreAll(t *testing.T) {
	files, err := os.ReadDir("testdata/alike")
	if err != nil {
		t.Fatal(err)
	}
	var have, listed []string
	for _, f := range files {
		have = append(have, f.Name())
	}
	for _, list := range twins {
		listed = append(listed, list...)
	}
	slices.Sort(listed)
	if diff := cmp.Diff(listed, have); diff != "" {
		t.Error(diff)
	}
}
