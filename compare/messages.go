package compare

// pairMessages finds for each message of a its partner in b and gives both in
// the order of b. A partner has, in this order: the same bytes; the same type,
// document number and reference; type and number; type and reference;
// reference. A single message on each side is a pair whatever it holds.
func pairMessages(a, b *Interchange) []pair {
	type key struct{ kind, number, reference string }
	p := newPairing(len(a.Messages), len(b.Messages))
	x, y := a.Messages, b.Messages
	if sameWriting(a.Envelope, b.Envelope) {
		match(p, func(i int) ([32]byte, bool) { return x[i].SHA256, x[i].SHA256 != [32]byte{} },
			func(j int) ([32]byte, bool) { return y[j].SHA256, y[j].SHA256 != [32]byte{} })
	}
	for _, of := range []func(*Message) (key, bool){
		func(m *Message) (key, bool) { return key{m.Type.Type, m.Number, m.Reference}, m.Number != "" },
		func(m *Message) (key, bool) { return key{m.Type.Type, m.Number, ""}, m.Number != "" },
		func(m *Message) (key, bool) { return key{m.Type.Type, "", m.Reference}, true },
		func(m *Message) (key, bool) { return key{"", "", m.Reference}, true },
	} {
		match(p, func(i int) (key, bool) { return of(&x[i]) }, func(j int) (key, bool) { return of(&y[j]) })
	}
	if len(x) == 1 && len(y) == 1 {
		p.toA[0], p.toB[0] = 0, 0
	}
	return p.ordered()
}

// pairing is who belongs to whom, -1 for nobody.
type pairing struct{ toA, toB []int }

func newPairing(n, m int) *pairing {
	p := &pairing{toA: make([]int, m), toB: make([]int, n)}
	for i := range p.toB {
		p.toB[i] = -1
	}
	for j := range p.toA {
		p.toA[j] = -1
	}
	return p
}

// match pairs what is still alone and has the same key, in order.
func match[K comparable](p *pairing, keyA, keyB func(int) (K, bool)) {
	alone := make(map[K][]int)
	for j, i := range p.toA {
		if i >= 0 {
			continue
		}
		if k, ok := keyB(j); ok {
			alone[k] = append(alone[k], j)
		}
	}
	if len(alone) == 0 {
		return
	}
	for i, j := range p.toB {
		if j >= 0 {
			continue
		}
		k, ok := keyA(i)
		if !ok {
			continue
		}
		if list := alone[k]; len(list) > 0 {
			p.toB[i], p.toA[list[0]] = list[0], i
			alone[k] = list[1:]
		}
	}
}

// ordered walks b and slips in what only a has, where a had it. Pairs outside
// the longest run in common order have moved.
func (p *pairing) ordered() []pair {
	var matched []pair
	for j, i := range p.toA {
		if i >= 0 {
			matched = append(matched, pair{a: i, b: j, moved: true})
		}
	}
	for _, k := range longestRising(matched) {
		matched[k].moved = false
	}
	out := make([]pair, 0, max(len(p.toA), len(p.toB)))
	i := 0
	removed := func(until int) {
		for ; i < until; i++ {
			if p.toB[i] < 0 {
				out = append(out, pair{a: i, b: -1})
			}
		}
	}
	for j := range p.toA {
		if len(matched) == 0 || matched[0].b != j {
			out = append(out, pair{a: -1, b: j})
			continue
		}
		next := matched[0]
		matched = matched[1:]
		if !next.moved {
			removed(next.a)
		}
		out = append(out, next)
	}
	removed(len(p.toB))
	return out
}
