package documents

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// invoicText is an INVOIC of one line; the parts given take the place of the
// segments they start like, or stand before LIN.
func invoicText(replace ...string) []byte {
	segments := []string{
		"UNH+1+INVOIC:D:96A:UN:EAN008", "BGM+380+RG-44+9", "DTM+137:20261127:102", "RFF+ON:BE-55012",
		"NAD+SU+9520001000010::9", "NAD+BY+9520002000019::9", "CUX+2:EUR:4", "LIN+1++9520000001018:EN", "QTY+47:10",
		"MOA+203:100.00", "PRI+AAA:10.00", "UNS+S", "MOA+77:119.00", "MOA+79:100.00", "TAX+7+VAT+++:::19+S", "MOA+124:19.00",
	}
	for _, r := range replace {
		start, _, _ := cutAny(r, ":")
		found := false
		for i, s := range segments {
			if have, _, _ := cutAny(s, ":"); have == start || len(s) >= 3 && len(start) == 3 && s[:3] == start {
				segments[i], found = r, true
				break
			}
		}
		if !found {
			for i, s := range segments {
				if s[:3] == "LIN" {
					segments = append(segments[:i], append([]string{r}, segments[i:]...)...)
					break
				}
			}
		}
	}
	return interchange(segments)
}

// cutAny cuts a segment behind its qualifier: DTM+137:… gives DTM+137.
func cutAny(s, sep string) (string, string, bool) {
	if s[:3] == "BGM" || s[:3] == "LIN" {
		return s[:3], "", true
	}
	before, after, ok := bytes.Cut([]byte(s), []byte(sep))
	return string(before), string(after), ok
}

// interchange puts one message into an interchange with right counts.
func interchange(segments []string) []byte {
	var b bytes.Buffer
	b.WriteString("UNB+UNOC:3+9520001000010:14+9520002000019:14+261129:1015+REF1'")
	for _, s := range segments {
		b.WriteString(s + "'")
	}
	fmt.Fprintf(&b, "UNT+%d+1'UNZ+1+REF1'", len(segments)+1)
	return b.Bytes()
}

// TestCases holds the mapper against the situations of kind DOC that EDIFACT can
// express.
func TestCases(t *testing.T) {
	type want struct {
		Refused  string // code and 0085 of the first error
		Findings []string
		Number   string
		Date     string
		Net      string
		Total    string
	}
	for _, c := range []struct {
		name, file string
		want       []want
	}{
		{"01 odd delimiters: the foreign decimal mark is read", "01-una-odd.edi", []want{{Number: "RG-26-10871", Date: "2026-11-27", Net: "100.00", Total: "119.00"}}},
		{"81a an invoice without number is refused", "81-invoic-no-number-a.edi", []want{{Refused: "document-number-missing 13"}}},
		{"81b an invoice without BGM is refused", "81-invoic-no-number-b.edi", []want{{Refused: "bgm-missing 13"}}},
		{"81c a number of 36 characters is refused by length, not cut", "81-invoic-no-number-c.edi", []want{{Refused: "document-number-too-long 39"}}},
		{"83a a cent off is inside the tolerance", "83-moa-sums-a.edi", []want{{Number: "RG-44", Date: "2026-11-27", Net: "100.00", Total: "119.01"}}},
		{"83b a hundred off is flagged and kept as sent", "83-moa-sums-b.edi", []want{{Findings: []string{"warning tax-inclusive-total"}, Number: "RG-45", Date: "2026-11-27", Net: "100.00", Total: "219.00"}}},
		{"83c four decimals are kept", "83-moa-sums-c.edi", []want{{Number: "RG-46", Date: "2026-11-27", Net: "8.6957", Total: "10.00"}}},
		{"89a formats 101, 102 and 203 are one day", "89-dates-a.edi", []want{
			{Number: "RG-60", Date: "2026-11-27", Net: "100.00", Total: "119.00"},
			{Number: "RG-61", Date: "2026-11-27", Net: "100.00", Total: "119.00"},
			{Number: "RG-62", Date: "2026-11-27", Net: "100.00", Total: "119.00"},
		}},
		{"89b a long date in UNB is not ours to refuse", "89-dates-b.edi", []want{{Number: "RG-63", Date: "2026-11-27", Net: "100.00", Total: "119.00"}}},
		{"89c 31 November is refused, not 1 December", "89-dates-c.edi", []want{{Refused: "invalid-date 12"}}},
		{"89d a DTM with nothing in it is absent", "89-dates-d.edi", []want{{Findings: []string{"warning date-empty", "warning issue-date-missing"}, Number: "RG-65", Net: "100.00", Total: "119.00"}}},
		{"87a the same SSCC twice in a notice is flagged", "87-sscc-repeated-a.edi", []want{{Findings: []string{"warning sscc-repeated"}, Number: "LS-26-4410", Date: "2026-11-27"}}},
		{"87b an SSCC that another notice names too is accepted", "87-sscc-repeated-b.edi", []want{{Number: "LS-1", Date: "2026-11-27"}}},
		{"87c and so is the other notice", "87-sscc-repeated-c.edi", []want{{Number: "LS-2", Date: "2026-11-27"}}},
		{"87d nothing despatched and a wrong check digit are flagged", "87-sscc-repeated-d.edi", []want{{Findings: []string{"warning sscc-check-digit", "warning zero-quantity"}, Number: "LS-3", Date: "2026-11-27"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, all := read(t, shared(t, "cases/"+c.file))
			var got []want
			for _, m := range all {
				if m.doc == nil {
					got = append(got, want{Refused: m.errs[0].Code + " " + m.errs[0].Standard})
					continue
				}
				w := want{Number: m.doc.Number, Date: m.doc.IssueDate, Total: m.doc.Totals.TaxInclusive.String()}
				if m.doc.Class == ClassInvoice {
					w.Net = m.doc.Lines[0].NetAmount.String()
				}
				for _, e := range m.errs {
					w.Findings = append(w.Findings, e.Severity.String()+" "+e.Code)
				}
				got = append(got, w)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}

	t.Run("87 stores SSCC and quantity as sent", func(t *testing.T) {
		d, _ := single(t, shared(t, "cases/87-sscc-repeated-d.edi"))
		if d.Packages[0].SSCC != "095200000004410022" || d.Packages[0].SSCCValid || d.Lines[0].Quantity.String() != "0" {
			t.Errorf("got %+v %s", d.Packages[0], d.Lines[0].Quantity)
		}
		d, _ = single(t, shared(t, "cases/87-sscc-repeated-a.edi"))
		if len(d.Packages) != 3 || d.Packages[1].SSCC != d.Packages[2].SSCC || d.Lines[0].Package != 2 || d.Lines[1].Package != 3 {
			t.Errorf("two pallets with one SSCC were merged: %+v", d.Packages)
		}
	})
	t.Run("89a keeps the time of format 203", func(t *testing.T) {
		_, all := read(t, shared(t, "cases/89-dates-a.edi"))
		if got := all[2].doc.Detail.Dates[0].Value; got != "2026-11-27T14:30" {
			t.Errorf("got %s", got)
		}
	})
	for _, n := range []int{9999, 10000} {
		t.Run(fmt.Sprintf("85 %d lines give %d lines", n, n), func(t *testing.T) {
			d, errs := single(t, manyLines(n))
			if d.LineCount != n || len(d.Lines) != n || d.Lines[n-1].No != fmt.Sprint(n) || fmt.Sprint(codes(errs)) != "[note line-repeated]" { // all say the same
				t.Errorf("got %d lines, findings %v", len(d.Lines), codes(errs))
			}
		})
	}
}

// manyLines writes an INVOIC of n lines, as the generator of case 85 does.
func manyLines(n int) []byte {
	segments := []string{"UNH+1+INVOIC:D:96A:UN:EAN008", fmt.Sprintf("BGM+380+L-%d+9", n), "DTM+137:20261127:102",
		"NAD+SU+9520001000010::9", "NAD+BY+9520002000019::9", "CUX+2:EUR:4"}
	for i := 1; i <= n; i++ {
		segments = append(segments, fmt.Sprintf("LIN+%d++9520000001018:EN", i), "QTY+47:1", "MOA+203:1.00", "PRI+AAA:1.00")
	}
	segments = append(segments, "UNS+S", fmt.Sprintf("MOA+77:%d.00", n), fmt.Sprintf("MOA+79:%d.00", n), "MOA+124:0")
	return interchange(segments)
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name     string
		text     []byte
		code     string
		standard string
		tag      string
		element  int
		part     int
		value    string
	}{
		{"an amount that is no number", invoicText("MOA+203:abc"), "invalid-number", "37", "MOA", 1, 2, "abc"},
		{"an amount with thousands marks", invoicText("MOA+203:1.234,56"), "invalid-number", "19", "MOA", 1, 2, "1.234,56"},
		{"an amount with an exponent", invoicText("MOA+203:1e5"), "invalid-number", "37", "MOA", 1, 2, "1e5"},
		{"an amount of 36 digits", invoicText("MOA+203:123456789012345678901234567890123456"), "invalid-number", "39", "MOA", 1, 2, "123456789012345678901234567890123456"},
		{"a quantity with the minus behind", invoicText("QTY+47:5-"), "invalid-number", "37", "QTY", 1, 2, "5-"},
		{"a date in February that is not", invoicText("DTM+137:20260229:102"), "invalid-date", "12", "DTM", 1, 2, "20260229"},
		{"a date of letters", invoicText("DTM+137:TOMORROW:102"), "invalid-date", "12", "DTM", 1, 2, "TOMORROW"},
		{"blanks for a number", invoicText("BGM+380+   +9"), "document-number-missing", "13", "BGM", 2, 1, "   "},
	} {
		t.Run(c.name+" refuses the message at its place", func(t *testing.T) {
			_, all := read(t, c.text)
			if all[0].doc != nil || len(all[0].errs) == 0 {
				t.Fatalf("got %v", all[0])
			}
			e := all[0].errs[0]
			got := []any{e.Code, e.Standard, e.Severity, e.Tag, e.Element, e.Component}
			if diff := cmp.Diff([]any{c.code, c.standard, edi.SeverityError, c.tag, c.element, c.part}, got); diff != "" {
				t.Error(diff)
			}
			if at := c.text[e.Offset:]; !bytes.HasPrefix(at, []byte(c.value)) {
				t.Errorf("the offset leads to %.12q, not to %q", at, c.value)
			}
		})
	}
}

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name string
		text []byte
		want []string
	}{
		{"a sound invoice has none", invoicText(), nil},
		{"lines that do not add up", invoicText("MOA+79:101.00"), []string{"warning line-total", "warning tax-inclusive-total"}},
		{"a line that does not multiply", invoicText("PRI+AAA:11.00"), []string{"warning line-amount"}},
		{"a price basis counts", invoicText("PRI+AAA:100.00::::"), []string{"warning line-amount"}},
		{"a price per ten", invoicText("PRI+AAA:100.00:::10:PCE"), nil},
		{"a negative price", invoicText("PRI+AAA:-10.00", "QTY+47:-10"), []string{"warning negative-price"}},
		{"no digit before the mark", invoicText("PRI+AAA:.10", "QTY+47:1000"), []string{"warning invalid-number"}},
		{"a partial function", invoicText("BGM+380+RG-44+4"), []string{"warning partial-function"}},
		{"a date in another format than it says", invoicText("DTM+137:20261127:203"), []string{"warning date-format"}},
		{"zeros for a date", invoicText("DTM+35:00000000:102"), []string{"warning date-empty"}},
		{"a format we do not read", invoicText("DTM+35:XY:999"), []string{"note date-format"}},
		{"an invoice below zero", invoicText("MOA+77:-119.00", "MOA+79:-100.00", "MOA+203:-100.00", "QTY+47:-10", "MOA+124:-19.00"), []string{"note negative-total"}},
		{"a credit note below zero", invoicText("BGM+381+GS-1+9", "MOA+77:-119.00", "MOA+79:-100.00", "MOA+203:-100.00", "QTY+47:-10", "MOA+124:-19.00"), []string{"warning negative-total"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, errs := single(t, c.text)
			if diff := cmp.Diff(c.want, append([]string(nil), codes(errs)...)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("more findings than we list are counted", func(t *testing.T) {
		segments := []string{"UNH+1+INVOIC:D:96A:UN", "BGM+380+N+9", "DTM+137:20261127:102"}
		for range 200 {
			segments = append(segments, "DTM+35:00000000:102")
		}
		_, errs := single(t, interchange(segments))
		if len(errs) != maxFindings+1 || errs[maxFindings].Text != "150 further findings are not listed" {
			t.Errorf("got %d, last %v", len(errs), errs[len(errs)-1])
		}
	})
}
