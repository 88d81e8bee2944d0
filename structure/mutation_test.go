package structure

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests of this file make messages out of the tables: for each place in each
// message the smallest text that reaches it, once right, once with the item
// missing, once with one more than its maximum. What must be said is known from
// how the text was made, not from the table walk under test.

// mostRepeats is the largest maximum that is put to the test.
const mostRepeats = 10_000

// stand is one place in a message: the groups on the way to it.
type stand struct {
	path []*item // groups from the outermost in
	it   *item
	in   *group // that it stands in
	at   int    // its index in it
}

func (p stand) name(m *message) string {
	words := []string{m.name}
	for _, g := range p.path {
		words = append(words, g.group.name)
	}
	if p.it.group != nil {
		return strings.Join(append(words, "group "+p.it.group.name), " ")
	}
	return strings.Join(append(words, p.it.tag.String()), " ")
}

// stands lists all places of a message.
func stands(m *message) (list []stand) {
	var walk func(g *group, path []*item)
	walk = func(g *group, path []*item) {
		for i := range g.items {
			it := &g.items[i]
			list = append(list, stand{slices.Clone(path), it, g, i})
			if it.group != nil {
				walk(it.group, append(path, it))
			}
		}
	}
	walk(&m.root, nil)
	return list
}

// smallest makes the smallest group that has n of the items on the way to p:
// what is mandatory, and n times p.
func smallest(m *message, p stand, n int) (text []string, marked int) {
	marked = -1
	var fill func(g *group, depth int)
	item := func(it *item) {
		if it.group == nil {
			text = append(text, sound(m, it))
			return
		}
		fill(it.group, -1) // off the way: what is mandatory alone
	}
	fill = func(g *group, depth int) {
		for i := range g.items {
			it := &g.items[i]
			switch {
			case depth >= 0 && depth < len(p.path) && it == p.path[depth]:
				fill(it.group, depth+1)
			case depth == len(p.path) && i == p.at:
				for k := 0; k < n; k++ {
					if k == n-1 {
						marked = len(text) + 2 // its number: the header is 1
					}
					item(it)
				}
				if n == 0 {
					marked = len(text) + 1 // the last before it
				}
			case it.mandatory:
				item(it)
			}
		}
	}
	fill(&m.root, 0)
	return text, marked
}

// sound writes a segment whose elements are right: what is mandatory, the
// elements of also, and what they need.
func sound(m *message, it *item, also ...int) string {
	if it.segment == nil {
		return it.tag.String()
	}
	return written(m, it.tag.String(), values(it.segment, also...))
}

// values are those of sound, by element and component.
func values(s *segment, also ...int) [][]string {
	needed := make([]bool, len(s.elements)+1)
	for i, e := range s.elements {
		needed[i+1] = e.mandatory
	}
	for _, e := range also {
		needed[e] = true
	}
	for changed := true; changed; {
		changed = false
		present := uint64(0)
		for e, yes := range needed {
			if yes {
				present |= 1 << e
			}
		}
		for _, c := range s.conditions {
			if at, f := c.broken(present); at > 0 && f == missingByCondition {
				needed[at], changed = true, true
				break
			}
		}
	}
	list := make([][]string, len(s.elements))
	for i, e := range s.elements {
		if !needed[i+1] {
			continue
		}
		list[i] = make([]string, len(e.components))
		for k, v := range e.components {
			if e.must&(1<<k) != 0 || e.must == 0 && k == 0 {
				list[i][k] = good(v)
			}
		}
	}
	return list
}

func written(m *message, tag string, values [][]string) string {
	d := edifactDelimiters
	if m.dir.syntax == (x12{}) {
		d = x12Delimiters
	}
	words := []string{tag}
	for _, v := range values {
		words = append(words, strings.TrimRight(strings.Join(v, string(d.Component)), string(d.Component)))
	}
	return strings.TrimRight(strings.Join(words, string(d.Element)), string(d.Element))
}

// good is a value of its type.
func good(v component) string {
	switch v.kind {
	case number, integer, decimal:
		return strings.Repeat("1", v.min)
	case date:
		return "20260102"
	case clock:
		return "1200"
	}
	return strings.Repeat("A", v.min)
}

// whole puts header and trailer around segments.
func whole(m *message, segments []string) string {
	if m.dir.syntax == (x12{}) {
		return "ST*1*0001~" + strings.Join(segments, "~") + "~SE*1*0001~"
	}
	return "UNH+1+X:D:96A:UN'" + strings.Join(segments, "'") + "'UNT+1+1'"
}

// everyMessage runs f for each built-in message.
func everyMessage(t *testing.T, f func(t *testing.T, tables *Tables, name string, m *message)) {
	tables := builtInTables(t)
	n := 0
	for _, key := range slices.Sorted(keys(tables.directories)) {
		d := tables.directories[key]
		for _, name := range slices.Sorted(keys(d.messages)) {
			n++
			t.Run(name+" "+d.name, func(t *testing.T) { f(t, tables, name+" "+d.name, d.messages[name]) })
		}
	}
	if n < 9 {
		t.Fatalf("%d messages are built in", n)
	}
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestEveryPlaceMayBeTaken(t *testing.T) {
	everyMessage(t, func(t *testing.T, tables *Tables, name string, m *message) {
		for _, p := range stands(m) {
			times := 1
			if p.it.max > 1 {
				times = 2
			}
			text, _ := smallest(m, p, times)
			if diff := cmp.Diff([]string(nil), findings(t, tables, name, whole(m, text))); diff != "" {
				t.Errorf("%s: %v\n%s", p.name(m), diff, text)
			}
		}
	})
}

func TestEveryMaximumExceeded(t *testing.T) {
	everyMessage(t, func(t *testing.T, tables *Tables, name string, m *message) {
		tried := 0
		for _, p := range stands(m) {
			if p.it.max > mostRepeats || len(p.path) > 0 && p.at == 0 { // one more trigger is one more group
				continue
			}
			tried++
			text, at := smallest(m, p, int(p.it.max)+1)
			f := segmentRepeats
			if p.it.group != nil {
				f = groupRepeats
			}
			want := []string{fmt.Sprintf("%s %s %d %s", m.dir.syntax.code(f), ours[f], at, p.it.tag)}
			if diff := cmp.Diff(want, findings(t, tables, name, whole(m, text))); diff != "" {
				t.Errorf("%s, %d times: %v", p.name(m), p.it.max+1, diff)
			}
		}
		t.Logf("%d maxima", tried)
	})
}

func TestEveryMandatoryItemRemoved(t *testing.T) {
	everyMessage(t, func(t *testing.T, tables *Tables, name string, m *message) {
		tried := 0
		for _, p := range stands(m) {
			if !p.it.mandatory || len(p.path) > 0 && p.at == 0 {
				continue
			}
			tried++
			text, last := smallest(m, p, 0)
			want := []string{fmt.Sprintf("%s segment-missing %d %s", m.dir.syntax.code(missingSegment), m.dir.syntax.missing(int32(last)), p.it.tag)}
			if diff := cmp.Diff(want, findings(t, tables, name, whole(m, text))); diff != "" {
				t.Errorf("%s: %v\n%s", p.name(m), diff, text)
			}
		}
		t.Logf("%d mandatory items", tried)
	})
}

func TestEveryTriggerRemoved(t *testing.T) {
	everyMessage(t, func(t *testing.T, tables *Tables, name string, m *message) {
		told, elsewhere := 0, 0
		for _, p := range stands(m) {
			if len(p.path) == 0 || p.at == 0 || p.it.group != nil {
				continue
			}
			text, at := smallest(m, p, 1)
			trigger := p.path[len(p.path)-1]
			cut := at - 2
			for cut--; !strings.HasPrefix(text[cut], trigger.tag.String()); cut-- {
			}
			if cut != at-3 { // a mandatory one stands between
				continue
			}
			text = slices.Delete(text, cut, cut+1)
			got := findings(t, tables, name, whole(m, text))
			want := []string{fmt.Sprintf("%s segment-missing %d %s", m.dir.syntax.code(missingSegment), m.dir.syntax.missing(int32(at-2)), trigger.tag)}
			switch {
			case cmp.Equal(got, want):
				told++
			case len(got) <= 1:
				// The segment has a place in what is open, or in another group that
				// may follow: nobody can tell which was meant. It is one finding.
				elsewhere++
			default:
				t.Errorf("%s without %s: %v", p.name(m), trigger.tag, got)
			}
		}
		if told == 0 {
			t.Error("no trigger was missed")
		}
		t.Logf("%d triggers missed, %d texts say something else", told, elsewhere)
	})
}
