package documents

import "github.com/edigw/edigw/documents/roles"

func (m *invoic) openLine(s *segment) {
	m.closeLine()
	m.section, m.place = sectionLines, placeOpen
	m.line = m.doc.addLine()
	m.openedLine()
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

// closeLine ends a line. What is quantity × price alone is not its net amount where
// allowances or charges stand between them.
func (m *invoic) closeLine() {
	if l := m.line; l != nil && m.net.rank == roles.RankUnlessAdjusted && l.Detail != nil && len(l.Detail.AllowanceCharges) > 0 {
		l.NetAmount = Number{}
		m.notNet(m.net.Amount, m.net.rank)
	}
	m.line = nil
}

// notNet keeps an amount that might have been the line's net one.
func (m *invoic) notNet(a Amount, rank uint8) {
	if rank == roles.RankUnlessAdjusted {
		a.Role = "goods"
	}
	d := m.line.detail()
	d.Amounts = append(d.Amounts, a)
}
