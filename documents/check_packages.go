package documents

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
			m.noteAt("line-unpacked", m.inLine(i, nil), "line %s stands in no package", m.lineName(i))
		}
	}
	var inLoaded []bool // it stands in one that holds lines itself, or is one
	for i := range d.Packages {
		p := &d.Packages[i]
		if p.HierarchyID == "" || holds[i+1] || beneath[i+1] {
			continue
		}
		if inLoaded == nil {
			inLoaded = inherit(d.Packages, direct)
		}
		if !inLoaded[i+1] { // what is made of a further PAC or SSCC holds what its CPS holds
			m.noteAt("package-empty", m.packageAt(i), "nothing stands in package %s", shorten(p.HierarchyID))
		}
	}
}

// inherit gives the packages of a set, by position from 1, with all that stand in them.
// It takes a step for each package, however deep they stand.
func inherit(packages []Package, set []bool) []bool {
	parents := make([]int, len(packages))
	for i := range packages {
		parents[i] = packages[i].Parent
	}
	all := make([]bool, len(packages)+1)
	rootsFirst(parents, func(i int) { all[i+1] = set[i+1] || all[parents[i]] })
	return all
}
