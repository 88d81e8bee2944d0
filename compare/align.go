package compare

import "slices"

// pair is one step of an alignment: indexes into both sides, -1 for none.
type pair struct {
	a, b  int
	moved bool // stands elsewhere in b, as seen from its neighbours
}

const (
	// maxCells bounds one table of the exact alignment: 500 × 500 segments.
	// Above it anchors split the sequence first.
	maxCells = 250_000
	// maxAnchorDepth bounds how often a gap between anchors is split again.
	maxAnchorDepth = 8
)

// Weights of a pair: equal segments draw more than two changed ones, so that
// one segment put in front of its like does not shift all pairs by one.
const (
	weightEqual = 5
	weightKey   = 2
)

// alignNodes pairs the nodes of one header, line, group or summary in order.
func alignNodes(a, b []node) []pair {
	al := aligner{a: a, b: b, pairs: make([]pair, 0, max(len(a), len(b)))}
	al.span(0, len(a), 0, len(b), 0)
	return al.pairs
}

type aligner struct {
	a, b  []node
	pairs []pair
}

func (al *aligner) add(a, b int) { al.pairs = append(al.pairs, pair{a: a, b: b}) }

// span aligns a[a0:a1] with b[b0:b1]: equal ends, then exactly if that is cheap,
// else between anchors.
func (al *aligner) span(a0, a1, b0, b1, depth int) {
	for a0 < a1 && b0 < b1 && al.a[a0].sum == al.b[b0].sum {
		al.add(a0, b0)
		a0++
		b0++
	}
	end := 0
	for a0 < a1-end && b0 < b1-end && al.a[a1-1-end].sum == al.b[b1-1-end].sum {
		end++
	}
	al.middle(a0, a1-end, b0, b1-end, depth)
	for ; end > 0; end-- {
		al.add(a1-end, b1-end)
	}
}

func (al *aligner) middle(a0, a1, b0, b1, depth int) {
	n, m := a1-a0, b1-b0
	switch {
	case n == 0 || m == 0:
		for ; a0 < a1; a0++ {
			al.add(a0, -1)
		}
		for ; b0 < b1; b0++ {
			al.add(-1, b0)
		}
	case n <= maxCells/m:
		al.exact(a0, a1, b0, b1)
	default:
		al.anchored(a0, a1, b0, b1, depth)
	}
}

// exact is the heaviest common subsequence, equal segments and segments of one
// key weighing differently. O(n·m) time and memory, bounded by maxCells.
func (al *aligner) exact(a0, a1, b0, b1 int) {
	n, m := a1-a0, b1-b0
	w := m + 1
	best := make([]int32, (n+1)*w)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			v := max(best[(i+1)*w+j], best[i*w+j+1])
			if s := weight(&al.a[a0+i], &al.b[b0+j]); s > 0 {
				v = max(v, best[(i+1)*w+j+1]+s)
			}
			best[i*w+j] = v
		}
	}
	i, j := 0, 0
	for i < n && j < m {
		s := weight(&al.a[a0+i], &al.b[b0+j])
		switch {
		case s > 0 && best[i*w+j] == best[(i+1)*w+j+1]+s:
			al.add(a0+i, b0+j)
			i++
			j++
		case best[i*w+j] == best[(i+1)*w+j]:
			al.add(a0+i, -1)
			i++
		default:
			al.add(-1, b0+j)
			j++
		}
	}
	for ; i < n; i++ {
		al.add(a0+i, -1)
	}
	for ; j < m; j++ {
		al.add(-1, b0+j)
	}
}

func weight(a, b *node) int32 {
	switch {
	case a.sum == b.sum:
		return weightEqual
	case a.key == b.key:
		return weightKey
	}
	return 0
}

// anchored splits a long span at segments that occur once on both sides and
// stand in the same order; without such anchors segments of one key are paired
// in order. O(n log n) a level.
func (al *aligner) anchored(a0, a1, b0, b1, depth int) {
	anchors := al.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 || depth >= maxAnchorDepth {
		al.greedy(a0, a1, b0, b1)
		return
	}
	for _, p := range anchors {
		al.span(a0, p.a, b0, p.b, depth+1)
		al.add(p.a, p.b)
		a0, b0 = p.a+1, p.b+1
	}
	al.span(a0, a1, b0, b1, depth+1)
}

func (al *aligner) anchors(a0, a1, b0, b1 int) []pair {
	type seen struct{ a, b, inA, inB int }
	sums := make(map[uint64]seen, a1-a0)
	for i := a0; i < a1; i++ {
		s := sums[al.a[i].sum]
		s.a, s.inA = i, s.inA+1
		sums[al.a[i].sum] = s
	}
	for j := b0; j < b1; j++ {
		if s, ok := sums[al.b[j].sum]; ok {
			s.b, s.inB = j, s.inB+1
			sums[al.b[j].sum] = s
		}
	}
	var once []pair
	for j := b0; j < b1; j++ {
		if s := sums[al.b[j].sum]; s.inA == 1 && s.inB == 1 {
			once = append(once, pair{a: s.a, b: j})
		}
	}
	var kept []pair
	for _, i := range longestRising(once) {
		kept = append(kept, once[i])
	}
	return kept
}

// greedy pairs each segment with the next unused one of its key.
func (al *aligner) greedy(a0, a1, b0, b1 int) {
	at := make(map[string][]int)
	for j := b0; j < b1; j++ {
		at[al.b[j].key] = append(at[al.b[j].key], j)
	}
	j := b0
	for i := a0; i < a1; i++ {
		list := at[al.a[i].key]
		for len(list) > 0 && list[0] < j {
			list = list[1:]
		}
		at[al.a[i].key] = list
		if len(list) == 0 {
			al.add(i, -1)
			continue
		}
		for ; j < list[0]; j++ {
			al.add(-1, j)
		}
		al.add(i, j)
		j++
	}
	for ; j < b1; j++ {
		al.add(-1, j)
	}
}

// longestRising gives the indexes of a longest run of pairs, not necessarily
// adjacent, whose a rises. The pairs stand in the order of b; a is unique.
func longestRising(pairs []pair) []int {
	var ends []int // ends[k]: index of the smallest last pair of a run of k+1
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(ends, p.a, func(e, a int) int { return pairs[e].a - a })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	run := make([]int, len(ends))
	for k, i := len(ends)-1, ends[len(ends)-1]; k >= 0; k, i = k-1, before[i] {
		run[k] = i
	}
	return run
}
