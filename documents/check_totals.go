package documents

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// A comparison is what a total may add up to: guides differ in what stands in which
// total, and so more than one sum may be right. The first is the one told.
type comparison struct {
	sums   []Number
	within Number
}

// add adds n to each sum.
func (c comparison) add(n Number) comparison {
	sums := make([]Number, len(c.sums))
	for i := range sums {
		sums[i] = c.sums[i].plus(n)
	}
	return comparison{sums, c.within}
}

// fits reports whether one of the sums is near what was said.
func (c comparison) fits(said Number) bool {
	for _, sum := range c.sums {
		if near(sum, said, c.within) {
			return true
		}
	}
	return false
}

// compare warns where no sum is near what was said: under code, or as a sign that is
// wrong. text tells the sum and what was said.
func (m *mapping) compare(c comparison, said Number, code string, at edi.Location, text string) {
	m.compareAt(c, said, code, func() edi.Location { return at }, text)
}

// compareAt compares with what is said somewhere.
func (m *mapping) compareAt(c comparison, said Number, code string, at somewhere, text string) {
	switch {
	case !said.Valid() || len(c.sums) == 0 || c.fits(said):
	case c.fits(said.negated()):
		m.warnAt("sign-mismatch", at, text, brief(c.sums[0]), said)
	default:
		m.warnAt(code, at, text, brief(c.sums[0]), said)
	}
}

// brief is a sum for a sentence: digits behind the second place only where they were
// sent.
func brief(n Number) Number {
	if n.scale > 4 {
		return NumberOf(n.Decimal().Round(2))
	}
	return n
}

// worth is what the lines and the document's own allowances and charges come to.
type worth struct {
	all, own Number // of lines: of all, and of those that detail no other
	said     bool   // every line says its net amount
	derived  bool   // where one does not, its quantity and price do
	ofLines  Number // allowances and charges of the lines that do not say their net amount

	adjusted Number // allowances and charges of the document
	settled  Number // without those that are billed back
	known    bool   // each says what it is worth
}

// worthOf adds the lines up.
func worthOf(d *Document) worth {
	w := worth{said: len(d.Lines) > 0, derived: len(d.Lines) > 0, known: true}
	for i := range d.Lines {
		l := &d.Lines[i]
		amount := l.NetAmount
		if !amount.Valid() {
			if l.SubOf == "" {
				w.said = false
			}
			price, basis, ok := l.price()
			switch {
			case ok && l.Quantity.Valid():
				amount = l.Quantity.times(price).per(basis)
			case l.SubOf == "":
				w.derived = false
			}
			if amount.Valid() && l.Detail != nil {
				all, _, known := adjust(l.Detail.AllowanceCharges, amount)
				w.ofLines, w.derived = w.ofLines.plus(all), w.derived && known
			}
		}
		if !amount.Valid() {
			continue
		}
		w.all = w.all.plus(amount)
		if l.SubOf == "" {
			w.own = w.own.plus(amount)
		}
	}
	if d.Detail.Invoice != nil {
		w.adjusted, w.settled, w.known = adjust(d.Detail.Invoice.AllowanceCharges, Number{})
	}
	return w
}

// checkTotals compares the totals with each other and with the lines (BR-CO-10 to
// BR-CO-16). What is missing is not compared.
func (m *mapping) checkTotals() {
	d, at := m.doc, &m.places.totals
	t := d.Totals
	w := worthOf(d)
	lines := m.tolerance(len(d.Lines))
	if w.said && t.Lines.Valid() {
		m.compare(comparison{[]Number{w.own, w.all}, lines}, t.Lines, "line-total", at[totalLines], "the lines add up to %s, their total says %s")
	}
	m.checkAdjustments()

	exclusive := m.exclusive(w)
	m.compare(exclusive, t.TaxExclusive, "tax-exclusive-total", at[totalTaxExclusive], "lines, allowances and charges give %s without tax, the document says %s")
	if t.TaxExclusive.Valid() {
		exclusive = comparison{[]Number{t.TaxExclusive}, exclusive.within}
	}
	due := m.taxes()
	if t.Tax.Valid() {
		due.document, due.known = t.Tax, true
	}
	if due.known && len(exclusive.sums) > 0 {
		inclusive := exclusive.add(due.document)
		if due.lines.Valid() {
			inclusive.sums = append(inclusive.sums, exclusive.add(due.document.plus(due.lines)).sums...)
		}
		inclusive.within = m.tolerance(due.said)
		switch {
		case !t.Lines.Valid() && !t.TaxExclusive.Valid():
			said, where := t.TaxInclusive, at[totalTaxInclusive]
			if !said.Valid() && !t.Prepaid.Valid() {
				said, where = t.Payable, at[totalPayable]
			}
			inclusive.within = lines
			m.compare(inclusive, said, "invoice-total", where, "lines, allowances, charges and taxes add up to %s, the document says %s")
		default:
			m.compare(inclusive, t.TaxInclusive, "tax-inclusive-total", at[totalTaxInclusive], "without tax and tax together are %s, the document says %s")
		}
	}
	if t.TaxInclusive.Valid() {
		left := comparison{[]Number{t.TaxInclusive.minus(t.Prepaid).plus(t.Rounding)}, m.tolerance(0)}
		m.compare(left, t.Payable, "payable-total", at[totalPayable], "%s is due by the other totals, the document says %s")
	}
}

// exclusive derives the total without tax as the document says lines, allowances and
// charges; nothing where one of them is not known.
func (m *mapping) exclusive(w worth) comparison {
	t := m.doc.Totals
	c := comparison{within: m.tolerance(0)}
	switch {
	case t.Lines.Valid():
		c.sums = []Number{t.Lines}
	case w.said, w.derived:
		c.sums = []Number{w.own.plus(w.ofLines), w.own, w.all.plus(w.ofLines), w.all}
		c.within = m.tolerance(len(m.doc.Lines))
	default:
		return comparison{}
	}
	switch net := m.amount("allowances_and_charges"); {
	case t.Allowances.Valid() || t.Charges.Valid():
		return c.add(t.Charges.minus(t.Allowances))
	case net.Valid():
		return c.add(net)
	case !w.known: // a percentage of something: not ours to compute
		return comparison{}
	}
	sums := c
	c = sums.add(w.adjusted)
	for _, other := range []Number{w.settled, m.undiscounted()} {
		if !near(other, w.adjusted, Number{valid: true}) {
			c.sums = append(c.sums, sums.add(other).sums...)
		}
	}
	if !t.Lines.Valid() && w.ofLines.Valid() {
		// QUIRK: some say the allowances of lines once more behind TDS.
		c.sums = append(c.sums, w.own.plus(w.ofLines), w.all.plus(w.ofLines))
	}
	return c
}

// undiscounted is what the document's own allowances and charges come to without
// discounts. QUIRK: TDS01 is the total before the discount of the terms, which some
// say in SAC as well.
func (m *mapping) undiscounted() (sum Number) {
	for _, a := range m.doc.Detail.Invoice.AllowanceCharges {
		switch {
		case a.Charge:
			sum = sum.plus(a.Amount)
		case a.Code != "95" || m.ic.Syntax != "x12":
			sum = sum.minus(a.Amount)
		}
	}
	return sum
}

// checkAdjustments compares the document's own allowances and charges with what it
// says they come to (BR-CO-11, BR-CO-12). Some count those of the lines among them.
func (m *mapping) checkAdjustments() {
	t := m.doc.Totals
	list := m.doc.Detail.Invoice.AllowanceCharges
	if len(list) == 0 {
		return
	}
	var own, all [2]Number // allowances, charges
	add := func(to *[2]Number, list []AllowanceCharge) bool {
		for i := range list {
			a := &list[i]
			switch {
			case inPrice(a):
			case !a.Amount.Valid():
				return false
			case a.Charge:
				to[1] = to[1].plus(a.Amount)
			default:
				to[0] = to[0].plus(a.Amount)
			}
		}
		return true
	}
	if !add(&own, list) {
		return
	}
	all = own
	for i := range m.doc.Lines {
		if l := m.doc.Lines[i].Detail; l != nil && !add(&all, l.AllowanceCharges) {
			return
		}
	}
	within := m.tolerance(len(list))
	m.compare(comparison{[]Number{own[0], all[0]}, within}, t.Allowances, "allowance-total", m.places.totals[totalAllowances], "the allowances add up to %s, the document says %s")
	m.compare(comparison{[]Number{own[1], all[1]}, within}, t.Charges, "charge-total", m.places.totals[totalCharges], "the charges add up to %s, the document says %s")
	if net := m.amount("allowances_and_charges"); net.Valid() && !t.Allowances.Valid() && !t.Charges.Valid() {
		m.compareAt(comparison{[]Number{own[1].minus(own[0]), all[1].minus(all[0])}, within}, net,
			"charge-total", m.inMessage(netSpots), "allowances and charges come to %s, the document says %s")
	}
}

// amount gives an amount of the document that has no column.
func (m *mapping) amount(role string) Number {
	for i := range m.doc.Detail.Amounts {
		if m.doc.Detail.Amounts[i].Role == role {
			return m.doc.Detail.Amounts[i].Amount
		}
	}
	return Number{}
}

// checkSign notes totals whose sign contradicts the type: a credit note carries
// positive amounts, and nothing is flipped.
func (m *mapping) checkSign() {
	total, at := m.doc.Totals.Payable, m.places.totals[totalPayable]
	if !total.Valid() {
		total, at = m.doc.Totals.TaxInclusive, m.places.totals[totalTaxInclusive]
	}
	switch {
	case total.Sign() >= 0:
	case credits(m.doc.TypeCode):
		m.warn("negative-total", at, "a credit note with a negative total: whether it credits or debits is not clear")
	case strings.HasPrefix(m.doc.TypeCode, "x12:"):
		m.warn("negative-total", at, "a negative total in a document of type %s: whether it credits or debits is not clear", shorten(m.doc.TypeCode))
	default:
		m.note("negative-total", at, "the total is negative")
	}
}

// credits reports whether a code of 1001 is a credit note (EN 16931, BR-CL-01).
func credits(code string) bool {
	switch code {
	case "81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "532":
		return true
	}
	return false
}
