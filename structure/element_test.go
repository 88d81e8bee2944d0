package structure

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mutant is a segment with one thing wrong, and what must be said of it.
type mutant struct {
	what   string
	values [][]string
	want   string // without segment number and tag
	at     string // element, component
	fault  fault
	id     string // of the element or component
}

// mutants of one segment: each mandatory element and component removed, each
// value too long, too short and of the wrong type, one element and one component
// too many.
func mutants(m *message, s *segment) (list []mutant) {
	id := ""
	add := func(what string, values [][]string, f fault, at string) {
		list = append(list, mutant{what, values, m.dir.syntax.code(f) + " " + ours[f], at, f, id})
	}
	clone := func(v [][]string) [][]string {
		c := slices.Clone(v)
		for i := range c {
			c[i] = slices.Clone(c[i])
		}
		return c
	}
	for i, e := range s.elements {
		base := values(s, i+1)
		if excluded(s, base) {
			continue
		}
		place, repetition := fmt.Sprint(i+1), ""
		id = e.id
		if e.max > 1 {
			repetition = " rep 1"
		}
		if e.mandatory && !conditional(s, i+1) {
			v := clone(base)
			v[i] = nil
			add("no element "+e.id, v, missingElement, place)
		}
		for k, c := range e.components {
			id = c.id
			at := place
			if e.composite {
				at += fmt.Sprintf(" %d%s", k+1, repetition)
			}
			with := func(value string) [][]string {
				v := clone(base)
				v[i][k] = value
				return v
			}
			if e.must&(1<<k) != 0 && e.composite {
				v := with("")
				other := (k + 1) % len(e.components)
				if other != k {
					v[i][other] = good(e.components[other])
					add("no component "+c.id, v, missingElement, at)
				}
			}
			switch c.kind {
			case date, clock, binary:
			default:
				fill := "1"
				if c.kind == letters {
					fill = "A"
				}
				add("long "+c.id, with(strings.Repeat(fill, c.max+1)), tooLong, at)
				if c.min > 1 {
					add("short "+c.id, with(strings.Repeat(fill, c.min-1)), tooShort, at)
				}
			}
			switch c.kind {
			case number:
				add("letters in "+c.id, with("A"+strings.Repeat("1", c.min)), wrongCharacters, at)
				add("two marks in "+c.id, with("1.1,"+strings.Repeat("1", c.min)), wrongNotation, at)
			case integer:
				add("a point in "+c.id, with("1.1"), wrongCharacters, at)
			case decimal:
				add("letters in "+c.id, with("1A"), wrongCharacters, at)
			case date:
				add("no date in "+c.id, with("20260230"), wrongDate, at)
			case clock:
				add("no time in "+c.id, with("2460"), wrongTime, at)
			}
		}
		v := clone(base)
		v[i], id = append(v[i], "X"), e.id
		add("a component too many in "+e.id, v, surplusComponent, fmt.Sprintf("%d %d%s", i+1, len(v[i]), repetition))
	}
	id = ""
	add("an element too many", append(values(s), []string{"X"}), surplusElement, fmt.Sprint(len(s.elements)+1))
	return list
}

// conditional reports whether a condition names element e: it may then be told
// as well.
func conditional(s *segment, e int) bool {
	return slices.ContainsFunc(s.conditions, func(c condition) bool { return slices.Contains(c.elements, e) })
}

// excluded reports whether the values break a condition that no further value
// mends.
func excluded(s *segment, values [][]string) bool {
	present := uint64(0)
	for i, v := range values {
		if strings.Join(v, "") != "" {
			present |= 1 << (i + 1)
		}
	}
	return slices.ContainsFunc(s.conditions, func(c condition) bool { at, _ := c.broken(present); return at > 0 })
}

func TestEveryElementBroken(t *testing.T) {
	everyMessage(t, func(t *testing.T, tables *Tables, name string, m *message) {
		done := map[tag]bool{}
		tried := 0
		for _, p := range stands(m) {
			it := p.it
			if it.group != nil || it.segment == nil || done[it.tag] {
				continue
			}
			done[it.tag] = true
			text, at := smallest(m, p, 1)
			for _, mu := range mutants(m, it.segment) {
				tried++
				text := slices.Clone(text)
				text[at-2] = written(m, it.tag.String(), mu.values)
				want := []string{fmt.Sprintf("%s %d %s %s", mu.want, at, it.tag, mu.at)}
				if diff := cmp.Diff(want, findings(t, tables, name, whole(m, text))); diff != "" {
					t.Errorf("%s, %s: %s\n%v", p.name(m), mu.what, text[at-2], diff)
				}
			}
		}
		t.Logf("%d broken segments", tried)
	})
}

func TestConditions(t *testing.T) {
	tables := builtInTables(t)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"paired, one without the other", "N1*ST*A*92", []string{"2 element-missing-here 3 N1 4"}},
		{"one of several needed", "N1*ST", []string{"2 element-missing-here 3 N1 2"}},
		{"one asks for the other", "N1*ST*A~N4*Ulm*****X", []string{"2 element-missing-here 4 N4 5"}},
		{"one asks for one of others", "SAC*C****100*****2**04*R", []string{"2 element-missing-here 4 SAC 2", "2 element-missing-here 4 SAC 9"}},
		{"two that exclude each other", "IT1**1*EA*1~QTY*38*5**x", []string{"10 element-excluded 4 QTY 4"}},
		{"whole", "N1*ST*A*92*17~N4*Ulm*BW*89073**X*Y", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "ST*810*1~BIG*20260102*1~" + c.text + "~TDS*100~SE*5*1~"
			if strings.HasPrefix(c.text, "SAC") {
				text = "ST*810*1~BIG*20260102*1~TDS*100~" + c.text + "~SE*5*1~"
			}
			if diff := cmp.Diff(c.want, findings(t, tables, "810 004010", text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
