package compare_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/edi"
)

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name, file string
		edits      []string
		words      string
		want       []string
	}{
		{"a changed amount is one changed element", "invoic.edi", []string{"MOA+77:1670.76", "MOA+77:1770.72"},
			"total 1 670.76 → 1 770.72 EUR",
			[]string{"changed total MOA 1670.76 → 1770.72"}},
		{"a line put in the middle is one added line", "invoic.edi",
			[]string{"LIN+2++", "LIN+4++9520000001049:EN'\nIMD+F++:::Anker'\nQTY+47:1:PCE'\nMOA+203:5.00'\nPRI+AAA:5.00'\nLIN+2++", "CNT+2:3", "CNT+2:4", "UNT+42", "UNT+47"},
			"1 line added",
			[]string{"added line line 4 LIN LIN+4++9520000001049:EN", "changed count CNT 3 → 4", "changed control UNT 42 → 47"}},
		{"the lines after it may be renumbered", "invoic.edi",
			[]string{"LIN+3++", "LIN+4++", "LIN+2++", "LIN+3++", "LIN+3++", "LIN+2++9520000001049:EN'\nQTY+47:1:PCE'\nLIN+3++", "UNT+42", "UNT+44"},
			"1 line added",
			[]string{"added line line 2 LIN LIN+2++9520000001049:EN", "changed count line 3 LIN 2 → 3", "changed count line 4 LIN 3 → 4", "changed control UNT 42 → 44"}},
		{"a line taken out is one removed line", "invoic.edi",
			[]string{"LIN+2++9520000001025:EN'\nIMD+F++:::Karabiner 8 mm'\nQTY+47:200:PCE'\nMOA+203:904.00'\nPRI+AAA:4.52'\nTAX+7+VAT+++:::19+S'\n", "", "UNT+42", "UNT+36"},
			"1 line removed",
			[]string{"removed line line 2 LIN LIN+2++9520000001025:EN", "changed control UNT 42 → 36"}},
		{"lines in another order have moved", "invoic.edi",
			[]string{"LIN+1++9520000001018:EN'\nIMD+F++:::Seilrolle 40 mm'\nQTY+47:10:PCE'\nMOA+203:100.00'\nPRI+AAA:10.00'\nTAX+7+VAT+++:::19+S'\n", "",
				"UNS+S", "LIN+1++9520000001018:EN'\nIMD+F++:::Seilrolle 40 mm'\nQTY+47:10:PCE'\nMOA+203:100.00'\nPRI+AAA:10.00'\nTAX+7+VAT+++:::19+S'\nUNS+S"},
			"1 line moved",
			[]string{"moved line line 1 LIN"}},
		{"another item under the same number", "invoic.edi", []string{"9520000001025:EN", "9520000001056:EN"},
			"1 item",
			[]string{"changed item line 2 LIN 9520000001025 → 9520000001056"}},
		{"a price of an added unit basis is one price", "invoic.edi", []string{"PRI+AAA:4.52", "PRI+AAA:452::NTP:100"},
			"1 price",
			[]string{"changed price line 2 PRI 4.52 → 452", "changed price line 2 PRI  → NTP", "changed price line 2 PRI  → 100"}},
		{"a party group that was taken out", "invoic.edi",
			[]string{"NAD+SU+9520001000010::9++Talquist Werke GmbH+Hafenstr. 1+Kiel++24103+DE'\nFII+RB+DE89370400440532013000:Talquist Werke GmbH+COBADEFFXXX'\nRFF+VA:DE123456789'\n", "", "UNT+42", "UNT+39"},
			"bank account",
			[]string{"removed account NAD NAD+SU+9520001000010::9++Talquist Werke GmbH+Hafenstr. 1+Kiel++24103+DE", "changed control UNT 42 → 39"}},
		{"a reference between its like", "invoic.edi", []string{"RFF+ON:BE-55012'", "RFF+ON:BE-1'\nRFF+ON:BE-55012'", "UNT+42", "UNT+43"},
			"1 reference",
			[]string{"added reference RFF RFF+ON:BE-1", "changed control UNT 42 → 43"}},
		{"a message with another syntax version of its type", "invoic.edi", []string{"D:96A:UN", "D:01B:UN"},
			"1 other segment",
			[]string{"changed other UNH 96A → 01B"}},
		{"a despatched quantity in a package", "desadv.edi", []string{"QTY+12:100:PCE'\nCPS", "QTY+12:90:PCE'\nCPS"},
			"1 quantity",
			[]string{"changed quantity package 2 line 2 QTY 100 → 90"}},
		{"a package taken out", "desadv.edi", []string{"CPS+3+1'\nPAC+1++CT'\nPCI+33E'\nGIN+BJ+395200010000000021'\nLIN+3++9520000001025:EN'\nQTY+12:100:PCE'\n", "", "UNT+23", "UNT+17"},
			"1 package removed",
			[]string{"removed package package 3 CPS CPS+3+1", "changed control UNT 23 → 17"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compare.Diff(parse(t, sample(t, c.file)), parse(t, sample(t, c.file, c.edits...)), compare.Names{})
			if len(r.Messages) != 1 {
				t.Fatalf("%d messages differ: %+v", len(r.Messages), tell(r))
			}
			if d := cmp.Diff(c.want, brief(r.Messages[0].Changes)); d != "" {
				t.Fatal(d)
			}
			if r.Words() != c.words {
				t.Fatalf("words %q, want %q", r.Words(), c.words)
			}
		})
	}
}

func TestX12(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits []string
		want  told
	}{
		{"the total has two implied decimals", []string{"TDS*12000", "TDS*220050", "IT1*1*10*EA*10.00", "IT1*1*11*EA*10.00"},
			told{compare.Business, compare.Critical, "total 120.00 → 2 200.50 USD, 1 quantity"}},
		{"the account money is remitted to", []string{"0001234567", "0009999999"},
			told{compare.Business, compare.Critical, "bank account 0001…4567 → 0009…9999"}},
		{"who money is remitted to", []string{"HARBOR BANK", "QUICK BANK"},
			told{compare.Business, compare.Critical, "payee HARBOR BANK → QUICK BANK"}},
		{"a charge and a price", []string{"SAC*C*D240***350", "SAC*C*D240***450", "EA*4.00", "EA*4.10"},
			told{compare.Business, compare.Critical, "1 price, 1 allowance or charge"}},
		{"a line put in front", []string{"IT1*2*", "IT1*3*1*EA*1.00**VN*TQ-300~\nIT1*2*", "CTT*2", "CTT*3", "SE*15", "SE*16"},
			told{compare.Business, compare.Critical, "1 line added"}},
		{"another invoice", []string{"INV-34", "INV-35"},
			told{compare.DifferentDocument, compare.High, "another document: 810 INV-34 from TALQUIST to NORDHAFEN → 810 INV-35 from TALQUIST to NORDHAFEN"}},
		{"other control numbers", []string{"ST*810*0001", "ST*810*0002", "SE*15*0001", "SE*15*0002"},
			told{compare.Envelope, compare.Low, "envelope only: control number 0001 → 0002"}},
		{"padding of ISA", []string{"*ZZ*TALQUIST       *", "*ZZ*TALQUIST*"},
			told{compare.Formatting, compare.Info, "same segments: line breaks, padding or empty elements"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := parseX12(t, sample(t, "invoice810.x12")), parseX12(t, sample(t, "invoice810.x12", c.edits...))
			b.Envelope.PayloadSHA256[0] = 1
			a.Envelope.PayloadSHA256[0] = 2
			if d := cmp.Diff(c.want, tell(compare.Diff(a, b, compare.Names{}))); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func names() compare.Names {
	return compare.Names{
		Segment: func(tag string) string {
			return map[string]string{"PRI": "Price details", "MOA": "Monetary amount"}[tag]
		},
		Element: func(tag string, e, c int) string {
			return map[string]string{"PRI1.2": "Price", "MOA1.2": "Amount"}[fmt.Sprintf("%s%d.%d", tag, e, c)]
		},
		Code: func(tag string, e, c int, v string) string {
			return map[string]string{"MOA1.177": "Invoice amount", "PRI1.1AAA": "Net price"}[fmt.Sprintf("%s%d.%d%s", tag, e, c, v)]
		},
	}
}

func TestJSON(t *testing.T) {
	b := sample(t, "invoic.edi", "PRI+AAA:4.52", "PRI+AAA:4.53", "LIN+3++", "LIN+4++9520000001049:EN'\nQTY+47:1:PCE'\nLIN+3++", "UNT+42", "UNT+44", ":1015+", ":1016+")
	r := compare.Diff(parse(t, sample(t, "invoic.edi")), parse(t, b), names())
	got, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "result.json", string(got)+"\n")
}

func TestText(t *testing.T) {
	b := sample(t, "invoic.edi", "PRI+AAA:4.52", "PRI+AAA:4.53::NTP", "LIN+3++", "LIN+4++9520000001049:EN'\nQTY+47:1:PCE'\nLIN+3++",
		"UNT+42", "UNT+44", ":1015+", ":1016+", "MOA+77:1670.76", "MOA+77:1670.77", "Danke", "Danke \x1b[31mrot")
	r := compare.Diff(parse(t, sample(t, "invoic.edi")), parse(t, b), names())
	for name, layout := range map[string]compare.Layout{"unified.txt": compare.Unified, "side-by-side.txt": compare.SideBySide} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := r.Text(&out, layout, false); err != nil {
				t.Fatal(err)
			}
			golden(t, name, out.String())
		})
	}
	t.Run("colour is the only escape sequence", func(t *testing.T) {
		var out strings.Builder
		if err := r.Text(&out, compare.Unified, true); err != nil {
			t.Fatal(err)
		}
		s := out.String()
		for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m"} {
			s = strings.ReplaceAll(s, code, "")
		}
		if strings.Count(out.String(), "\x1b[31m-") == 0 || strings.Contains(strings.ReplaceAll(s, "\x1b[31m-", ""), "\x1b") {
			t.Fatalf("%q", out.String())
		}
	})
	t.Run("what cannot be written is an error", func(t *testing.T) {
		if err := r.Text(full{}, compare.Unified, false); err == nil {
			t.Fatal("no error")
		}
	})
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }

// golden compares with testdata, or writes it where EDIGW_GOLDEN is set.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("EDIGW_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Fatal(d)
	}
}

func TestLargeInvoices(t *testing.T) {
	const n = 10_000
	a := parse(t, lines(n, nil))
	t.Run("one line inserted, one price changed", func(t *testing.T) {
		b := parse(t, lines(n, func(i int, s string) string {
			switch i {
			case 4_000:
				return "LIN+99999++NEW:EN'QTY+47:1'PRI+AAA:1.00'" + s
			case 7_000:
				return strings.Replace(s, "10.00", "11.00", 1)
			}
			return s
		}))
		r := compare.Diff(a, b, compare.Names{})
		want := []string{"added line line 99999 LIN LIN+99999++NEW:EN", "changed price line 7000 PRI 10.00 → 11.00", "changed control UNT 60007 → 60010"}
		if d := cmp.Diff(want, brief(r.Messages[0].Changes)); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("every line changed: all counted, some listed", func(t *testing.T) {
		b := parse(t, lines(6_000, func(_ int, s string) string {
			return strings.NewReplacer("10.00", "11.00", "100.00", "110.00").Replace(s)
		}))
		r := compare.Diff(parse(t, lines(6_000, nil)), b, compare.Names{})
		if r.Words() != "6000 prices, 6000 amounts" || r.Counts.ChangesLeftOut != 2_000 || len(r.Messages[0].Changes) != 10_000 {
			t.Fatalf("%s %+v", r.Words(), r.Counts)
		}
	})
	t.Run("long runs of segments outside lines are split at anchors", func(t *testing.T) {
		text := func(skip int, all string) *compare.Interchange {
			var b strings.Builder
			b.WriteString("UNB+UNOC:3+A:14+B:14+261129:1015+FTX'UNH+1+INVOIC:D:96A:UN'BGM+380+RG-1+9'")
			count := 3
			for i := range 5_000 {
				if i == skip {
					continue
				}
				count++
				v := all
				if v == "" {
					v = itoa(i)
				}
				b.WriteString("FTX+AAI+++" + v + "'")
			}
			fmt.Fprintf(&b, "UNT+%d+1'UNZ+1+FTX'", count)
			return parse(t, b.String())
		}
		got := compare.Diff(text(10, ""), text(4_900, ""), compare.Names{}).Counts
		if got.SegmentsAdded != 1 || got.SegmentsRemoved != 1 || got.SegmentsChanged != 0 {
			t.Fatalf("%+v", got)
		}
		got = compare.Diff(text(-1, "x"), text(-1, "y"), compare.Names{}).Counts
		if got.SegmentsAdded+got.SegmentsRemoved != 0 || got.SegmentsChanged != 5_000 {
			t.Fatalf("%+v", got)
		}
	})
}

func BenchmarkDiff(b *testing.B) {
	const n = 10_000
	x := parse(b, lines(n, nil))
	y := parse(b, lines(n, func(i int, s string) string {
		if i%3 == 0 {
			return strings.Replace(s, "10.00", "11.00", 1)
		}
		return s
	}))
	for b.Loop() {
		compare.Diff(x, y, compare.Names{})
	}
}

// bare reads any text with the default delimiters, envelope or not.
func bare(text []byte) *compare.Interchange {
	d := edi.Delimiters{Component: ':', Element: '+', Decimal: '.', Release: '?', Repetition: '*', Terminator: '\''}
	ic := &edi.Interchange{Syntax: "edifact", Delimiters: d, Complete: true,
		Messages: []edi.Message{{Type: &edi.MessageType{Type: "INVOIC"}, Group: -1}}}
	b := compare.Builder{Envelope: ic}
	if err := b.Visit(0, edi.NewBody(text, 0, 1, d, nil)); err != nil {
		panic(err) // Visit gives none
	}
	return b.Interchange()
}

func FuzzDiff(f *testing.F) {
	for _, name := range []string{"invoic.edi", "desadv.edi"} {
		s := sample(f, name)
		f.Add([]byte(s), []byte(strings.Replace(s, "LIN+2", "LIN+1", 1)))
		f.Add([]byte(s), []byte(s[len(s)/2:]))
	}
	f.Add([]byte("LIN'LIN'CPS'CPS'LIN+1'UNS'LIN'"), []byte("CPS+1'LIN+1'GID'LIN'"))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		a, b := bare(x), bare(y)
		r := compare.Diff(a, b, names())
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		for _, layout := range []compare.Layout{compare.Unified, compare.SideBySide} {
			var out strings.Builder
			if err := r.Text(&out, layout, false); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Fatal("an escape sequence reached the terminal")
			}
		}
		inRows := [2]int{}
		for _, m := range r.Messages {
			for _, row := range m.Rows {
				if row.A != nil {
					inRows[0]++
				}
				if row.B != nil {
					inRows[1]++
				}
			}
		}
		if want := [2]int{len(a.Messages[0].Segments), len(b.Messages[0].Segments)}; len(r.Messages) > 0 && inRows != want {
			t.Fatalf("rows hold %v segments of %v", inRows, want)
		}
		if self := compare.Diff(a, bare(x), compare.Names{}); len(self.Messages)+len(self.Envelope) > 0 {
			t.Fatalf("differs from itself: %s", self.Words())
		}
	})
}
