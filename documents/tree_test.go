package documents

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawn draws what stands in what: packages by their number in the message, level,
// type and SSCC, lines beneath them with their order. What stands in none comes last.
func drawn(d *Document) string {
	children, lines := make([][]int, len(d.Packages)+1), make([][]int, len(d.Packages)+1)
	for i, p := range d.Packages {
		children[p.Parent] = append(children[p.Parent], i+1)
	}
	for i, l := range d.Lines {
		lines[l.Package] = append(lines[l.Package], i)
	}
	var b strings.Builder
	b.WriteByte('\n')
	write := func(depth int, words ...string) {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		b.WriteString(strings.Repeat("  ", min(depth, 8)) + strings.Join(words, " ") + "\n")
	}
	line := func(depth, i int) {
		l := &d.Lines[i]
		words := []string{"line " + l.No}
		if l.OrderReference != "" {
			words = append(words, "of "+l.OrderReference)
		}
		if l.SubOf != "" {
			words = append(words, "in line "+l.SubOf)
		}
		write(depth, words...)
	}
	type place struct{ at, depth int }
	stack := []place{}
	push := func(list []int, depth int) {
		for _, at := range slices.Backward(list) {
			stack = append(stack, place{at, depth})
		}
	}
	push(children[0], 0)
	drawnPackages := 0
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		drawnPackages++
		p := &d.Packages[x.at-1]
		id := p.HierarchyID
		if id == "" {
			id = "-"
		}
		words := []string{id}
		if p.Level+p.Type != "" {
			words = append(words, "["+strings.TrimSpace(p.Level+" "+p.Type)+"]")
		}
		words = append(words, p.SSCC)
		if p.Detail != nil && p.Detail.SSCCTo != "" {
			words = append(words, "to "+p.Detail.SSCCTo)
		}
		if p.Detail != nil && p.Detail.Line > 0 {
			words = append(words, "of line "+d.Lines[p.Detail.Line-1].No)
		}
		write(x.depth, words...)
		for _, i := range lines[x.at] {
			line(x.depth+1, i)
		}
		push(children[x.at], x.depth+1)
	}
	for _, i := range lines[0] {
		line(0, i)
	}
	if drawnPackages != len(d.Packages) {
		fmt.Fprintf(&b, "%d packages hang in the air\n", len(d.Packages)-drawnPackages)
	}
	return b.String()
}

// packed is a DESADV of the segments; each LIN has a quantity.
func packed(segments ...string) []byte {
	all := []string{"UNH+1+DESADV:D:96A:UN:EAN005", "BGM+351+LS-1+9", "DTM+137:20261126:102", "NAD+SU+9520003000017::9", "NAD+BY+9520004000016::9"}
	for _, s := range segments {
		if all = append(all, s); strings.HasPrefix(s, "LIN") {
			all = append(all, "QTY+12:1:PCE")
		}
	}
	return interchange(all)
}

// levels856 is an 856 of levels, each HL01, HL02 and HL03 and what stands in it, as
// "2*1*O PRF*PO-1". Items have an SN1 where they have a LIN.
func levels856(structure string, levels ...string) []byte {
	segments := []string{"ST*856*0001", "BSN*00*SHP-1*20261126*1430*" + structure}
	for _, l := range levels {
		for i, s := range strings.Fields(l) {
			if i == 0 {
				s = "HL*" + s
			}
			if segments = append(segments, s); strings.HasPrefix(s, "LIN") {
				segments = append(segments, "SN1**1*EA")
			}
		}
	}
	segments = append(segments, fmt.Sprintf("CTT*%d", len(levels)), fmt.Sprintf("SE*%d*0001", len(segments)+2))
	return []byte("ISA*00*          *00*          *ZZ*TALQUIST       *ZZ*NORDHAFEN      *261129*1015*U*00401*000000116*0*P*>~" +
		"GS*SH*TALQUIST*NORDHAFEN*20261129*1015*116*X*004010~" + strings.Join(segments, "~") + "~GE*1*116~IEA*1*000000116~")
}

// treeCase is a message, the tree it has to become and what has to be found.
type treeCase struct {
	name  string
	text  []byte
	want  string
	found []string
}

func (c treeCase) hold(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		d, errs := single(t, c.text)
		if diff := cmp.Diff(strings.ReplaceAll(c.want, "\t", ""), drawn(d)); diff != "" {
			t.Error(diff)
		}
		var found []string
		for _, code := range codes(errs) {
			if strings.Contains(code, "package-parent") || strings.Contains(code, "level-") || strings.HasSuffix(code, "-order") || strings.Contains(code, "package-repeated") {
				found = append(found, code)
			}
		}
		if diff := cmp.Diff(c.found, found); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPackagesOfDESADV(t *testing.T) {
	for _, c := range []treeCase{
		{"the whole message in one CPS", packed("CPS+1", "LIN+1", "LIN+2"), `
			1
			  line 1
			  line 2
			`, nil},
		{"a shipment of two pallets with cartons", packed("CPS+1", "PAC+2", "CPS+2+1+3", "PAC+1++201", "CPS+3+2+1", "PAC+4++CT", "LIN+1", "CPS+4+1+3", "PAC+1++201", "CPS+5+4+1", "PAC+2++CT", "LIN+2"), `
			1
			  2 [3 201]
			    3 [1 CT]
			      line 1
			  4 [3 201]
			    5 [1 CT]
			      line 2
			`, nil},
		{"nobody names a parent", packed("CPS+1", "LIN+1", "CPS+2", "LIN+2", "CPS+3", "LIN+3"), `
			1
			  line 1
			2
			  line 2
			3
			  line 3
			`, nil},
		{"numbers that are words", packed("CPS+SHIP", "CPS+PAL-A+SHIP+3", "LIN+1", "CPS+PAL-B+SHIP+3", "LIN+2"), `
			SHIP
			  PAL-A [3]
			    line 1
			  PAL-B [3]
			    line 2
			`, nil},
		{"numbers padded with blanks", packed("CPS+1  ", "CPS+2+1 +3", "LIN+1"), `
			1
			  2 [3]
			    line 1
			`, nil},
		{"children before their parents", packed("CPS+3+2+1", "LIN+1", "CPS+2+1+3", "CPS+1"), `
			1
			  2 [3]
			    3 [1]
			      line 1
			`, []string{"note package-order", "note package-order"}},
		{"a parent that is not there", packed("CPS+1", "CPS+2+9+3", "LIN+1"), `
			1
			2 [3]
			  line 1
			`, []string{"warning package-parent"}},
		{"one that names itself", packed("CPS+1+1", "CPS+2+1+3", "LIN+1"), `
			1
			  2 [3]
			    line 1
			`, []string{"warning package-parent"}},
		{"two that name each other", packed("CPS+1+2", "LIN+1", "CPS+2+1+3", "LIN+2"), `
			1
			  line 1
			  2 [3]
			    line 2
			`, []string{"warning package-parent"}},
		{"a circle of three with a way in", packed("CPS+A+C", "CPS+B+A", "CPS+C+B", "CPS+D+B", "LIN+1"), `
			A
			  B
			    C
			    D
			      line 1
			`, []string{"warning package-parent"}},
		{"numbers that start anew with each pallet", packed("CPS+1++3", "CPS+2+1+1", "LIN+1", "CPS+1++3", "CPS+2+1+1", "LIN+2"), `
			1 [3]
			  2 [1]
			    line 1
			1 [3]
			  2 [1]
			    line 2
			`, []string{"warning package-repeated", "warning package-repeated"}},
		{"one that has its parent's number", packed("CPS+1++3", "CPS+1+1+1", "LIN+1"), `
			1 [3]
			  1 [1]
			    line 1
			`, []string{"warning package-repeated"}},
		{"a package without an SSCC has none", packed("CPS+1++4", "PAC+3++CT", "LIN+1"), `
			1 [4 CT]
			  line 1
			`, nil},
		{"two kinds of packages in one CPS", packed("CPS+1", "PAC+1++201", "PAC+6++CT", "LIN+1"), `
			1 [201]
			  line 1
			  - [CT]
			`, nil},
		{"packages without a CPS", packed("PAC+2++CT", "LIN+1"), `
			- [CT]
			  line 1
			`, nil},
		{"each of several SSCCs is a package in it", packed("CPS+1", "PAC+2++CT", "PCI+33E", "GIN+BJ+395200030000000026+395200030000000033", "LIN+1"), `
			1 [CT]
			  line 1
			  - [CT] 395200030000000026
			  - [CT] 395200030000000033
			`, nil},
		{"a range of SSCCs is a package for each, where the PAC has so many", packed("CPS+1++3", "PAC+5++CT", "PCI+33E", "GIN+BJ+395200030000000026:395200030000000040+00395200030000000057:00395200030000000064", "LIN+1"), `
			1 [3 CT]
			  line 1
			  - [CT] 395200030000000026
			  - [CT] 395200030000000033
			  - [CT] 395200030000000040
			  - [CT] 395200030000000057
			  - [CT] 395200030000000064
			`, nil},
		{"else it keeps both ends", packed("CPS+1++3", "PAC+4++CT", "PCI+33E", "GIN+BJ+395200030000000026:395200030000000040+395200030000000057:395200030000000064", "CPS+2", "PAC+9", "GIN+BJ+395200030000000071:395200030000000072", "CPS+3", "PAC", "GIN+BJ+395200030000000088:395200030000000095", "LIN+1"), `
			1 [3 CT]
			  - [CT] 395200030000000026
			  - [CT] 395200030000000033
			  - [CT] 395200030000000040
			  - [CT] 395200030000000057 to 395200030000000064
			2 395200030000000071 to 395200030000000072
			3 395200030000000088 to 395200030000000095
			  line 1
			`, nil},
	} {
		c.hold(t)
	}
}

func TestLevelsOf856(t *testing.T) {
	for _, c := range []treeCase{
		{"S, O, P, I", levels856("0001", "1**S", "2*1*O PRF*PO-1", "3*2*P", "4*3*I LIN*1*VN*A", "5*2*P", "6*5*I LIN*2*VN*B"), `
			3 [1]
			  line 1 of PO-1
			5 [1]
			  line 2 of PO-1
			`, nil},
		{"S, O, T, P, I", levels856("0001", "1**S", "2*1*O PRF*PO-1", "3*2*T", "4*3*P", "5*4*I LIN*1*VN*A", "6*3*P", "7*6*I LIN*2*VN*B", "8*1*O PRF*PO-2", "9*8*T", "10*9*I LIN*3*VN*C"), `
			3 [3]
			  4 [1]
			    line 1 of PO-1
			  6 [1]
			    line 2 of PO-1
			9 [3]
			  line 3 of PO-2
			`, nil},
		{"S, O, I", levels856("0004", "1**S", "2*1*O PRF*PO-1", "3*2*I LIN*1*VN*A", "4*2*I LIN*2*VN*B"), `
			line 1 of PO-1
			line 2 of PO-1
			`, nil},
		{"S, O, I, P: the only package of an item holds it, one of several is its", levels856("0002", "1**S", "2*1*O PRF*PO-1", "3*2*I LIN*1*VN*A", "4*3*P", "5*2*I LIN*2*VN*B", "6*5*P", "7*5*P"), `
			4 [1] of line 1
			  line 1 of PO-1
			6 [1] of line 2
			7 [1] of line 2
			line 2 of PO-1
			`, nil},
		{"S, O, I, T, P", levels856("0002", "1**S", "2*1*O PRF*PO-1", "3*2*I LIN*1*VN*A", "4*3*T", "5*4*P", "6*4*P"), `
			4 [3] of line 1
			  line 1 of PO-1
			  5 [1]
			  6 [1]
			`, nil},
		{"S, T, P, O, I", levels856("0003", "1**S", "2*1*T", "3*2*P", "4*3*O PRF*PO-1", "5*4*I LIN*1*VN*A", "6*2*P", "7*6*O PRF*PO-2", "8*7*I LIN*2*VN*B"), `
			2 [3]
			  3 [1]
			    line 1 of PO-1
			  6 [1]
			    line 2 of PO-2
			`, nil},
		{"S, P, I without an order", levels856("0005", "1**S", "2*1*P", "3*2*I LIN*1*VN*A"), `
			2 [1]
			  line 1
			`, nil},
		{"an item of an item is a part of it", levels856("0004", "1**S", "2*1*O PRF*PO-1", "3*2*I LIN*1*VN*KIT", "4*3*I LIN*1.1*VN*PART"), `
			line 1 of PO-1
			line 1.1 of PO-1 in line 1
			`, nil},
		{"letters for numbers", levels856("0001", "A**S", "B*A*O PRF*PO-1", "C*B*P", "D*C*I LIN*1*VN*A"), `
			C [1]
			  line 1 of PO-1
			`, nil},
		{"no HL02, S, O, P, I", levels856("0001", "1**S", "2**O PRF*PO-1", "3**P", "4**I LIN*1*VN*A", "5**P", "6**I LIN*2*VN*B", "7**O PRF*PO-2", "8**P", "9**I LIN*3*VN*C"), `
			3 [1]
			  line 1 of PO-1
			5 [1]
			  line 2 of PO-1
			8 [1]
			  line 3 of PO-2
			`, slices.Repeat([]string{"warning level-parent"}, 8)},
		{"no HL02, S, T, P, O, I", levels856("0003", "1**S", "2**T", "3**P", "4**O PRF*PO-1", "5**I LIN*1*VN*A", "6**P", "7**O PRF*PO-2", "8**I LIN*2*VN*B", "9**T", "10**P"), `
			2 [3]
			  3 [1]
			    line 1 of PO-1
			  6 [1]
			    line 2 of PO-2
			9 [3]
			  10 [1]
			`, slices.Repeat([]string{"warning level-parent"}, 9)},
		{"no HL02 and no structure: packages that follow items are theirs", levels856("", "1**S", "2**O PRF*PO-1", "3**I LIN*1*VN*A", "4**P", "5**I LIN*2*VN*B", "6**P"), `
			4 [1] of line 1
			  line 1 of PO-1
			6 [1] of line 2
			  line 2 of PO-1
			`, slices.Repeat([]string{"warning level-parent"}, 5)},
		{"no HL02 and no structure: packages before an order hold it", levels856("ZZZZ", "1**S", "2**T", "3**O PRF*PO-1", "4**I LIN*1*VN*A", "5**T", "6**O PRF*PO-2", "7**I LIN*2*VN*B"), `
			2 [3]
			  line 1 of PO-1
			5 [3]
			  line 2 of PO-2
			`, slices.Repeat([]string{"warning level-parent"}, 6)},
		{"no HL02 and no structure: an order without packages before one with them", levels856("", "1**S", "2**O PRF*PO-1", "3**I LIN*1*VN*A", "4**O PRF*PO-2", "5**T", "6**P", "7**I LIN*2*VN*B"), `
			5 [3]
			  6 [1]
			    line 2 of PO-2
			line 1 of PO-1
			`, slices.Repeat([]string{"warning level-parent"}, 6)},
		{"no numbers at all", levels856("0001", "**S", "**O PRF*PO-1", "**P", "**I LIN*1*VN*A"), `
			- [1]
			  line 1 of PO-1
			`, slices.Repeat([]string{"warning level-parent"}, 3)},
		{"numbers that start anew with each order", levels856("0001", "1**S", "2*1*O PRF*PO-1", "3*2*I LIN*1*VN*A", "2*1*O PRF*PO-2", "3*2*I LIN*2*VN*B"), `
			line 1 of PO-1
			line 2 of PO-2
			`, []string{"warning level-repeated", "warning level-repeated"}},
		{"a parent that stands behind", levels856("0001", "4*3*I LIN*1*VN*A", "3*2*P", "2*1*O PRF*PO-1", "1**S"), `
			3 [1]
			  line 1 of PO-1
			`, []string{"note level-order", "note level-order", "note level-order"}},
		{"a parent that is not there", levels856("0001", "1**S", "2*1*O PRF*PO-1", "3*2*T", "4*9*P", "5*4*I LIN*1*VN*A"), `
			3 [3]
			  4 [1]
			    line 1 of PO-1
			`, []string{"warning level-parent"}},
		{"one that names itself", levels856("0001", "1*1*S", "2*1*O PRF*PO-1", "3*3*P", "4*3*I LIN*1*VN*A"), `
			3 [1]
			  line 1 of PO-1
			`, []string{"warning level-parent", "warning level-parent"}},
		{"two that name each other", levels856("0001", "1**S", "2*1*O PRF*PO-1", "3*4*T", "4*3*P", "5*4*I LIN*1*VN*A"), `
			3 [3]
			  4 [1]
			    line 1 of PO-1
			`, []string{"warning level-parent"}},
		{"a circle that is closed by what is put by its kind", levels856("0001", "1*2*S", "2*3*O PRF*PO-1", "3*9*P", "4*3*I LIN*1*VN*A"), `
			3 [1]
			  line 1 of PO-1
			`, []string{"note level-order", "note level-order", "warning level-parent"}},
		{"levels that nobody knows hold what stands beneath them", levels856("0001", "1**S", "2*1*AG", "3*2*O PRF*PO-1", "4*3*ZZ", "5*4*P", "6*5*I LIN*1*VN*A"), `
			5 [1]
			  line 1 of PO-1
			`, []string{"note level-kind", "note level-kind"}},
		{"a level of no kind", levels856("0001", "1**S", "2*1*", "3*2*P", "4*3*I LIN*1*VN*A"), `
			3 [1]
			  line 1
			`, []string{"warning level-kind"}},
		{"no shipment", levels856("0001", "1**O PRF*PO-1", "2*1*I LIN*1*VN*A"), `
			line 1 of PO-1
			`, nil},
	} {
		c.hold(t)
	}
}

func TestTreesOfTenThousandLevels(t *testing.T) {
	const depth = 10_000
	deep := func(t *testing.T, d *Document, packages int) {
		t.Helper()
		if len(d.Packages) != packages {
			t.Fatalf("got %d packages", len(d.Packages))
		}
		for i, p := range d.Packages {
			if p.Parent != i {
				t.Fatalf("package %d stands in %d", i+1, p.Parent)
			}
		}
	}
	for name, order := range map[string]func([]string){"in order": func([]string) {}, "the innermost first": slices.Reverse[[]string]} {
		t.Run("DESADV, "+name, func(t *testing.T) {
			segments := []string{"CPS+1"}
			for i := 2; i <= depth; i++ {
				segments = append(segments, fmt.Sprintf("CPS+%d+%d", i, i-1))
			}
			order(segments)
			d, _ := single(t, packed(append(segments, "LIN+1")...))
			if name != "in order" {
				slices.Reverse(d.Packages)
				for i := range d.Packages {
					if p := &d.Packages[i]; p.Parent > 0 {
						p.Parent = depth + 1 - p.Parent
					}
				}
			}
			deep(t, d, depth)
		})
	}
	t.Run("856", func(t *testing.T) {
		levels := []string{"1**S", "2*1*O"}
		for i := 3; i <= depth+2; i++ {
			levels = append(levels, fmt.Sprintf("%d*%d*P", i, i-1))
		}
		d, _ := single(t, levels856("0001", append(levels, fmt.Sprintf("%d*%d*I LIN*1*VN*A", depth+3, depth+2))...))
		deep(t, d, depth)
		if d.Lines[0].Package != depth {
			t.Errorf("the line stands in %d", d.Lines[0].Package)
		}
	})
}

// TestKinMakeNoCircle has members name each other at random.
func TestKinMakeNoCircle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + random.IntN(12)
		members := make([]numbered, n)
		for i := range members {
			members[i] = numbered{id: fmt.Sprint(random.IntN(n)), parent: fmt.Sprint(random.IntN(n + 2))}
			if random.IntN(4) == 0 {
				members[i].parent = ""
			}
		}
		all := kinOf(members)
		parents := make([]int, n)
		for i, k := range all {
			parents[i] = k.parent
			if k.parent > 0 && members[k.parent-1].id != members[i].parent || (k.parent > 0) != (k.tie == tieBefore || k.tie == tieBehind) {
				t.Fatalf("%v: member %d has %+v", members, i+1, k)
			}
			if k.tie == tieBefore && slices.ContainsFunc(members[k.parent:i], func(m numbered) bool { return m.id == members[i].parent }) {
				t.Fatalf("%v: a nearer parent of %d stands before it", members, i+1)
			}
			if k.tie == tieMissing && slices.ContainsFunc(members, func(m numbered) bool { return m.id == members[i].parent }) {
				t.Fatalf("%v: the parent of %d is there", members, i+1)
			}
		}
		for i := range parents {
			steps := 0
			for at := i + 1; at > 0; at = parents[at-1] {
				if steps++; steps > n {
					t.Fatalf("%v: a circle at %d", members, i+1)
				}
			}
		}
		seen := map[int]bool{}
		rootsFirst(parents, func(i int) {
			if parents[i] > 0 && !seen[parents[i]-1] || seen[i] {
				t.Fatalf("%v: %d is visited before its parent, or twice", members, i+1)
			}
			seen[i] = true
		})
		if len(seen) != n {
			t.Fatalf("%v: %d of %d were visited", members, len(seen), n)
		}
	}
}
