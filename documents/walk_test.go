package documents

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// What is asked of each date, level or currency of a message must not walk what the
// sender may make as long as he likes. These tests take away what would be walked.

func TestReleaseWithoutTheMessages(t *testing.T) {
	ic := &edi.Interchange{Syntax: "x12", Messages: []edi.Message{
		{Type: &edi.MessageType{Type: "810", Release: "003060"}},
		{Type: &edi.MessageType{Type: "810", Release: "004010"}},
	}}
	before, since, none := begin(ic, 0, ClassInvoice, nil), begin(ic, 1, ClassInvoice, nil), begin(ic, 2, ClassInvoice, nil)
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

func TestMarksArePutTogetherOnce(t *testing.T) {
	m := desadv{mapping: begin(&edi.Interchange{}, 0, ClassDespatch, nil), marks: map[int][]string{2: {"A 1", "B 2", "C 3"}}}
	m.doc.Packages = make([]Package, 2)
	m.setMarks()
	if got := m.doc.Packages[1].Marks; got != "A 1 B 2 C 3" || m.doc.Packages[0].Marks != "" {
		t.Errorf("got %q", got)
	}
}

func TestItemNumbersX12(t *testing.T) {
	// A value that holds a separator of our own sends its segment the long way round.
	plain, _ := single(t, invoice810(t, "VN*TQ-100", "VN*TQ-100*UP*095200010007**B-77*SN*4711*IN*K-9"))
	escaped, _ := single(t, invoice810(t, "VN*TQ-100", "VN*TQ-100*UP*095200010007**B-77*SN*4711*IN*K-9*ZZ*\x1c"))
	escaped.Lines[0].Detail.Items = escaped.Lines[0].Detail.Items[:1]
	if d := cmp.Diff(asJSON(t, &Document{Lines: plain.Lines}), asJSON(t, &Document{Lines: escaped.Lines})); d != "" {
		t.Errorf("(-plain +escaped):\n%s", d)
	}
}

func TestCurrenciesAndDatesOfAnInvoice(t *testing.T) {
	edifact := func(old, new string) *Document {
		counted := fmt.Sprintf("UNT+%d+", 17+strings.Count(new, "'")-strings.Count(old, "'"))
		d, _ := single(t, []byte(strings.NewReplacer(old, new, "UNT+17+", counted).Replace(string(invoicText()))))
		return d
	}
	t.Run("the currency named for invoicing stays, whatever follows it", func(t *testing.T) {
		if d := edifact("CUX+2:EUR:4", "CUX+2:USD:4'CUX+2:SEK:8'CUX+2:NOK:8"); d.Currency != "USD" {
			t.Errorf("got %s", d.Currency)
		}
	})
	t.Run("before one is named the last reference currency counts", func(t *testing.T) {
		if d := edifact("CUX+2:EUR:4", "CUX+2:SEK:8'CUX+2:NOK:8"); d.Currency != "NOK" {
			t.Errorf("got %s", d.Currency)
		}
	})
	t.Run("of dates 137 behind a reference the first is the document's own, if it has none", func(t *testing.T) {
		d := edifact("DTM+137:20261127:102'RFF+ON:BE-55012", "RFF+ON:BE-55012'DTM+137:20261125:102'DTM+137:20261126:102'DTM+3:20261124:102'DTM+3:20261123:102")
		if len(d.Detail.Dates) != 2 || d.IssueDate != "2026-11-24" || len(d.Detail.References[0].Dates) != 2 {
			t.Errorf("got %s of %+v, and %+v", d.IssueDate, d.Detail.Dates, d.Detail.References)
		}
	})
	t.Run("if it has one they are the reference's", func(t *testing.T) {
		d := edifact("RFF+ON:BE-55012", "RFF+ON:BE-55012'DTM+137:20261125:102")
		if len(d.Detail.Dates) != 1 || d.IssueDate != "2026-11-27" || len(d.Detail.References[0].Dates) != 1 {
			t.Errorf("got %s of %+v, and %+v", d.IssueDate, d.Detail.Dates, d.Detail.References)
		}
	})
}
