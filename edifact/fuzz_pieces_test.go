package edifact

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

// maxFuzzed is the size of text that is read a byte at a time.
const maxFuzzed = 4 << 10

// fuzzSpool makes a file that a fuzz target writes its text to.
func fuzzSpool(f *testing.F) *os.File {
	f.Helper()
	file, err := os.Create(filepath.Join(f.TempDir(), "spool"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := file.Close(); err != nil {
			f.Error(err)
		}
	})
	return file
}

// FuzzPieces: a text says the same whether it is read at once or from a spool in
// pieces of any size, a byte at a time among them, and a limit is met at the same
// place; what is kept of it is bounded; an interchange is the same without the
// others.
func FuzzPieces(f *testing.F) {
	seeds(f)
	file := fuzzSpool(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = raw[:min(len(raw), maxFuzzed)]
		if _, err := file.WriteAt(raw, 0); err != nil {
			t.Fatal(err)
		}
		whole, spool := edi.Bytes(raw), edi.File(file, int64(len(raw)))
		for _, limit := range []int64{0, 64} {
			want, wantBodies := everything(t, Reader{maxMessage: limit}, whole)
			for _, chunk := range []int{1, 7} {
				got, bodies := everything(t, Reader{maxMessage: limit, chunk: chunk}, spool)
				if !reflect.DeepEqual(want, got) || !reflect.DeepEqual(wantBodies, bodies) {
					t.Fatalf("in pieces of %d, limit %d (-at once +in pieces):\n%s%s", chunk, limit, cmp.Diff(want, got), cmp.Diff(wantBodies, bodies))
				}
			}
			for _, ic := range want {
				bounded(t, ic)
			}
		}
	})
}

// everything reads every interchange of p that can be, with the segments of its messages
// as Scan hands them out and as Again does.
func everything(t *testing.T, r Reader, p *edi.Payload) (all []*edi.Interchange, bodies []string) {
	t.Helper()
	for at := int64(0); ; {
		ic, err := r.Split(p, at)
		if ic == nil {
			return all, bodies
		}
		at = ic.Offset + ic.Length
		all = append(all, ic)
		if err != nil {
			if edi.AsError(err) == nil {
				t.Fatal(err)
			}
			continue
		}
		var mine []string
		visited := map[int]string{}
		if err := r.Scan(p, ic, func(i int, b *edi.Body) error {
			visited[i] = values(b)
			mine = append(mine, visited[i])
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, mine...)
		again := r.Again(p, ic)
		for i := range ic.Messages {
			if ic.Refused(i) {
				continue
			}
			b, err := again(i)
			if err != nil {
				t.Fatal(err)
			}
			if got := values(b); got != visited[i] {
				t.Fatalf("message %d, read again:\n%s", i, cmp.Diff(visited[i], got))
			}
		}
	}
}

// bounded holds what is kept of findings to what the reference says.
func bounded(t *testing.T, ic *edi.Interchange) {
	t.Helper()
	most := 0
	for _, g := range ic.Groups {
		most = max(most, len(g.Errors))
	}
	for i, list := range ic.MessageErrors {
		if most = max(most, len(list)); i < 0 || i >= len(ic.Messages) {
			t.Fatalf("findings of message %d of %d", i, len(ic.Messages))
		}
	}
	if len(ic.Errors) > 101 || most > 20 {
		t.Fatalf("%d findings of the interchange, %d of a part", len(ic.Errors), most)
	}
	for i := range ic.Messages {
		if m := &ic.Messages[i]; m.Offset < ic.Offset || m.Length < 0 || m.Offset+m.Length > ic.Offset+ic.Length || int(m.Group) >= len(ic.Groups) {
			t.Fatalf("message %d at %d+%d in %d+%d", i, m.Offset, m.Length, ic.Offset, ic.Length)
		}
	}
}

// FuzzAnswers: whatever an answer holds, it is read to its end, once, with everything
// named that a judgement must have; and what cannot be relied on says so.
func FuzzAnswers(f *testing.F) {
	seeds(f)
	for _, text := range answerSeeds() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := edi.Bytes(raw)
		ic, err := Reader{}.Split(p, 0)
		if err != nil {
			return
		}
		var want []*edi.Answer
		if err := (Reader{}).Scan(p, ic, func(i int, b *edi.Body) error {
			if a := Answer(ic, i, b); a != nil {
				want = append(want, a)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := (Reader{}).Answers(p, ic, func(a edi.Answer) error {
			relied(t, a)
			if a.Message < 0 {
				return nil
			}
			if len(want) == 0 || want[0].Message != a.Message || !reflect.DeepEqual(want[0].Judgements, a.Judgements) {
				t.Fatalf("message %d is told twice, or otherwise than when it was read", a.Message)
			}
			want = want[1:]
			if refused := a.Findings != nil && a.Findings[len(a.Findings)-1].Code == edi.AnswerRefused; refused != ic.Refused(a.Message) {
				t.Fatalf("message %d is refused: %v, which is not told", a.Message, !refused)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 {
			t.Fatalf("%d answers are not told, the first in message %d", len(want), want[0].Message)
		}
	})
}

// FuzzAnswer has any segments read as each kind of answer.
func FuzzAnswer(f *testing.F) {
	for _, text := range answerSeeds() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b := edi.NewBody(raw, 0, 1, levelA, nil)
		for _, kind := range []string{"CONTRL", "APERAK"} {
			ic := &edi.Interchange{Sender: edi.Party{ID: "P"}, Recipient: edi.Party{ID: "U"}, Groups: []edi.Group{{}}, Messages: []edi.Message{{Type: &edi.MessageType{Type: kind}}}}
			a := Answer(ic, 0, b)
			if (a == nil) != (b.Len() == 0) {
				t.Fatalf("%d segments, answer %v", b.Len(), a)
			}
			if a != nil {
				relied(t, *a)
			}
		}
	})
}

// relied holds an answer to what its docstring promises.
func relied(t *testing.T, a edi.Answer) {
	t.Helper()
	sound := edi.Worst(a.Findings) < edi.SeverityError
	if sound && len(a.Judgements) == 0 {
		t.Fatalf("%s says nothing, and nothing of that", a.Kind)
	}
	for i := range a.Judgements {
		j := &a.Judgements[i]
		if j.Interchange == nil || j.Level == edi.LevelGroup && j.Group == nil || j.Level == edi.LevelMessage && j.Type == nil && a.Kind != "824" {
			t.Fatalf("%+v names too little", j)
		}
		if sound && (j.Level == edi.LevelMessage && j.Reference == "" || j.Level == edi.LevelGroup && j.Group.Reference == "" ||
			j.Level == edi.LevelInterchange && j.Interchange.ControlReference == "" || j.Level == edi.LevelDocument && len(j.Documents) == 0 && j.Reference == "") {
			t.Fatalf("%s cannot be matched, and does not say so", j.Subject())
		}
		if sound && j.Acceptance == edi.AcceptanceUnknown && j.Level != edi.LevelMessage {
			t.Fatalf("%s has no verdict, and does not say so", j.Subject())
		}
		for k := range j.Objections {
			if o := &j.Objections[k]; o.List == "" || o.Place.Element < 0 || o.Place.Segment < 0 || o.Reported.Segment < 1 || o.String() == "" {
				t.Fatalf("%+v", o)
			}
		}
	}
	if _, err := json.Marshal(a); err != nil {
		t.Fatal(err)
	}
	if acceptance, j := a.On("1", "1"); j == nil && acceptance != edi.AcceptanceUnknown {
		t.Fatalf("%v by nothing", acceptance)
	}
}

// values are the segments of a body with their values told apart.
func values(b *edi.Body) string {
	var s strings.Builder
	for i := range b.Segments {
		fmt.Fprintf(&s, "%d %s", b.Segments[i].Number, b.Segments[i].Tag())
		for v := range b.Segments[i].Values() {
			if v.Element > 0 {
				fmt.Fprintf(&s, " %d.%d.%d=%q", v.Element, v.Repetition, v.Component, v.Text)
			}
		}
		s.WriteByte('\n')
	}
	fmt.Fprintf(&s, "%q", b.Object())
	return s.String()
}

// answerSeeds are answers of all kinds, sound and not.
func answerSeeds() []string {
	return []string{
		in("3", "CONTRL:D:3:UN", "UCI+I1+U:14+P:14+7'UCF+G2+U+P+7+29+UNE+2'UCM+1+INVOIC:D:96A:UN+4+28+UNT+3'UCS+7+13'UCD+12+3:1'"),
		in("4", "CONTRL:4:1:UN", "UCI+I1+P:14+U:14+4'UCM+++4+15+++P1+1:2'UCO+P2+1:2+7'UCS+A'UCD+39+2:1:3'"),
		in("2", "CONTRL:2:2:UN", "UCM+1+INVOIC:D:93A:UN+2'UCI+I1+U+P+9'UCI'"),
		in("3", "APERAK:D:96A:UN", "BGM+313+AP+27+AP'RFF+IV:R1'DTM+171:20261129:102'ERC+4:8:9'FTX+AAO++Z05+a:b'RFF+LI:R1:2'"),
		in("3", "APERAK:D:01B:UN", "BGM+312+AP'DOC+380+R1::::2'DTM+137:261129:101'NAD+MS'"),
	}
}
