package documents

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// x856 maps the X12 ship notice, 856. Its hierarchical levels are told by HL03: S is
// the shipment, O an order, T and P packages, I an item; others hold what stands
// beneath them.
type x856 struct {
	mapping
	despatch *Despatch

	levels []level
	kin    []kin    // of levels, also of those that are not read yet
	usual  string   // structure of the message, where BSN05 does not say it
	rank   [256]int // of HL03 in the structure of BSN05; see structure
	at     int      // the level that is read, from 1; 0 before the first
	inN1   bool
	party  *Party
	line   *Line

	begun bool
	bsnAt edi.Location
	lines int
	count edi.Location
}

// mapX856 reads an 856 as a despatch advice.
func mapX856(ic *edi.Interchange, i int, b *edi.Body, by *Reading) (*Document, []*edi.Error) {
	m := x856{mapping: begin(ic, i, ClassDespatch, by), despatch: &Despatch{}, lines: -1}
	d := m.doc
	d.TypeCode = "351"
	d.Detail.Despatch = m.despatch
	m.foresee(b)
	m.structure("")
	m.read(b, m.segment)
	if !m.begun {
		m.report(edi.SeverityError, "bsn-missing", "13", m.headAt("BSN"), "the transaction set has no BSN, and so no document number")
	}
	m.finish()
	return m.end()
}

func (m *x856) segment(s *segment, at int) {
	m.places.now = at
	if m.inN1 {
		if m.underN1(m.party, s) {
			return
		}
		m.inN1 = false
	}
	switch s.tag {
	case "ST", "SE":
	case "BSN":
		m.bsn(s)
	case "HL":
		m.openLevel(s)
	case "N1":
		m.openParty(s)
	case "PER":
		m.doc.Detail.Parties = append(m.doc.Detail.Parties, Party{Contacts: []Contact{per(s)}})
	case "REF":
		m.ref(s)
	case "DTM":
		m.dtm(s)
	case "PRF":
		m.prf(s)
	case "TD1":
		m.td1(s)
	case "TD5":
		m.td5(s)
	case "TD3":
		m.td3(s)
	case "MAN":
		m.man(s)
	case "PAL":
		m.pal(s)
	case "PKG":
		m.pkg(s)
	case "PO4":
		m.po4(s)
	case "MEA":
		m.mea856(s)
	case "LIN":
		m.lin856(s)
	case "SN1":
		m.sn1(s)
	case "PID":
		if m.line == nil {
			m.other(s)
			return
		}
		pid(m.line, s)
	case "NTE", "MSG":
		m.text(s)
	case "FOB":
		m.doc.Detail.DeliveryTerms = append(m.doc.Detail.DeliveryTerms, fob(s))
	case "CTT":
		m.line, m.at = nil, 0
		m.lines, m.count = m.ctt(s)
	default:
		m.other(s)
	}
}

// other keeps a segment as it is, with the line, the package or the document.
func (m *x856) other(s *segment) {
	switch p := m.pack(); {
	case m.line != nil:
		m.line.detail().Other = other(m.line.detail().Other, s)
	case p != nil:
		p.detail().Other = other(p.detail().Other, s)
	default:
		m.doc.Detail.Other = other(m.doc.Detail.Other, s)
	}
}

// bsn reads BSN: 01 purpose, 02 number, 03 and 04 date and time, 05 structure.
func (m *x856) bsn(s *segment) {
	if m.begun {
		m.report(edi.SeverityWarning, "bsn-repeated", "35", s.Location(0, 0), "BSN stands more than once; the first counts")
		return
	}
	m.begun, m.bsnAt = true, s.Location(3, 1)
	m.functionX12(s, 1)
	m.numberX12(s, 2)
	if value, ok := m.dateX12(s, 3, 4); ok {
		m.doc.IssueDate = day(value)
		m.doc.Detail.Dates = append(m.doc.Detail.Dates, Date{Role: "issue", Qualifier: "BSN03", Value: value, Raw: strings.TrimSpace(s.get(3, 1) + " " + s.get(4, 1))})
	}
	m.structure(s.get(5, 1))
}

func (m *x856) openParty(s *segment) {
	p := m.pack()
	if p != nil && m.line == nil {
		m.other(s) // a package has no parties
		return
	}
	list := &m.doc.Detail.Parties
	if m.line != nil {
		list = &m.line.detail().Parties
	}
	*list = append(*list, m.n1(s))
	m.party, m.inN1 = &(*list)[len(*list)-1], true
}

func (m *x856) ref(s *segment) {
	r := m.refX12(s)
	switch l := m.line; {
	case l != nil && r.Role == "batch" && l.Batch == "":
		l.Batch = r.Number
	case l != nil && r.Role == "order" && l.OrderReference == "":
		l.OrderReference = r.Number
	case l != nil:
		l.detail().References = append(l.detail().References, r)
	case m.pack() != nil:
		p := m.pack().detail()
		p.References = append(p.References, r)
	default:
		m.doc.Detail.References = append(m.doc.Detail.References, r)
	}
}

func (m *x856) dtm(s *segment) {
	date, ok := m.dtmX12(s)
	if !ok {
		return
	}
	switch l := m.line; {
	case l != nil && date.Role == "expiry" && date.Day() != "" && (l.Detail == nil || l.Detail.Expiry == ""):
		l.detail().Expiry = date.Day()
	case l != nil:
		l.detail().Dates = append(l.detail().Dates, date)
	case m.pack() != nil:
		p := m.pack().detail()
		p.Dates = append(p.Dates, date)
	default:
		m.doc.Detail.Dates = append(m.doc.Detail.Dates, date)
		switch {
		case date.Role == "despatch" && m.despatch.DespatchDate == "":
			m.despatch.DespatchDate = date.Day()
		case date.Role == "estimated_delivery" && m.despatch.EstimatedDelivery == "":
			m.despatch.EstimatedDelivery = date.Day()
		}
	}
}

// prf reads PRF, the order: 01 number, 02 release, 04 date, 05 line, 06 contract.
func (m *x856) prf(s *segment) {
	number := trimBlanks(s.get(1, 1))
	if l := m.line; l != nil {
		l.OrderReference, l.OrderLine = number, trimBlanks(s.get(5, 1))
		return
	}
	if number == "" {
		m.other(s)
		return
	}
	r := Reference{Role: "order", Qualifier: "PRF01", Number: number, Line: trimBlanks(s.get(5, 1))}
	if value, ok := m.dateX12(s, 4, 0); ok {
		r.Dates = []Date{{Role: "reference", Qualifier: "PRF04", Value: value, Raw: s.get(4, 1)}}
	}
	if m.at > 0 {
		m.levels[m.at-1].order = number
	}
	d := m.doc
	d.Detail.References = append(d.Detail.References, r)
	if contract := trimBlanks(s.get(6, 1)); contract != "" {
		d.Detail.References = append(d.Detail.References, Reference{Role: "contract", Qualifier: "PRF06", Number: contract})
	}
	if d.OrderReference == "" {
		d.OrderReference = number
	}
}

// td1 reads TD1: 01 kind of package, 02 how many, 06 to 08 weight, 09 and 10 volume.
func (m *x856) td1(s *segment) {
	kind, number := s.get(1, 1), m.real(s, 2)
	weight, unit := m.real(s, 7), unitX12(s.get(8, 1))
	gross := s.get(6, 1) == "G" || s.get(6, 1) == ""
	if p := m.pack(); p != nil && m.line == nil {
		if p.Type == "" {
			p.Type = packageType(kind)
		}
		if number.Valid() && !p.Quantity.Valid() {
			p.Quantity = number
		}
		if gross && weight.Valid() && !p.GrossWeight.Valid() {
			p.GrossWeight, p.WeightUnit = weight, unit
		}
		if volume := m.real(s, 9); volume.Valid() {
			p.detail().Measures = append(p.detail().Measures, Measure{Purpose: "TD1", Dimension: "VOL", Value: volume, Unit: unitX12(s.get(10, 1))})
		}
		return
	}
	if m.line != nil {
		m.other(s)
		return
	}
	if number.Valid() {
		m.doc.Detail.Counts = append(m.doc.Detail.Counts, Quantity{Role: "packages", Qualifier: "TD102", Quantity: number, Unit: packageType(kind)})
	}
	if volume := m.real(s, 9); volume.Valid() {
		m.doc.Detail.Measures = append(m.doc.Detail.Measures, Measure{Purpose: "TD1", Dimension: "VOL", Value: volume, Unit: unitX12(s.get(10, 1))})
	}
	switch {
	case !weight.Valid():
	case gross && !m.despatch.GrossWeight.Valid():
		m.despatch.GrossWeight, m.despatch.WeightUnit = weight, unit
	default:
		m.doc.Detail.Measures = append(m.doc.Detail.Measures, Measure{Purpose: "TD1", Dimension: s.get(6, 1), Value: weight, Unit: unit})
	}
}

// packageType gives the code of 7065 for the first part of X12's 103 where one surely
// says the same, else the code as sent: CTN25 is a carton of corrugated fibre.
func packageType(code string) string {
	switch code[:min(3, len(code))] {
	case "CTN":
		return "CT"
	case "PLT":
		return "PX"
	case "BOX":
		return "BX"
	case "BAG":
		return "BG"
	case "CAS":
		return "CS"
	case "DRM":
		return "DR"
	case "ROL":
		return "RO"
	}
	return code
}

// td5 reads TD5, the carrier: 02 and 03 its code, 04 mode, 05 routing.
func (m *x856) td5(s *segment) {
	t := Transport{Stage: transportStage(s.get(1, 1)), Mode: transportMode(s.get(4, 1)), Carrier: Identifier{Value: trimBlanks(s.get(3, 1))}, Name: trimBlanks(s.get(5, 1)), Service: s.get(12, 1)}
	if t.Carrier.Value != "" {
		t.Carrier.Scheme, t.Carrier.Raw = carrierScheme(s.get(2, 1))
	}
	if m.line != nil || m.pack() != nil {
		m.other(s)
		return
	}
	m.despatch.Transport = append(m.despatch.Transport, t)
}

// transportMode gives the code of 8067 for one of X12's 91, else the code as sent.
func transportMode(code string) string {
	switch code {
	case "S", "O":
		return "10" // sea
	case "R":
		return "20" // rail
	case "J", "M", "L", "LT":
		return "30" // road
	case "A", "AE":
		return "40" // air
	}
	return code
}

// td3 reads TD3, equipment: 02 and 03 its number, 09 the seal.
func (m *x856) td3(s *segment) {
	vehicle := trimBlanks(s.get(2, 1)) + trimBlanks(s.get(3, 1))
	list := m.despatch.Transport
	if vehicle == "" || len(list) == 0 || list[len(list)-1].Vehicle != "" || s.get(9, 1) != "" {
		m.doc.Detail.Equipment = append(m.doc.Detail.Equipment, m.equipment(s))
		return
	}
	list[len(list)-1].Vehicle = vehicle
}

func (m *x856) text(s *segment) {
	switch {
	case m.line != nil:
		m.line.detail().Texts = append(m.line.detail().Texts, m.noteX12(s))
	case m.pack() != nil:
		p := m.pack().detail()
		p.Texts = append(p.Texts, m.noteX12(s))
	default:
		m.doc.Detail.Texts = append(m.doc.Detail.Texts, m.noteX12(s))
	}
}

func (m *x856) finish() {
	d := m.doc
	if d.IssueDate == "" && m.begun {
		m.warn("issue-date-missing", m.bsnAt, "BSN03 says no document date")
	}
	m.settle()
	d.LineCount, d.PackageCount = len(d.Lines), len(d.Packages)
	d.Issuer = m.issuer("supplier", "ship_from")
	d.Supplier = m.short("supplier", "ship_from")
	d.Buyer = m.short("buyer", "invoicee")
	// QUIRK: CTT01 counts levels; many guides have it count items.
	if m.lines >= 0 && m.lines != len(m.levels) && m.lines != len(d.Lines) {
		m.warn("line-count", m.count, "CTT01 says %d, there are %d levels (HL) and %d lines", m.lines, len(m.levels), len(d.Lines))
	}
	m.check()
}
