package roles

// index finds entries by qualifier. Qualifiers have at most four characters, which
// make one number: it is looked up where it hashes to, and behind that.
type index struct {
	slots []slot // a power of two, at most half of them filled; nil: empty
	shift uint8  // 32 less the bits of len(slots)
}

type slot struct {
	key uint32 // of the qualifier; 0: free
	Entry
}

// keyOf gives 0 for what is no qualifier.
func keyOf(q string) uint32 {
	switch len(q) {
	case 1:
		return uint32(q[0])
	case 2:
		return uint32(q[0]) | uint32(q[1])<<8
	case 3:
		return uint32(q[0]) | uint32(q[1])<<8 | uint32(q[2])<<16
	case 4:
		return uint32(q[0]) | uint32(q[1])<<8 | uint32(q[2])<<16 | uint32(q[3])<<24
	}
	return 0
}

// spread is 2³² divided by the golden ratio: it sends numbers that are near each other
// far apart.
const spread = 0x9E3779B1

func (x *index) find(qualifier string) *Entry {
	key := keyOf(qualifier)
	if key == 0 || len(x.slots) == 0 {
		return nil
	}
	for i := key * spread >> x.shift; ; i = (i + 1) & uint32(len(x.slots)-1) {
		switch s := &x.slots[i]; s.key {
		case key:
			return &s.Entry
		case 0:
			return nil
		}
	}
}

// indexOf makes the index of lists, of which a later one wins over the ones before.
func indexOf(lists ...[]Entry) index {
	n := 0
	for _, l := range lists {
		n += len(l)
	}
	x := index{shift: 31}
	for size := 2; ; size *= 2 {
		if size >= 2*n {
			x.slots = make([]slot, size)
			break
		}
		x.shift--
	}
	for _, l := range lists {
		for _, e := range l {
			x.put(e)
		}
	}
	return x
}

func (x *index) put(e Entry) {
	key := keyOf(e.Qualifier)
	if key == 0 {
		return
	}
	e.Rank = max(e.Rank, 1)
	i := key * spread >> x.shift
	for x.slots[i].key != 0 && x.slots[i].key != key {
		i = (i + 1) & uint32(len(x.slots)-1)
	}
	x.slots[i] = slot{key, e}
}

// equal reports whether two indexes hold the same.
func (x *index) equal(o *index) bool {
	if len(x.slots) != len(o.slots) {
		return false
	}
	for i := range x.slots {
		if e := &x.slots[i]; e.key != 0 {
			if other := o.find(e.Qualifier); other == nil || *other != e.Entry {
				return false
			}
		}
	}
	n := func(x *index) (filled int) {
		for i := range x.slots {
			if x.slots[i].key != 0 {
				filled++
			}
		}
		return filled
	}
	return n(x) == n(o)
}

// indexAll makes the index of every kind.
func indexAll(tables ...*Entries) *[kinds]index {
	var all [kinds]index
	for k := range all {
		var lists [][]Entry
		for _, t := range tables {
			lists = append(lists, t[k])
		}
		all[k] = indexOf(lists...)
	}
	return &all
}
