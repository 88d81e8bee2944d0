package documents

import (
	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// place is the segment group of INVOIC or DESADV a mapper stands in. The groups
// are told by the segments that open them, so that one mapping reads D.96A, D.01B
// and the EN 16931 binding on D.14B, and forgives segments out of order.
type place int

const (
	placeOpen       place = iota // the header, the line or the summary itself
	placeReference               // RFF
	placeParty                   // NAD
	placeTax                     // TAX
	placeTerms                   // PAT, PYT
	placeAllowance               // ALC
	placePackage                 // CPS, PAC, PCI
	placeSupporting              // EFI
	placeOther                   // a group the model has no place for
)

// section is the part of a message: header, detail or summary.
type section int

const (
	sectionHeader section = iota
	sectionLines
	sectionSummary
)

// invoic maps INVOIC.
type invoic struct {
	mapping
	body    *edi.Body
	invoice *Invoice
	section section
	place   place

	line        *Line
	quantity    int    // rank of what its columns hold
	quantityBy  string // qualifier
	price       uint8
	priceBy     string
	net         total
	orderBy     string
	description int

	party     *Party
	reference *Reference
	tax       *Tax // nil while the line's columns hold it
	term      *PaymentTerm
	allowance *AllowanceCharge

	supporting  *Supporting
	consignment consignment

	lesser    bool // the due date is of a discount or a penalty
	invoicing bool // a currency was named the invoicing one
	dated     bool // the document has a DTM 137 of its own
	invoiced  bool // and a DTM 3

	totals [totalKinds]total
	begun  bool // BGM was read
	lines  int  // CNT 2, -1 if it was not sent
	count  edi.Location
}

// mapInvoic reads an INVOIC as an invoice, credit note or debit note.
func mapInvoic(ic *edi.Interchange, i int, b *edi.Body, by *Reading) (*Document, []*edi.Error) {
	m := invoic{mapping: begin(ic, i, ClassInvoice, by), body: b, invoice: &Invoice{}, lines: -1}
	d := m.doc
	d.Detail.Invoice = m.invoice
	m.consignment = consignment{list: &d.Detail.Transport, doc: d}
	if n := countSegments(b, "LIN"); n > 0 {
		d.Lines = make([]Line, 0, n)
	}
	m.read(b, m.segment)
	m.closeLine()
	if !m.begun {
		m.missingBGM()
	}
	m.finish()
	return m.end()
}

func countSegments(b *edi.Body, tag string) int {
	n := 0
	for i := range b.Segments {
		if b.Segments[i].Is(tag) {
			n++
		}
	}
	return n
}

func (m *invoic) segment(s *segment, at int) {
	m.places.now = at
	d := m.doc
	switch tag := s.tag; tag {
	case "UNH", "UNT":
	case "BGM":
		if m.begun {
			m.report(edi.SeverityWarning, "bgm-repeated", "35", s.Location(0, 0), "BGM stands more than once; the first counts")
			return
		}
		m.begun = true
		m.bgm(s)
	case "DTM":
		m.dtm(s)
	case "RFF":
		m.rff(s)
	case "NAD":
		m.openParty(s)
	case "EFI":
		m.openSupporting(s)
	case "FII", "CTA", "COM":
		if m.place == placeSupporting && m.underSupporting(s) {
			return
		}
		if m.place != placeParty || !m.under(m.party, s, tag) {
			m.other(s)
		}
	case "CUX":
		m.place = placeOpen
		m.cux(s)
	case "PAT", "PYT":
		m.openTerm(s)
	case "PAI":
		if means := s.get(1, 3); means != "" { // 4461, BT-81
			m.invoice.PaymentMeans = append(m.invoice.PaymentMeans, means)
		}
		if s.get(1, 1) != "" || s.get(1, 2) != "" || s.get(1, 6) != "" { // conditions, guarantee, channel
			m.other(s)
		}
	case "ALC":
		m.openAllowance(s)
	case "TAX":
		m.taxOf(s)
	case "MOA":
		m.moa(s)
	case "PCD":
		m.pcd(s)
	case "RTE":
		if m.place != placeAllowance {
			m.other(s)
			return
		}
		m.allowance.Rate, m.allowance.RateBasis, m.allowance.RateUnit = m.number(s, 1, 2), m.number(s, 1, 3), s.get(1, 4)
	case "FTX":
		if m.line != nil && attribute(m.line, s) {
			return
		}
		t := m.ftxOf(s)
		if m.line != nil {
			m.line.detail().Texts = append(m.line.detail().Texts, t)
		} else {
			d.Detail.Texts = append(d.Detail.Texts, t)
		}
	case "MEA":
		if m.place == placeOther {
			m.inGroup(s)
		} else if m.line != nil {
			m.line.detail().Measures = append(m.line.detail().Measures, m.mea(s))
		} else {
			d.Detail.Measures = append(d.Detail.Measures, m.mea(s))
		}
	case "LIN":
		m.openLine(s)
	case "PIA", "IMD", "QTY", "PRI", "ALI", "GIN", "QVR":
		m.item(s, tag)
	case "UNS":
		m.closeLine()
		m.section, m.place = sectionSummary, placeOpen
	case "CNT":
		m.cnt(s)
	case "GIR":
		if !m.objectID(s) {
			m.other(s)
		}
	case "LOC":
		switch {
		case m.place == placeOther || m.place == placeParty:
			m.inGroup(s)
		case m.line != nil:
			m.line.detail().Locations = append(m.line.detail().Locations, loc(s))
		default:
			d.Detail.Locations = append(d.Detail.Locations, loc(s))
		}
	case "SEL", "EQN":
		m.inGroup(s)
	case "TDT", "TOD", "EQD":
		m.place, m.consignment.under = placeOther, 0
		if m.line != nil || !m.consignment.open(s) {
			m.other(s)
		}
	case "PAC", "RCS":
		m.place, m.consignment.under = placeOther, 0
		m.other(s)
	default:
		m.other(s)
	}
}

// inGroup keeps a segment with the group that was opened last, if it belongs there.
func (m *invoic) inGroup(s *segment) {
	if m.place != placeOther || m.line != nil || !m.consignment.beneath(&m.mapping, s) {
		m.other(s)
	}
}

// other keeps a segment as it is, with the line or the document.
func (m *invoic) other(s *segment) {
	if m.line != nil {
		m.line.detail().Other = other(m.line.detail().Other, s)
		return
	}
	m.doc.Detail.Other = other(m.doc.Detail.Other, s)
}

func (m *invoic) dtm(s *segment) {
	if m.taxPoint(s) {
		return
	}
	date, ok := m.date(s)
	if !ok {
		return
	}
	d := m.doc
	switch {
	case m.place == placeTerms:
		m.termDate(date)
	case m.place == placeReference && (m.section != sectionHeader || !m.misplaced(date.Role)):
		if m.reference == nil { // of the order that stands in the line's columns
			list := &m.line.detail().References
			*list = append(*list, Reference{Role: "order", Qualifier: m.orderBy, Number: m.line.OrderReference, Line: m.line.OrderLine})
			m.reference = &(*list)[len(*list)-1]
		}
		m.reference.Dates = append(m.reference.Dates, date)
	case m.place == placeParty && m.section == sectionHeader && len(m.party.References) > 0 && !m.misplaced(date.Role):
		r := &m.party.References[len(m.party.References)-1]
		r.Dates = append(r.Dates, date)
	case (m.place == placeOther || m.place == placeSupporting) && !m.misplaced(date.Role):
		if m.place != placeOther || m.line != nil || !m.consignment.dated(date) {
			m.other(s)
		}
	case m.line != nil:
		m.line.detail().Dates = append(m.line.detail().Dates, date)
	default:
		d.Detail.Dates = append(d.Detail.Dates, date)
		switch date.Role {
		case "due":
			m.due(date, false)
		case "issue":
			m.dated = true
		case "invoice":
			m.invoiced = true
		}
	}
}

// taxPoint takes the code of BT-8, when tax is due: a DTM of the header that names a
// date and does not say it (CEN/TS 16931-3-4).
func (m *invoic) taxPoint(s *segment) bool {
	if m.guide.Profile != "en16931" || m.section != sectionHeader || s.get(1, 2) != "" {
		return false
	}
	switch code := s.get(1, 1); code {
	case "3", "35", "432":
		m.invoice.TaxPoint = code
		return true
	}
	return false
}

// misplaced reports whether a date in a group is the document's own all the same.
// QUIRK: some send DTM+137 behind a reference or a party.
func (m *invoic) misplaced(role string) bool {
	return m.line == nil && (role == "issue" && !m.dated || role == "invoice" && !m.invoiced)
}

func (m *invoic) rff(s *segment) {
	if m.place == placeParty {
		m.under(m.party, s, "RFF")
		return
	}
	if m.place == placeSupporting {
		if !m.underSupporting(s) {
			m.other(s)
		}
		return
	}
	r := m.rffOf(s)
	if m.place == placeOther && r.Role == "" {
		m.other(s)
		return
	}
	m.place = placeReference
	if m.line == nil {
		d := m.doc
		d.Detail.References = append(d.Detail.References, r)
		m.reference = &d.Detail.References[len(d.Detail.References)-1]
		if r.Role == "order" && d.OrderReference == "" {
			d.OrderReference = r.Number
		}
		return
	}
	if r.Role == "order" && m.line.OrderReference == "" && m.line.OrderLine == "" {
		m.line.OrderReference, m.line.OrderLine, m.orderBy = r.Number, r.Line, r.Qualifier
		m.reference = nil
		return
	}
	list := &m.line.detail().References
	*list = append(*list, r)
	m.reference = &(*list)[len(*list)-1]
}

func (m *invoic) openParty(s *segment) {
	m.place = placeParty
	list := &m.doc.Detail.Parties
	if m.line != nil {
		list = &m.line.detail().Parties
	}
	*list = append(*list, m.nad(s))
	m.party = &(*list)[len(*list)-1]
}

// cux reads CUX. The invoice's currency is the one with usage 2 or function 4,
// else the first.
func (m *invoic) cux(s *segment) {
	d, list := m.doc, &m.invoice.Currencies
	for e := 1; e <= 2; e++ {
		c := Currency{Usage: s.get(e, 1), Code: s.get(e, 2), Function: s.get(e, 3), Base: m.number(s, e, 4)}
		if c.Code == "" {
			continue
		}
		if e == 1 {
			c.Rate, c.Market = m.number(s, 3, 1), s.get(4, 1)
		}
		switch {
		case c.Usage == "6":
			m.invoice.TaxCurrency = c.Code
		case d.Currency == "", c.Function == "4", c.Usage == "2" && !m.invoicing:
			d.Currency = c.Code
		}
		m.invoicing = m.invoicing || c.Function == "4"
		*list = append(*list, c)
	}
}

func (m *invoic) openAllowance(s *segment) {
	m.place = placeAllowance
	list := &m.invoice.AllowanceCharges
	if m.line != nil {
		list = &m.line.detail().AllowanceCharges
	}
	a := AllowanceCharge{
		Charge:     s.get(1, 1) == "C",
		Reason:     s.get(2, 1),
		Code:       s.get(5, 1), // 7161
		Settlement: s.get(3, 1),
		Sequence:   s.get(4, 1),
	}
	switch code := s.get(2, 2); {
	case a.Code == "":
		a.Code = code // 5189
	case !a.Charge:
		a.Code, a.RawCode = allowanceCode(a.Code)
	}
	if text := join(s, 5, 4, 5); text != "" {
		a.Reason = text
	}
	*list = append(*list, a)
	m.allowance = &(*list)[len(*list)-1]
}

func (m *invoic) taxOf(s *segment) {
	t := Tax{Function: s.get(1, 1), Type: s.get(2, 1), Account: s.get(3, 1), Category: s.get(6, 1), PartyID: s.get(7, 1)}
	t.Rate, t.RawRate = m.rate(s, 5, 4)
	t.Basis = m.number(s, 4, 1) // 5286
	switch {
	case m.place == placeAllowance:
		m.allowance.TaxCategory, m.allowance.TaxRate = t.Category, t.Rate
		return
	case m.line != nil:
		m.place = placeTax
		if l := m.line; l.TaxCategory == "" && !l.TaxRate.Valid() && t.RawRate == "" && !t.Basis.Valid() {
			l.TaxCategory, l.TaxRate = t.Category, t.Rate
			if m.tax = nil; t.Account == "" && t.PartyID == "" {
				return
			}
		}
		list := &m.line.detail().Taxes
		*list = append(*list, t)
		m.tax = &(*list)[len(*list)-1]
		return
	}
	m.place = placeTax
	list := &m.invoice.Taxes
	if m.section == sectionHeader {
		list = &m.invoice.DefaultTaxes
	}
	*list = append(*list, t)
	m.tax = &(*list)[len(*list)-1]
	if list == &m.invoice.Taxes {
		m.places.taxes = append(m.places.taxes, s.Location(0, 0))
	}
}

func (m *invoic) pcd(s *segment) {
	switch {
	case m.place == placeAllowance && !m.allowance.Percent.Valid():
		m.allowance.Percent = m.number(s, 1, 2)
	case m.place == placeTerms && !m.term.Percent.Valid():
		m.term.Percent, m.term.Of = m.number(s, 1, 2), s.get(1, 1)
	default:
		m.other(s)
	}
}

// moa puts an amount where its group and its qualifier say.
func (m *invoic) moa(s *segment) {
	a := Amount{Qualifier: s.get(1, 1), Amount: m.number(s, 1, 2), Currency: s.get(1, 3)}
	if !a.Amount.Valid() { // 5004 is conditional
		return
	}
	role, rank := m.guide.Role(roles.Amounts, a.Qualifier)
	if a.Role = role; role == "" && m.role(roles.Totals, a.Qualifier) != "" {
		a.Role = "total"
	}
	switch {
	case m.place == placeAllowance:
		switch al := m.allowance; {
		case role == "allowance_charge" && !al.Amount.Valid():
			al.Amount = a.Amount
		case role == "basis" && !al.Basis.Valid():
			al.Basis = a.Amount
		default:
			al.Amounts = append(al.Amounts, a)
		}
	case m.place == placeTerms:
		m.term.Amounts = append(m.term.Amounts, a)
	case m.place == placeOther:
		m.other(s)
	case m.place == placeTax && m.tax != nil && (role == "tax" || role == "taxable"):
		switch t := m.tax; {
		case role == "taxable" && !t.Basis.Valid():
			t.Basis = a.Amount
		case role == "tax" && !t.Amount.Valid():
			t.Amount = a.Amount
		default:
			t.Amounts = append(t.Amounts, a)
		}
	case m.line != nil:
		if role == "line_net" && rank > m.net.rank {
			if m.net.rank > 0 { // it says it with less certainty
				m.notNet(m.net.Amount, m.net.rank)
			}
			m.line.NetAmount, m.net = a.Amount, total{Amount: a, rank: rank}
			return
		}
		if role == "line_net" {
			m.notNet(a, rank)
			return
		}
		m.line.detail().Amounts = append(m.line.detail().Amounts, a)
	case m.section == sectionSummary:
		m.total(s, a)
	default:
		m.doc.Detail.Amounts = append(m.doc.Detail.Amounts, a)
	}
}

func (m *invoic) cnt(s *segment) {
	q := Quantity{Qualifier: s.get(1, 1), Quantity: m.number(s, 1, 2), Unit: s.get(1, 3)}
	if !q.Quantity.Valid() {
		return
	}
	q.Role = countRole(q.Qualifier)
	if q.Qualifier == "2" {
		m.lines, m.count = int(q.Quantity.Decimal().IntPart()), s.Location(1, 2)
	}
	m.doc.Detail.Counts = append(m.doc.Detail.Counts, q)
}

// finish derives the columns that more than one segment decides, and compares
// what the message says of itself.
func (m *invoic) finish() {
	d := m.doc
	for _, role := range [...]string{"invoice", "issue"} { // DTM 3 beside 137: 137 is the message's own
		for _, date := range d.Detail.Dates {
			if date.Role == role {
				m.issuedOn(date)
			}
		}
	}
	if d.IssueDate == "" {
		m.warn("issue-date-missing", m.at, "the message says no document date")
	}
	m.settleDue()
	d.LineCount = len(d.Lines)
	d.Issuer = m.issuer("issuer", "supplier")
	d.Supplier = m.short("supplier")
	d.Buyer = m.short("buyer", "invoicee")
	m.exempt()
	m.setTotals()
	if m.lines >= 0 && m.lines != len(d.Lines) {
		m.warn("line-count", m.count, "CNT says %d lines, there are %d", m.lines, len(d.Lines))
	}
	m.check()
}
