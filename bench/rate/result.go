package rate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// result is what was measured of one load.
type result struct {
	load      Load
	crypto    []time.Duration // a message's
	single    []float64       // pg-limit's rate
	least     []time.Duration // the database's for a message of pg-limit's
	receivers []measurements
}

// measurements are a receiver's, round by round.
type measurements []measurement

// rate is the median of messages a second.
func (ms measurements) rate() float64 {
	return median(ms, func(m measurement) float64 { return float64(m.Messages) / m.Took.Seconds() })
}

// each is the median of f for a message.
func (ms measurements) each(f func(measurement) time.Duration) time.Duration {
	return median(ms, func(m measurement) time.Duration { return f(m) / time.Duration(max(m.Messages, 1)) })
}

// median of f over list, which is not empty.
func median[T any, V cmp.Ordered](list []T, f func(T) V) V {
	values := make([]V, len(list))
	for i, v := range list {
		values[i] = f(v)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func itself[T any](v T) T { return v }

// print writes the table, and says which bars are reached.
func (r *result) print(w io.Writer, receivers []Receiver) error {
	fmt.Fprintf(w, "\n%s, %d clients, medians of %d rounds\n", r.load.Name, Clients, len(r.receivers[0]))
	share := func(time.Duration) string { return "-" } // of the time a message takes
	var bound time.Duration
	if r.load.Bar > 0 {
		crypto, least := median(r.crypto, itself), median(r.least, itself)*time.Duration(max(r.load.Invoices, 1))
		bound = crypto + least
		fmt.Fprintf(w, "A message takes %.0f µs of bare cryptography, and the database %.0f µs for the least there is to write", micro(crypto), micro(least))
		if r.load.Invoices > 1 {
			fmt.Fprintf(w, " of its %d invoices", r.load.Invoices)
		}
		fmt.Fprintf(w, " (pg-limit single: %.0f msg/s).\nSo %.0f cores could do %.1f messages a second at the most.\n", median(r.single, itself), cores(), cores()/bound.Seconds())
		share = func(t time.Duration) string { return fmt.Sprintf("%.2f", bound.Seconds()/max(t, 1).Seconds()) }
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\n\tmsg/s\tof the most\tp50 ms\tp99 ms\tCPU µs a message: program\tdatabase\tof the most\tgenerator\tput off\t")
	for i, ms := range r.receivers {
		program, database := ms.each(func(m measurement) time.Duration { return m.program }), ms.each(func(m measurement) time.Duration { return m.database })
		fmt.Fprintf(t, "%s\t%.1f\t%s\t%.1f\t%.1f\t%.0f\t%.0f\t%s\t%.0f\t%d\t\n", receivers[i].Name, ms.rate(), share(ms.time()),
			milli(median(ms, func(m measurement) time.Duration { return m.P50 })), milli(median(ms, func(m measurement) time.Duration { return m.P99 })),
			micro(program), micro(database), share(program+database),
			micro(ms.each(func(m measurement) time.Duration { return m.CPU })), median(ms, func(m measurement) int { return m.TryAgain }))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	ours := r.receivers[0]
	if r.load.Bar > 0 {
		reached := bound.Seconds() / ours.time().Seconds()
		fmt.Fprintf(w, "%s reaches %.2f of the most; the bar is %.2f: %s\n", receivers[0].Name, reached, r.load.Bar, word(reached >= r.load.Bar))
	}
	for i, ms := range r.receivers[1:] {
		times := ours.rate() / ms.rate()
		fmt.Fprintf(w, "%s is %.2f times as fast as %s", receivers[0].Name, times, receivers[i+1].Name)
		if i == 0 && r.load.Times > 0 {
			fmt.Fprintf(w, "; the bar is %.1f: %s", r.load.Times, word(times >= r.load.Times))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// time is what a message takes of each core at the rate.
func (ms measurements) time() time.Duration {
	return time.Duration(cores() / ms.rate() * float64(time.Second))
}

func word(reached bool) string {
	if reached {
		return "reached"
	}
	return "MISSED"
}

func micro(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func milli(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
