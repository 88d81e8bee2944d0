package documents

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// billed is an INVOIC in a currency of lines "quantity price net", with the totals given.
func billed(t testing.TB, currency string, lines []string, totals string) []byte {
	t.Helper()
	var b strings.Builder
	for i, line := range lines {
		f := strings.Fields(line)
		fmt.Fprintf(&b, "LIN+%d++%013d:SRV'QTY+47:%s'MOA+203:%s'PRI+AAA:%s'", i+1, i, f[0], f[2], f[1])
	}
	text := change(t, invoicText(), "LIN+1++9520000001018:EN'QTY+47:10'MOA+203:100.00'PRI+AAA:10.00'", b.String(),
		"MOA+77:119.00'MOA+79:100.00'TAX+7+VAT+++:::19+S'MOA+124:19.00'", totals, "CUX+2:EUR:4'", currency)
	return counted(text)
}

// TestRoundingByCurrency: what is rounded to the smallest unit of its currency is not wrong.
func TestRoundingByCurrency(t *testing.T) {
	many := slices.Repeat([]string{"7 13.5 95"}, 6) // each half a unit more than it gives
	for _, c := range []struct {
		name, currency string
		lines          []string
		totals         string
		want           []string
	}{
		{"yen, rounded in the line and cut in the tax", "JPY", []string{"7 13.5 95"}, "MOA+79:95'MOA+125:95'MOA+176:9'MOA+77:104'TAX+7+VAT+++:::10+S'MOA+125:95'MOA+124:9'", nil},
		{"yen, cut in the line", "JPY", []string{"7 13.57 94"}, "MOA+79:94'", nil},
		{"forint, which have fillér by the standard alone", "HUF", []string{"3 33.5 101"}, "MOA+79:101'MOA+125:101'MOA+176:27'MOA+77:128'TAX+7+VAT+++:::27+S'MOA+125:101'MOA+124:27'", nil},
		{"won with decimals that are zeros", "KRW", []string{"7 13.5 95.00"}, "MOA+79:95.00'", nil},
		{"pesos of Chile, with a price for a hundred", "CLP", []string{"7 1350:::100 95"}, "MOA+79:95'", nil},
		{"taxes cut on each line", "JPY", many, "MOA+79:570'MOA+125:570'MOA+176:54'MOA+77:624'TAX+7+VAT+++:::10+S'MOA+125:570'MOA+124:54'", nil},
		{"lines that are not said", "JPY", []string{"7 13.5 95", "5 20.1 101"}, "MOA+79:196'MOA+125:196'MOA+77:196'", nil},
		{"no currency, and no decimals", "", []string{"7 13.5 95"}, "MOA+79:95'MOA+125:95'MOA+176:9'MOA+77:104'TAX+7+VAT+++:::10+S'MOA+125:95'MOA+124:9'", []string{"warning currency-missing"}},
		{"no currency, and decimals", "", []string{"7 13.5 95.00"}, "MOA+79:95'", []string{"warning currency-missing", "warning line-amount"}},

		{"two yen are too many", "JPY", []string{"7 13.5 97"}, "MOA+79:97'", []string{"warning line-amount"}},
		{"a tax that is two yen off", "JPY", []string{"10 10 100"}, "MOA+79:100'MOA+125:100'MOA+176:12'MOA+77:112'TAX+7+VAT+++:::10+S'MOA+125:100'MOA+124:12'", []string{"warning tax-amount"}},
		{"a total of lines that is four off", "JPY", many, "MOA+79:574'", []string{"warning line-total"}},
		{"euros written without their decimals are not in whole ones", "EUR", []string{"7 13.5 95"}, "MOA+79:95'", []string{"warning line-amount"}},
		{"dinars of Kuwait have three decimals, and five hundredths pass as in any other", "KWD", []string{"7 13.513 94.591"}, "MOA+79:94.591'", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			currency := ""
			if c.currency != "" {
				currency = "CUX+2:" + c.currency + ":4'"
			}
			_, errs := single(t, billed(t, currency, c.lines, c.totals))
			if diff := cmp.Diff(append([]string{}, c.want...), codes(errs)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", errs, diff)
			}
		})
	}
}
