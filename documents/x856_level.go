package documents

import (
	"strings"

	"github.com/edigw/edigw/edi"
)

// level is one HL.
type level struct {
	kind   string // HL03
	parent int    // in levels, from 1; 0 for a root
	pack   int    // the package that it is, from 1; 0 for none
	line   int    // the line that it is, from 1; 0 for none
	order  string // its PRF01

	nearest [len(levelKinds) + 1]int // the nearest level of each kind among it and those it stands beneath, from 1, of others last; 0 for none
}

// levelKinds are the kinds that stand in structures.
const levelKinds = "SOTPI"

// Structures of BSN05: the order in which levels stand beneath each other.
var structures = map[string]string{
	"0001": "SOTPI", "0002": "SOITP", "0003": "STPOI", "0004": "SOI", "0005": "SOI",
}

// structure ranks the levels as BSN05 orders them; as the message does where that is
// not known.
func (m *x856) structure(code string) {
	order, ok := structures[code]
	if !ok {
		if order = m.usual; order == "" {
			order = structures["0001"]
		}
	}
	m.rank = [256]int{}
	for i := range len(order) {
		m.rank[order[i]] = i + 1
	}
}

// structureOf tells the structure by the order in which kinds of levels follow each
// other: packages before any order hold orders, and packages that follow items alone
// are those items'.
func structureOf(kinds []string) string {
	pack, order, item, direct := false, false, false, false
	for i, kind := range kinds {
		switch kind {
		case "T", "P":
			direct = direct || i > 0 && (kinds[i-1] == "S" || kinds[i-1] == "O")
			pack = true
		case "O":
			if pack && !order {
				return structures["0003"]
			}
			order = true
		case "I":
			item = true
		}
	}
	if pack && item && !direct {
		return structures["0002"]
	}
	return structures["0001"]
}

// foresee reads how the levels number themselves, before they are read: one may name a
// parent that stands behind it.
func (m *x856) foresee(b *edi.Body) {
	n := countSegments(b, "HL")
	if n == 0 {
		return
	}
	m.levels = make([]level, 0, n)
	members, kinds := make([]numbered, 0, n), make([]string, 0, n)
	for i := range b.Segments {
		if s := &b.Segments[i]; s.Is("HL") {
			members = append(members, numbered{trimBlanks(s.Get(1, 1)), trimBlanks(s.Get(2, 1))})
			kinds = append(kinds, s.Get(3, 1))
		}
	}
	m.kin, m.usual = kinOf(members), structureOf(kinds)
}

// rankOf is the rank of a level by its code; 0 of one that has none.
func (m *x856) rankOf(kind string) int {
	if len(kind) != 1 {
		return 0
	}
	return m.rank[kind[0]]
}

// openLevel reads HL: 01 its number, 02 that of its parent, 03 what it is.
func (m *x856) openLevel(s *segment) {
	id, parentID := trimBlanks(s.get(1, 1)), trimBlanks(s.get(2, 1))
	l := level{kind: s.get(3, 1)}
	of := m.kin[len(m.levels)]
	switch of.tie {
	case tieBefore:
		l.parent = of.parent
	case tieBehind:
		l.parent = of.parent
		m.note("level-order", s.Location(2, 1), "level %s stands behind this one, which it holds", shorten(parentID))
	case tieMissing:
		l.parent = m.above(l.kind)
		m.warn("level-parent", s.Location(2, 1), "there is no level %s; this one is put where its kind %s belongs", shorten(parentID), shorten(l.kind))
	case tieLoop:
		l.parent = m.above(l.kind)
		m.warn("level-parent", s.Location(2, 1), "level %s is this one, or stands beneath it; it is put where its kind %s belongs", shorten(parentID), shorten(l.kind))
	case tieNone:
		if len(m.levels) > 0 && m.rankOf(l.kind) != 1 {
			// QUIRK: HL02 is left out by senders whose order of levels says it all.
			l.parent = m.above(l.kind)
			m.warn("level-parent", s.Location(2, 1), "HL02 is missing; the level is put where its kind %s belongs", shorten(l.kind))
		}
	}
	switch {
	case l.kind == "":
		m.warn("level-kind", s.Location(3, 1), "HL03 does not say what the level is")
	case kindAt(l.kind) == len(levelKinds):
		m.note("level-kind", s.Location(3, 1), "a level %s is none that we know; it holds what stands beneath it", shorten(l.kind))
	}
	if l.parent > 0 && l.parent <= len(m.levels) {
		l.nearest = m.levels[l.parent-1].nearest
	}
	l.nearest[kindAt(l.kind)] = len(m.levels) + 1
	m.line = nil
	m.levels = append(m.levels, l)
	m.at = len(m.levels)
	switch l.kind {
	case "T", "P":
		m.openPackage(id, parentID)
	case "I":
		m.openItem()
	}
	if of.again {
		m.warn("level-repeated", s.Location(1, 1), "level %s stands more than once", shorten(id))
	}
}

// above finds the level under which one of a kind belongs where HL02 does not say so:
// the last one, or the nearest above it, that ranks before the kind. A level knows the
// nearest of each kind, so no chain of parents is climbed, which may be as long as the
// notice.
func (m *x856) above(kind string) int {
	rank, last := m.rankOf(kind), len(m.levels)
	if rank == 0 || last == 0 {
		return last
	}
	nearest := &m.levels[last-1].nearest
	at := nearest[len(levelKinds)] // without a rank
	for i := range len(levelKinds) {
		if m.rank[levelKinds[i]] < rank { // parents stand before their children
			at = max(at, nearest[i])
		}
	}
	return at
}

// kindAt is the place of a kind in levelKinds, behind its last for others.
func kindAt(kind string) int {
	if at := strings.Index(levelKinds, kind); at >= 0 && len(kind) == 1 {
		return at
	}
	return len(levelKinds)
}

// pack is the package of the level that is read, nil where it is none itself.
func (m *x856) pack() *Package {
	if m.at == 0 || m.levels[m.at-1].pack == 0 {
		return nil
	}
	return &m.doc.Packages[m.levels[m.at-1].pack-1]
}

func (m *x856) openPackage(id, parent string) {
	l := &m.levels[m.at-1]
	p := Package{HierarchyID: id, HierarchyParent: parent, Level: "1"} // 7075: inner
	if l.kind == "T" {
		p.Level = "3" // outer
	}
	p.Detail = &PackageDetail{RawLevel: l.kind}
	m.doc.Packages = append(m.doc.Packages, p)
	m.openedPackage()
	l.pack = len(m.doc.Packages)
}

func (m *x856) openItem() {
	m.doc.Lines = append(m.doc.Lines, Line{})
	m.openedLine()
	m.levels[m.at-1].line = len(m.doc.Lines)
	m.line = &m.doc.Lines[len(m.doc.Lines)-1]
}

// inherited is what a level has of those that it stands in.
type inherited struct {
	pack, line int // the nearest, from 1; a line that holds the package is none
	order      string
}

// settle puts packages and lines where their levels stand, once all are read.
func (m *x856) settle() {
	parents := make([]int, len(m.levels))
	for i := range m.levels {
		parents[i] = m.levels[i].parent
	}
	cutCircles(parents) // a level that was put by its kind may have closed one
	within := make([]inherited, len(m.levels))
	rootsFirst(parents, func(i int) {
		l, in := &m.levels[i], inherited{}
		if parents[i] > 0 {
			in = within[parents[i]-1]
		}
		if l.order != "" {
			in.order = l.order
		}
		switch {
		case l.pack > 0:
			p := &m.doc.Packages[l.pack-1]
			p.Parent, p.Detail.Line = in.pack, in.line
			in.pack, in.line = l.pack, 0
		case l.line > 0:
			line := &m.doc.Lines[l.line-1]
			line.Package = in.pack
			if line.OrderReference == "" {
				line.OrderReference = in.order
			}
			if in.line > 0 { // an item of an item: a kit's part
				line.SubOf = m.doc.Lines[in.line-1].No
			}
			in.line = l.line
		}
		within[i] = in
	})
	m.unpack()
}

// unpack puts lines into the package that stands beneath them, where it is a single one
// and they stand in none.
func (m *x856) unpack() {
	beneath := make(map[int]int)
	for i := range m.doc.Packages {
		if line := m.doc.Packages[i].Detail.Line; line > 0 {
			if _, several := beneath[line]; several {
				beneath[line] = 0
				continue
			}
			beneath[line] = i + 1
		}
	}
	for line, at := range beneath {
		if l := &m.doc.Lines[line-1]; l.Package == 0 {
			l.Package = at
		}
	}
}

// man reads MAN, marks: an SSCC (GM with its application identifier, AA and AI), and
// numbers of carriers and senders. A second pair may stand beside the first.
func (m *x856) man(s *segment) {
	for _, e := range [...]int{1, 4} {
		kind, from, to := s.get(e, 1), trimBlanks(s.get(e+1, 1)), trimBlanks(s.get(e+2, 1))
		if from == "" {
			continue
		}
		p := m.pack()
		switch sscc := trimSSCC(from); {
		case m.line != nil:
			m.line.detail().Identifiers = append(m.line.detail().Identifiers, Identifier{Value: from, Scheme: kind})
		case p == nil:
			m.other(s)
			return
		case (kind == "GM" || kind == "AA" || kind == "AI") && p.SSCC == "" && len(sscc) <= maxIndexed:
			m.unit(p, sscc, s, e+1)
			if to != "" {
				p.detail().SSCCTo = trimSSCC(to)
			}
		default:
			p.detail().Identifiers = append(p.detail().Identifiers, Identifier{Value: from, Scheme: kind})
		}
	}
}

// unit gives a package its SSCC.
func (m *x856) unit(p *Package, sscc string, s *segment, e int) {
	p.SSCC, p.SSCCValid = sscc, validSSCC(sscc)
	m.places.units = append(m.places.units, Unit{sscc, s.Location(e, 1)})
}

// pal reads PAL, a pallet: 01 its type, 03 pallets, 11 and 12 weight.
func (m *x856) pal(s *segment) {
	p := m.pack()
	if p == nil {
		m.other(s)
		return
	}
	if p.Type == "" {
		p.Type = "PX"
	}
	if weight := m.real(s, 11); weight.Valid() && !p.GrossWeight.Valid() {
		p.GrossWeight, p.WeightUnit = weight, unitX12(s.get(12, 1))
	}
	p.detail().Texts = append(p.detail().Texts, Text{Subject: "PAL01", Code: s.get(1, 1)})
}

// pkg reads PKG, packaging in words or by code.
func (m *x856) pkg(s *segment) {
	t := Text{Subject: strings.TrimSpace(s.get(1, 1) + " " + s.get(2, 1)), Code: s.get(4, 1), Text: trimBlanks(s.get(5, 1))}
	p := m.pack()
	if m.line != nil || p == nil {
		m.other(s)
		return
	}
	p.detail().Texts = append(p.detail().Texts, t)
}

// po4 reads PO4 of a package: 01 packs, 06 and 07 gross weight of one.
func (m *x856) po4(s *segment) {
	p := m.pack()
	if m.line != nil || p == nil {
		m.other(s)
		return
	}
	if n := m.real(s, 1); n.Valid() {
		p.detail().Quantities = append(p.detail().Quantities, Quantity{Role: "per_package", Qualifier: "PO401", Quantity: n})
	}
	if weight := m.real(s, 6); weight.Valid() && !p.GrossWeight.Valid() {
		p.GrossWeight, p.WeightUnit = weight, unitX12(s.get(7, 1))
	}
}

func (m *x856) mea856(s *segment) {
	mea := m.meaX12(s)
	switch p := m.pack(); {
	case m.line != nil:
		m.line.detail().Measures = append(m.line.detail().Measures, mea)
	case p != nil && mea.Dimension == "G" && mea.Value.Valid() && !p.GrossWeight.Valid():
		p.GrossWeight, p.WeightUnit = mea.Value, mea.Unit
	case p != nil:
		p.detail().Measures = append(p.detail().Measures, mea)
	case mea.Dimension == "G" && mea.Value.Valid() && !m.despatch.GrossWeight.Valid():
		m.despatch.GrossWeight, m.despatch.WeightUnit = mea.Value, mea.Unit
	default:
		m.doc.Detail.Measures = append(m.doc.Detail.Measures, mea)
	}
}

// lin856 reads LIN: 01 number, from 02 on item numbers in pairs.
func (m *x856) lin856(s *segment) {
	if m.line == nil {
		m.other(s)
		return
	}
	m.line.No = trimBlanks(s.get(1, 1))
	itemsX12(m.line, s, 2)
}

// sn1 reads SN1: 01 number, 02 and 03 quantity shipped and its unit, 05 ordered.
func (m *x856) sn1(s *segment) {
	shipped, unit := m.real(s, 2), s.get(3, 1)
	l := m.line
	if l == nil {
		if p := m.pack(); p != nil && shipped.Valid() { // of the package, where packages stand beneath items
			p.detail().Quantities = append(p.detail().Quantities, Quantity{Role: "despatched", Qualifier: "SN102", Quantity: shipped, Unit: unitX12(unit)})
			return
		}
		m.other(s)
		return
	}
	if l.No == "" {
		l.No = trimBlanks(s.get(1, 1))
	}
	if l.Unit = unitX12(unit); l.Unit != unit {
		l.detail().RawUnit = unit
	}
	l.Quantity, l.Ordered = shipped, m.real(s, 5)
	if soFar := m.real(s, 4); soFar.Valid() {
		l.detail().Quantities = append(l.detail().Quantities, Quantity{Role: "despatched_to_date", Qualifier: "SN104", Quantity: soFar, Unit: l.Unit})
	}
}
