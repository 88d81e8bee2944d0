package documents

import (
	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// x810 maps the X12 invoice, 810.
type x810 struct {
	mapping
	invoice *Invoice
	section section
	place   place

	line  *Line
	item  int  // the line of the last IT1, from 1
	items int  // how many IT1 there were
	sub   bool // line is an SLN of it
	party *Party

	total total // TDS01
	begun bool  // BIG was read
	bigAt edi.Location
	lines int // CTT01, -1 if it was not sent
	count edi.Location
}

// mapX810 reads an 810 as an invoice, credit note or debit note.
func mapX810(ic *edi.Interchange, i int, b *edi.Body, by *Reading) (*Document, []*edi.Error) {
	m := x810{mapping: begin(ic, i, ClassInvoice, by), invoice: &Invoice{}, lines: -1}
	d := m.doc
	d.Detail.Invoice = m.invoice
	if n := countSegments(b, "IT1") + countSegments(b, "SLN"); n > 0 {
		d.Lines = make([]Line, 0, n)
	}
	m.read(b, m.segment)
	if !m.begun {
		m.report(edi.SeverityError, "big-missing", "13", m.headAt("BIG"), "the transaction set has no BIG, and so no document number")
	}
	m.finish()
	return m.end()
}

func (m *x810) segment(s *segment, at int) {
	m.places.now = at
	m.leaveSubLine(s.tag)
	switch s.tag {
	case "ST", "SE":
	case "BIG":
		m.big(s)
	case "CUR":
		m.cur(s)
	case "N1":
		m.openParty(s)
	case "N2", "N3", "N4", "PER":
		if m.place == placeParty && m.underN1(m.party, s) {
			return
		}
		if s.tag == "PER" && m.line == nil {
			m.contact(s)
			return
		}
		m.other(s)
	case "REF":
		m.ref(s)
	case "ITD":
		m.place = placeOpen
		m.itd(s)
	case "DTM":
		m.dtm(s)
	case "IT1":
		m.openLine(s)
	case "PID":
		if m.line != nil && m.place == placeOpen {
			pid(m.line, s)
			return
		}
		m.other(s)
	case "QTY":
		if q := (Quantity{Role: m.role(roles.Quantities, s.get(1, 1)), Qualifier: s.get(1, 1), Quantity: m.real(s, 2), Unit: unitX12(s.get(3, 1))}); m.line != nil && q.Quantity.Valid() {
			m.line.detail().Quantities = append(m.line.detail().Quantities, q)
			return
		}
		m.other(s)
	case "FOB":
		m.place = placeOpen
		m.doc.Detail.DeliveryTerms = append(m.doc.Detail.DeliveryTerms, fob(s))
	case "CAD":
		m.doc.Detail.Transport = append(m.doc.Detail.Transport, cad(s))
	case "ISS":
		m.iss(s)
	case "CTP":
		m.ctp(s)
	case "PAM":
		m.pam(s)
	case "SAC":
		m.sac(s)
	case "TXI":
		m.txi(s)
	case "TDS":
		m.line, m.section, m.place = nil, sectionSummary, placeOpen
		m.tds(s)
	case "AMT":
		m.amt(s)
	case "CTT":
		m.line, m.section, m.place = nil, sectionSummary, placeOpen
		m.lines, m.count = m.ctt(s)
	case "NTE", "MSG":
		if m.line != nil {
			m.line.detail().Texts = append(m.line.detail().Texts, m.noteX12(s))
			return
		}
		m.doc.Detail.Texts = append(m.doc.Detail.Texts, m.noteX12(s))
	case "MEA":
		if m.line != nil {
			m.line.detail().Measures = append(m.line.detail().Measures, m.meaX12(s))
			return
		}
		m.doc.Detail.Measures = append(m.doc.Detail.Measures, m.meaX12(s))
	case "SLN":
		m.openSubLine(s)
	default:
		m.other(s)
	}
}

// other keeps a segment as it is, with the line or the document.
func (m *x810) other(s *segment) {
	if m.line != nil {
		m.line.detail().Other = other(m.line.detail().Other, s)
		return
	}
	m.doc.Detail.Other = other(m.doc.Detail.Other, s)
}

// big reads BIG: 01 date, 02 number, 03 and 04 date and number of the order, 05 its
// release, 07 type, 08 purpose.
func (m *x810) big(s *segment) {
	if m.begun {
		m.report(edi.SeverityWarning, "big-repeated", "35", s.Location(0, 0), "BIG stands more than once; the first counts")
		return
	}
	m.begun, m.bigAt = true, s.Location(1, 1)
	d := m.doc
	if value, ok := m.dateX12(s, 1, 0); ok {
		d.IssueDate = value
		d.Detail.Dates = append(d.Detail.Dates, Date{Role: "issue", Qualifier: "BIG01", Value: value, Raw: s.get(1, 1)})
	}
	m.numberX12(s, 2)
	if order := trimBlanks(s.get(4, 1)); order != "" {
		d.OrderReference = order
		r := Reference{Role: "order", Qualifier: "BIG04", Number: order}
		if value, ok := m.dateX12(s, 3, 0); ok {
			r.Dates = []Date{{Role: "reference", Qualifier: "BIG03", Value: value, Raw: s.get(3, 1)}}
		}
		d.Detail.References = append(d.Detail.References, r)
	}
	if release := trimBlanks(s.get(5, 1)); release != "" {
		d.Detail.References = append(d.Detail.References, Reference{Role: "order_release", Qualifier: "BIG05", Number: release})
	}
	raw := s.get(7, 1)
	known := true
	if d.TypeCode, known = invoiceType(raw); !known {
		m.warn("type-unknown", s.Location(7, 1), "type %s (BIG07) is none that is surely an invoice, a credit or a debit; it is kept as %s, and whoever books it decides", shorten(raw), shorten(d.TypeCode))
	}
	m.invoice.RawType = raw
	m.functionX12(s, 8)
}

// invoiceType gives the code of UNTDID 1001 for one of X12's 640 where one surely says
// the same; another stays as it is, behind "x12:", and is not known. What it stands for
// may be no debt at all: RA asks for a credit, PP bills what was paid before, DU repeats
// what was billed.
func invoiceType(code string) (string, bool) {
	switch code {
	case "", "DI", "PR", "FB", "DO": // it bills: in words, by product, at the end, for goods that another ships
		return "380", true
	case "CR", "CN":
		return "381", true
	case "CC": // it credits a commission
		return "381", true
	case "CE", "CG": // several credits in one
		return "262", true
	case "DR":
		return "383", true
	case "CI", "CD": // several invoices in one
		return "385", true
	}
	return "x12:" + code, false
}

// cur reads CUR02. Where several are named the buyer's or seller's first counts.
func (m *x810) cur(s *segment) {
	code := s.get(2, 1)
	if m.line != nil || code == "" {
		m.other(s)
		return
	}
	if m.doc.Currency == "" {
		m.doc.Currency = code
	}
	m.invoice.Currencies = append(m.invoice.Currencies, Currency{Usage: "2", Function: "4", Raw: s.get(1, 1), Code: code, Rate: m.real(s, 3), Market: s.get(6, 1)})
	if second := s.get(5, 1); second != "" { // what the rate leads to
		m.invoice.Currencies = append(m.invoice.Currencies, Currency{Usage: "3", Raw: s.get(4, 1), Code: second})
	}
}

func (m *x810) openParty(s *segment) {
	if m.place == placeOther {
		m.other(s)
		return
	}
	m.place = placeParty
	list := &m.doc.Detail.Parties
	if m.line != nil {
		list = &m.line.detail().Parties
	}
	*list = append(*list, m.n1(s))
	m.party = &(*list)[len(*list)-1]
}

// contact keeps a PER of the header with a party of its own.
func (m *x810) contact(s *segment) {
	m.doc.Detail.Parties = append(m.doc.Detail.Parties, Party{Contacts: []Contact{per(s)}})
}

func (m *x810) ref(s *segment) {
	if m.place == placeParty {
		m.underN1(m.party, s)
		return
	}
	if m.place == placeOther {
		m.other(s)
		return
	}
	r := m.refX12(s)
	if m.line == nil {
		if r.Role == "order" && m.doc.OrderReference == "" {
			m.doc.OrderReference = r.Number
		}
		m.doc.Detail.References = append(m.doc.Detail.References, r)
		return
	}
	switch l := m.line; {
	case r.Role == "order" && l.OrderReference == "":
		l.OrderReference = r.Number
	case r.Role == "batch" && l.Batch == "":
		l.Batch = r.Number
	default:
		l.detail().References = append(l.detail().References, r)
	}
}

// itd reads ITD: terms with a discount and terms without are told apart, as PAT does.
// ITD08 and ITD10 have implied decimals; 13 is a day of the month, 14 a means of payment.
func (m *x810) itd(s *segment) {
	list := &m.invoice.Terms
	if m.line != nil {
		list = &m.line.detail().Terms
	}
	percent, amount := m.real(s, 3), m.implied(s, 8)
	had := len(*list)
	if percent.Valid() || amount.Valid() || s.get(4, 1) != "" || s.get(5, 1) != "" {
		t := PaymentTerm{Type: "22", Code: s.get(1, 1), Event: termsEvent(s.get(2, 1)), Percent: percent}
		if percent.Valid() {
			t.Of = "12" // 5245: discount
		}
		m.days(&t, s, 5)
		if value, ok := m.dateX12(s, 4, 0); ok {
			t.Dates = []Date{{Role: "discount_until", Qualifier: "ITD04", Value: value, Raw: s.get(4, 1)}}
		}
		if amount.Valid() {
			t.Amounts = []Amount{{Role: "discount", Qualifier: "ITD08", Amount: amount}}
		}
		*list = append(*list, t)
	}
	net := PaymentTerm{Type: "1", Code: s.get(1, 1), Event: termsEvent(s.get(2, 1)), Text: trimBlanks(s.get(12, 1)), Percent: m.real(s, 11), Day: s.get(13, 1)}
	m.days(&net, s, 7)
	if value, ok := m.dateX12(s, 6, 0); ok {
		net.Dates = []Date{{Role: "due", Qualifier: "ITD06", Value: value, Raw: s.get(6, 1)}}
		if m.line == nil && m.doc.DueDate == "" {
			m.doc.DueDate = value
		}
	}
	if deferred := m.implied(s, 10); deferred.Valid() {
		net.Amounts = []Amount{{Role: "deferred", Qualifier: "ITD10", Amount: deferred}}
	}
	if value, ok := m.dateX12(s, 9, 0); ok {
		net.Dates = append(net.Dates, Date{Role: "deferred", Qualifier: "ITD09", Value: value, Raw: s.get(9, 1)})
	}
	if means := s.get(14, 1); means != "" && m.line == nil { // 107
		m.invoice.PaymentMeans = append(m.invoice.PaymentMeans, "x12:"+means)
	}
	alone := len(*list) == had && net.Code != "" // as 10, at once, or NC, no charge
	if alone || net.Text != "" || net.Count != "" || net.Dates != nil || net.Amounts != nil || net.Percent.Valid() || net.Day != "" {
		*list = append(*list, net)
	}
}

// days takes a number of days, which are counted from the event on.
func (m *x810) days(t *PaymentTerm, s *segment, e int) {
	if t.Count = trimBlanks(s.get(e, 1)); t.Count != "" {
		t.Period, t.Relation = "D", "3" // 2151, 2009: after it
	}
}

func (m *x810) dtm(s *segment) {
	date, ok := m.dtmX12(s)
	if !ok {
		return
	}
	d := m.doc
	switch {
	case m.place == placeOther:
		m.other(s)
	case m.line != nil:
		if date.Role == "expiry" && date.Day() != "" && (m.line.Detail == nil || m.line.Detail.Expiry == "") {
			m.line.detail().Expiry = date.Day()
			return
		}
		m.line.detail().Dates = append(m.line.detail().Dates, date)
	default:
		m.place = placeOpen
		d.Detail.Dates = append(d.Detail.Dates, date)
		if date.Role == "due" && d.DueDate == "" {
			d.DueDate = date.Day()
		}
	}
}

func (m *x810) finish() {
	d := m.doc
	if d.IssueDate == "" && m.begun {
		m.warn("issue-date-missing", m.bigAt, "BIG01 says no document date")
	}
	d.LineCount = len(d.Lines)
	d.Issuer = m.issuer("issuer", "supplier")
	d.Supplier = m.short("supplier", "ship_from")
	d.Buyer = m.short("buyer", "invoicee")
	if taxes := m.invoice.Taxes; len(taxes) == 1 { // the total then; nothing is added up
		d.Totals.Tax = taxes[0].Amount
	}
	if m.lines >= 0 && m.lines != m.items {
		m.warn("line-count", m.count, "CTT01 says %d lines, there are %d", m.lines, m.items)
	}
	m.check()
}
