package ubl

import (
	"slices"
	"strconv"

	"github.com/edigw/edigw/documents"
)

// amount writes an amount in the document's currency.
func (o *out) amount(name string, n documents.Number) {
	o.x.number(name, n, "currencyID", o.d.Currency)
}

// allowance writes BG-20 and BG-21 of the document (line < 0), BG-27 and BG-28 of a line.
func (o *out) allowance(a *documents.AllowanceCharge, line int) {
	x := o.x
	amount, derived := amountOf(a)
	switch {
	case !amount.Valid():
		o.add(LeftOut, "BG-20", line, "an allowance or charge that does not say what it is worth")
		return
	case derived:
		o.add(Derived, "BT-92", line, "an allowance or charge, from its percentage and basis")
	}
	code, reason := a.Code, a.Reason
	if !a.Charge && !slices.Contains(allowanceCodes, code) || a.Charge && !chargeLike(code) {
		if reason == "" {
			reason = code
		} else if code != "" {
			o.add(LeftOut, "BT-98", line, "the code "+code+" of an allowance or charge: EN 16931 takes none of its list there")
		}
		code = ""
	}
	if code == "" && reason == "" {
		o.add(Missing, "BT-97", line, "why there is an allowance or charge")
	}
	x.group("AllowanceCharge", func() {
		x.leaf("ChargeIndicator", strconv.FormatBool(a.Charge))
		x.leaf("AllowanceChargeReasonCode", code)
		x.leaf("AllowanceChargeReason", reason)
		x.number("MultiplierFactorNumeric", a.Percent)
		o.amount("Amount", amount)
		o.amount("BaseAmount", a.Basis)
		if line < 0 {
			o.category("TaxCategory", a.TaxCategory, a.TaxRate, "BT-95", line, nil)
		}
	})
}

// allowanceCodes are those of UNTDID 5189 that EN 16931 takes (BR-CL-19).
var allowanceCodes = []string{"41", "42", "60", "62", "63", "64", "65", "66", "67", "68", "70", "71", "88", "95", "100", "102", "103", "104", "105"}

// chargeLike reports whether a code can be one of UNTDID 7161 (BR-CL-20).
func chargeLike(code string) bool {
	if len(code) < 2 || len(code) > 3 {
		return false
	}
	for i := 0; i < len(code); i++ {
		if code[i] < 'A' || code[i] > 'Z' {
			return false
		}
	}
	return true
}

// taxes writes BG-23, and BT-111 where the tax is said in another currency too.
func (o *out) taxes() {
	x := o.x
	if !o.sums.tax.Valid() {
		return
	}
	if len(o.invoice.Taxes) == 0 { // BR-CO-18
		o.tell(Missing, "BG-23", "the breakdown of tax")
	}
	x.group("TaxTotal", func() {
		o.amount("TaxAmount", o.sums.tax)
		for i := range o.invoice.Taxes {
			t := &o.invoice.Taxes[i]
			amount, derived := taxAmountOf(t)
			if !amount.Valid() {
				o.tell(LeftOut, "BG-23", "a tax that does not say what it is worth")
				continue
			}
			if derived {
				o.tell(Derived, "BT-117", "the amount of a tax, from its basis and rate")
			}
			x.group("TaxSubtotal", func() {
				if !t.Basis.Valid() {
					o.tell(Missing, "BT-116", "what a tax is reckoned from")
				}
				o.amount("TaxableAmount", t.Basis)
				o.amount("TaxAmount", amount)
				o.category("TaxCategory", t.Category, t.Rate, "BT-118", -1, t)
			})
		}
	})
	currency := o.invoice.TaxCurrency
	if currency == "" || currency == o.d.Currency {
		return
	}
	for i := range o.d.Detail.Amounts {
		if a := &o.d.Detail.Amounts[i]; a.Role == "tax_in_tax_currency" && a.Amount.Valid() {
			x.group("TaxTotal", func() { x.number("TaxAmount", a.Amount, "currencyID", currency) })
			return
		}
	}
	o.tell(Missing, "BT-111", "the total of tax in the currency %s", currency)
}

// category writes a tax category. A rate above zero without a category is S, and where
// there is no other tax than one, that is it.
func (o *out) category(name, category string, rate documents.Number, term string, line int, of *documents.Tax) {
	x := o.x
	if category == "" && !rate.Valid() {
		if only := o.onlyTax(); only != nil {
			category, rate = only.Category, only.Rate
			o.add(Derived, term, line, "the tax: the document has one")
		}
	}
	if category == "" {
		if rate.Sign() > 0 {
			category = "S" // UNTDID 5305: standard rate, of which EN 16931 has any number
			o.add(Derived, term, line, "the tax category S, from a rate above zero")
		} else {
			o.add(Missing, term, line, "the tax category")
		}
	}
	if category != "" && category != "O" && !rate.Valid() { // BR-48, BR-S-05
		o.add(Missing, rateTerms[term], line, "the rate of tax")
	}
	x.must(name, func() {
		x.leaf("ID", category)
		if category != "O" { // BR-O-05: what is outside of tax has no rate
			x.number("Percent", rate)
		}
		if of != nil && needsReason(category) {
			o.reason(of)
		}
		x.group("TaxScheme", func() { x.leaf("ID", o.schemeOf(of)) })
	})
}

// rateTerms are the terms of a rate beside those of its category.
var rateTerms = map[string]string{"BT-95": "BT-96", "BT-118": "BT-119", "BT-151": "BT-152"}

// onlyTax gives the tax of a document that has no other.
func (o *out) onlyTax() *documents.Tax {
	for _, list := range [][]documents.Tax{o.invoice.DefaultTaxes, o.invoice.Taxes} {
		if len(list) == 1 {
			return &list[0]
		}
	}
	return nil
}

// schemeOf gives the kind of tax: VAT, which lines do not name, unless the document has
// another alone.
func (o *out) schemeOf(t *documents.Tax) string {
	if t == nil && len(o.invoice.Taxes) > 0 {
		t = &o.invoice.Taxes[0]
		for i := range o.invoice.Taxes {
			if o.invoice.Taxes[i].Type != t.Type {
				return "VAT"
			}
		}
	}
	if t == nil || t.Type == "" {
		return "VAT"
	}
	return t.Type
}

// needsReason reports whether a category of UNTDID 5305 has a reason why no tax is due
// (BR-AE-10, BR-E-10, BR-G-10, BR-IC-10, BR-O-10).
func needsReason(category string) bool {
	switch category {
	case "AE", "E", "G", "K", "O":
		return true
	}
	return false
}

// reason writes BT-120 and BT-121: the tax's own, else what the document says of all,
// FTX+AGM.
func (o *out) reason(t *documents.Tax) {
	code, text := t.ExemptionCode, t.Exemption
	for _, s := range o.texts(whyNoTax) {
		if code == "" && text == "" {
			code, text = s.Code, s.Text
		}
	}
	if code == "" && text == "" {
		o.tell(Missing, "BT-120", "why no tax is due (category %s)", t.Category)
	}
	o.x.leaf("TaxExemptionReasonCode", code)
	o.x.leaf("TaxExemptionReason", text)
}

// totals writes BG-22.
func (o *out) totals() {
	o.x.group("LegalMonetaryTotal", func() {
		o.amount("LineExtensionAmount", o.sums.lines)
		o.amount("TaxExclusiveAmount", o.sums.exclusive)
		o.amount("TaxInclusiveAmount", o.sums.inclusive)
		o.amount("AllowanceTotalAmount", o.sums.allowances)
		o.amount("ChargeTotalAmount", o.sums.charges)
		o.amount("PrepaidAmount", o.d.Totals.Prepaid)
		o.amount("PayableRoundingAmount", o.d.Totals.Rounding)
		o.amount("PayableAmount", o.sums.payable)
	})
}
