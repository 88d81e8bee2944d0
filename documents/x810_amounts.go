package documents

import "github.com/edigw/edigw/documents/roles"

// openLine reads IT1: 01 number, 02 to 05 quantity, unit, price and its basis, from 06
// on item numbers in pairs.
func (m *x810) openLine(s *segment) {
	m.section, m.place = sectionLines, placeOpen
	l := m.doc.addLine()
	m.openedLine()
	m.line = l
	m.items++
	m.item, m.sub = len(m.doc.Lines), false
	l.No = trimBlanks(s.get(1, 1))
	l.Quantity, l.Price = m.real(s, 2), m.real(s, 4)
	m.unit(l, s.get(3, 1))
	m.priceBasis(l, s.get(5, 1))
	itemsX12(l, s, 6)
}

// priceBasis reads 639, what a price is for.
func (m *x810) priceBasis(l *Line, basis string) {
	switch basis {
	case "HP", "QH", "TC": // per hundred: the price, one quoted, one agreed
		l.PriceBasis = Number{small: 100, valid: true}
	case "TP", "QS", "TM": // per thousand
		l.PriceBasis = Number{small: 1000, valid: true}
	case "", "PE", "PU", "UM", "NT":
	default:
		l.detail().Prices = append(l.detail().Prices, Price{Price: l.Price, Specification: basis})
	}
}

// openSubLine reads SLN, a part of the last item: 01 number, 03 whether it is included
// in it or added, 04 to 07 quantity, unit, price and its basis, from 09 on item numbers in pairs.
func (m *x810) openSubLine(s *segment) {
	if m.item == 0 || m.doc.Lines[m.item-1].No == "" { // without its number no part could say whose it is
		m.place = placeOther
		m.other(s)
		return
	}
	m.place, m.sub = placeOpen, true
	l := m.doc.addLine()
	m.line = l
	m.openedLine()
	l.No, l.SubOf = trimBlanks(s.get(1, 1)), m.doc.Lines[m.item-1].No
	switch how := s.get(3, 1); how { // 662
	case "I", "":
	case "A":
		l.detail().Action = "1" // 1229: added
	case "D":
		l.detail().Action = "2" // deleted
	default:
		l.detail().Action = "x12:" + how
	}
	l.Quantity, l.Price = m.real(s, 4), m.real(s, 6)
	m.unit(l, s.get(5, 1))
	m.priceBasis(l, s.get(7, 1))
	itemsX12(l, s, 9)
}

// leaveSubLine goes back to the item where a segment is none that stands beneath SLN.
func (m *x810) leaveSubLine(tag string) {
	if !m.sub || m.line == nil {
		return
	}
	switch tag {
	case "SLN", "DTM", "REF", "PID", "SAC", "TC2", "TXI", "MSG":
	default:
		m.line, m.sub, m.place = &m.doc.Lines[m.item-1], false, placeOpen
	}
}

// unit sets the line's unit, and keeps the code as sent where it is another.
func (m *x810) unit(l *Line, raw string) {
	if l.Unit = unitX12(raw); l.Unit != raw {
		l.detail().RawUnit = raw
	}
}

// ctp reads CTP: prices beside that of IT1, or in its place.
func (m *x810) ctp(s *segment) {
	p := Price{Role: m.role(roles.Prices, s.get(2, 1)), Qualifier: s.get(2, 1), Price: m.real(s, 3), Basis: m.real(s, 4), Unit: unitX12(s.get(5, 1))}
	if m.line == nil || !p.Price.Valid() {
		m.other(s)
		return
	}
	if l := m.line; !l.Price.Valid() && (p.Role == "net" || p.Qualifier == "") { // IT104 is empty
		l.Price, l.PriceBasis, l.PriceUnit = p.Price, p.Basis, p.Unit
		return
	}
	m.line.detail().Prices = append(m.line.detail().Prices, p)
}

// pam reads PAM: amounts of a line, PAM05 by PAM04; 1 is the line's total.
func (m *x810) pam(s *segment) {
	a := Amount{Role: m.role(roles.Amounts, s.get(4, 1)), Qualifier: s.get(4, 1), Amount: m.real(s, 5)}
	if m.line == nil || m.place == placeOther || !a.Amount.Valid() {
		m.other(s)
		return
	}
	if a.Role == "line_net" && !m.line.NetAmount.Valid() {
		m.line.NetAmount = a.Amount
		return
	}
	m.line.detail().Amounts = append(m.line.detail().Amounts, a)
}

// sac reads SAC: an allowance or a charge of the line, or of the invoice. SAC05 has
// implied decimals, SAC08 has not.
func (m *x810) sac(s *segment) {
	kind := s.get(1, 1)
	if kind != "A" && kind != "C" || m.place == placeOther { // N neither, P promotion and others are no money of the invoice
		m.other(s)
		return
	}
	a := AllowanceCharge{
		Charge:     kind == "C",
		RawCode:    s.get(2, 1),
		RateUnit:   unitX12(s.get(9, 1)),
		Reference:  s.get(13, 1),
		Amount:     m.implied(s, 5),
		Percent:    m.real(s, 7),
		Rate:       m.real(s, 8),
		Quantity:   m.real(s, 10),
		Settlement: settlement(s.get(12, 1)),
		Reason:     trimBlanks(s.get(15, 1)),
	}
	if a.RawCode == "" { // 559 and 1301: by the code of an agency
		a.RawCode = s.get(4, 1)
	}
	a.Code = chargeCode(a.RawCode)
	if a.Code == a.RawCode {
		a.RawCode = ""
	}
	m.place = placeAllowance
	list := &m.invoice.AllowanceCharges
	if m.line != nil {
		list = &m.line.detail().AllowanceCharges
	}
	*list = append(*list, a)
}

// chargeCode gives the code of UNTDID 7161 or 5189 for one of X12's 1300 where one
// surely says the same, else the code as sent.
func chargeCode(code string) string {
	switch code {
	case "D240":
		return "FC" // freight
	case "D500":
		return "HD" // handling
	case "G760":
		return "SU" // set-up
	case "G830":
		return "SAA" // shipping and handling
	case "C310":
		return "95" // discount
	}
	return code
}

// txi reads TXI: 01 type, 02 amount, 03 per cent, 04 and 05 whose tax, 06 exemption, 08 basis, 09 tax number.
func (m *x810) txi(s *segment) {
	t := Tax{Function: "7", Type: taxType(s.get(1, 1)), Amount: m.real(s, 2), Rate: m.real(s, 3), Basis: m.real(s, 8)}
	t.Category, t.PartyID = taxCategory(s.get(6, 1)), trimBlanks(s.get(9, 1))
	if t.Jurisdiction.Value = trimBlanks(s.get(5, 1)); t.Jurisdiction.Value != "" {
		t.Jurisdiction.Scheme = s.get(4, 1)
	}
	switch {
	case m.place == placeOther:
		m.other(s)
	case m.place == placeAllowance:
		a := m.lastAllowance()
		a.TaxCategory, a.TaxRate = t.Category, t.Rate
		if t.Amount.Valid() {
			a.Amounts = append(a.Amounts, Amount{Role: "tax", Qualifier: "TXI02", Amount: t.Amount})
		}
	case m.line != nil:
		if l := m.line; l.TaxCategory == "" && !l.TaxRate.Valid() && !t.Amount.Valid() && !t.Basis.Valid() {
			l.TaxCategory, l.TaxRate = t.Category, t.Rate
			return
		}
		m.line.detail().Taxes = append(m.line.detail().Taxes, t)
	case m.section == sectionHeader:
		m.invoice.DefaultTaxes = append(m.invoice.DefaultTaxes, t)
	default:
		m.invoice.Taxes = append(m.invoice.Taxes, t)
		m.places.taxes = append(m.places.taxes, s.Location(2, 1))
	}
}

// taxType gives the code of 5153 for one of X12's 963, else the code as sent.
func taxType(code string) string {
	switch code {
	case "VA":
		return "VAT"
	case "GS":
		return "GST"
	}
	return code
}

func (m *x810) lastAllowance() *AllowanceCharge {
	list := m.invoice.AllowanceCharges
	if m.line != nil {
		list = m.line.Detail.AllowanceCharges
	}
	return &list[len(list)-1]
}

// tds reads TDS, four amounts with implied decimals: 01 the invoice's total, 02 what
// of it a discount is reckoned from, 03 the total less discount, 04 the discount.
func (m *x810) tds(s *segment) {
	if m.total.rank > 0 {
		m.warn("total-repeated", s.Location(0, 0), "TDS stands more than once; the first counts")
		m.other(s)
		return
	}
	d := m.doc
	m.total = total{Amount: Amount{Qualifier: "TDS01", Amount: m.implied(s, 1)}, at: s.Location(1, 1), rank: 1}
	d.Totals.TaxInclusive, d.Totals.Payable = m.total.Amount.Amount, m.total.Amount.Amount
	m.places.totals[totalTaxInclusive], m.places.totals[totalPayable] = m.total.at, m.total.at
	for e, role := range []string{"", "", "discount_basis", "discounted_total", "discount"} {
		if e < 2 {
			continue
		}
		if amount := m.implied(s, e); amount.Valid() {
			d.Detail.Amounts = append(d.Detail.Amounts, Amount{Role: role, Qualifier: "TDS0" + string(rune('0'+e)), Amount: amount})
		}
	}
}

// amt reads AMT: 01 what it is, 02 the amount.
func (m *x810) amt(s *segment) {
	a := Amount{Role: m.role(roles.Amounts, s.get(1, 1)), Qualifier: s.get(1, 1), Amount: m.real(s, 2)}
	switch {
	case !a.Amount.Valid():
		m.other(s)
	case m.line != nil && a.Role == "line_net" && !m.line.NetAmount.Valid():
		m.line.NetAmount = a.Amount
	case m.line != nil:
		m.line.detail().Amounts = append(m.line.detail().Amounts, a)
	default:
		m.doc.Detail.Amounts = append(m.doc.Detail.Amounts, a)
	}
}
