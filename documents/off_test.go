package documents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/documents/checks"
)

// noisy is an INVOIC of sixty lines, of which none says what its quantity and price give,
// and of twenty taxes that are not what basis and rate give.
func noisy(t testing.TB) []byte {
	t.Helper()
	var b, taxes strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "LIN+%d++%013d:SRV'QTY+47:10'MOA+203:99.00'PRI+AAA:10.00'", i+1, i)
	}
	for i := range 20 {
		fmt.Fprintf(&taxes, "TAX+7+VAT+++:::%d+S'MOA+125:100.00'MOA+124:50.00'", i+1)
	}
	return counted(change(t, invoicText(), "LIN+1++9520000001018:EN'QTY+47:10'MOA+203:100.00'PRI+AAA:10.00'", b.String(), "MOA+77:119.00'MOA+79:100.00'TAX+7+VAT+++:::19+S'MOA+124:19.00'", taxes.String()))
}

// TestWhatIsOffTakesNoPlace: fifty findings of a message are listed, and what a partner has
// off is none.
func TestWhatIsOffTakesNoPlace(t *testing.T) {
	found := func(t *testing.T, text []byte, policy map[string]string) (counts map[string]int, kept int) {
		t.Helper()
		ic, all := readBy(t, text, &Reading{Checks: policy})
		d, errs := Judge(policy, ic.Syntax, all[0].doc, all[0].errs)
		counts = map[string]int{}
		for _, e := range errs {
			if counts[e.Code]++; e.Code == checks.More {
				counts[e.Text]++
			}
		}
		if d != nil {
			kept = len(d.Detail.Findings)
		}
		return counts, kept
	}
	for _, c := range []struct {
		name   string
		policy map[string]string
		want   map[string]int
		kept   int
	}{
		{"all are told: fifty, and the first of each code", nil, map[string]int{"line-amount": 50, "tax-amount": 1, checks.More: 1, "29 further findings are not listed": 1}, 52},
		{"one code is off, and all of the others are told", map[string]string{"line-amount": "off"}, map[string]int{"tax-amount": 20}, 20},
		{"one is off that would have no place, and does not count among what is not listed", map[string]string{"tax-amount": "off"}, map[string]int{"line-amount": 50, checks.More: 1, "10 further findings are not listed": 1}, 51},
		{"all is off, and nothing is left to be told", map[string]string{"default": "off"}, map[string]int{}, 0},
		{"all is off but one", map[string]string{"default": "off", "tax-amount": "note"}, map[string]int{"tax-amount": 20}, 20},
		{"what refuses is told where others are off", map[string]string{"line-amount": "off", "tax-amount": "refuse"}, map[string]int{"tax-amount": 20}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			counts, kept := found(t, noisy(t), c.policy)
			if diff := cmp.Diff(c.want, counts); diff != "" || kept != c.kept {
				t.Errorf("%d are kept with the document, want %d (-want +got):\n%s", kept, c.kept, diff)
			}
		})
	}
	t.Run("an error is told whatever is off", func(t *testing.T) {
		text := change(t, noisy(t), "UNS+S'", "UNS+S'MOA+9:MUCH'")
		counts, _ := found(t, counted(text), map[string]string{"default": "off"})
		if diff := cmp.Diff(map[string]int{"invalid-number": 1}, counts); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
