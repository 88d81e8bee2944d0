package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// results are all measurements of a run.
type results struct {
	clients            []int
	fresh, again, bare series
	limits             map[string][]float64
}

// series are measurements by number of clients.
type series map[int]measurements

func (s *series) add(clients int, m measurement) {
	if *s == nil {
		*s = series{}
	}
	(*s)[clients] = append((*s)[clients], m)
}

// measurements are those of one number of clients, round by round.
type measurements []measurement

// rate is the median of messages a second.
func (ms measurements) rate() float64 {
	return ms.each(func(m measurement) float64 { return float64(m.Messages) / m.Seconds })
}

// each is the median of f.
func (ms measurements) each(f func(measurement) float64) float64 {
	v := make([]float64, len(ms))
	for i := range ms {
		v[i] = f(ms[i])
	}
	return median(v)
}

func (r *results) limit(name string, rate float64) {
	if r.limits == nil {
		r.limits = map[string][]float64{}
	}
	r.limits[name] = append(r.limits[name], rate)
}

// The first bars, as shares: of pg-limit's single at eight clients, and of the
// bare handler at the same number of clients.
var firstBars = map[int]float64{8: 0.4, 32: 0.5, 128: 0.5}

const duplicateBar = 0.4

// print writes the table.
func (r *results) print(w io.Writer) {
	single := r.limits["single"]
	fmt.Fprintf(w, "pg-limit, %d clients: single %.0f msg/s (%.0f to %.0f), group8 %.0f, duplicate %.0f; medians of %d\n\n",
		limitClients, median(single), slices.Min(single), slices.Max(single), median(r.limits["group8"]), median(r.limits["duplicate"]), len(single))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := "clients\tmsg/s\tratio\tbar\tp50 ms\tp99 ms\tCPU µs a message: gateway\tdatabase\tgenerator\t"
	fmt.Fprintln(t, "new\t"+head)
	for _, n := range r.clients {
		bar := "-"
		if v, ok := firstBars[n]; ok {
			bar = fmt.Sprintf("%.1f", v)
		}
		r.row(t, "of single", n, r.fresh[n], median(single), bar)
	}
	fmt.Fprintln(t, "known\t"+head)
	for _, n := range r.clients {
		r.row(t, "of bare", n, r.again[n], r.bare[n].rate(), fmt.Sprint(duplicateBar))
	}
	fmt.Fprintln(t, "bare\t"+head)
	for _, n := range r.clients {
		r.row(t, "", n, r.bare[n], r.bare[n].rate(), "-")
	}
	_ = t.Flush() // the table is shown as far as it goes
}

func (r *results) row(w io.Writer, what string, clients int, ms measurements, denominator float64, bar string) {
	fmt.Fprintf(w, "%s\t%d\t%.0f\t%.2f\t%s\t%.1f\t%.1f\t%.0f\t%.0f\t%.0f\t\n", what, clients, ms.rate(), ms.rate()/denominator, bar,
		ms.each(func(m measurement) float64 { return milliseconds(m.P50) }), ms.each(func(m measurement) float64 { return milliseconds(m.P99) }),
		ms.each(func(m measurement) float64 { return perMessage(m.gateway, m.Messages) }),
		ms.each(func(m measurement) float64 { return perMessage(m.database, m.Messages) }),
		ms.each(func(m measurement) float64 { return m.CPU * 1e6 / float64(max(m.Messages, 1)) }))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// perMessage is in microseconds.
func perMessage(cpu time.Duration, messages int64) float64 {
	return float64(cpu.Microseconds()) / float64(max(messages, 1))
}

// median of v; 0 of nothing.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
