package habits_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/habits"
)

// counted are arrivals an hour apart of references written by format.
func counted(from time.Time, format string, numbers ...int) (list []arrival) {
	for i, n := range numbers {
		list = append(list, arrival{at: from.Add(time.Duration(i) * time.Hour), key: unb(fmt.Sprintf(format, n))})
	}
	return list
}

func upTo(from, to, step int) (list []int) {
	for n := from; n <= to; n += step {
		list = append(list, n)
	}
	return list
}

func without(list []int, gone ...int) (out []int) {
	for _, n := range list {
		keep := true
		for _, g := range gone {
			keep = keep && n != g
		}
		if keep {
			out = append(out, n)
		}
	}
	return out
}

func TestAMissingNumberIsALostFile(t *testing.T) {
	for _, c := range []struct {
		name string
		list []arrival
		want []string
	}{
		{"none is missing", counted(monday, "%d", upTo(1, 30, 1)...), nil},
		{"one is", counted(monday, "%d", without(upTo(1, 30, 1), 20)...), []string{"19 [20] 21"}},
		{"three at once are one gap", counted(monday, "%05d", without(upTo(1, 30, 1), 20, 21, 22)...), []string{"00019 [00020 00021 00022] 00023"}},
		{"one of the first dozen", counted(monday, "INV%04d", without(upTo(100, 120, 1), 104)...), []string{"INV0103 [INV0104] INV0105"}},
		{"steps of ten", counted(monday, "%d", without(upTo(1000, 1300, 10), 1200)...), []string{"1190 [1200] 1210"}},
		{"they begin anew behind 99999", counted(monday, "%05d", append(upTo(99970, 99998, 1), upTo(2, 20, 1)...)...), []string{"99998 [99999 00001] 00002"}},
		{"they begin anew before that", counted(monday, "%d", append(upTo(400, 430, 1), upTo(1, 20, 1)...)...), nil},
		{"out of order", counted(monday, "%d", 1, 2, 3, 5, 4, 6, 7, 9, 8, 10, 11, 12, 14, 13, 15, 16, 18, 17, 19, 20, 22, 21, 23, 24), nil},
		{"a jump ahead", counted(monday, "%d", append(upTo(1, 20, 1), upTo(5001, 5020, 1)...)...), nil},
		{"two that count within one series", interleaved(), []string{"70014 [70015] 70016"}},
		{"random references", counted(monday, "%d", 48213, 90122, 1733, 55120, 77, 81234, 23111, 66612, 31415, 27182, 16180, 14142, 99120, 12, 70071, 40960, 32768, 65536), nil},
		{"a constant one", counted(monday, "%d", make([]int, 30)...), nil},
		{"numbers that hold the day", dated(), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "acme")
			r.arrive(c.list...)
			r.pass(r.now.Add(5 * 24 * time.Hour))
			if diff := cmp.Diff(c.want, r.gaps("open")); diff != "" {
				t.Errorf("gaps:\n%s", diff)
			}
			if events := r.events(); len(events) != len(c.want) {
				t.Errorf("told: %q", events)
			}
		})
	}
}

// interleaved are the numbers of two counters in turn, of one of which a number is missing.
func interleaved() []arrival {
	var numbers []int
	for i := range 30 {
		numbers = append(numbers, 100+i)
		if i != 15 {
			numbers = append(numbers, 70000+i)
		}
	}
	return counted(monday, "%d", numbers...)
}

// dated are references like 27030101: two a day, but one at weekends.
func dated() (list []arrival) {
	for d := range 40 {
		day := monday.AddDate(0, 0, d)
		for n := 1; n <= 1+d%2; n++ {
			list = append(list, arrival{at: day.Add(time.Duration(n) * time.Hour), key: unb(fmt.Sprintf("%s%02d", day.Format("060102"), n))})
		}
	}
	return list
}

func TestAGapEnds(t *testing.T) {
	r := newRig(t, "acme")
	r.arrive(counted(monday, "%d", without(upTo(1, 30, 1), 20, 21, 25)...)...)

	t.Run("it is told once, when its time has come", func(t *testing.T) {
		last := r.now
		r.pass(last.Add(-6 * time.Hour))
		r.pass(last.Add(3 * time.Minute))
		r.pass(last.Add(2 * time.Hour))
		r.pass(last.Add(3 * time.Hour))
		want := []string{"sequence.gap acme: acme sent 19 and then 22: 20, 21 did not come", "sequence.gap acme: acme sent 24 and then 26: 25 did not come"}
		if diff := cmp.Diff(want, r.events()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what comes late closes it, the last of it", func(t *testing.T) {
		at := r.now.Add(time.Hour)
		r.arrive(arrival{at: at, key: unb("21")})
		r.pass(at.Add(5 * time.Minute))
		if diff := cmp.Diff([]string{"19 [20] 22", "24 [25] 26"}, r.gaps("open")); diff != "" {
			t.Error(diff)
		}
		r.arrive(arrival{at: at.Add(time.Hour), key: unb("20")})
		r.pass(at.Add(2 * time.Hour))
		if diff := cmp.Diff([]string{"19 [] 22 arrived"}, r.gaps("closed")); diff != "" {
			t.Error(diff)
		}
		if got := r.events(); len(got) != 1 || !strings.HasPrefix(got[0], "sequence.gap_closed acme: 20, 21 of acme came") {
			t.Errorf("told: %q", got)
		}
	})
	t.Run("a person dismisses it with a reason, once", func(t *testing.T) {
		open, err := habits.Store{Pool: r.pool}.Gaps(t.Context(), habits.GapFilter{Partner: "acme", State: "open", Limit: 10})
		if err != nil || len(open) != 1 {
			t.Fatal(open, err)
		}
		dismiss := func() error {
			return pgx.BeginFunc(t.Context(), r.pool, func(tx pgx.Tx) error {
				return habits.Dismiss(r.list[0], open[0].ID, "dora", "it was a test of theirs", r.now, r.id())(t.Context(), tx)
			})
		}
		if err := dismiss(); err != nil {
			t.Fatal(err)
		}
		if err := dismiss(); err != habits.ErrNoGap {
			t.Errorf("again: %v", err)
		}
		if diff := cmp.Diff([]string{"sequence.gap_closed acme: 25 of acme did not come; dora closed the gap: it was a test of theirs"}, r.events()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("one that was journalled too late to be read is no gap", func(t *testing.T) {
		at := r.now.Add(time.Hour)
		r.arrive(counted(at, "%d", 31, 33, 34)...)
		r.exec(`insert into inbox (partner_id, message_id, kind, first_at, last_at, purge_on, state, answer, messages, delivery_id)
			values ('acme', $1, 0, $2, $2, '2099-01-01', 1, 1, '', $3)`, unb("32"), at, r.id())
		r.pass(at.Add(24 * time.Hour))
		if got := r.gaps("open"); got != nil {
			t.Error(got)
		}
	})
	t.Run("a gap of test interchanges is listed and causes no event", func(t *testing.T) {
		var list []arrival
		for i, a := range counted(r.now, "%d", without(upTo(1, 20, 1), 15)...) {
			a.key = strings.Replace(a.key, "unb:", "unb:test:", 1)
			a.at = a.at.Add(time.Duration(i) * time.Second)
			list = append(list, a)
		}
		r.arrive(list...)
		r.pass(r.now.Add(24 * time.Hour))
		if diff := cmp.Diff([]string{"14 [15] 16"}, r.gaps("open")); diff != "" {
			t.Error(diff)
		}
		if got := r.events(); got != nil {
			t.Error(got)
		}
	})
}
