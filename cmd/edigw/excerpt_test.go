package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
)

func TestExcerpt(t *testing.T) {
	edifact := edi.Delimiters{Component: ':', Element: '+', Release: '?', Terminator: '\''}
	for _, c := range []struct {
		name, text string
		place      string // the text before which the place is
		d          edi.Delimiters
		want       string
	}{
		{"a value", "BGM+380'\r\nMOA+203:12,5a:EUR'UNT+1'", "12,5a", edifact, "MOA+203:12,5a:EUR'\n        ^^^^^"},
		{"a released delimiter is part of it", "FTX+it?'s ??+b'", "it?'s", edifact, "FTX+it?'s ??+b'\n    ^^^^^^^^"},
		{"a released terminator does not end the segment before", "A+b?'c+d'", "d'", edifact, "A+b?'c+d'\n       ^"},
		{"an empty value", "NAD+BY++x'", "+x'", edifact, "NAD+BY++x'\n       ^"},
		{"a missing terminator", "UNZ+1+REF", "REF", edifact, "UNZ+1+REF\n      ^^^"},
		{"control characters have pictures", "ST\x1d810\x1d1\x1cBIG\x1d2\x1c", "2\x1c", edi.Delimiters{Element: 0x1d, Terminator: 0x1c}, "BIG␝2␜\n    ^"},
		{"bytes of a small set", "IMD+M\xfcller+x'", "x'", edifact, "IMD+Müller+x'\n           ^"},
		{"a long segment is cut", "FTX+" + strings.Repeat("a", 200) + "+x+" + strings.Repeat("b", 200) + "'", "x+", edifact,
			"…" + strings.Repeat("a", 30) + "+x+" + strings.Repeat("b", 61) + "…\n                                ^"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := edi.Location{Offset: int64(strings.Index(c.text, c.place))}
			e, err := excerptAt(edi.Bytes([]byte(c.text)), &edi.Interchange{Syntax: "edifact", Delimiters: c.d}, l)
			if err != nil {
				t.Fatal(err)
			}
			got := e.Text + "\n" + strings.Repeat(" ", e.Column-1) + strings.Repeat("^", e.Length)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("behind the end there is nothing to show", func(t *testing.T) {
		e, err := excerptAt(edi.Bytes([]byte("UNB")), &edi.Interchange{Delimiters: edifact}, edi.Location{Offset: 3})
		if e != nil || err != nil {
			t.Errorf("%v, %v", e, err)
		}
	})
}

// FuzzExcerpt holds that any place of any text can be shown.
func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("BGM+380'\r\nMOA+203:12,5a?'b:EUR'UNT+1'"), uint16(12), byte('\''), byte('?'))
	f.Add([]byte("\r\n\r\n"), uint16(1), byte('\n'), byte(0))
	f.Fuzz(func(t *testing.T, text []byte, at uint16, terminator, release byte) {
		d := edi.Delimiters{Component: ':', Element: '+', Release: release, Terminator: terminator}
		e, err := excerptAt(edi.Bytes(text), &edi.Interchange{Delimiters: d}, edi.Location{Offset: int64(at)})
		if err != nil {
			t.Fatal(err)
		}
		if e != nil && (e.Column < 1 || e.Length < 1 || len([]rune(e.Text)) > 2*excerptWidth) {
			t.Errorf("%+v", e)
		}
	})
}

// TestTreeOfDeepLevels holds the bound on levels that name each other in a row.
func TestTreeOfDeepLevels(t *testing.T) {
	var b strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&b, "HL*%d*%d*I~", i, i-1)
	}
	text := read(t, "testdata/despatch.x12")
	at := strings.Index(text, "HL*1")
	end := strings.Index(text, "CTT*")
	text = strings.Replace(text[:at]+b.String()+text[end:], "SE*19*", "SE*5004*", 1)
	got := edigw(t, text, nil, "inspect", "-", "--tree")
	deepest := 0
	for _, line := range strings.Split(got.out, "\n") {
		deepest = max(deepest, len(line)-len(strings.TrimLeft(line, " ")))
	}
	if n := strings.Count(got.out, " HL level"); n != 5000 || deepest > 2*maxIndent+10 {
		t.Errorf("%d levels, deepest at column %d: %.300s", n, deepest, got.out)
	}
}
