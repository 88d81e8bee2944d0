package main

import "testing"

func TestTheMedianOfTheRatiosCounts(t *testing.T) {
	for _, c := range []struct {
		name   string
		ratios []float64
		failed int
	}{
		{"one bad round fails nothing", []float64{0.1, 0.9, 0.4}, 0},
		{"two of three do, whatever the third is", []float64{0.29, 9, 0.2}, 1},
		{"the bar itself is enough", []float64{0.3}, 0},
		{"of an even number it is the middle of two", []float64{0.5, 0.25, 0.3, 0.2}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r run
			if r.judgeRatio(c.name, c.ratios, 0.3); r.failed != c.failed {
				t.Errorf("failed %d times", r.failed)
			}
		})
	}
}
