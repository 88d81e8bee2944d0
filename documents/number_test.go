package documents

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"
)

func TestNumberPer(t *testing.T) {
	number := func(s string) Number {
		n, fault := parseNumber(s)
		if fault != nil {
			t.Fatal(fault.text)
		}
		return n
	}
	for _, c := range [...]struct{ n, basis, want string }{
		{"12.50", "1", "12.50"}, {"12.50", "100", "0.1250"}, {"-7", "1000", "-0.007"}, {"0", "1", "0"}, {"10", "10", "1.0"},
		{"1", "8", "0.125"}, {"12345678901234567890123", "100", "123456789012345678901.23"}, {"2.5", "0.5", "5"},
	} {
		t.Run(c.n+" per "+c.basis+" is "+c.want, func(t *testing.T) {
			got, want := number(c.n).per(number(c.basis)), number(c.want)
			if !got.Decimal().Equal(want.Decimal()) || got.valid != want.valid {
				t.Errorf("got %s", got)
			}
		})
	}
	t.Run("one, a hundred and a thousand cost no allocation", func(t *testing.T) {
		n, basis := number("12.50"), number("1000")
		if allocations := testing.AllocsPerRun(100, func() { n.per(basis) }); allocations != 0 {
			t.Errorf("%v allocations", allocations)
		}
	})
}

func TestParseNumber(t *testing.T) {
	for _, c := range []struct{ in, want, standard string }{
		{"100.00", "100.00", ""},
		{"100,00", "100.00", ""},
		{"-0,5", "-0.5", ""},
		{"0", "0", ""},
		{"000120", "120", ""},
		{"0.000", "0.000", ""},
		{" 12.50  ", "12.50", ""},
		{"", "", ""},
		{"   ", "", ""},
		{"999999999999999999", "999999999999999999", ""},
		{"-9999999999999999999.99", "-9999999999999999999.99", ""},
		{strings.Repeat("9", 35), strings.Repeat("9", 35), ""},
		{"0." + strings.Repeat("0", 33) + "1", "0." + strings.Repeat("0", 33) + "1", ""},
		{"+5", "5", "37"},
		{".5", "0.5", "38"},
		{"-.05", "-0.05", "38"},
		{"5.", "5", "19"},
		{strings.Repeat("9", 36), "", "39"},
		{"1.234,56", "", "19"},
		{"1.2.3", "", "19"},
		{"1e5", "", "37"},
		{"NaN", "", "37"},
		{"1_000", "", "37"},
		{"5-", "", "37"},
		{"--5", "", "37"},
		{"-", "", "37"},
		{".", "", "37"},
		{"1 000", "", "37"},
		{"٣", "", "37"},
	} {
		t.Run(c.in, func(t *testing.T) {
			n, fault := parseNumber(c.in)
			standard := ""
			if fault != nil {
				standard = fault.standard
			}
			if n.String() != c.want || standard != c.standard {
				t.Errorf("got %q, 0085 %q; want %q, %q", n, standard, c.want, c.standard)
			}
			if fault != nil && fault.tolerated != n.Valid() {
				t.Errorf("tolerated %v, value %v", fault.tolerated, n.Valid())
			}
		})
	}
}

// TestArithmetic holds the arithmetic of small numbers against decimals.
func TestArithmetic(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) Number {
		s := rapid.StringMatching(`-?[0-9]{1,22}(\.[0-9]{1,10})?`).Draw(t, "number")
		n, fault := parseNumber(s)
		if fault != nil {
			t.Fatalf("%s: %s", s, fault.text)
		}
		return n
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := number.Draw(t, "a"), number.Draw(t, "b"), number.Draw(t, "c")
		same := func(what string, got Number, want decimal.Decimal) {
			if !got.Decimal().Equal(want) || got.Sign() != want.Sign() {
				t.Fatalf("%s %s %s is %s, want %s", a, what, b, got, want)
			}
		}
		same("plus", a.plus(b), a.Decimal().Add(b.Decimal()))
		same("minus", a.minus(b), a.Decimal().Sub(b.Decimal()))
		same("times", a.times(b), a.Decimal().Mul(b.Decimal()))
		same("of", NumberOf(a.Decimal()), a.Decimal())
		if got, want := near(a, b, c), a.Decimal().Sub(b.Decimal()).Abs().LessThanOrEqual(c.Decimal()); got != want {
			t.Fatalf("near(%s, %s, %s) is %v", a, b, c, got)
		}
		raw, err := json.Marshal(a)
		var back Number
		if err != nil || json.Unmarshal(raw, &back) != nil || back.String() != a.String() {
			t.Fatalf("%s came back as %s from %s", a, back, raw)
		}
	})
}
