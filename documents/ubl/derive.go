package ubl

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/edigw/edigw/documents"
)

// sums are the totals as they are written: as sent, else derived.
type sums struct {
	lines, allowances, charges, exclusive, tax, inclusive, payable documents.Number
}

// derive settles every amount that the schema or EN 16931 demands.
func (o *out) derive() error {
	o.tree = treeOf(o.d.Lines)
	if err := o.deriveLines(); err != nil {
		return err
	}
	if o.tree != nil && o.countsAll() {
		o.tell(LeftOut, "", "that lines detail others: all of them are counted in the total, so that each is a line of its own")
		o.tree = nil
	}
	o.deriveTotals()
	return nil
}

// net gives BT-131 of line i.
func (o *out) net(i int) documents.Number {
	if o.nets != nil && o.nets[i].Valid() {
		return o.nets[i]
	}
	return o.d.Lines[i].NetAmount
}

// deriveLines gives each line that says no amount the one that its quantity, its price
// and its allowances and charges make. What details another line may have none.
func (o *out) deriveLines() error {
	for i := range o.d.Lines {
		l := &o.d.Lines[i]
		if l.NetAmount.Valid() {
			continue
		}
		if o.nets == nil {
			o.nets = make([]documents.Number, len(o.d.Lines))
		}
		switch {
		case l.Quantity.Valid() && l.Price.Valid():
			o.nets[i] = documents.NumberOf(netOf(l).Round(2))
			o.add(Derived, "BT-131", i, "the amount, from quantity, price, allowances and charges")
		case o.tree.detail(i):
			o.nets[i] = documents.NumberOf(decimal.Zero)
			o.add(Derived, "BT-131", i, "an amount of 0: the line details another and says none of its own")
		default:
			return &Unfit{fmt.Sprintf("line %d says neither an amount, nor quantity and price", i+1)}
		}
	}
	return nil
}

// netOf gives quantity × price ÷ basis, less allowances, and charges on top.
func netOf(l *documents.Line) decimal.Decimal {
	net := l.Quantity.Decimal().Mul(l.Price.Decimal())
	if l.PriceBasis.Sign() > 0 {
		net = net.Div(l.PriceBasis.Decimal())
	}
	if l.Detail == nil {
		return net
	}
	for i := range l.Detail.AllowanceCharges {
		a := &l.Detail.AllowanceCharges[i]
		amount, _ := amountOf(a)
		if a.Charge {
			net = net.Add(amount.Decimal())
		} else {
			net = net.Sub(amount.Decimal())
		}
	}
	return net
}

// amountOf gives the amount of an allowance or charge; derived is true where it is
// made of percentage and basis.
func amountOf(a *documents.AllowanceCharge) (amount documents.Number, derived bool) {
	if a.Amount.Valid() || !a.Percent.Valid() || !a.Basis.Valid() {
		return a.Amount, false
	}
	return documents.NumberOf(a.Basis.Decimal().Mul(a.Percent.Decimal()).Shift(-2).Round(2)), true
}

// deriveTotals fills BG-22 where the document does not (BR-CO-10 to BR-CO-16).
func (o *out) deriveTotals() {
	t := o.d.Totals
	s := sums{t.Lines, t.Allowances, t.Charges, t.TaxExclusive, t.Tax, t.TaxInclusive, t.Payable}
	if !s.lines.Valid() {
		s.lines = o.sumLines()
		o.tell(Derived, "BT-106", "the sum of the lines")
	}
	allowances, charges := o.sumAllowances()
	if !s.allowances.Valid() && allowances.Valid() {
		s.allowances = allowances
		o.tell(Derived, "BT-107", "the sum of the document's allowances")
	}
	if !s.charges.Valid() && charges.Valid() {
		s.charges = charges
		o.tell(Derived, "BT-108", "the sum of the document's charges")
	}
	if !s.exclusive.Valid() {
		s.exclusive = documents.NumberOf(s.lines.Decimal().Sub(s.allowances.Decimal()).Add(s.charges.Decimal()))
		o.tell(Derived, "BT-109", "the total without tax, from lines, allowances and charges")
	}
	if !s.tax.Valid() {
		if sum := o.sumTaxes(); sum.Valid() {
			s.tax = sum
			o.tell(Derived, "BT-110", "the total of tax, from its breakdown")
		} else {
			o.tell(Missing, "BG-23", "what tax there is")
		}
	}
	if !s.inclusive.Valid() {
		s.inclusive = documents.NumberOf(s.exclusive.Decimal().Add(s.tax.Decimal()))
		o.tell(Derived, "BT-112", "the total with tax")
	}
	if !s.payable.Valid() {
		s.payable = documents.NumberOf(s.inclusive.Decimal().Sub(t.Prepaid.Decimal()).Add(t.Rounding.Decimal()))
		o.tell(Derived, "BT-115", "the amount due, from total, prepaid and rounding")
	}
	o.sums = s
}

// sumLines adds the lines that are counted: not those that detail another.
func (o *out) sumLines() documents.Number {
	sum := decimal.Zero
	for i := range o.d.Lines {
		if !o.tree.detail(i) {
			sum = sum.Add(o.net(i).Decimal())
		}
	}
	return documents.NumberOf(sum)
}

// countsAll reports whether the total of lines counts those that detail another.
func (o *out) countsAll() bool {
	said := o.d.Totals.Lines
	if !said.Valid() || o.sumLines().Decimal().Equal(said.Decimal()) {
		return false
	}
	all := decimal.Zero
	for i := range o.d.Lines {
		all = all.Add(o.net(i).Decimal())
	}
	return all.Equal(said.Decimal())
}

// sumAllowances adds allowances and charges of the document that say what they are worth.
func (o *out) sumAllowances() (allowances, charges documents.Number) {
	for i := range o.invoice.AllowanceCharges {
		a := &o.invoice.AllowanceCharges[i]
		amount, _ := amountOf(a)
		sum := &allowances
		if a.Charge {
			sum = &charges
		}
		if amount.Valid() {
			*sum = documents.NumberOf(sum.Decimal().Add(amount.Decimal()))
		}
	}
	return allowances, charges
}

// sumTaxes adds the breakdown.
func (o *out) sumTaxes() (sum documents.Number) {
	for i := range o.invoice.Taxes {
		if amount, _ := taxAmountOf(&o.invoice.Taxes[i]); amount.Valid() {
			sum = documents.NumberOf(sum.Decimal().Add(amount.Decimal()))
		}
	}
	return sum
}

// taxAmountOf gives BT-117; derived is true where it is made of basis and rate
// (BR-CO-17).
func taxAmountOf(t *documents.Tax) (amount documents.Number, derived bool) {
	if t.Amount.Valid() || !t.Basis.Valid() || !t.Rate.Valid() {
		return t.Amount, false
	}
	return documents.NumberOf(t.Basis.Decimal().Mul(t.Rate.Decimal()).Shift(-2).Round(2)), true
}
