package documents

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/documents/checks"
	"github.com/edigw/edigw/edi"
)

func TestWhatIsNotListedIsNotLookedFor(t *testing.T) {
	// A sender may make as many findings as there is room for, and the message as long:
	// what is only counted must not walk through it. There is none here to walk through.
	var listed []*edi.Error
	for _, c := range checks.All {
		listed = append(listed, slices.Repeat([]*edi.Error{{Code: c.Code, Severity: edi.SeverityNote}}, maxFindings+1)...)
	}
	counted := map[string]bool{}
	for _, c := range firing {
		for name, text := range c.found(t) {
			ic, all := read(t, text)
			d := all[0].doc
			if d == nil { // refused, and so not compared
				continue
			}
			t.Run(c.code+": "+name, func(t *testing.T) {
				m := begin(ic, 0, d.Class, nil)
				m.doc, m.errs, m.lesser = d, listed, len(listed)
				m.places.units = d.units
				if d.Detail.Invoice != nil {
					m.places.taxes = make([]edi.Location, len(d.Detail.Invoice.Taxes))
				}
				m.check()
				counted[c.code] = m.lesser > len(listed)
				if len(m.errs) != len(listed) {
					t.Errorf("listed %v", codes(m.errs[len(listed):]))
				}
			})
		}
	}
	for _, code := range []string{"currency-missing", "date-implausible", "due-before-issue", "period-reversed", "delivery-before-despatch", "best-before-passed",
		"negative-price", "line-amount", "sign-mismatch", "line-repeated", "tax-amount", "tax-basis", "zero-quantity", "negative-quantity", "line-unpacked", "package-empty", "sscc-repeated"} {
		if !counted[code] {
			t.Errorf("%s was not counted", code)
		}
	}
}

// several writes n segments, each by its number from 0.
func several(n int, segment func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(segment(i))
	}
	return b.String()
}

// timesFound counts the findings of a code.
func timesFound(errs []*edi.Error, code string) (n int) {
	for _, e := range errs {
		if e.Code == code {
			n++
		}
	}
	return n
}

// These took seconds to minutes each, the more so the longer they are.
func TestManyFindings(t *testing.T) {
	const many = 40_000
	t.Run("packages in which nothing stands", func(t *testing.T) {
		d, errs := single(t, despatched(t, "CNT+2:2'", several(many, func(i int) string { return fmt.Sprintf("CPS+%d'", i+4) })+"CNT+2:2'"))
		if got := timesFound(errs, "package-empty"); got != maxFindings || len(d.Packages) != many+3 {
			t.Errorf("listed %d of %d packages", got, len(d.Packages))
		}
		if at := errs[0].Location; at.Tag != "CPS" || at.Segment != 23 || at.Element != 1 {
			t.Errorf("found at %+v", at)
		}
	})
	t.Run("packages far beneath one that holds a line", func(t *testing.T) {
		d, errs := single(t, despatched(t, "CNT+2:2'", several(many, func(i int) string { return fmt.Sprintf("CPS+%d+%d'", i+4, min(i, many/2)+3) })+"CNT+2:2'"))
		if got := timesFound(errs, "package-empty"); got != 0 || len(d.Packages) != many+3 { // they hold what it holds
			t.Errorf("listed %d of %d packages", got, len(d.Packages))
		}
	})
	t.Run("packages of one number", func(t *testing.T) {
		_, errs := single(t, despatched(t, "CNT+2:2'", "CPS+9'CPS+9'CNT+2:2'"))
		var at []int
		for _, e := range errs {
			if e.Code == "package-empty" {
				at = append(at, e.Location.Segment)
			}
		}
		if diff := cmp.Diff([]int{23, 24}, at); diff != "" { // each where it stands, not where the first does
			t.Error(diff)
		}
	})
	t.Run("dates that are far off", func(t *testing.T) {
		d, errs := single(t, summed(t, "DTM+35:20261120:102'", several(many, func(i int) string { return fmt.Sprintf("DTM+35:1999010100%02d%02d:204'", i/60%60, i%60) })))
		if got := timesFound(errs, "date-implausible"); got != maxFindings || len(d.Detail.Dates) < many {
			t.Errorf("listed %d of %d dates", got, len(d.Detail.Dates))
		}
	})
	t.Run("lines that differ in little", func(t *testing.T) {
		d, errs := single(t, despatched(t, "CNT+2:2'", several(many/2, func(i int) string { return fmt.Sprintf("LIN+%d++9520000001049:SRV'RFF+ON:X%d'", i+10, i) })+
			"LIN+7++9520000001049:SRV'RFF+ON:X1234'CNT+2:2'"))
		if got := timesFound(errs, "line-repeated"); got != 1 || len(d.Lines) != many/2+3 {
			t.Errorf("found %d times in %d lines: %v", got, len(d.Lines), codes(errs))
		}
		if i := slices.IndexFunc(errs, func(e *edi.Error) bool { return e.Code == "line-repeated" }); i < 0 || !strings.HasPrefix(errs[i].Text, "line 7 says the same as line 1244") {
			t.Errorf("got %v", errs)
		}
	})
	t.Run("lines and taxes", func(t *testing.T) {
		const many = 10_000
		text := "UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1015+REF1'UNH+1+INVOIC:D:01B:UN:EAN010'BGM+380+RG-7+9'DTM+137:20261127:102'NAD+SU+9520001000010::9'NAD+BY+9520002000019::9'CUX+2:EUR:4'" +
			several(many, func(i int) string {
				return fmt.Sprintf("LIN+%d++%013d:SRV'QTY+47:1'MOA+203:100'TAX+7+VAT+++:::%d.%03d+S'", i+1, i, i/1000, i%1000)
			}) + "UNS+S'" +
			several(many, func(i int) string {
				return fmt.Sprintf("TAX+7+VAT+++:::%d.%03d0+S'MOA+125:900'", i/1000, i%1000)
			}) + "UNT+99+1'UNZ+1+REF1'"
		d, errs := single(t, counted([]byte(text)))
		if got := timesFound(errs, "tax-basis"); got != maxFindings || len(d.Detail.Invoice.Taxes) != many {
			t.Errorf("listed %d of %d taxes: %v", got, len(d.Detail.Invoice.Taxes), codes(errs))
		}
	})
}

func TestRatedFindsTheOneTax(t *testing.T) {
	numbers := []Number{{}, amount(t, "0"), amount(t, "0.00"), amount(t, "7"), amount(t, "7.0"), amount(t, "19"), amount(t, "19.00"), amount(t, "-7"), amount(t, "12345678901234567890.5")}
	categories := []string{"", "E", "S", "Z"}
	random := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		taxes := make([]Tax, random.IntN(5))
		for i := range taxes {
			taxes[i] = Tax{Rate: numbers[random.IntN(len(numbers))], Category: categories[random.IntN(len(categories))]}
		}
		rated := ratedOf(taxes)
		for _, rate := range numbers[1:] {
			for _, category := range categories {
				want, fitting := 0, 0
				for i, x := range taxes {
					if x.Rate.Valid() && x.Rate.Decimal().Equal(rate.Decimal()) && (x.Category == category || x.Category == "" || category == "") {
						want, fitting = i, fitting+1
					}
				}
				got, ok := rated.find(category, rate)
				if ok != (fitting == 1) || ok && got != want {
					t.Fatalf("%q at %s of %+v: got %d, %v, want %d of %d", category, rate, taxes, got, ok, want, fitting)
				}
			}
		}
	}
}

func TestInherit(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		n := 1 + random.IntN(30)
		order := random.Perm(n) // parents stand before their children, and behind them
		packages, set := make([]Package, n), make([]bool, n+1)
		for i, at := range order {
			if up := random.IntN(i + 1); up > 0 {
				packages[at].Parent = order[up-1] + 1
			}
			set[at+1] = random.IntN(5) == 0
		}
		got := inherit(packages, set)
		for i := range packages {
			want := false
			for at := i + 1; at > 0; at = packages[at-1].Parent {
				want = want || set[at]
			}
			if got[i+1] != want {
				t.Fatalf("package %d of %+v, set %v: got %v", i+1, packages, set, got[i+1])
			}
		}
	}
}
