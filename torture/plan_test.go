package main

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlan(t *testing.T) {
	planned := func(seed uint64) []fault {
		return plan(rand.New(rand.NewPCG(seed, 0)), 10000, 150, 3, 2, 3)
	}
	opened := cmp.AllowUnexported(fault{}, cut{})
	t.Run("a seed repeats its plan", func(t *testing.T) {
		if diff := cmp.Diff(planned(7), planned(7), opened); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("another seed has another plan", func(t *testing.T) {
		if cmp.Equal(planned(7), planned(8), opened) {
			t.Error("the plans of 7 and 8 are the same")
		}
	})
	t.Run("a plan has as many kills as are asked for, in order, within the run", func(t *testing.T) {
		count, last := map[string]int{}, 0
		for _, f := range planned(7) {
			count[f.kind]++
			if f.at < last || f.at >= 10000 {
				t.Errorf("%s after %d deliveries", f.kind, f.at)
			}
			last = f.at
		}
		if count[killPostgres] != 3 || count[fillDisk] != 2 {
			t.Errorf("postgres is killed %d times, the disk filled %d times", count[killPostgres], count[fillDisk])
		}
		for _, w := range weights {
			if count[w.kind] == 0 {
				t.Errorf("nothing of the kind %q", w.kind)
			}
		}
	})
}

func TestStoriesRepeat(t *testing.T) {
	tell := func() *content {
		s := &story{run: &run{seed: 3}, n: 12, rng: rand.New(rand.NewPCG(3, 12)), partner: company()[0]}
		return s.fresh()
	}
	if a, b := tell(), tell(); a.text != b.text {
		t.Errorf("story 12 of seed 3 sent two things:\n%s\n%s", a.text, b.text)
	}
}
