package documents

import (
	"fmt"
	"reflect"
	"sync"
)

// checkRepeatedLines notes lines that say all that an earlier one says: the item, its
// order line, quantity, price, amount, and everything else but the line's own number.
// It may be meant; more often a line was sent twice. One finding tells of all of them.
func (m *mapping) checkRepeatedLines() {
	d := m.doc
	if len(d.Lines) < 2 {
		return
	}
	s := lineSets.Get().(*lineSet)
	defer lineSets.Put(s)
	s.begin(len(d.Lines))
	first, repeats, others := -1, -1, 0
	for i := range d.Lines {
		l := &d.Lines[i]
		if l.GTIN == "" && l.SupplierItem == "" && l.BuyerItem == "" && l.Description == "" {
			continue
		}
		switch at := s.add(d.Lines, i); {
		case at < 0:
		case first < 0:
			first, repeats = at, i
		default:
			others++
		}
	}
	if first < 0 {
		return
	}
	more := ""
	if others > 0 {
		more = fmt.Sprintf("; %d further lines repeat one before them", others)
	}
	m.noteAt("line-repeated", m.inLine(repeats, nil), "line %s says the same as line %s%s", m.lineName(repeats), m.lineName(first), more)
}

// lineSet finds lines that are equal: an open hash table of positions, kept between
// messages.
type lineSet struct {
	slots []int32 // position + 1, 0 free
}

var lineSets = sync.Pool{New: func() any { return &lineSet{} }}

// begin makes room for n lines.
func (s *lineSet) begin(n int) {
	size := 64
	for size < 2*n {
		size *= 2
	}
	if cap(s.slots) < size || cap(s.slots) > 64*size {
		s.slots = make([]int32, size)
		return
	}
	s.slots = s.slots[:size]
	clear(s.slots)
}

// maxProbes bounds the lines that one is held against: those that differ only in what
// is not hashed may be as many as a message has room for.
const maxProbes = 16

// add gives the first line that equals line i, -1 where none does, and keeps i then.
func (s *lineSet) add(lines []Line, i int) int {
	mask := uint64(len(s.slots) - 1)
	at := lines[i].hash() & mask
	for range maxProbes {
		switch j := s.slots[at] - 1; {
		case j < 0:
			s.slots[at] = int32(i) + 1
			return -1
		case lines[j].repeats(&lines[i]):
			return int(j)
		}
		at = (at + 1) & mask
	}
	return -1
}

// hash is of what tells most lines apart.
func (l *Line) hash() uint64 {
	const prime = 0x9E3779B97F4A7C15
	h := uint64(len(l.Description))
	for _, v := range [...]uint64{uint64(l.Quantity.small), uint64(l.NetAmount.small), uint64(l.Package), tail(l.GTIN), tail(l.SupplierItem), tail(l.BuyerItem), tail(l.OrderLine), tail(l.Batch)} {
		h = (h ^ v) * prime
		h ^= h >> 32
	}
	return h
}

// tail is up to the last eight bytes of s, where numbers differ.
func tail(s string) (v uint64) {
	if n := len(s); n >= 8 {
		s = s[n-8:]
		return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	}
	for i := range len(s) {
		v = v<<8 | uint64(s[i])
	}
	return v
}

// repeats reports whether o says all that l says, but for its number.
func (l *Line) repeats(o *Line) bool {
	if l.Quantity.small != o.Quantity.small || l.NetAmount.small != o.NetAmount.small || l.GTIN != o.GTIN || l.OrderLine != o.OrderLine {
		return false // nearly always, and cheaper
	}
	a, b := *l, *o
	a.No, b.No = "", ""
	return reflect.DeepEqual(a, b)
}
