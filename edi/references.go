package edi

import "hash/maphash"

// References finds message references that occur twice, at four to eight bytes a
// message: an open hash table of indexes into the messages themselves.
type References struct {
	seed  maphash.Seed
	slots []int32 // index + 1, 0 free
	used  int
}

// Add notes message i and gives the earlier message with the same group and
// reference, or -1.
func (r *References) Add(messages []Message, i int) int {
	if r.slots == nil {
		r.seed, r.slots = maphash.MakeSeed(), make([]int32, 64)
	}
	if r.used*4 >= len(r.slots)*3 {
		old := r.slots
		r.slots = make([]int32, 2*len(old))
		for _, s := range old {
			if s > 0 {
				r.slots[r.slot(messages, int(s-1))] = s
			}
		}
	}
	at := r.slot(messages, i)
	if s := r.slots[at]; s > 0 {
		return int(s - 1)
	}
	r.slots[at] = int32(i + 1)
	r.used++
	return -1
}

// slot is where message i stands or would stand.
func (r *References) slot(messages []Message, i int) int {
	m := &messages[i]
	at := int(maphash.String(r.seed, m.Reference)^uint64(m.Group)*0x9E3779B97F4A7C15) & (len(r.slots) - 1)
	for {
		s := r.slots[at]
		if s == 0 || messages[s-1].Group == m.Group && messages[s-1].Reference == m.Reference {
			return at
		}
		at = (at + 1) & (len(r.slots) - 1)
	}
}
