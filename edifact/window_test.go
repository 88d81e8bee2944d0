package edifact

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/edigw/edigw/edi"
)

// spooled writes text to a file and makes a payload of it.
func spooled(t *testing.T, text []byte) *edi.Payload {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "spool")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
	p := edi.File(f, int64(len(text)))
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// awkward draws interchanges and what is not quite one.
func awkward() *rapid.Generator[[]byte] {
	pieces := []string{unb3, unb3, unh1, unh1, "UNH+2+DESADV:D:96A:UN'", "BGM+380+1'", "NAD+BY+??'", "FTX+a?'b", "'", "'\r\n", "UNT+2+1'", "UNT+3+1'", "UNT+4+2'",
		"UNZ+1+REF'", "UNZ+2+REF", ung1, "UNE+1+G1'", "UNA:+.? '", "UNA*+.\\ ~", "~", "\\", "UNO+1+++5'12345UNP+5'", "\x00", "ä", "\xFF", "?", " ", "ISA*", "text " + strings.Repeat("long ", 30) + "'"}
	return rapid.Custom(func(t *rapid.T) []byte {
		return []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 25).Draw(t, "pieces"), ""))
	})
}

func TestSpooledIsReadAsMemory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := awkward().Draw(rt, "text")
		type seen struct {
			Interchanges []*edi.Interchange
			Faults       []*edi.Error
			Bodies       []string
		}
		read := func(p *edi.Payload, r Reader) (s seen) {
			s.Interchanges, s.Faults = readAll(rt, r, p, func(_ *edi.Interchange, i int, b *edi.Body) {
				for _, seg := range b.Segments {
					s.Bodies = append(s.Bodies, fmt.Sprintf("%d %d %s %s", i, seg.Number, seg.Tag(), seg.Raw()), fmt.Sprint(seg.Location(1, 1)))
				}
			})
			return s
		}
		limit := rapid.SampledFrom([]int64{40, 300, 0}).Draw(rt, "message limit")
		want := read(edi.Bytes(text), Reader{maxMessage: limit})
		got := read(spooled(t, text), Reader{chunk: rapid.IntRange(1, 40).Draw(rt, "chunk"), maxMessage: limit})
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			rt.Fatalf("%q\n%s", text, d)
		}
	})
}

func TestWindowIsBoundedByTheLargestMessage(t *testing.T) {
	var text bytes.Buffer
	text.WriteString(unb3)
	const n, size = 3000, 2000
	for i := range n {
		fmt.Fprintf(&text, "UNH+%d+INVOIC'FTX+AAI+++%s'UNT+3+%d'", i, strings.Repeat("x", size), i)
	}
	fmt.Fprintf(&text, "UNZ+%d+REF'", n)
	p := spooled(t, text.Bytes())
	ic, err := Reader{}.Split(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	w := edi.NewWindow(p, 0, ic.Length, 4096)
	lex := edi.NewLexer(ic.Delimiters, nil)
	for i := 0; ; i++ {
		if err := w.Slide(lex.Drop(len(lex.Segments))); err != nil {
			t.Fatal(err)
		}
		lex.Window(w.Raw, w.At)
		for lex.Lex(1 << 10) {
		}
		if !w.More() {
			break
		}
	}
	if cap(w.Raw) > 4*(4096+size) {
		t.Fatalf("a window of %d bytes for messages of %d", cap(w.Raw), size)
	}
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if err := (Reader{chunk: 4096}).Scan(p, ic, func(int, *edi.Body) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if limit := int64(n*400 + 512<<10); allocated > limit {
		t.Fatalf("%d bytes allocated for %d messages, limit %d", allocated, n, limit)
	}
	if len(ic.Messages) != n || !ic.Complete || len(ic.Errors) > 0 {
		t.Fatal(len(ic.Messages), ic.Errors)
	}
}
