package main

import (
	"strings"
	"testing"
)

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
	t.Run("another element is another checksum", func(t *testing.T) {
		a, b := textOf("x12", 1000), textOf("x12", 1000)
		b.raw = []byte(strings.Replace(string(b.raw), "BIG*20261128*R1*", "BIG*20261128*1R*", 1))
		if *lexed(a) == *lexed(b) {
			t.Error("the same checksum")
		}
	})
}
