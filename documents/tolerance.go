package documents

// tolerance is what so many amounts, each rounded, may miss the document's: five cents,
// and half a cent for each amount where those are more than ten. Where a currency has no
// smaller unit it is one of it, since some cut amounts and some round them, and half of
// one for each amount.
func (m *mapping) tolerance(roundings int) Number {
	if m.whole {
		return Number{small: int64(max(roundings, 2)) * 5, scale: 1, valid: true}
	}
	return Number{small: int64(max(roundings, 10)) * 5, scale: 3, valid: true}
}

// taxTolerance is that of a tax, which is computed of the document or line by line, and
// then often cut.
func (m *mapping) taxTolerance() Number {
	if m.whole {
		return m.tolerance(2 * len(m.doc.Lines))
	}
	return m.tolerance(len(m.doc.Lines))
}

// inWholeUnits reports whether amounts of an invoice are in whole units of its currency.
// Where it names none it is so if no amount has decimals; X12 implies two in most totals.
func (d *Document) inWholeUnits() bool {
	if d.Currency != "" {
		return hasNoMinorUnit(d.Currency)
	}
	t := &d.Totals
	for _, n := range [...]*Number{&t.Lines, &t.Allowances, &t.Charges, &t.TaxExclusive, &t.Tax, &t.TaxInclusive, &t.Prepaid, &t.Rounding, &t.Payable} {
		if n.scale > 0 {
			return false
		}
	}
	for i := range d.Lines {
		if d.Lines[i].NetAmount.scale > 0 {
			return false
		}
	}
	for i := range d.Detail.Invoice.Taxes {
		if x := &d.Detail.Invoice.Taxes[i]; x.Amount.scale > 0 || x.Basis.scale > 0 {
			return false
		}
	}
	return true
}

// hasNoMinorUnit reports whether the amounts of a currency have no decimals (ISO 4217).
func hasNoMinorUnit(currency string) bool {
	switch currency {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF":
		return true
	// QUIRK: ISO 4217 gives these decimals, but what they count is worth nothing any more,
	// and amounts are rounded to whole units.
	case "COP", "HUF", "IDR", "IQD", "IRR", "LAK", "LBP", "MGA", "MMK", "SYP", "TWD", "UZS", "YER":
		return true
	}
	return false
}
