package documents

import "github.com/edigw/edigw/documents/roles"

func (m *invoic) openLine(s *segment, at int) {
	m.closeLine()
	m.section, m.place = sectionLines, placeOpen
	m.line, m.lineSegment = m.doc.addLine(), at
	m.quantity, m.price, m.net, m.description = 0, 0, total{}, 0
	lin(m.line, s)
}

// item reads the segments of a line's own group.
func (m *invoic) item(s *segment, tag string) {
	l := m.line
	if tag == "QTY" && m.place == placeAllowance {
		m.allowance.Quantity, m.allowance.Unit = m.number(s, 1, 2), s.get(1, 3)
		return
	}
	if l == nil || m.place == placeOther && tag != "PRI" {
		if tag == "ALI" || tag == "IMD" || l == nil {
			m.other(s)
			return
		}
	}
	switch tag {
	case "PIA":
		pia(l, s)
	case "IMD":
		imd(l, s, &m.description)
	case "QTY":
		m.qty(l, s)
	case "PRI":
		m.place = placeOpen
		m.pri(l, s)
	case "ALI":
		if origin := s.get(1, 1); origin != "" && l.detail().Origin == "" {
			l.Detail.Origin = origin
			return
		}
		m.other(s)
	case "GIN":
		gin(l, s)
	default:
		m.other(s)
	}
}

// qty reads QTY of an invoice line: 47 invoiced, else 46 delivered or 12
// despatched.
func (m *invoic) qty(l *Line, s *segment) {
	q := Quantity{Qualifier: s.get(1, 1), Quantity: m.number(s, 1, 2), Unit: s.get(1, 3)}
	if !q.Quantity.Valid() {
		return
	}
	rank := 0
	q.Role = m.role(roles.Quantities, q.Qualifier)
	switch q.Role {
	case "invoiced":
		rank = 3
	case "delivered":
		rank = 2
	case "despatched":
		rank = 1
	case "ordered":
		if !l.Ordered.Valid() {
			l.Ordered = q.Quantity
			return
		}
	}
	if rank > m.quantity {
		if m.quantity > 0 {
			before := Quantity{Qualifier: m.quantityBy, Role: m.role(roles.Quantities, m.quantityBy), Quantity: l.Quantity, Unit: l.Unit}
			l.detail().Quantities = append(l.detail().Quantities, before)
		}
		l.Quantity, l.Unit, m.quantity, m.quantityBy = q.Quantity, q.Unit, rank, q.Qualifier
		return
	}
	l.detail().Quantities = append(l.detail().Quantities, q)
}

// pri reads PRI: AAA net price, else INV or CAL, is the line's; gross and others
// stand beside it.
func (m *invoic) pri(l *Line, s *segment) {
	p := Price{
		Qualifier:     s.get(1, 1),
		Price:         m.number(s, 1, 2),
		Type:          s.get(1, 3),
		Specification: s.get(1, 4),
		Basis:         m.number(s, 1, 5),
		Unit:          s.get(1, 6),
	}
	if !p.Price.Valid() {
		return
	}
	if p.Price.Sign() < 0 { // BR-27
		m.warn("negative-price", s.Location(1, 2), "the price is negative")
	}
	role, rank := m.guide.Role(roles.Prices, p.Qualifier)
	if p.Qualifier == "" { // it can be no other
		role, rank = "net", 2
	}
	if p.Role = role; role == "net" && rank > m.price {
		if m.price > 0 {
			l.detail().Prices = append(l.detail().Prices, Price{Role: role, Qualifier: m.priceBy, Price: l.Price, Basis: l.PriceBasis, Unit: l.PriceUnit})
		}
		l.Price, l.PriceBasis, l.PriceUnit, m.price, m.priceBy = p.Price, p.Basis, p.Unit, rank, p.Qualifier
		return
	}
	l.detail().Prices = append(l.detail().Prices, p)
}

// closeLine compares a line's net amount with quantity, price, allowances and
// charges, where they were sent.
func (m *invoic) closeLine() {
	l := m.line
	m.line = nil
	if l == nil || m.price == 0 || !l.NetAmount.Valid() || !l.Quantity.Valid() || !l.Price.Valid() {
		return
	}
	// Both sides times the price basis, so that nothing is divided.
	due, net, within := l.Quantity.times(l.Price), l.NetAmount, tolerance(0)
	basis := l.PriceBasis
	if basis.Sign() > 0 {
		net, within = net.times(basis), within.times(basis)
	} else {
		basis = Number{small: 1, valid: true}
	}
	gross := due
	if l.Detail != nil {
		for i := range l.Detail.AllowanceCharges {
			a := &l.Detail.AllowanceCharges[i]
			if a.Charge {
				due = due.plus(a.Amount.times(basis))
			} else {
				due = due.minus(a.Amount.times(basis))
			}
		}
	}
	// QUIRK: a net price often holds the line's allowances already.
	if near(due, net, within) || near(gross, net, within) {
		return
	}
	at := m.body.Segments[m.lineSegment].Location(0, 0)
	m.warn("line-amount", at, "line %s: quantity %s at %s gives %s, MOA 203 says %s", l.No, l.Quantity, l.Price,
		NumberOf(due.Decimal().DivRound(basis.Decimal(), 2)), l.NetAmount)
}
