package ubl

import (
	"strings"

	"github.com/edigw/edigw/documents"
)

// head writes what stands before the references. Invoice and CreditNote differ in
// their order, and a CreditNote has its due date with the payment means.
func (o *out) head() {
	x, d := o.x, o.d
	x.leaf("CustomizationID", customization)
	x.leaf("ProfileID", o.process())
	x.leaf("ID", d.Number)
	x.leaf("IssueDate", d.IssueDate)
	taxPoint := o.day("BT-7", "tax_point")
	if o.invoice.TaxPoint != "" { // BR-CO-03: the date, or the code that says which it is
		taxPoint = ""
	}
	if o.credit {
		x.leaf("TaxPointDate", taxPoint)
		x.leaf("CreditNoteTypeCode", d.TypeCode)
		o.notes()
	} else {
		x.leaf("DueDate", o.dueDate())
		x.leaf("InvoiceTypeCode", d.TypeCode)
		o.notes()
		x.leaf("TaxPointDate", taxPoint)
	}
	x.leaf("DocumentCurrencyCode", d.Currency)
	if o.invoice.TaxCurrency != d.Currency {
		x.leaf("TaxCurrencyCode", o.invoice.TaxCurrency)
	}
	buyer := o.buyer()
	x.leaf("AccountingCost", referenceOf(buyer, "buyer_accounting"))
	x.leaf("BuyerReference", o.buyerReference(buyer))
	o.period(d.Detail.Dates, o.invoice.TaxPoint)
}

// process gives BT-23, the business process, of FTX+DOC.
func (o *out) process() string {
	for i := range o.d.Detail.Texts {
		if t := &o.d.Detail.Texts[i]; isEN16931(t) {
			return t.Code
		}
	}
	return ""
}

// isEN16931 reports whether a text names EN 16931 as its specification (BT-24), in
// CEN/TS 16931-3-4 beside the code of the process (BT-23).
func isEN16931(t *documents.Text) bool {
	return t.Subject == "DOC" && strings.HasPrefix(t.Text, "urn:cen.eu:en16931")
}

// The roles of texts that stand elsewhere than in notes.
const (
	termsOfPayment = "payment_terms"     // BT-20
	whyNoTax       = "exemption_reason"  // BT-120
	legalText      = "legal_information" // BT-33
)

// texts gives those of a role.
func (o *out) texts(role string) (list []*documents.Text) {
	for i := range o.d.Detail.Texts {
		if t := &o.d.Detail.Texts[i]; t.Role == role {
			list = append(list, t)
		}
	}
	return list
}

// day gives the first date of a role.
func (o *out) day(term, role string) string {
	day := ""
	for i := range o.d.Detail.Dates {
		date := &o.d.Detail.Dates[i]
		switch {
		case date.Role != role || date.Day() == "":
		case day == "":
			day = date.Day()
		case date.Day() != day:
			o.tell(LeftOut, term, "a further date of the kind %s", role)
		}
	}
	return day
}

// period writes BG-14 or BG-26; the invoice's has BT-8 too.
func (o *out) period(dates []documents.Date, taxPoint string) {
	start, end := "", ""
	for i := range dates {
		switch date := &dates[i]; date.Role {
		case "period":
			if date.Day() != "" && len(date.End) >= 10 && start == "" && end == "" {
				start, end = date.Day(), date.End[:10]
			}
		case "period_start":
			if start == "" {
				start = date.Day()
			}
		case "period_end":
			if end == "" {
				end = date.Day()
			}
		}
	}
	o.x.group("InvoicePeriod", func() {
		o.x.leaf("StartDate", start)
		o.x.leaf("EndDate", end)
		o.x.leaf("DescriptionCode", taxPoint)
	})
}

// notes writes BG-1. UBL has no place for the subject of a note (BT-21): it stands
// before it as #AAI#, which CEN/TS 16931-3-2 asks for.
func (o *out) notes() {
	for i := range o.d.Detail.Texts {
		t := &o.d.Detail.Texts[i]
		switch {
		case t.Text == "":
			if t.Code != "" {
				o.tell(LeftOut, "BT-22", "a text that is said by its code alone")
			}
		case t.Role == termsOfPayment, t.Role == whyNoTax && o.exempt(), t.Role == legalText && o.guide == guideEN16931, isEN16931(t):
			// They stand where they belong.
		case subject(t.Subject):
			o.x.leaf("Note", "#"+t.Subject+"#"+t.Text)
		default:
			o.x.leaf("Note", t.Text)
		}
	}
}

// subject reports whether s is a code of UNTDID 4451 that says something: GEN is a
// note in general, ZZZ what two agreed on.
func subject(s string) bool {
	return len(s) == 3 && s != "GEN" && s != "ZZZ" && strings.ToUpper(s) == s && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// exempt reports whether the breakdown has a category that needs a reason.
func (o *out) exempt() bool {
	for i := range o.invoice.Taxes {
		if needsReason(o.invoice.Taxes[i].Category) {
			return true
		}
	}
	return false
}

// buyerReference gives BT-10.
func (o *out) buyerReference(buyer *documents.Party) string {
	if v := referenceOf(buyer, "customer_reference"); v != "" {
		return v
	}
	return o.reference("BT-10", "customer_reference")
}
