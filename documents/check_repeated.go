package documents

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
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
// messages. Those that are alike at first sight, as goods of one batch each may be by the
// thousand, are told apart by a digest of all they say, which is made once for a line.
type lineSet struct {
	slots   []int32          // position + 1, 0 free; negative where the line has its digest
	digests map[uint64]int32 // position of the first line with a digest; nil while no two lines are alike
}

var lineSets = sync.Pool{New: func() any { return &lineSet{} }}

// begin makes room for n lines.
func (s *lineSet) begin(n int) {
	s.digests = nil
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

// maxProbes bounds the lines that one is held against: a sender may choose them so that
// they meet in one place.
const maxProbes = 16

// add gives the first line that equals line i, -1 where none does, and keeps i then.
func (s *lineSet) add(lines []Line, i int) int {
	mask := uint64(len(s.slots) - 1)
	at := lines[i].hash() & mask
	for range maxProbes {
		slot := &s.slots[at]
		if *slot == 0 {
			*slot = int32(i) + 1
			return -1
		}
		if j := max(*slot, -*slot) - 1; lines[j].resembles(&lines[i]) {
			if *slot > 0 {
				*slot = -*slot
				s.digest(lines, int(j))
			}
			return s.digest(lines, i)
		}
		at = (at + 1) & mask
	}
	return -1
}

// digest gives the line before line i that says the same, -1 where none does, and keeps
// i then.
func (s *lineSet) digest(lines []Line, i int) int {
	l := lines[i]
	l.No = ""
	text, err := json.Marshal(&l)
	if err != nil {
		return -1 // what cannot be written is like no other
	}
	h := maphash.Bytes(lineSeed, text)
	if first, ok := s.digests[h]; ok {
		return int(first)
	}
	if s.digests == nil {
		s.digests = make(map[uint64]int32)
	}
	s.digests[h] = int32(i)
	return -1
}

// lineSeed keeps a sender from choosing lines of one digest.
var lineSeed = maphash.MakeSeed()

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

// resembles reports whether o may say all that l says.
func (l *Line) resembles(o *Line) bool {
	return l.Quantity.small == o.Quantity.small && l.NetAmount.small == o.NetAmount.small && l.GTIN == o.GTIN && l.OrderLine == o.OrderLine
}
