package ubl

import (
	"slices"

	"github.com/edigw/edigw/documents"
)

// maxNesting is how deep lines stand in lines; what would stand deeper stands beside
// what it details.
const maxNesting = 8

// tree is which lines detail which (C829 of LIN).
type tree struct {
	parent []int   // of each line; -1 for one that details none
	below  [][]int // lines that detail each
}

// treeOf gives nil if no line details another. A line details an earlier one: so there
// is no loop. One that names a line that does not stand before it details none.
func treeOf(lines []documents.Line) *tree {
	if !slices.ContainsFunc(lines, func(l documents.Line) bool { return l.SubOf != "" }) {
		return nil
	}
	var t *tree
	at := map[string]int{}
	var depth []int
	for i := range lines {
		if of, is := at[lines[i].SubOf]; is && lines[i].SubOf != "" {
			if t == nil {
				t = &tree{parent: make([]int, len(lines)), below: make([][]int, len(lines))}
				for j := range t.parent {
					t.parent[j] = -1
				}
				depth = make([]int, len(lines))
			}
			if depth[of] == maxNesting {
				of = t.parent[of]
			}
			t.parent[i], depth[i] = of, depth[of]+1
			t.below[of] = append(t.below[of], i)
		}
		if no := lines[i].No; no != "" {
			at[no] = i
		}
	}
	return t
}

// detail reports whether line i details another.
func (t *tree) detail(i int) bool { return t != nil && t.parent[i] >= 0 }

// of gives the lines that detail line i.
func (t *tree) of(i int) []int {
	if t == nil {
		return nil
	}
	return t.below[i]
}
