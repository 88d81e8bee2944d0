package documents

import "github.com/edigw/edigw/edi"

// checkPackages looks for lines and packages that are beside each other where they
// should be in each other. Where lines stand in no package at all nothing is said:
// many notices tell of goods alone.
func (m *mapping) checkPackages() {
	d := m.doc
	if len(d.Packages) == 0 || len(d.Lines) == 0 {
		return
	}
	holds := make([]bool, len(d.Packages)+1) // lines, itself or in what stands in it
	direct := make([]bool, len(d.Packages)+1)
	beneath := make([]bool, len(d.Packages)+1) // another package stands in it
	ofItem := map[int]bool{}                   // lines whose packages stand beneath them
	hold := func(at int) {
		direct[at] = true
		for ; at > 0 && !holds[at]; at = d.Packages[at-1].Parent {
			holds[at] = true
		}
	}
	packed := false
	for i := range d.Lines {
		if at := d.Lines[i].Package; at > 0 {
			packed = true
			hold(at)
		}
	}
	for i := range d.Packages {
		p := &d.Packages[i]
		beneath[p.Parent] = beneath[p.Parent] || p.HierarchyID != ""
		if p.Detail != nil && p.Detail.Line > 0 {
			packed = true
			ofItem[p.Detail.Line] = true
			hold(i + 1)
		}
	}
	if !packed {
		return
	}
	for i := range d.Lines {
		l := &d.Lines[i]
		if l.Package == 0 && l.SubOf == "" && !ofItem[i+1] && (l.Quantity.Sign() != 0 || !l.Quantity.Valid()) {
			m.note("line-unpacked", m.inLine(i, nil), "line %s stands in no package", m.lineName(i))
		}
	}
	for i := range d.Packages {
		p := &d.Packages[i]
		// What is made of a further PAC or SSCC holds what its CPS holds.
		if p.HierarchyID == "" || holds[i+1] || beneath[i+1] || m.within(direct, p.Parent) {
			continue
		}
		m.note("package-empty", m.packageAt(p), "nothing stands in package %s", shorten(p.HierarchyID))
	}
}

// within reports whether a package, or one that it stands in, holds lines itself.
func (m *mapping) within(direct []bool, at int) bool {
	for range m.doc.Packages { // a tree that is broken may have a loop
		if at == 0 || direct[at] {
			return at > 0
		}
		at = m.doc.Packages[at-1].Parent
	}
	return false
}

// packageAt is where CPS or HL opens a package.
func (m *mapping) packageAt(p *Package) edi.Location {
	at, ok := m.find(0, -1, []spot{{"CPS", p.HierarchyID, 1, 1}, {"HL", p.HierarchyID, 1, 1}})
	if !ok {
		return m.head(0)
	}
	return at
}
