package documents

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ubl is what of the UBL twin of an invoice is compared: the official meaning of
// the business terms, written by others.
type ubl struct {
	Number   string `xml:"ID"`
	Issued   string `xml:"IssueDate"`
	Due      string `xml:"DueDate"`
	Type     string `xml:"InvoiceTypeCode"`
	Currency string `xml:"DocumentCurrencyCode"`
	Order    string `xml:"OrderReference>ID"`
	Contract string `xml:"ContractDocumentReference>ID"`
	Supplier party  `xml:"AccountingSupplierParty>Party"`
	Buyer    party  `xml:"AccountingCustomerParty>Party"`
	Taxes    []struct {
		Basis    string `xml:"TaxableAmount"`
		Amount   string `xml:"TaxAmount"`
		Category string `xml:"TaxCategory>ID"`
		Rate     string `xml:"TaxCategory>Percent"`
	} `xml:"TaxTotal>TaxSubtotal"`
	Totals struct {
		Lines      string `xml:"LineExtensionAmount"`
		Exclusive  string `xml:"TaxExclusiveAmount"`
		Inclusive  string `xml:"TaxInclusiveAmount"`
		Allowances string `xml:"AllowanceTotalAmount"`
		Charges    string `xml:"ChargeTotalAmount"`
		Prepaid    string `xml:"PrepaidAmount"`
		Payable    string `xml:"PayableAmount"`
	} `xml:"LegalMonetaryTotal"`
	Lines []struct {
		No       string `xml:"ID"`
		Quantity struct {
			Value string `xml:",chardata"`
			Unit  string `xml:"unitCode,attr"`
		} `xml:"InvoicedQuantity"`
		Net          string `xml:"LineExtensionAmount"`
		Name         string `xml:"Item>Name"`
		SupplierItem string `xml:"Item>SellersItemIdentification>ID"`
		BuyerItem    string `xml:"Item>BuyersItemIdentification>ID"`
		GTIN         string `xml:"Item>StandardItemIdentification>ID"`
		Category     string `xml:"Item>ClassifiedTaxCategory>ID"`
		Rate         string `xml:"Item>ClassifiedTaxCategory>Percent"`
		Price        string `xml:"Price>PriceAmount"`
		OrderLine    string `xml:"OrderLineReference>LineID"`
	} `xml:"InvoiceLine"`
}

type party struct {
	Name    string `xml:"PartyLegalEntity>RegistrationName"`
	ID      string `xml:"PartyIdentification>ID"`
	City    string `xml:"PostalAddress>CityName"`
	Post    string `xml:"PostalAddress>PostalZone"`
	Country string `xml:"PostalAddress>Country>IdentificationCode"`
	VAT     string `xml:"PartyTaxScheme>CompanyID"`
}

// digits writes a number of either side without trailing zeros, so that 4000.00
// is 4000: whether digits are equal is compared, not how they are written.
func digits(s string) string {
	n, fault := parseNumber(s)
	if fault != nil {
		return "broken " + s
	}
	if !n.Valid() {
		return ""
	}
	return n.Decimal().String()
}

// facts flattens an invoice for comparison.
func (u *ubl) facts() []string {
	var f []string
	add := func(name, value string) { f = append(f, name+" "+value) }
	add("number", u.Number)
	add("issued", u.Issued)
	add("due", u.Due)
	add("type", u.Type)
	add("currency", u.Currency)
	add("order", u.Order)
	add("contract", u.Contract)
	add("supplier", u.Supplier.fact())
	add("buyer", u.Buyer.fact())
	add("lines", digits(u.Totals.Lines))
	add("exclusive", digits(u.Totals.Exclusive))
	add("inclusive", digits(u.Totals.Inclusive))
	add("allowances", digits(u.Totals.Allowances))
	add("charges", digits(u.Totals.Charges))
	add("prepaid", digits(u.Totals.Prepaid))
	add("payable", digits(u.Totals.Payable))
	for _, t := range u.Taxes {
		add("tax", fmt.Sprint(t.Category, " ", digits(t.Rate), " ", digits(t.Basis), " ", digits(t.Amount)))
	}
	for _, l := range u.Lines {
		add("line", fmt.Sprint(l.No, " ", digits(l.Quantity.Value), " at ", digits(l.Price), " is ", digits(l.Net),
			"; ", strings.TrimRight(l.Name, " "), "; ", l.SupplierItem, "; ", l.BuyerItem, "; ", l.GTIN, "; ", l.Category, " ", digits(l.Rate), "; order line ", l.OrderLine))
	}
	return f
}

func (p party) fact() string {
	return fmt.Sprint(p.ID, "; ", p.Name, "; ", p.City, "; ", p.Post, "; ", p.Country, "; ", p.VAT)
}

func facts(d *Document) []string {
	var f []string
	add := func(name, value string) { f = append(f, name+" "+value) }
	of := func(role string) string {
		for _, r := range d.Detail.References {
			if r.Role == role {
				return r.Number
			}
		}
		return ""
	}
	side := func(role string) string {
		for _, p := range d.Detail.Parties {
			if p.Role == role {
				return party{ID: p.ID.Value, Name: p.Name, City: p.City, Post: p.Postcode, Country: p.Country, VAT: p.TaxID}.fact()
			}
		}
		return ""
	}
	add("number", d.Number)
	add("issued", d.IssueDate)
	add("due", d.DueDate)
	add("type", d.TypeCode)
	add("currency", d.Currency)
	add("order", d.OrderReference)
	add("contract", of("contract"))
	add("supplier", side("supplier"))
	add("buyer", side("buyer"))
	t := d.Totals
	add("lines", digits(t.Lines.String()))
	add("exclusive", digits(t.TaxExclusive.String()))
	add("inclusive", digits(t.TaxInclusive.String()))
	add("allowances", digits(t.Allowances.String()))
	add("charges", digits(t.Charges.String()))
	add("prepaid", digits(t.Prepaid.String()))
	add("payable", digits(t.Payable.String()))
	for _, x := range d.Detail.Invoice.Taxes {
		add("tax", fmt.Sprint(x.Category, " ", digits(x.Rate.String()), " ", digits(x.Basis.String()), " ", digits(x.Amount.String())))
	}
	for _, l := range d.Lines {
		add("line", fmt.Sprint(l.No, " ", digits(l.Quantity.String()), " at ", digits(l.Price.String()), " is ", digits(l.NetAmount.String()),
			"; ", strings.TrimRight(l.Description, " "), "; ", l.SupplierItem, "; ", l.BuyerItem, "; ", l.GTIN, "; ", l.TaxCategory, " ", digits(l.TaxRate.String()), "; order line ", l.OrderLine))
	}
	return f
}

// edited lists where the UBL twins were changed after the EDIFACT ones were
// written: what UBL says, and what EDIFACT says. "" drops the fact on both sides.
var edited = map[int][][2]string{
	1: {{"; PKAAS 50PL", "; KAAS 50PL"}, {"; PK CHOCOLADEMEL;", "; PK CHOCOLADEMELK;"}},
	2: {
		{"; NO123456789MVA", "; 123456789MVA"}, {"; NO987654321MVA", "; 987654321MVA"},
		{"line 1 2 at 1273", "line 1 1 at 1273"},
		{"JB009; ; 1234567890135", "JB009; ; 1234567890142"},
		{"1234567890166; S 25; order line ", "1234567890166; S 25; order line 4"},
	},
	3: { // UBL has a second line
		{"supplier 1238764941386; ", "supplier ; "}, {"; DK; NO987654321MVA", "; DK; "},
		{"lines ", ""}, {"exclusive ", ""}, {"inclusive ", ""}, {"payable ", ""}, {"tax ", ""}, {"line ", ""},
	},
	6: {{"; DK123456789MVA", "; 123456789MVA"}},
}

// agreed applies edited to the facts of one side.
func agreed(n int, facts []string, twin bool) []string {
	var kept []string
next:
	for _, f := range facts {
		for _, e := range edited[n] {
			if e[1] == "" && strings.HasPrefix(f, e[0]) {
				continue next
			}
			if twin && e[1] != "" {
				f = strings.Replace(f, e[0], e[1], 1)
			}
		}
		kept = append(kept, f)
	}
	return kept
}

// TestTwins reads invoices of the official EN 16931 test set in EDIFACT and
// compares them with the same invoices in UBL.
func TestTwins(t *testing.T) {
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprintf("EN 16931 example %d says in INVOIC what it says in UBL", n), func(t *testing.T) {
			text := shared(t, fmt.Sprintf("samples/edi/en16931/EDIFACT_EXAMPLE%d.TXT", n))
			twin := shared(t, fmt.Sprintf("samples/edi/en16931/ubl-tc434-example%d.xml", n))
			if at := bytes.Index(text, []byte("UNO+")); at >= 0 { // an attachment, which is not the subject
				text = append(text[:at:at], text[bytes.LastIndex(text, []byte("UNZ+")):]...)
			}
			d, errs := single(t, text)
			for _, e := range errs {
				t.Log(e)
			}
			var u ubl
			if err := xml.Unmarshal(twin, &u); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(agreed(n, u.facts(), true), agreed(n, facts(d), false)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
