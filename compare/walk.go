package compare

import "strings"

// nodes compares one header, line or summary of both sides.
func (d *differ) nodes(a, b []node, at place) {
	for _, p := range alignNodes(a, b) {
		switch {
		case p.a < 0:
			d.whole(Added, &b[p.b], at)
		case p.b < 0:
			d.whole(Removed, &a[p.a], at)
		default:
			d.group(&a[p.a], &b[p.b], at)
		}
	}
}

// group compares two segments of one key and the members of their groups.
func (d *differ) group(a, b *node, at place) {
	at = d.within(b, at)
	d.segment(a.seg, b.seg, at)
	at.numbered = false
	if len(a.members)+len(b.members) > 0 {
		d.nodes(d.o.nodes(a.members), d.o.nodes(b.members), at)
	}
}

// within is where the segments of a group stand.
func (d *differ) within(n *node, at place) place {
	if at.group == "" && d.d.members[n.seg.Tag] != nil {
		at.group = d.d.group(n.seg)
	}
	if n.seg.Tag == d.d.party {
		role := n.seg.value(1, 1)
		at.payee = d.d.payee[role] || !d.payee && d.d.seller[role]
	}
	at.inAllow = at.inAllow || n.seg.Tag == "ALC" || n.seg.Tag == "SAC"
	return at
}

// blocks compares lines, or packages and levels.
func (d *differ) blocks(a, b []block, at place) {
	for _, p := range pairBlocks(a, b) {
		switch {
		case p.a < 0:
			d.wholeBlock(Added, &b[p.b], at)
		case p.b < 0:
			d.wholeBlock(Removed, &a[p.a], at)
		default:
			if p.moved {
				d.list(d.blockChange(Moved, &b[p.b], at))
				d.t.add(d.blockFacet(&b[p.b]), Moved)
			}
			in := d.inside(&b[p.b], at)
			in.numbered = true
			d.blockNodes(a[p.a].nodes, b[p.b].nodes, in)
			in.numbered = false
			d.blocks(a[p.a].blocks, b[p.b].blocks, in)
		}
	}
}

// blockNodes pairs the opening segments with each other, whatever they hold.
func (d *differ) blockNodes(a, b []node, at place) {
	d.group(&a[0], &b[0], at)
	at.numbered = false
	d.nodes(a[1:], b[1:], at)
}

// inside is where the segments of a block stand.
func (d *differ) inside(b *block, at place) place {
	if d.d.level[b.tag()] == 1 {
		at.pack = b.number
	} else {
		at.line, at.inLine = b.number, true
	}
	return at
}

func (d *differ) blockFacet(b *block) Facet {
	if d.d.level[b.tag()] == 1 {
		return Package
	}
	return Line
}

// whole is a segment, with the members of its group, that one side lacks.
func (d *differ) whole(kind Kind, n *node, at place) {
	at = d.within(n, at)
	c := d.change(kind, n.seg, at)
	c.Facet = d.wholeFacet(n, at)
	if c.Segments = n.size(); c.Segments > 1 {
		c.Content = d.content(nil, n)
	}
	d.put(kind, &c, n.seg)
	d.t.addSegment(n.seg, at, c.Facet, kind)
	d.grave(c.Facet)
	d.count(kind, n)
	d.list(c)
}

// wholeFacet is the gravest facet of a group.
func (d *differ) wholeFacet(n *node, at place) Facet {
	f := d.segmentFacet(n.seg, at)
	for i := range n.members {
		if g := d.segmentFacet(&n.members[i], at); sensitive[g] && !sensitive[f] {
			f = g
		}
	}
	return f
}

// segmentFacet is what a lone segment touches: the gravest of its values, else
// what the segment as a whole is.
func (d *differ) segmentFacet(s *Segment, at place) Facet {
	f := d.d.facet(s, at, 0, 0)
	if f == Control || sensitive[f] {
		return f
	}
	for i := range s.Values {
		v := &s.Values[i]
		if namesAccount(v.Text) {
			return Account
		}
		if g := d.d.facet(s, at, int(v.Element), int(v.Component)); sensitive[g] {
			return g
		}
	}
	return f
}

// wholeBlock is a line, package or level that one side lacks.
func (d *differ) wholeBlock(kind Kind, b *block, at place) {
	c := d.blockChange(kind, b, at)
	d.put(kind, &c, b.nodes[0].seg)
	d.t.add(c.Facet, kind)
	d.blockSegments(kind, b, d.inside(b, at))
	d.list(c)
}

// blockSegments counts and judges all that stands in a lone block.
func (d *differ) blockSegments(kind Kind, b *block, at place) {
	for i := range b.nodes {
		n := &b.nodes[i]
		d.grave(d.wholeFacet(n, d.within(n, at)))
		d.count(kind, n)
	}
	for i := range b.blocks {
		d.blockSegments(kind, &b.blocks[i], d.inside(&b.blocks[i], at))
	}
}

func (d *differ) blockChange(kind Kind, b *block, at place) Change {
	c := d.change(kind, b.nodes[0].seg, d.inside(b, at))
	c.Facet, c.Item, c.Segments = d.blockFacet(b), b.item, b.size()
	if kind != Moved {
		c.Content = d.blockContent(nil, b)
	}
	return c
}

func (d *differ) blockContent(to []SegmentText, b *block) []SegmentText {
	for i := range b.nodes {
		to = d.content(to, &b.nodes[i])
	}
	for i := range b.blocks {
		to = d.blockContent(to, &b.blocks[i])
	}
	return to
}

func (d *differ) content(to []SegmentText, n *node) []SegmentText {
	if d.listed >= maxChanges || len(to) >= maxContent {
		return to
	}
	to = append(to, d.text(n.seg))
	for i := range n.members {
		if len(to) == maxContent {
			break
		}
		to = append(to, d.text(&n.members[i]))
	}
	return to
}

func (d *differ) count(kind Kind, n *node) {
	if kind == Added {
		d.r.Counts.SegmentsAdded += n.size()
	} else {
		d.r.Counts.SegmentsRemoved += n.size()
	}
	d.row(kind, n.seg)
	for i := range n.members {
		d.row(kind, &n.members[i])
	}
}

// grave makes the result critical where an invoice's f differs.
func (d *differ) grave(f Facet) {
	d.r.critical = d.r.critical || d.invoice && sensitive[f]
}

// segment compares two segments value by value.
func (d *differ) segment(a, b *Segment, at place) {
	var touched []Facet
	x, y := a.Values, b.Values
	for len(x) > 0 || len(y) > 0 {
		var v, w Value
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].before(&y[0]):
			v, x = x[0], x[1:]
			w = Value{v.Element, v.Repetition, v.Component, ""}
		case len(x) == 0 || y[0].before(&x[0]):
			w, y = y[0], y[1:]
			v = Value{w.Element, w.Repetition, w.Component, ""}
		default:
			v, w, x, y = x[0], y[0], x[1:], y[1:]
		}
		if v.Text == w.Text || writes(b.Tag, v.Element) || d.samePoint(b, &v, &w) {
			continue
		}
		touched = append(touched, d.element(a, b, v, w, at))
	}
	if touched == nil {
		d.r.Counts.SegmentsEqual++
		d.m.Rows = append(d.m.Rows, Row{A: a, B: b})
		return
	}
	d.r.Counts.SegmentsChanged++
	d.m.Rows = append(d.m.Rows, Row{Kind: Changed, A: a, B: b})
	d.t.addChanged(a, b, at, touched)
}

// samePoint forgives another decimal mark: ISO 9735-1 §10.1 allows comma and
// point, whatever UNA says.
func (d *differ) samePoint(s *Segment, v, w *Value) bool {
	return d.d.numeric(s.Tag, int(v.Element), int(v.Component)) && point(v.Text) == point(w.Text)
}

func point(s string) string { return strings.Replace(s, ",", ".", 1) }

// element lists one changed element and says what it touches.
func (d *differ) element(a, b *Segment, v, w Value, at place) Facet {
	e, c := int(v.Element), int(v.Component)
	f := d.d.facet(b, at, e, c)
	if !sensitive[f] && f != Control && (namesAccount(v.Text) || namesAccount(w.Text)) {
		f = Account
	}
	same := sensitive[f] && sameNumber(v.Text, w.Text)
	if !same {
		d.grave(f)
	}
	if d.listed >= maxChanges {
		d.r.Counts.ChangesLeftOut++
	} else {
		ch := d.change(Changed, b, at)
		ch.Facet, ch.SameValue = f, same
		ch.Element, ch.Component = e, c
		if v.Repetition > 1 {
			ch.Repetition = int(v.Repetition)
		}
		ch.ElementName = d.names.element(b.Tag, e, c)
		ch.Before, ch.After = v.Text, w.Text
		ch.BeforeText, ch.AfterText = d.names.code(b.Tag, e, c, v.Text), d.names.code(b.Tag, e, c, w.Text)
		before, after := d.text(a), d.text(b)
		ch.BeforeSegment, ch.AfterSegment = &before, &after
		d.list(ch)
	}
	if same {
		return sameWorth
	}
	return f
}

// namesAccount reports whether a text of any kind names a bank account.
func namesAccount(s string) bool {
	if len(s) < 4 {
		return false
	}
	for i := 0; i+4 <= len(s); i++ {
		if s[i]|0x20 == 'i' && strings.EqualFold(s[i:i+4], "iban") {
			return true
		}
	}
	return iban(s)
}

// change fills what every change of s tells.
func (d *differ) change(kind Kind, s *Segment, at place) Change {
	c := Change{Kind: kind, Tag: s.Tag, Package: at.pack, Line: at.line, Group: at.group}
	if d.listed < maxChanges {
		c.Name = d.names.segment(s.Tag)
		c.Qualifier = d.names.code(s.Tag, 1, 1, s.value(1, 1))
	}
	return c
}

// put sets the segment that was added or removed.
func (d *differ) put(kind Kind, c *Change, s *Segment) {
	if d.listed >= maxChanges {
		return
	}
	t := d.text(s)
	if kind == Added {
		c.AfterSegment = &t
	} else {
		c.BeforeSegment = &t
	}
}

func (d *differ) text(s *Segment) SegmentText {
	return SegmentText{Text: s.Write(d.syntax), Location: s.Location}
}
