package main

import (
	"fmt"
	"slices"
)

// median of at least one number.
func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// judgeRatio prints the median of ratios, and fails the run where it is under the bar.
func (r *run) judgeRatio(what string, ratios []float64, bar float64) {
	m, word := median(ratios), "ok"
	if m < bar {
		word = "UNDER THE BAR"
		r.failed++
	}
	fmt.Printf("%s: %.2f (%.2f to %.2f), median of %d, bar %.1f: %s\n", what, m, slices.Min(ratios), slices.Max(ratios), len(ratios), bar, word)
}
