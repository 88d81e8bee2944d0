package documents

import (
	"slices"

	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
)

// desadv maps DESADV.
type desadv struct {
	mapping
	body     *edi.Body
	despatch *Despatch
	place    place

	party       *Party
	reference   *Reference
	consignment consignment

	cps      int              // the package of the current CPS, from 1; 0 before the first
	current  int              // the package that PAC, PCI and GIN speak of
	packed   bool             // the current CPS has a PAC
	children map[int]int      // packages made for further SSCCs, by the package they were split from
	nodes    []int            // the packages of CPS, in their order
	ranges   int              // SSCCs that ranges stood for
	marks    map[int][]string // of packages, by their position

	line        *Line
	quantity    int
	quantityBy  string
	description int
	batch       *Batch

	begun bool
	lines int
	count edi.Location
}

// mapDesadv reads a DESADV as a despatch advice.
func mapDesadv(ic *edi.Interchange, i int, b *edi.Body, by *Reading) (*Document, []*edi.Error) {
	m := desadv{mapping: begin(ic, i, ClassDespatch, by), body: b, despatch: &Despatch{}, lines: -1}
	d := m.doc
	d.Detail.Despatch = m.despatch
	m.consignment = consignment{list: &m.despatch.Transport, doc: d}
	if n := countSegments(b, "LIN"); n > 0 {
		d.Lines = make([]Line, 0, n)
	}
	if n := countSegments(b, "CPS"); n > 0 {
		d.Packages, m.nodes = make([]Package, 0, n), make([]int, 0, n)
	}
	m.read(b, m.segment)
	m.closeLine()
	if !m.begun {
		m.missingBGM()
	}
	m.finish()
	return m.end()
}

func (m *desadv) segment(s *segment, at int) {
	m.places.now = at
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
	case "FII", "CTA", "COM":
		if m.place != placeParty || !m.under(m.party, s, tag) {
			m.other(s)
		}
	case "TDT":
		m.openGroup(s)
	case "TOD", "EQD":
		m.openGroup(s)
	case "SGP":
		m.place, m.consignment.under = placeOther, 0
		m.other(s)
	case "LOC":
		m.loc(s)
	case "SEL", "EQN":
		m.inGroup(s)
	case "HAN":
		m.han(s)
	case "CPS":
		m.openCPS(s)
	case "PAC":
		m.pac(s)
	case "PCI":
		m.pci(s)
	case "GIN":
		m.gin(s)
	case "MEA":
		m.measure(s)
	case "QTY":
		m.qty(s)
	case "FTX":
		m.ftx(s)
	case "LIN":
		m.openLine(s)
	case "PIA", "IMD", "ALI", "QVR":
		m.item(s, tag)
	case "CNT":
		m.closeLine()
		m.place = placeOpen
		m.cnt(s)
	case "UNS":
		m.closeLine()
		m.place = placeOpen
	default:
		m.other(s)
	}
}

// openGroup reads what opens a group of the header that tells of the transport.
func (m *desadv) openGroup(s *segment) {
	m.place, m.consignment.under = placeOther, 0
	if m.line != nil || m.current > 0 || !m.consignment.open(s) {
		m.other(s)
	}
}

// inGroup keeps a segment with the group that was opened last, if it belongs there.
func (m *desadv) inGroup(s *segment) {
	if m.place != placeOther || m.line != nil || m.current > 0 || !m.consignment.beneath(&m.mapping, s) {
		m.other(s)
	}
}

// loc reads LOC of the line, the document, or the group that was opened last.
func (m *desadv) loc(s *segment) {
	switch {
	case m.line != nil:
		m.line.detail().Locations = append(m.line.detail().Locations, loc(s))
	case m.current > 0 || m.place == placeOther || m.place == placeParty:
		m.inGroup(s)
	default:
		m.doc.Detail.Locations = append(m.doc.Detail.Locations, loc(s))
	}
}

// han reads HAN, how a package is to be handled.
func (m *desadv) han(s *segment) {
	if m.line != nil || m.current == 0 {
		m.other(s)
		return
	}
	p := m.pack().detail()
	p.Handling = append(p.Handling, Text{Code: s.get(1, 1), Text: s.get(1, 4)})
}

// other keeps a segment as it is, with the line, the package or the document.
func (m *desadv) other(s *segment) {
	switch {
	case m.line != nil:
		m.line.detail().Other = other(m.line.detail().Other, s)
		return
	case m.current > 0:
		m.pack().detail().Other = other(m.pack().detail().Other, s)
		return
	}
	m.doc.Detail.Other = other(m.doc.Detail.Other, s)
}

func (m *desadv) dtm(s *segment) {
	date, ok := m.date(s)
	if !ok {
		return
	}
	d := m.doc
	switch {
	case m.line != nil:
		m.lineDate(date)
	case m.place == placeReference:
		m.reference.Dates = append(m.reference.Dates, date)
	case m.current > 0:
		p := m.pack().detail()
		p.Dates = append(p.Dates, date)
	case m.place == placeOther:
		if !m.consignment.dated(date) {
			m.other(s)
		}
	default:
		d.Detail.Dates = append(d.Detail.Dates, date)
		switch { // of those that say a day the first counts
		case date.Role == "issue":
			m.issuedOn(date)
		case date.Role == "despatch" && m.despatch.DespatchDate == "":
			m.despatch.DespatchDate = date.Day()
		case date.Role == "estimated_delivery" && m.despatch.EstimatedDelivery == "":
			m.despatch.EstimatedDelivery = date.Day()
		}
	}
}

// lineDate takes best before and expiry of the line or of its batch.
func (m *desadv) lineDate(date Date) {
	l, role := m.line, date.Role
	if date.Day() == "" { // of a month, say: what holds a day alone has no place for it
		role = ""
	}
	switch {
	case m.batch != nil && role == "best_before":
		m.batch.BestBefore = date.Day()
	case m.batch != nil && role == "expiry":
		m.batch.Expiry = date.Day()
	case role == "best_before" && l.BestBefore == "":
		l.BestBefore = date.Day()
	case role == "expiry" && (l.Detail == nil || l.Detail.Expiry == ""):
		l.detail().Expiry = date.Day()
	case m.place == placeReference && m.reference != nil:
		m.reference.Dates = append(m.reference.Dates, date)
	default:
		l.detail().Dates = append(l.detail().Dates, date)
	}
}

func (m *desadv) rff(s *segment) {
	if m.place == placeParty {
		m.under(m.party, s, "RFF")
		return
	}
	r := m.rffOf(s)
	list := &m.doc.Detail.References
	switch {
	case m.line != nil && r.Role == "order" && m.line.OrderReference == "" && m.line.OrderLine == "":
		m.line.OrderReference, m.line.OrderLine = r.Number, r.Line
		m.reference, m.place = nil, placeReference
		return
	case m.line != nil && r.Role == "batch" && m.line.Batch == "":
		m.line.Batch = r.Number
		return
	case m.line != nil:
		list = &m.line.detail().References
	case m.current > 0:
		list = &m.pack().detail().References
	case r.Role == "order" && m.doc.OrderReference == "":
		m.doc.OrderReference = r.Number
	}
	*list = append(*list, r)
	m.reference, m.place = &(*list)[len(*list)-1], placeReference
}

func (m *desadv) openParty(s *segment) {
	m.place = placeParty
	list := &m.doc.Detail.Parties
	if m.line != nil {
		list = &m.line.detail().Parties
	}
	*list = append(*list, m.nad(s))
	m.party = &(*list)[len(*list)-1]
}

func (m *desadv) measure(s *segment) {
	mea := m.mea(s)
	gross := mea.Value.Valid() && (mea.Dimension == "AAB" || mea.Dimension == "AAD" || mea.Dimension == "G")
	switch {
	case m.line != nil:
		m.line.detail().Measures = append(m.line.detail().Measures, mea)
	case m.current > 0:
		p := m.pack()
		if gross && !p.GrossWeight.Valid() {
			p.GrossWeight, p.WeightUnit = mea.Value, mea.Unit
			return
		}
		p.detail().Measures = append(p.detail().Measures, mea)
	case m.place == placeOther:
		m.inGroup(s)
	default:
		if gross && !m.despatch.GrossWeight.Valid() {
			m.despatch.GrossWeight, m.despatch.WeightUnit = mea.Value, mea.Unit
			return
		}
		m.doc.Detail.Measures = append(m.doc.Detail.Measures, mea)
	}
}

func (m *desadv) ftx(s *segment) {
	t := m.ftxOf(s)
	switch {
	case m.line != nil:
		m.line.detail().Texts = append(m.line.detail().Texts, t)
	case m.current > 0:
		m.pack().detail().Texts = append(m.pack().detail().Texts, t)
	default:
		m.doc.Detail.Texts = append(m.doc.Detail.Texts, t)
	}
}

func (m *desadv) openLine(s *segment) {
	m.closeLine()
	m.place = placeOpen
	m.line = m.doc.addLine()
	m.openedLine()
	m.line.Package = m.cps
	m.quantity, m.description, m.batch = 0, 0, nil
	lin(m.line, s)
}

func (m *desadv) item(s *segment, tag string) {
	l := m.line
	if l == nil {
		m.other(s)
		return
	}
	switch tag {
	case "PIA":
		pia(l, s)
	case "IMD":
		imd(l, s, &m.description)
	case "ALI":
		if origin := s.get(1, 1); origin != "" && l.detail().Origin == "" {
			l.Detail.Origin = origin
			return
		}
		m.other(s)
	case "QVR":
		l.detail().Variances = append(l.detail().Variances, Variance{
			Quantity:    m.number(s, 1, 1),
			Qualifier:   s.get(1, 2),
			Discrepancy: s.get(2, 1),
			Reason:      s.get(3, 1),
		})
	}
}

// qty reads QTY: 12 despatched is the line's, else 46 or 47; 21 is ordered.
func (m *desadv) qty(s *segment) {
	q := Quantity{Qualifier: s.get(1, 1), Quantity: m.number(s, 1, 2), Unit: s.get(1, 3)}
	if !q.Quantity.Valid() {
		return
	}
	q.Role = m.role(roles.Quantities, q.Qualifier)
	l := m.line
	if l == nil {
		if m.current > 0 {
			m.pack().detail().Quantities = append(m.pack().detail().Quantities, q)
			return
		}
		m.other(s)
		return
	}
	if m.batch != nil && m.quantity > 0 && !m.batch.Quantity.Valid() {
		m.batch.Quantity, m.batch.Unit = q.Quantity, q.Unit
		return
	}
	rank := 0
	switch q.Role {
	case "despatched":
		rank = 3
	case "delivered":
		rank = 2
	case "invoiced":
		rank = 1
	case "ordered":
		if !l.Ordered.Valid() {
			l.Ordered = q.Quantity
			return
		}
	}
	if rank <= m.quantity {
		l.detail().Quantities = append(l.detail().Quantities, q)
		return
	}
	if m.quantity > 0 {
		before := Quantity{Qualifier: m.quantityBy, Role: m.role(roles.Quantities, m.quantityBy), Quantity: l.Quantity, Unit: l.Unit}
		l.detail().Quantities = append(l.detail().Quantities, before)
	}
	l.Quantity, l.Unit, m.quantity, m.quantityBy = q.Quantity, q.Unit, rank, q.Qualifier
}

// closeLine moves the line's only batch to its columns.
func (m *desadv) closeLine() {
	l := m.line
	m.line, m.batch = nil, nil
	if l == nil || l.Detail == nil || l.Detail.Batches == nil {
		return
	}
	l.Detail.Batches = slices.DeleteFunc(l.Detail.Batches, func(b Batch) bool { // a PCI may hold marks alone
		return b.Number == "" && b.BestBefore == "" && b.Expiry == "" && !b.Quantity.Valid() && b.Serials == nil
	})
	if len(l.Detail.Batches) == 0 {
		l.Detail.Batches = nil
		return
	}
	first := l.Detail.Batches[0]
	if l.Batch == "" {
		l.Batch = first.Number
	}
	if l.BestBefore == "" {
		l.BestBefore = first.BestBefore
	}
	if len(l.Detail.Batches) > 1 || first.Quantity.Valid() || l.Batch != first.Number || l.BestBefore != first.BestBefore {
		return
	}
	if l.Detail.Expiry == "" {
		l.Detail.Expiry = first.Expiry
	}
	l.Detail.Serials = append(l.Detail.Serials, first.Serials...)
	l.Detail.Batches = nil
	if l.Detail.Expiry == "" && len(l.Detail.Serials) == 0 && l.Detail.empty() {
		l.Detail = nil
	}
}

func (m *desadv) cnt(s *segment) {
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

func (m *desadv) finish() {
	d := m.doc
	if d.IssueDate == "" {
		m.warn("issue-date-missing", m.at, "the message says no document date")
	}
	m.settle()
	m.setMarks()
	d.LineCount, d.PackageCount = len(d.Lines), len(d.Packages)
	d.Issuer = m.issuer("supplier", "ship_from", "consignor")
	d.Supplier = m.short("supplier", "ship_from", "consignor")
	d.Buyer = m.short("buyer", "invoicee")
	if m.lines >= 0 && m.lines != len(d.Lines) {
		m.warn("line-count", m.count, "CNT says %d lines, there are %d", m.lines, len(d.Lines))
	}
	m.check()
}
