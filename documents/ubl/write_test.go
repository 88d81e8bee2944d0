package ubl

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/documents"
)

// invoice makes an INVOIC that says what every invoice does, and between header and
// summary what is given.
func invoice(header, lines string) string {
	return "UNB+UNOC:3+A:14+B:14+261127:1015+1'UNH+1+INVOIC:D:96A:UN'BGM+380+R1'DTM+137:20261127:102'" + header +
		"NAD+SU+1::9++Seller+++++DE'NAD+BY+2::9++Buyer+++++DE'CUX+2:EUR:4'" + lines + "UNS+S'MOA+77:11.90'UNT+9+1'UNZ+1+1'"
}

// of maps text whose UNT tells no count that is right.
func of(t testing.TB, text string) *documents.Document {
	t.Helper()
	at := strings.Index(text, "UNT+")
	if at < 0 {
		return mapped(t, []byte(text))
	}
	segments := strings.Count(text[strings.Index(text, "UNH+"):at], "'") + 1
	return mapped(t, []byte(fmt.Sprintf("%sUNT+%d+1'UNZ+1+1'", text[:at], segments)))
}

const line = "LIN+1'IMD+F++:::Nail'QTY+47:2:PCE'MOA+203:10.00'PRI+AAA:5.00'TAX+7+VAT+++:::19+S'"

// request is an 810 that asks for a credit.
const request = "ISA*00*          *00*          *ZZ*A              *ZZ*B              *261127*1015*U*00401*000000001*0*P*>~" +
	"GS*IN*A*B*20261127*1015*1*X*004010~ST*810*0001~BIG*20261127*7*****RA~CUR*SE*EUR~IT1**1*EA*1.00~TDS*100~SE*6*0001~GE*1*1~IEA*1*000000001~"

func TestUnfit(t *testing.T) {
	for what, want := range map[string]struct{ text, reason string }{
		"a despatch advice":           {"UNB+UNOC:3+A:14+B:14+261127:1015+1'UNH+1+DESADV:D:96A:UN'BGM+351+L1'DTM+137:20261127:102'UNT+4+1'UNZ+1+1'", "no invoice"},
		"a cancellation":              {strings.Replace(invoice("", line), "BGM+380+R1'", "BGM+380+R1+1'", 1), "cancels an invoice"},
		"an invoice without a type":   {strings.Replace(invoice("", line), "BGM+380+R1'", "BGM++R1'", 1), "does not say whether it is an invoice"},
		"an invoice without a date":   {strings.Replace(invoice("", line), "DTM+137:20261127:102'", "", 1), "no document date"},
		"an invoice without currency": {strings.Replace(invoice("", line), "CUX+2:EUR:4'", "", 1), "no currency"},
		"an invoice without lines":    {invoice("", ""), "no lines"},
		"a request for credit":        {request, "x12:RA"},
		"a line that says no amount":  {invoice("", line+"LIN+2'QTY+47:1:PCE'"), "line 2 says neither an amount"},
	} {
		t.Run(what+" is no UBL, and nothing is written", func(t *testing.T) {
			var b bytes.Buffer
			list, err := Write(&b, of(t, want.text))
			var unfit *Unfit
			if !errors.As(err, &unfit) || !strings.Contains(unfit.Reason, want.reason) {
				t.Fatalf("got %v, want %q", err, want.reason)
			}
			if b.Len() > 0 || list != nil {
				t.Errorf("got %q and %v beside the error", b.String(), list)
			}
		})
	}
}

// leaves gives the text of each element of a file by its path.
func leaves(t *testing.T, text string) map[string]string {
	t.Helper()
	found := map[string]string{}
	var path []string
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return found
		case err != nil:
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			path = append(path, x.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if s := string(x); strings.TrimSpace(s) != "" {
				found[strings.Join(path[1:], "/")] += s
			}
		}
	}
}

func TestDigits(t *testing.T) {
	for _, n := range []string{"12345678901234567890123456789012345", "0.1234567890123456789012345678901234", "-0.50", "100.00", "7", "0.0"} {
		t.Run(n+" is written with every digit", func(t *testing.T) {
			lines := fmt.Sprintf("LIN+1'IMD+F++:::Nail'QTY+47:%s:KGM'MOA+203:%[1]s'PRI+AAA:%[1]s:::1000.00:GRM'TAX+7+VAT+++:::19.00+S'", n)
			file, _ := written(t, of(t, invoice("", lines)))
			got := leaves(t, file)
			for _, path := range []string{"InvoicedQuantity", "LineExtensionAmount", "Price/PriceAmount"} {
				if diff := cmp.Diff(n, got["InvoiceLine/"+path]); diff != "" {
					t.Errorf("%s: %s", path, diff)
				}
			}
			if got["InvoiceLine/Price/BaseQuantity"] != "1000.00" || got["InvoiceLine/Item/ClassifiedTaxCategory/Percent"] != "19.00" {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestTexts(t *testing.T) {
	d := of(t, invoice("FTX+AAI+++x'", line))
	d.Detail.Texts[0].Text = "<&>\"' \x01\x0b\r\n\t€ ]]>"
	file, _ := written(t, d)
	if diff := cmp.Diff("#AAI#<&>\"' \uFFFD\uFFFD\r\n\t€ ]]>", leaves(t, file)["Note"]); diff != "" {
		t.Errorf("a text comes back as XML reads it: %s", diff)
	}
}

func TestRemarks(t *testing.T) {
	for _, c := range []struct {
		name, header, lines string
		want                []string
	}{
		{"what every line lacks is told once", "", "LIN++'IMD+F++:::Nail'QTY+47:2:PCE'PRI+AAA:5.00'LIN++'IMD+F++:::Nail'QTY+47:2:PCE'PRI+AAA:5.00'", []string{
			"BT-131 derived: line 1 and 1 more: the amount, from quantity, price, allowances and charges",
			"BT-126 derived: line 1 and 1 more: the number of the line, from its place",
			"BT-151 missing: line 1 and 1 more: the tax category",
		}},
		{"parties and references without a place are told", "RFF+AAS:T1'NAD+CA+++Carrier'RFF+ON:1'RFF+ON:2'", line, []string{
			"left_out: a reference of the kind transport document",
			"left_out: the party carrier",
		}},
		{"an allowance without a reason is told", "ALC+A'MOA+204:1.00'TAX+7+VAT+++:::19+S'", line, []string{"BT-97 missing: why there is an allowance or charge"}},
		{"when to pay and to whose tax office is missing", "", line, []string{
			"BT-9 missing: when to pay: neither a date nor terms",
			"BT-31 missing: the VAT identifier of the seller",
			"BG-23 missing: what tax there is",
		}},
		{"what a tax is reckoned from, and its rate, are missing", "", line + "UNS+S'MOA+176:1.90'TAX+7+VAT+++:::+S'MOA+124:1.90'", []string{
			"BT-116 missing: what a tax is reckoned from",
			"BT-119 missing: the rate of tax",
		}},
		{"the breakdown of tax is missing", "", line + "UNS+S'MOA+176:1.90'", []string{"BG-23 missing: the breakdown of tax"}},
		{"how goods come has no place", "TOD+3++CIF'", line, []string{"left_out: terms of delivery, transport and places"}},
		{"other amounts have no place", "", line + "UNS+S'MOA+52:1.90'", []string{"left_out: amounts of the document beside its totals"}},
		{"an order that all lines name is the document's", "", strings.Replace(line, "TAX+", "RFF+ON:B7'TAX+", 1), []string{"BT-13 derived: the order, which all lines name"}},
		{"an order without its line is told", "RFF+ON:B1'", strings.Replace(line, "TAX+", "RFF+ON:B7'TAX+", 1), []string{
			"BT-132 derived: line 1: NA as the line of the order, which the schema demands beside the order",
		}},
		{"the seller's number of an order alone is told", "RFF+VN:A1'", line, []string{"BT-13 derived: NA as the order, which the schema demands beside the seller's number of it"}},
		{"a line keeps its batch to itself", "", line + "GIN+BX+B7'", []string{"left_out: line 1: batch, dates of the goods and serial numbers"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, list := written(t, of(t, invoice(c.header, c.lines)))
			told := map[string]bool{}
			for _, r := range list {
				told[strings.TrimSpace(r.Term+" "+r.String())] = true
			}
			for _, want := range c.want {
				if !told[want] {
					t.Errorf("not told: %s\nbut %v", want, list)
				}
			}
		})
	}
}

func TestTaxPoint(t *testing.T) {
	d := of(t, invoice("DTM+131:20261126:102'", line))
	file, _ := written(t, d)
	if got := leaves(t, file)["TaxPointDate"]; got != "2026-11-26" {
		t.Errorf("the date: got %q", got)
	}
	d.Detail.Invoice.TaxPoint = "35"
	file, _ = written(t, d)
	if got := leaves(t, file); got["InvoicePeriod/DescriptionCode"] != "35" || got["TaxPointDate"] != "" {
		t.Errorf("the code in its place (BR-CO-03): got %v", got)
	}
}

func TestSubLines(t *testing.T) {
	const sub = "LIN+1.1+++1:1'IMD+F++:::Head'QTY+47:2:PCE'MOA+203:4.00'PRI+AAA:2.00'TAX+7+VAT+++:::19+S'"
	summary := func(total string) *documents.Document {
		return of(t, strings.Replace(invoice("", line+sub), "UNS+S'", "UNS+S'MOA+79:"+total+"'", 1))
	}
	t.Run("what details a line stands in it", func(t *testing.T) {
		file, _ := written(t, summary("10.00"))
		if got := leaves(t, file); got["InvoiceLine/SubInvoiceLine/ID"] != "1.1" || got["InvoiceLine/ID"] != "1" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("what the total counts stands beside it", func(t *testing.T) {
		file, _ := written(t, summary("14.00"))
		if got := leaves(t, file); got["InvoiceLine/ID"] != "11.1" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("ten thousand lines that detail each other are written", func(t *testing.T) {
		d := summary("10.00")
		first := d.Lines[1]
		for i := 2; i < 10_000; i++ {
			first.SubOf, first.No = first.No, fmt.Sprint("1.", i)
			d.Lines = append(d.Lines, first)
		}
		file, _ := written(t, d)
		if n := strings.Count(file, "<cac:SubInvoiceLine>"); n != 9_999 {
			t.Errorf("got %d of 9999", n)
		}
		deepest := 0
		for path := range leaves(t, file) {
			deepest = max(deepest, strings.Count(path, "SubInvoiceLine"))
		}
		if deepest != maxNesting {
			t.Errorf("the deepest of them stands in %d others, want %d", deepest, maxNesting)
		}
	})
}

// brokenWriter takes n bytes.
type brokenWriter struct{ n int }

var errBroken = errors.New("disk full")

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.n -= len(b); w.n < 0 {
		return 0, errBroken
	}
	return len(b), nil
}

func TestWriterBreaks(t *testing.T) {
	d := message(t, "invoice.edi")
	for _, n := range []int{0, 1, 4000} {
		if _, err := Write(&brokenWriter{n}, d); !errors.Is(err, errBroken) {
			t.Errorf("after %d bytes: got %v", n, err)
		}
	}
}
