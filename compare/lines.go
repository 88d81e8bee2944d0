package compare

// pairBlocks pairs the lines of two messages by what they are, not by where
// they stand, and gives them in the order of b, removed ones where a had them.
//
// A line's partner opens with the same tag and is, in this order: equal in
// everything; equal but for its number (lines after an insertion are
// renumbered); of the same number and item; of the same item; of the same
// number. Whatever then stands outside the longest run in common order has
// moved.
func pairBlocks(a, b []block) []pair {
	type sumKey struct {
		tag string
		sum uint64
	}
	type nameKey struct{ tag, number, item string }
	p := newPairing(len(a), len(b))
	for _, of := range []func(*block) (sumKey, bool){
		func(x *block) (sumKey, bool) { return sumKey{x.tag(), x.sum}, true },
		func(x *block) (sumKey, bool) { return sumKey{x.tag(), x.bare}, true },
	} {
		match(p, func(i int) (sumKey, bool) { return of(&a[i]) }, func(j int) (sumKey, bool) { return of(&b[j]) })
	}
	for _, of := range []func(*block) (nameKey, bool){
		func(x *block) (nameKey, bool) {
			return nameKey{x.tag(), x.number, x.item}, x.number != "" && x.item != ""
		},
		func(x *block) (nameKey, bool) { return nameKey{x.tag(), "", x.item}, x.item != "" },
		func(x *block) (nameKey, bool) { return nameKey{x.tag(), x.number, ""}, x.number != "" },
	} {
		match(p, func(i int) (nameKey, bool) { return of(&a[i]) }, func(j int) (nameKey, bool) { return of(&b[j]) })
	}
	return p.ordered()
}

// tag is the one that opens the block: LIN, CPS, IT1, HL.
func (b *block) tag() string { return b.nodes[0].seg.Tag }
