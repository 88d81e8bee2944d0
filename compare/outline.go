package compare

import "hash/maphash"

// outline is a message by its structure: header, lines, summary.
type outline struct {
	head   []node
	blocks []block
	tail   []node
	payee  bool // a party with a payee's role is named
}

// node is one segment, with the members of the group it opens.
type node struct {
	seg     *Segment
	members []Segment
	key     string
	sum     uint64 // of all values below
}

// size is the number of segments.
func (n *node) size() int { return 1 + len(n.members) }

// block is a line (LIN, IT1) or what holds lines (CPS, HL).
type block struct {
	nodes  []node // its own, the opening segment first
	blocks []block
	number string
	item   string
	sum    uint64 // of all below
	bare   uint64 // the same without the block's and its parent's number
}

func (b *block) size() int {
	n := 0
	for i := range b.nodes {
		n += b.nodes[i].size()
	}
	for i := range b.blocks {
		n += b.blocks[i].size()
	}
	return n
}

// outliner builds outlines. Sums of both sides are made with one seed; they
// steer alignment only, so that a collision costs beauty and hides nothing.
type outliner struct {
	d    *dialect
	seed maphash.Seed
}

func (o *outliner) outline(segs []Segment) outline {
	var out outline
	for i := range segs {
		if s := &segs[i]; s.Tag == o.d.party && o.d.payee[s.value(1, 1)] {
			out.payee = true
			break
		}
	}
	i := 0
	for i < len(segs) && o.d.opens(segs[i].Tag, "") == 0 {
		i++
	}
	out.head = o.nodes(segs[:i])
	for i < len(segs) && !o.d.summary[segs[i].Tag] {
		var b block
		b, i = o.block(segs, i, "")
		out.blocks = append(out.blocks, b)
	}
	out.tail = o.nodes(segs[i:])
	return out
}

// block reads the block that segs[i] opens and gives the index behind it.
func (o *outliner) block(segs []Segment, i int, parent string) (block, int) {
	start, tag := i, segs[i].Tag
	level := o.d.opens(tag, parent)
	i++
	for i < len(segs) && o.d.opens(segs[i].Tag, tag) == 0 && !o.d.summary[segs[i].Tag] {
		i++
	}
	b := block{nodes: o.nodes(segs[start:i]), item: o.d.item(segs[start:i])}
	b.number = segs[start].value(o.d.lineNumber[tag], 1)
	for i < len(segs) && o.d.opens(segs[i].Tag, tag) > level {
		var child block
		child, i = o.block(segs, i, tag)
		b.blocks = append(b.blocks, child)
	}
	o.sums(&b)
	return b, i
}

func (o *outliner) sums(b *block) {
	var full, bare maphash.Hash
	full.SetSeed(o.seed)
	bare.SetSeed(o.seed)
	o.hash(&bare, b.nodes[0].seg, true)
	for i := range b.nodes {
		writeSum(&full, b.nodes[i].sum)
		if i > 0 {
			writeSum(&bare, b.nodes[i].sum)
		} else {
			for j := range b.nodes[0].members {
				o.hash(&bare, &b.nodes[0].members[j], false)
			}
		}
	}
	for i := range b.blocks {
		writeSum(&full, b.blocks[i].sum)
		writeSum(&bare, b.blocks[i].bare)
	}
	b.sum, b.bare = full.Sum64(), bare.Sum64()
}

// nodes puts the members of groups behind the segments that open them.
func (o *outliner) nodes(segs []Segment) []node {
	var out []node
	for i := 0; i < len(segs); {
		n := node{seg: &segs[i], key: o.d.key(&segs[i])}
		j := i + 1
		if members := o.d.members[segs[i].Tag]; members != nil {
			for j < len(segs) && members[segs[j].Tag] {
				j++
			}
			n.members = segs[i+1 : j]
		}
		var h maphash.Hash
		h.SetSeed(o.seed)
		for k := i; k < j; k++ {
			o.hash(&h, &segs[k], false)
		}
		n.sum = h.Sum64()
		out = append(out, n)
		i = j
	}
	return out
}

// hash writes a segment length-framed; without its numbers when bare.
func (o *outliner) hash(h *maphash.Hash, s *Segment, bare bool) {
	writeText(h, s.Tag)
	for i := range s.Values {
		v := &s.Values[i]
		e := int(v.Element)
		if bare && (e == o.d.lineNumber[s.Tag] || e == o.d.parents[s.Tag]) {
			continue
		}
		writeSum(h, uint64(v.Element)<<32|uint64(v.Repetition)<<16|uint64(v.Component))
		if o.d.numeric(s.Tag, e, int(v.Component)) {
			writeText(h, point(v.Text))
		} else {
			writeText(h, v.Text)
		}
	}
	writeSum(h, ^uint64(0))
}

func writeText(h *maphash.Hash, s string) {
	writeSum(h, uint64(len(s)))
	h.WriteString(s)
}

func writeSum(h *maphash.Hash, n uint64) {
	h.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), byte(n >> 32), byte(n >> 40), byte(n >> 48), byte(n >> 56)})
}
