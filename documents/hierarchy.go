package documents

// A hierarchy is told by numbers: each member has one, and names that of its parent.
// CPS does so by 7164 and 7166, HL by HL01 and HL02. Senders leave parents out, repeat
// numbers, start them anew, use letters, put children before their parents, and name
// themselves or each other.

// numbered is one CPS or HL as it numbers itself, "" for no number and for no parent.
type numbered struct{ id, parent string }

// kin is what became of a member.
type kin struct {
	parent int // position of its parent in the list, from 1; 0 for a root
	tie    tie
	again  bool // a member before it has the same number
}

// tie says how a parent was found.
type tie uint8

const (
	tieNone    tie = iota // it names none
	tieBefore             // it stands before the member
	tieBehind             // it stands behind it
	tieMissing            // no member has that number
	tieLoop               // it is the member itself, or stands beneath it
)

// kinOf finds the parents of members. Of several with one number the nearest before
// the member is meant, since numbers that are started anew repeat; if there is none,
// the first behind it. Parents make no circle: of one that members name, the first
// becomes a root.
func kinOf(members []numbered) []kin {
	all := make([]kin, len(members))
	at := make(map[string]int, len(members))
	var waiting map[string][]int // for a parent behind them
	for i, m := range members {
		k := &all[i]
		if m.parent != "" {
			switch parent, ok := at[m.parent]; {
			case ok:
				k.parent, k.tie = parent, tieBefore
			case m.parent == m.id:
				k.tie = tieLoop
			default:
				k.tie = tieMissing
				if waiting == nil {
					waiting = make(map[string][]int)
				}
				waiting[m.parent] = append(waiting[m.parent], i)
			}
		}
		if m.id == "" {
			continue
		}
		for _, child := range waiting[m.id] {
			all[child].parent, all[child].tie = i+1, tieBehind
		}
		delete(waiting, m.id)
		_, k.again = at[m.id]
		at[m.id] = i + 1
	}
	if waiting != nil { // only a parent that stands behind can close a circle
		parents := make([]int, len(all))
		for i := range all {
			parents[i] = all[i].parent
		}
		for _, i := range cutCircles(parents) {
			all[i].parent, all[i].tie = 0, tieLoop
		}
	}
	return all
}

// cutCircles makes a root of the first member of each circle, and gives their indexes.
// It takes a step for each member, however deep they stand.
func cutCircles(parents []int) (cut []int) {
	seen := make([]int, len(parents)) // the member from which it was come by, from 1
	for i := range parents {
		at := i + 1
		for at > 0 && seen[at-1] == 0 {
			seen[at-1] = i + 1
			at = parents[at-1]
		}
		if at == 0 || seen[at-1] != i+1 {
			continue
		}
		first := at
		for next := parents[at-1]; next != at; next = parents[next-1] {
			first = min(first, next)
		}
		parents[first-1] = 0
		cut = append(cut, first-1)
	}
	return cut
}

// rootsFirst calls visit for each member, for its parent before it. Parents make no
// circle.
func rootsFirst(parents []int, visit func(i int)) {
	done := make([]bool, len(parents))
	var path []int
	for i := range parents {
		for at := i + 1; at > 0 && !done[at-1]; at = parents[at-1] {
			path = append(path, at-1)
			done[at-1] = true
		}
		for len(path) > 0 {
			visit(path[len(path)-1])
			path = path[:len(path)-1]
		}
	}
}
