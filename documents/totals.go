package documents

import (
	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// totalKind is one amount of BG-22.
type totalKind int

const (
	totalLines totalKind = iota
	totalAllowances
	totalCharges
	totalTaxExclusive
	totalTax
	totalTaxInclusive
	totalPrepaid
	totalRounding
	totalPayable
	totalKinds
)

// total is what the message said of one kind, and where.
type total struct {
	Amount
	at   edi.Location
	rank uint8
}

// totalWords are the roles of the kinds.
var totalWords = [totalKinds]string{
	totalLines: "lines", totalAllowances: "allowances", totalCharges: "charges",
	totalTaxExclusive: "tax_exclusive", totalTax: "tax", totalTaxInclusive: "tax_inclusive",
	totalPrepaid: "prepaid", totalRounding: "rounding", totalPayable: "payable",
}

// totalOf gives the kind a qualifier of 5025 stands for in the summary, and its rank;
// rank 0 is none.
func (m *mapping) totalOf(qualifier string) (kind totalKind, rank uint8) {
	role, rank := m.guide.Role(roles.Totals, qualifier)
	if role == "" {
		return 0, 0
	}
	for totalWords[kind] != role {
		if kind++; kind == totalKinds {
			return 0, 0
		}
	}
	return kind, rank
}

// total takes an amount of the summary.
func (m *invoic) total(s *segment, a Amount) {
	kind, rank := m.totalOf(a.Qualifier)
	t := &m.totals[kind]
	foreign := a.Currency != "" && m.doc.Currency != "" && a.Currency != m.doc.Currency
	switch {
	case rank == 0 || foreign || rank < t.rank:
		m.doc.Detail.Amounts = append(m.doc.Detail.Amounts, a)
		return
	case rank == t.rank:
		m.warn("total-repeated", s.Location(1, 1), "MOA %s stands more than once; the first counts", a.Qualifier)
		m.doc.Detail.Amounts = append(m.doc.Detail.Amounts, a)
		return
	case t.rank > 0:
		m.doc.Detail.Amounts = append(m.doc.Detail.Amounts, t.Amount)
	}
	*t = total{Amount: a, at: s.Location(1, 2), rank: rank}
}

// setTotals fills the document's totals.
func (m *invoic) setTotals() {
	d := &m.doc.Totals
	for kind, column := range [totalKinds]*Number{
		&d.Lines, &d.Allowances, &d.Charges, &d.TaxExclusive, &d.Tax, &d.TaxInclusive, &d.Prepaid, &d.Rounding, &d.Payable,
	} {
		*column = m.totals[kind].Amount.Amount
	}
	// QUIRK: with one tax, many guides send its amount beneath TAX alone; it is
	// the total then (BR-CO-14), and nothing is added up.
	if taxes := m.invoice.Taxes; !d.Tax.Valid() && len(taxes) == 1 {
		d.Tax = taxes[0].Amount
	}
}

// Sums may miss what the document says by five cents without a finding, and by
// half a cent for every amount that was rounded where those are more than ten.
func tolerance(roundings int) Number {
	return Number{small: int64(max(roundings, 10)) * 5, scale: 3, valid: true}
}

// checkTotals compares the totals with each other and with the lines (BR-CO-10 to
// BR-CO-17). What does not add up is a warning: amounts are kept as sent. What is
// missing is not compared.
func (m *invoic) checkTotals() {
	d := m.doc
	t := d.Totals
	if all, own, ok := sumLines(d.Lines); ok && t.Lines.Valid() {
		within := tolerance(len(d.Lines))
		if !near(all, t.Lines, within) && !near(own, t.Lines, within) {
			m.warn("line-total", m.totals[totalLines].at, "the lines add up to %s, MOA 79 says %s", all, t.Lines)
		}
	}
	exclusive, derived := t.TaxExclusive, m.exclusive()
	if exclusive.Valid() && derived.Valid() && !near(exclusive, derived, tolerance(0)) {
		m.warn("tax-exclusive-total", m.totals[totalTaxExclusive].at, "lines, allowances and charges give %s without tax, the document says %s", derived, exclusive)
	}
	if !exclusive.Valid() {
		exclusive = derived
	}
	var taxes Number
	rates := 0
	for i := range m.invoice.Taxes {
		x := &m.invoice.Taxes[i]
		if x.Amount.Valid() {
			taxes = taxes.plus(x.Amount)
			rates++
		}
		m.checkTax(x, m.taxAt[i])
	}
	tax := t.Tax
	if tax.Valid() && rates > 0 && !near(tax, taxes, tolerance(rates)) {
		m.warn("tax-total", m.totals[totalTax].at, "the taxes add up to %s, the document says %s", taxes, tax)
	}
	if !tax.Valid() {
		tax = taxes
	}
	if t.TaxInclusive.Valid() && exclusive.Valid() && tax.Valid() {
		if sum := exclusive.plus(tax); !near(sum, t.TaxInclusive, tolerance(rates)) {
			m.warn("tax-inclusive-total", m.totals[totalTaxInclusive].at, "%s and %s tax are %s, the document says %s", exclusive, tax, sum, t.TaxInclusive)
		}
	}
	if t.Payable.Valid() && t.TaxInclusive.Valid() {
		if due := t.TaxInclusive.minus(t.Prepaid).plus(t.Rounding); !near(due, t.Payable, tolerance(0)) {
			m.warn("payable-total", m.totals[totalPayable].at, "%s is due by the other totals, the document says %s", due, t.Payable)
		}
	}
	m.checkSign()
}

// exclusive derives the total without tax from lines, allowances and charges as
// the document says them.
func (m *invoic) exclusive() Number {
	t := m.doc.Totals
	if !t.Lines.Valid() {
		return Number{}
	}
	sum := t.Lines
	switch net := m.amount("131"); {
	case t.Allowances.Valid() || t.Charges.Valid():
		return sum.minus(t.Allowances).plus(t.Charges)
	case net.Valid():
		return sum.plus(net)
	}
	for i := range m.invoice.AllowanceCharges {
		a := &m.invoice.AllowanceCharges[i]
		switch {
		case !a.Amount.Valid():
			return Number{} // a percentage of something: not ours to compute
		case a.Charge:
			sum = sum.plus(a.Amount)
		default:
			sum = sum.minus(a.Amount)
		}
	}
	return sum
}

// amount gives an amount of the summary that has no column.
func (m *invoic) amount(qualifier string) Number {
	for i := range m.doc.Detail.Amounts {
		if m.doc.Detail.Amounts[i].Qualifier == qualifier {
			return m.doc.Detail.Amounts[i].Amount
		}
	}
	return Number{}
}

// checkTax compares tax with basis and rate, where all three were sent.
func (m *invoic) checkTax(x *Tax, at edi.Location) {
	if !x.Basis.Valid() || !x.Amount.Valid() || !x.Rate.Valid() {
		return
	}
	due := x.Basis.times(x.Rate).times(Number{small: 1, scale: 2, valid: true})
	if !near(due, x.Amount, tolerance(len(m.doc.Lines))) {
		m.warn("tax-amount", at, "%s %% of %s is %s, the document says %s", x.Rate, x.Basis, NumberOf(due.Decimal().Round(2)), x.Amount)
	}
}

// checkSign notes totals whose sign contradicts the type: a credit note carries
// positive amounts, and nothing is flipped.
func (m *invoic) checkSign() {
	t := &m.totals[totalPayable]
	if !t.Amount.Amount.Valid() {
		t = &m.totals[totalTaxInclusive]
	}
	if t.Amount.Amount.Sign() >= 0 {
		return
	}
	if credits(m.doc.TypeCode) {
		m.warn("negative-total", t.at, "a credit note with a negative total: whether it credits or debits is not clear")
		return
	}
	m.note("negative-total", t.at, "the total is negative")
}

// credits reports whether a code of 1001 is a credit note (EN 16931, BR-CL-01).
func credits(code string) bool {
	switch code {
	case "81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "532":
		return true
	}
	return false
}

// sumLines adds the net amounts: of all lines, and of those that detail no other.
// ok is false where a line has none.
func sumLines(lines []Line) (all, own Number, ok bool) {
	for i := range lines {
		l := &lines[i]
		if !l.NetAmount.Valid() {
			if l.SubOf == "" {
				return all, own, false
			}
			continue
		}
		all = all.plus(l.NetAmount)
		if l.SubOf == "" {
			own = own.plus(l.NetAmount)
		}
	}
	return all, own, len(lines) > 0
}
