package documents

// checkPrices: an item's price is not negative (BR-27, BR-28); quantities are.
func (m *mapping) checkPrices() {
	for i := range m.doc.Lines {
		l := &m.doc.Lines[i]
		negative := l.Price.Sign() < 0
		if l.Detail != nil {
			for j := range l.Detail.Prices {
				negative = negative || l.Detail.Prices[j].Price.Sign() < 0
			}
		}
		if negative {
			m.warnAt("negative-price", m.inLine(i, priceSpots), "line %s: the price is negative", m.lineName(i))
		}
	}
}

// checkLineAmounts compares each line's net amount with quantity and price
// (BT-131 = BT-129 × BT-146 ÷ BT-149, with BG-27 and BG-28).
func (m *mapping) checkLineAmounts() {
	tolerance := m.tolerance(0)
	for i := range m.doc.Lines {
		l := &m.doc.Lines[i]
		if !l.NetAmount.Valid() || !l.Quantity.Valid() {
			continue
		}
		price, basis, ok := l.price()
		if !ok {
			continue
		}
		// Both sides times the price basis, so that nothing is divided.
		if net, within := l.NetAmount.times(basis), tolerance.times(basis); !near(l.Quantity.times(price), net, within) {
			m.checkLineAmount(i, price, basis, net, within)
		}
	}
}

// perOne is the basis of a price that is for one.
var perOne = Number{small: 1, valid: true}

// price gives the line's price and what it is for; the gross one where no net one was
// sent. It is not known where the price is for another unit than the quantity is in,
// or for what is not understood.
func (l *Line) price() (price, basis Number, ok bool) {
	price, basis, unit := l.Price, l.PriceBasis, l.PriceUnit
	if l.Detail != nil {
		for i := range l.Detail.Prices {
			switch p := &l.Detail.Prices[i]; {
			case p.Qualifier == "" && p.Specification != "": // IT105 that is none of ours
				return price, basis, false
			case p.Qualifier == "AAB" && !price.Valid():
				price, basis, unit = p.Price, p.Basis, p.Unit
			}
		}
	}
	if basis.Sign() <= 0 {
		basis = perOne
	}
	return price, basis, price.Valid() && sameUnit(unit, l.Unit)
}

// sameUnit reports whether two codes of Recommendation 20 count in the same. Where
// one is not said it is the other's. QUIRK: a piece has many codes, and a message
// often uses several of them.
func sameUnit(a, b string) bool {
	return a == b || a == "" || b == "" || isPiece(a) && isPiece(b)
}

func isPiece(unit string) bool {
	switch unit {
	case "C62", "EA", "H87", "NAR", "PCE", "NMB", "ST":
		return true
	}
	return false
}

// checkLineAmount looks at line i, whose quantity × price is not its net amount, with
// what may stand between them. Prices are often net of the line's allowances already,
// and goods given free are often among those that are counted.
func (m *mapping) checkLineAmount(i int, price, basis, net, within Number) {
	l := &m.doc.Lines[i]
	gross := l.Quantity.times(price)
	due := gross
	fits := func(n Number) bool { return near(n, net, within) }
	if l.Detail != nil {
		all, settled, known := adjust(l.Detail.AllowanceCharges, gross.per(basis))
		if !known {
			return
		}
		due = gross.plus(all.times(basis))
		if fits(due) || fits(gross.plus(settled.times(basis))) {
			return
		}
		for j := range l.Detail.Quantities {
			q := &l.Detail.Quantities[j]
			if paid := l.Quantity.minus(q.Quantity).times(price); q.Role == "free" && (fits(paid) || fits(paid.plus(all.times(basis)))) {
				return
			}
		}
	}
	at := m.inLine(i, amountSpots)
	if minus := net.negated(); near(gross, minus, within) || near(due, minus, within) {
		m.warnAt("sign-mismatch", at, "line %s: %s at %s gives %s, the line says %s", m.lineName(i), l.Quantity, price, rounded(due, basis), l.NetAmount)
		return
	}
	m.warnAt("line-amount", at, "line %s: %s at %s gives %s, the line says %s", m.lineName(i), l.Quantity, price, rounded(due, basis), l.NetAmount)
}

// rounded is an amount for a sentence.
func rounded(n, basis Number) Number { return NumberOf(n.Decimal().DivRound(basis.Decimal(), 2)) }

// adjust adds charges and takes away allowances: all of them, and those that are
// settled with this invoice and not billed back (4471). of is what a percentage is
// taken from where nothing says so; of several, which may be taken from what the one
// before it left, that is not known. Nor is one that says neither amount nor
// percentage, unless it speaks of the price alone (MOA 509, BT-147).
func adjust(list []AllowanceCharge, of Number) (all, settled Number, known bool) {
	for i := range list {
		a := &list[i]
		amount := a.Amount
		switch {
		case amount.Valid():
		case inPrice(a):
			continue
		case a.Percent.Valid() && a.Basis.Valid():
			amount = a.Basis.times(a.Percent).times(hundredth)
		case a.Percent.Valid() && of.Valid() && len(list) == 1:
			amount = of.times(a.Percent).times(hundredth)
		default:
			return all, settled, false
		}
		if !a.Charge {
			amount = amount.negated()
		}
		all = all.plus(amount)
		if a.Settlement != "1" && a.Settlement != "01" {
			settled = settled.plus(amount)
		}
	}
	return all, settled, true
}

// inPrice reports whether an allowance or charge is one of the price.
func inPrice(a *AllowanceCharge) bool {
	for i := range a.Amounts {
		if a.Amounts[i].Role == "price_discount" {
			return true
		}
	}
	return false
}

var hundredth = Number{small: 1, scale: 2, valid: true}

// checkQuantities looks at what was despatched.
func (m *mapping) checkQuantities() {
	for i := range m.doc.Lines {
		switch q := m.doc.Lines[i].Quantity; {
		case !q.Valid() || q.Sign() > 0:
		case q.Sign() == 0:
			m.warnAt("zero-quantity", m.inLine(i, quantitySpots), "line %s: nothing was despatched", m.lineName(i))
		default:
			m.warnAt("negative-quantity", m.inLine(i, quantitySpots), "line %s: the despatched quantity is negative", m.lineName(i))
		}
	}
}
