package edi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var defaults = Delimiters{Component: ':', Element: '+', Decimal: '.', Release: '?', Terminator: '\''}

func TestSegment(t *testing.T) {
	raw := "UNH+1+INVOIC:D:96A:UN'\r\nNAD+SU+95200::9++Alles klar??'FTX+AAI+++a?+b?:c:?'x'UNT+4+1'"
	b := NewBody([]byte(raw), 100, 1, defaults, nil)

	t.Run("segments are cut at terminators that are not released", func(t *testing.T) {
		var got []string
		for _, s := range b.Segments {
			got = append(got, s.Tag()+" "+string(s.Raw()))
		}
		want := []string{"UNH UNH+1+INVOIC:D:96A:UN", "NAD NAD+SU+95200::9++Alles klar??",
			"FTX FTX+AAI+++a?+b?:c:?'x", "UNT UNT+4+1"}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("values are released, and what is not there is empty", func(t *testing.T) {
		nad, ftx := b.Segment(1), b.Segment(2)
		got := []string{nad.Get(1, 1), nad.Get(2, 1), nad.Get(2, 2), nad.Get(2, 3), nad.Get(2, 4), nad.Get(3, 1),
			nad.Get(4, 1), nad.Get(9, 1), nad.Get(0, 1), ftx.Get(4, 1), ftx.Get(4, 2), ftx.GetRep(4, 2, 1)}
		want := []string{"SU", "95200", "", "9", "", "", "Alles klar?", "", "NAD", "a+b:c", "'x", ""}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("counts", func(t *testing.T) {
		nad := b.Segment(1)
		got := []int{b.Len(), nad.Elements(), nad.Components(1), nad.Components(2), nad.Components(3), nad.Components(5),
			nad.Repetitions(2), nad.Repetitions(5)}
		if d := cmp.Diff([]int{4, 4, 1, 3, 1, 0, 1, 0}, got); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("places count from the payload, segments from the message header", func(t *testing.T) {
		got := []Location{b.Segment(1).Location(0, 0), b.Segment(1).Location(2, 3), b.Segment(1).Location(7, 1)}
		nad := int64(100 + strings.Index(raw, "NAD"))
		want := []Location{
			{Offset: nad, Segment: 2, Tag: "NAD"},
			{Offset: nad + 14, Segment: 2, Tag: "NAD", Element: 2, Component: 3},
			{Offset: nad, Segment: 2, Tag: "NAD", Element: 7, Component: 1},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
	t.Run("known tags cost no allocation", func(t *testing.T) {
		if n := testing.AllocsPerRun(100, func() { _ = b.Segment(1).Tag() }); n != 0 { // the value is not the point
			t.Fatalf("%v allocations", n)
		}
	})
	t.Run("the zero segment has nothing", func(t *testing.T) {
		var s Segment
		if s.Tag() != "" || s.Get(1, 1) != "" || s.Elements() != 0 || s.Location(1, 1).Offset != 0 {
			t.Fatal("the zero segment has something")
		}
	})
}

func TestRepetitions(t *testing.T) {
	d := defaults
	d.Repetition = '*'
	s := NewBody([]byte("ABC+1:2*3:4:5*6+7'"), 0, 1, d, nil).Segment(0)
	got := []string{s.Get(1, 2), s.GetRep(1, 2, 1), s.GetRep(1, 2, 3), s.GetRep(1, 3, 1), s.GetRep(1, 4, 1), s.Get(2, 1)}
	if d := cmp.Diff([]string{"2", "3", "5", "6", "", "7"}, got); d != "" {
		t.Fatal(d)
	}
	if s.Repetitions(1) != 3 || s.Repetitions(2) != 1 || s.Components(1) != 2 {
		t.Fatal("counts", s.Repetitions(1), s.Repetitions(2), s.Components(1))
	}
	var values []string
	for v := range s.Values() {
		values = append(values, v.Text)
	}
	if d := cmp.Diff([]string{"1", "2", "3", "4", "5", "6", "7"}, values); d != "" {
		t.Fatal(d)
	}
}
