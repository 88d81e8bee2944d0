package documents

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// pack is the package that PAC, PCI, GIN, MEA and QTY speak of now.
func (m *desadv) pack() *Package { return &m.doc.Packages[m.current-1] }

// openCPS reads CPS: one node of the packaging hierarchy. What stands in what is known
// when all are read; see settle.
func (m *desadv) openCPS(s *segment) {
	m.closeLine()
	m.place, m.packed = placePackage, false
	m.doc.Packages = append(m.doc.Packages, Package{HierarchyID: trimBlanks(s.get(1, 1)), HierarchyParent: trimBlanks(s.get(2, 1)), Level: s.get(3, 1)})
	m.openedPackage()
	m.cps = len(m.doc.Packages)
	m.current = m.cps
	m.nodes = append(m.nodes, m.cps)
}

// settle puts the packages of CPS into each other.
func (m *desadv) settle() {
	members := make([]numbered, len(m.nodes))
	for i, at := range m.nodes {
		p := &m.doc.Packages[at-1]
		members[i] = numbered{p.HierarchyID, p.HierarchyParent}
	}
	odd := false
	all := kinOf(members)
	for i, k := range all {
		if k.parent > 0 {
			m.doc.Packages[m.nodes[i]-1].Parent = m.nodes[k.parent-1]
		}
		odd = odd || k.again || k.tie > tieBefore
	}
	if odd {
		m.tellKin(all)
	}
}

// tellKin finds the CPS again of whose kin there is something to say.
func (m *desadv) tellKin(all []kin) {
	at := 0
	for i := range m.body.Segments {
		s := &m.body.Segments[i]
		if !s.Is("CPS") {
			continue
		}
		k, p := all[at], &m.doc.Packages[m.nodes[at]-1]
		switch at++; k.tie {
		case tieBehind:
			m.note("package-order", s.Location(2, 1), "package %s stands behind this one, which it holds", shorten(p.HierarchyParent))
		case tieMissing:
			m.warn("package-parent", s.Location(2, 1), "there is no package %s that could hold this one", shorten(p.HierarchyParent))
		case tieLoop:
			m.warn("package-parent", s.Location(2, 1), "package %s is this one, or stands in it", shorten(p.HierarchyParent))
		}
		if k.again {
			m.warn("package-repeated", s.Location(1, 1), "package %s stands more than once", shorten(p.HierarchyID))
		}
	}
}

// inside adds a package inside or beside the CPS's own.
func (m *desadv) inside(parent int) {
	m.doc.Packages = append(m.doc.Packages, Package{Parent: parent})
	m.openedPackage()
	m.current = len(m.doc.Packages)
}

// pac reads PAC. The first describes the CPS's own package, further ones are
// packages inside it.
func (m *desadv) pac(s *segment) {
	if m.line != nil { // packaging of a line: no unit of its own
		m.other(s)
		return
	}
	m.place = placePackage
	switch {
	case m.cps == 0: // QUIRK: PAC without CPS
		m.inside(0)
		m.cps = m.current
	case m.packed:
		m.inside(m.cps)
	default:
		m.current = m.cps
	}
	m.packed = true
	p := m.pack()
	p.Quantity = m.number(s, 1, 1)
	p.Type = s.get(3, 1)
	if level := s.get(2, 1); level != "" && p.Level == "" {
		p.Level = level
	}
	if related := s.get(2, 2); related != "" {
		p.detail().Related = related
	}
	if back := s.get(5, 1); back != "" {
		p.detail().Return = back
	}
	if text := s.get(3, 4); text != "" {
		p.detail().Text = text
		m.markedSSCC(p, s, 3, 4)
	}
}

// pci reads PCI: marks of a package, or of a batch of a line.
func (m *desadv) pci(s *segment) {
	if m.line != nil {
		l := m.line.detail()
		l.Batches = append(l.Batches, Batch{})
		m.batch = &l.Batches[len(l.Batches)-1]
		if marks := values(s, 2, 1, 10); len(marks) > 0 {
			l.Identifiers = append(l.Identifiers, Identifier{Value: strings.Join(marks, " "), Scheme: s.get(1, 1)})
		}
		return
	}
	if m.current == 0 {
		m.other(s)
		return
	}
	p := m.pack()
	if marking := s.get(1, 1); marking != "" {
		p.detail().Marking = marking
	}
	marks := values(s, 2, 1, 10)
	if len(marks) == 0 {
		return
	}
	if m.marks == nil {
		m.marks = map[int][]string{}
	}
	m.marks[m.current] = append(m.marks[m.current], marks...)
	m.markedSSCC(p, s, 2, 1)
}

// setMarks gives packages the marks of all their PCI, put together once: there may be
// as many PCI as the message has room for.
func (m *desadv) setMarks() {
	for at, marks := range m.marks {
		m.doc.Packages[at-1].Marks = strings.Join(marks, " ")
	}
}

// markedSSCC takes an SSCC that is written where marks or types are.
// QUIRK: some write it into PCI or PAC instead of GIN; only one whose check digit
// is right is taken for an SSCC there.
func (m *desadv) markedSSCC(p *Package, s *segment, e, c int) {
	sscc := trimSSCC(trimBlanks(s.get(e, c)))
	if p.SSCC == "" && validSSCC(sscc) {
		m.unit(sscc, "", s.Location(e, c))
	}
}

// gin reads GIN: SSCCs (BJ), batches and serials of a line, others as they are.
// A component pair is a range.
func (m *desadv) gin(s *segment) {
	kind := s.get(1, 1)
	for e := 2; e <= min(s.elements(), 6); e++ {
		from, to := trimBlanks(s.get(e, 1)), trimBlanks(s.get(e, 2))
		if from == "" {
			continue
		}
		switch sscc := trimSSCC(from); {
		case m.line != nil:
			m.lineIdentity(kind, from, to)
		case m.current > 0 && len(sscc) <= maxIndexed && (kind == "BJ" || kind == "ML" && validSSCC(sscc)):
			m.unit(sscc, trimSSCC(to), s.Location(e, 1))
		case m.current > 0:
			p := m.pack().detail()
			p.Identifiers = append(p.Identifiers, Identifier{Value: from, Scheme: kind})
			if to != "" {
				p.Identifiers = append(p.Identifiers, Identifier{Value: to, Scheme: kind, Raw: "to"})
			}
		default:
			m.other(s)
			return
		}
	}
}

// lineIdentity puts a batch or serial number with the line, or with its batch.
func (m *desadv) lineIdentity(kind, from, to string) {
	l := m.line
	switch {
	case kind == "BX" && m.batch != nil && m.batch.Number == "":
		m.batch.Number = from
	case kind == "BX" && m.batch == nil && l.Batch == "":
		l.Batch = from
	case kind == "BX":
		l.detail().Batches = append(l.detail().Batches, Batch{Number: from})
		m.batch = &l.Detail.Batches[len(l.Detail.Batches)-1]
	case (kind == "BN" || kind == "SN") && m.batch != nil && to == "":
		m.batch.Serials = append(m.batch.Serials, from)
	case (kind == "BN" || kind == "SN") && to == "":
		l.detail().Serials = append(l.detail().Serials, from)
	default:
		l.detail().Identifiers = append(l.detail().Identifiers, Identifier{Value: from, Scheme: kind})
		if to != "" {
			l.Detail.Identifiers = append(l.Detail.Identifiers, Identifier{Value: to, Scheme: kind, Raw: "to"})
		}
	}
}

// unit gives the current package an SSCC. Where one PAC names several, each
// becomes a package of its own inside it.
func (m *desadv) unit(sscc, to string, at edi.Location) {
	if to != "" {
		if all := m.span(sscc, to); all != nil {
			for _, one := range all {
				m.unit(one, "", at)
			}
			return
		}
	}
	valid := validSSCC(sscc)
	m.places.units = append(m.places.units, Unit{sscc, at})
	if p := m.pack(); p.SSCC == "" && m.children[m.current] == 0 {
		p.SSCC, p.SSCCValid = sscc, valid
		if to != "" {
			p.detail().SSCCTo = to
		}
		return
	}
	holder := m.current
	if m.children == nil {
		m.children = map[int]int{}
	}
	if m.children[holder] == 0 { // the first SSCC moves into a package of its own
		m.inside(holder)
		p, child := &m.doc.Packages[holder-1], m.pack()
		child.Type, child.SSCC, child.SSCCValid = p.Type, p.SSCC, p.SSCCValid
		if p.Detail != nil && p.Detail.SSCCTo != "" {
			child.detail().SSCCTo, p.Detail.SSCCTo = p.Detail.SSCCTo, ""
		}
		p.SSCC, p.SSCCValid = "", false
		m.children[holder] = 1
	}
	m.children[holder]++
	m.inside(holder)
	child := m.pack()
	child.Type, child.SSCC, child.SSCCValid = m.doc.Packages[holder-1].Type, sscc, valid
	if to != "" {
		child.detail().SSCCTo = to
	}
	m.current = holder
}
