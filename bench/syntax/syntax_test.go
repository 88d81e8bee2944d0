package main

import (
	"bytes"
	"strings"
	"testing"
)

// bytewise sums what stands in messages without a lexer.
func bytewise(t *text) *sum {
	s, in, d := new(sum), false, t.delimiters
	var values []string // of the segment, its tag first
	value := []byte{}
	for i := 0; i < len(t.raw); i++ {
		switch c := t.raw[i]; {
		case c == '\n' && len(values) == 0 && len(value) == 0:
		case c == d.Release && c != 0:
			i++
			value = append(value, t.raw[i])
		case c == d.Element, c == d.Component, c == d.Terminator:
			values, value = append(values, string(value)), value[:0]
			if c != d.Terminator {
				continue
			}
			tag := values[0]
			if in = in || tag == "UNH" || tag == "ST"; in {
				for _, v := range values[1:] {
					s.elements++
					for _, b := range []byte(v) {
						s.hash = (s.hash ^ uint64(b)) * 1099511628211
					}
					s.hash = (s.hash ^ 0x100) * 1099511628211
				}
			}
			in, values = in && tag != "UNT" && tag != "SE", values[:0]
		default:
			value = append(value, c)
		}
	}
	return s
}

func TestMeasure(t *testing.T) {
	for _, syntax := range []string{"edifact", "x12"} {
		t.Run("lexer and parser read the same elements of "+syntax, func(t *testing.T) {
			var out strings.Builder
			if err := measure(t.Context(), &out, syntax, 20_000, 1, ""); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"lexer  ", "parser ", "indexbyte ", "bound ", "lex ", "read ", "validate ", "map "} {
				if !strings.Contains("\n"+out.String(), "\n"+want+syntax+" ") {
					t.Errorf("no line %q in:\n%s", want+syntax, &out)
				}
			}
		})
	}
	for _, syntax := range []string{"edifact", "x12"} {
		t.Run("and those that stand in it, told byte by byte, of "+syntax, func(t *testing.T) {
			text := textOf(syntax, 50_000)
			if syntax == "edifact" && !bytes.Contains(text.raw, []byte("?+")) {
				t.Fatal("nothing is released in the text")
			}
			if got, want := lexed(text), bytewise(text); *got != *want {
				t.Errorf("%d elements with checksum %x, want %d with %x", got.elements, got.hash, want.elements, want.hash)
			}
		})
	}
	t.Run("another element is another checksum", func(t *testing.T) {
		a, b := textOf("x12", 1000), textOf("x12", 1000)
		b.raw = []byte(strings.Replace(string(b.raw), "BIG*20261128*R1*", "BIG*20261128*1R*", 1))
		if *lexed(a) == *lexed(b) {
			t.Error("the same checksum")
		}
	})
}
