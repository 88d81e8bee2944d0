package documents

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edigw/edigw/edi"
)

// What is asked of each date, level or currency of a message must not walk what the
// sender may make as long as he likes. These tests take away what would be walked.

func TestReleaseWithoutTheMessages(t *testing.T) {
	ic := &edi.Interchange{Syntax: "x12", Messages: []edi.Message{
		{Type: &edi.MessageType{Type: "810", Release: "003060"}},
		{Type: &edi.MessageType{Type: "810", Release: "004010"}},
	}}
	before, since, none := begin(ic, 0, ClassInvoice), begin(ic, 1, ClassInvoice), begin(ic, 2, ClassInvoice)
	ic.Messages = nil
	if before.centuries() || !since.centuries() || none.centuries() {
		t.Errorf("got %v, %v and %v, want only dates of 004010 to have a century", before.centuries(), since.centuries(), none.centuries())
	}
}

func TestAboveWithoutTheChain(t *testing.T) {
	// An item beneath an item beneath an item, …: the order above them all is far.
	m := x856{}
	m.structure("")
	kinds := "SO" + strings.Repeat("I", 1000)
	for i := range len(kinds) {
		l := level{kind: kinds[i : i+1], parent: i}
		if i > 0 {
			l.nearest = m.levels[i-1].nearest
		}
		l.nearest[kindAt(l.kind)] = i + 1
		m.levels = append(m.levels, l)
	}
	for i := range m.levels {
		m.levels[i].parent = -1 // to climb would end in a panic
	}
	for kind, want := range map[string]int{"I": 2, "P": 2, "T": 2, "O": 1, "S": 0, "": len(kinds), "Q": len(kinds), "SO": len(kinds)} {
		if got := m.above(kind); got != want {
			t.Errorf("a level %q stands beneath level %d, want %d", kind, got, want)
		}
	}
}

// climbed is above by its definition.
func climbed(m *x856, kind string) int {
	rank, at := m.rankOf(kind), len(m.levels)
	for at > 0 && rank > 0 && m.rankOf(m.levels[at-1].kind) >= rank {
		at = m.levels[at-1].parent
	}
	return at
}

func TestAboveIsWhatClimbingFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	kinds := []string{"S", "O", "T", "P", "I", "", "Q", "SO"}
	for _, structure := range []string{"", "0001", "0002", "0003", "0004", "0005"} {
		m := x856{}
		m.structure(structure)
		for i := range 300 {
			for _, kind := range kinds {
				if got, want := m.above(kind), climbed(&m, kind); got != want {
					t.Fatalf("structure %q, %d levels: %q beneath %d, want %d", structure, i, kind, got, want)
				}
			}
			l := level{kind: kinds[random.IntN(len(kinds))]}
			if l.parent = random.IntN(i + 1); l.parent > 0 {
				l.nearest = m.levels[l.parent-1].nearest
			}
			l.nearest[kindAt(l.kind)] = i + 1
			m.levels = append(m.levels, l)
		}
	}
}
