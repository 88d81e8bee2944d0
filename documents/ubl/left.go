package ubl

import (
	"slices"
	"strings"

	"github.com/edigw/edigw/documents"
)

// What of dates and references is written, by their roles.
var (
	writtenDates      = []string{"issue", "invoice", "due", "tax_point", "delivery", "period", "period_start", "period_end"}
	writtenReferences = []string{
		"order", "supplier_order", "despatch_advice", "receiving_advice", "invoice", "contract", "project", "tender",
		"payment", "customer_reference", "invoiced_object", "buyer_accounting",
	}
)

// writtenAmounts are written, or are sums of what is.
var writtenAmounts = []string{"tax_in_tax_currency", "allowances_and_charges", "total", "tax", "taxable"}

// leftOutOfDocument remarks what of the document as a whole has no place.
func (o *out) leftOutOfDocument() {
	detail := &o.d.Detail
	for i := range detail.Dates {
		if d := &detail.Dates[i]; !slices.Contains(writtenDates, d.Role) {
			o.tell(LeftOut, "", "a date of the kind %s", kind(d.Role, d.Qualifier))
		}
	}
	despatch := slices.ContainsFunc(detail.References, func(r documents.Reference) bool { return r.Role == "despatch_advice" })
	for i := range detail.References {
		r := &detail.References[i]
		if !slices.Contains(writtenReferences, r.Role) && (r.Role != "delivery_note" || despatch) {
			o.tell(LeftOut, "", "a reference of the kind %s", kind(r.Role, r.Qualifier))
		}
	}
	if slices.ContainsFunc(detail.Amounts, func(a documents.Amount) bool { return !slices.Contains(writtenAmounts, a.Role) }) {
		o.tell(LeftOut, "", "amounts of the document beside its totals")
	}
	if slices.ContainsFunc(o.invoice.AllowanceCharges, func(a documents.AllowanceCharge) bool { return a.Rate.Valid() }) {
		o.tell(LeftOut, "", "what an allowance or charge comes to for one of a quantity")
	}
	for i := range o.invoice.Currencies {
		c := &o.invoice.Currencies[i]
		if c.Rate.Valid() || c.Base.Valid() || c.Market != "" {
			o.tell(LeftOut, "", "the rate of exchange of a currency")
		}
		if c.Code != o.d.Currency && c.Code != o.invoice.TaxCurrency {
			o.tell(LeftOut, "", "a further currency")
		}
	}
	if len(detail.DeliveryTerms) > 0 || len(detail.Transport) > 0 || len(detail.Equipment) > 0 || len(detail.Locations) > 0 {
		o.tell(LeftOut, "", "terms of delivery, transport and places")
	}
	if len(detail.Measures) > 0 {
		o.tell(LeftOut, "", "measures of the document")
	}
	if len(detail.Other) > 0 {
		o.tell(LeftOut, "", "segments that the document keeps as they came")
	}
}

// kind names a role, else the qualifier that was sent.
func kind(role, qualifier string) string {
	if role != "" {
		return strings.ReplaceAll(role, "_", " ")
	}
	return qualifier
}

// leftOut remarks what UBL under EN 16931 has no place for.
func (o *out) leftOut(l *documents.Line, rest *documents.LineDetail, i int) {
	for _, f := range []struct {
		said bool
		what string
	}{
		{l.Ordered.Valid() || len(rest.Quantities) > 0, "further quantities, as ordered or delivered"},
		{l.Batch != "" || len(rest.Batches) > 0 || l.BestBefore != "" || rest.Expiry != "" || len(rest.Serials) > 0, "batch, dates of the goods and serial numbers"},
		{slices.ContainsFunc(rest.Items, func(id documents.Identifier) bool { return !classification(id.Scheme) }), "further numbers of the item"},
		{len(rest.Parties) > 0, "parties of the line"},
		{len(rest.Locations) > 0, "places of the line"},
		{len(rest.Measures) > 0, "measures of the line"},
		{len(rest.Taxes) > 0, "further taxes of the line: EN 16931 has one"},
		{len(rest.Terms) > 0, "terms of payment of the line"},
		{slices.ContainsFunc(rest.Amounts, func(a documents.Amount) bool { return a.Role != "line_net" }), "further amounts of the line"},
	} {
		if f.said {
			o.add(LeftOut, "", i, f.what)
		}
	}
}
