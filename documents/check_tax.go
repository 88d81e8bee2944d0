package documents

// checkTaxes compares each tax with basis and rate (BR-CO-17), its basis with the
// lines of its category and rate (BR-S-08 and those like it), and all of them with
// their total (BR-CO-14).
func (m *mapping) checkTaxes() {
	taxes := m.doc.Detail.Invoice.Taxes
	for i := range taxes {
		m.checkTax(i)
	}
	m.checkTaxBases()
	due := m.taxes()
	if !due.known || due.said == 0 {
		return
	}
	sums := []Number{due.document}
	var vat Number
	for i := range taxes { // QUIRK: other taxes stand beside VAT, and the total may be of VAT alone
		if taxes[i].Type == "VAT" {
			vat = vat.plus(taxes[i].Amount)
		}
	}
	if vat.Valid() {
		sums = append(sums, vat)
	}
	m.compare(comparison{sums, m.tolerance(due.said)}, m.doc.Totals.Tax, "tax-total", m.places.totals[totalTax], "the taxes add up to %s, the document says %s")
}

// taxes are what the taxes of a document come to, and those of its lines, which may be
// among the former or stand beside them.
type taxes struct {
	document, lines Number
	said            int  // taxes of the document that say their amount
	known           bool // none is due that does not say how much
}

func (m *mapping) taxes() taxes {
	t := taxes{known: true}
	rated := false
	for i := range m.doc.Detail.Invoice.Taxes {
		switch x := &m.doc.Detail.Invoice.Taxes[i]; {
		case x.Amount.Valid():
			t.document = t.document.plus(x.Amount)
			t.said++
		case x.Rate.Sign() != 0 || x.RawRate != "":
			t.known = false
		}
	}
	for i := range m.doc.Lines {
		l := &m.doc.Lines[i]
		rated = rated || l.TaxRate.Sign() != 0
		if l.Detail == nil {
			continue
		}
		for j := range l.Detail.Taxes {
			x := &l.Detail.Taxes[j]
			t.lines = t.lines.plus(x.Amount)
			rated = rated || x.Rate.Sign() != 0 && !x.Amount.Valid()
		}
	}
	for i := range m.doc.Detail.Invoice.DefaultTaxes {
		rated = rated || m.doc.Detail.Invoice.DefaultTaxes[i].Rate.Sign() != 0
	}
	if t.said == 0 && rated {
		t.known = false
	}
	return t
}

// checkTax compares tax i with basis and rate, where all three were sent.
func (m *mapping) checkTax(i int) {
	x := &m.doc.Detail.Invoice.Taxes[i]
	at := m.places.taxes[i]
	if untaxed(x.Category) && x.Amount.Sign() != 0 {
		m.warn("tax-amount", at, "category %s is without tax, the document says %s", shorten(x.Category), x.Amount)
		return
	}
	if !x.Basis.Valid() || !x.Amount.Valid() || !x.Rate.Valid() {
		return
	}
	due := x.Basis.times(x.Rate).times(hundredth)
	within := m.taxTolerance()
	switch {
	case near(due, x.Amount, within):
	case m.ic.Syntax == "x12" && near(x.Basis.times(x.Rate), x.Amount, within): // QUIRK: TXI03 as a fraction, 0.07 for 7 %
	case near(due, x.Amount.negated(), within):
		m.warn("sign-mismatch", at, "%s %% of %s is %s, the document says %s", x.Rate, x.Basis, rounded(due, perOne), x.Amount)
	default:
		m.warn("tax-amount", at, "%s %% of %s is %s, the document says %s", x.Rate, x.Basis, rounded(due, perOne), x.Amount)
	}
}

// untaxed reports whether a category of 5305 has no tax: exempt, zero rated, reverse
// charge, intra-community supply, export, outside of the scope.
func untaxed(category string) bool {
	switch category {
	case "E", "Z", "AE", "K", "G", "O":
		return true
	}
	return false
}

// checkTaxBases compares the taxable amount of each category and rate with lines,
// allowances and charges that have it. Where one of them does not say what it is
// worth or how it is taxed nothing is compared; so it is where it may be of two
// taxes.
func (m *mapping) checkTaxBases() {
	taxes := m.doc.Detail.Invoice.Taxes
	if len(taxes) == 0 || len(m.doc.Lines) == 0 {
		return
	}
	sums := make([]Number, len(taxes))
	rates := ratedOf(taxes)
	add := func(category string, rate, amount Number) bool {
		j, ok := rates.find(category, rate)
		if ok {
			sums[j] = sums[j].plus(amount)
		}
		return ok
	}
	for i := range m.doc.Lines {
		l := &m.doc.Lines[i]
		if l.SubOf != "" || !l.TaxRate.Valid() || !l.NetAmount.Valid() || l.Detail != nil && len(l.Detail.Taxes) > 0 || !add(l.TaxCategory, l.TaxRate, l.NetAmount) {
			return
		}
	}
	for _, a := range m.doc.Detail.Invoice.AllowanceCharges {
		amount := a.Amount
		if !a.Charge {
			amount = amount.negated()
		}
		if !a.TaxRate.Valid() || !a.Amount.Valid() || !add(a.TaxCategory, a.TaxRate, amount) {
			return
		}
	}
	for j := range taxes {
		if x := &taxes[j]; x.Basis.Valid() && sums[j].Valid() {
			m.compare(comparison{[]Number{sums[j]}, m.tolerance(len(m.doc.Lines))}, x.Basis, "tax-basis", m.places.taxes[j], "lines, allowances and charges of its rate come to %s, the taxable amount says %s")
		}
	}
}
