package invoic

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
)

// read scans every interchange in text, maps every message and gives the numbers
// of documents and lines.
func read(t *testing.T, text []byte) (numbers []string, lines int) {
	t.Helper()
	handler := documents.Handlers()[0]
	for _, h := range documents.Handlers() {
		if h.Type == "INVOIC" {
			handler = h
		}
	}
	p := edi.Bytes(text)
	for from := int64(0); from < p.Size(); {
		ic, err := edifact.Reader{}.Split(p, from)
		if errors.Is(err, io.EOF) { // a line break is left
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		from = ic.Offset + ic.Length
		err = edifact.Reader{}.Scan(p, ic, func(i int, b *edi.Body) error {
			d, errs := handler.Map(ic, i, b, nil)
			if d == nil || len(errs) > 0 {
				t.Fatalf("message %d: %v", i, errs)
			}
			numbers, lines = append(numbers, d.Number), lines+len(d.Lines)
			return nil
		})
		if err != nil || len(ic.Errors) > 0 || len(ic.MessageErrors) > 0 {
			t.Fatalf("%v %v %v", err, ic.Errors, ic.MessageErrors)
		}
	}
	return numbers, lines
}

func TestTheLoadIsSound(t *testing.T) {
	t.Run("twenty lines without a finding", func(t *testing.T) {
		one, lines := read(t, TwentyLines(42))
		if lines != 20 || one[0] != "RE000000000042" {
			t.Errorf("document %v has %d lines", one, lines)
		}
		if size := Size(); size < 4000 || size > 5000 {
			t.Errorf("%d bytes, want about 4 KB", size)
		}
		other, _ := read(t, TwentyLines(43))
		if one[0] == other[0] {
			t.Error("two interchanges bring the same document")
		}
	})
	t.Run("an invoice of a megabyte without a finding", func(t *testing.T) {
		text := Long(42, 5300)
		one, lines := read(t, text)
		if lines != 5300 || len(one) != 1 || one[0] != "RE000000000042" {
			t.Errorf("documents %v have %d lines", one, lines)
		}
		if len(text) < 980_000 || len(text) > 1_020_000 {
			t.Errorf("%d bytes, want about a megabyte", len(text))
		}
	})
	t.Run("small invoices without a finding, each with its number", func(t *testing.T) {
		var b bytes.Buffer
		messages, interchanges, err := Write(&b, 300_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		numbers, _ := read(t, b.Bytes())
		seen := map[string]bool{}
		for _, n := range numbers {
			seen[n] = true
		}
		if len(seen) != messages || interchanges != 1 || b.Len() < 300_000 {
			t.Errorf("%d documents in %d messages, %d interchanges, %d bytes", len(seen), messages, interchanges, b.Len())
		}
		if size := b.Len() / messages; size < 1200 || size > 2000 {
			t.Errorf("a message has %d bytes", size)
		}
	})
	t.Run("so many invoices in one interchange, of so many lines each", func(t *testing.T) {
		for _, lines := range []int64{0, 7} {
			var b bytes.Buffer
			if err := Many(&b, 3, 40, lines); err != nil {
				t.Fatal(err)
			}
			numbers, found := read(t, b.Bytes())
			seen := map[string]bool{}
			for _, n := range numbers {
				seen[n] = true
			}
			if len(seen) != 40 || lines > 0 && found != 40*int(lines) {
				t.Errorf("%d documents with %d lines", len(seen), found)
			}
		}
	})
}
