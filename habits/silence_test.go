package habits_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/partners"
)

// A quarter of arrivals of each rhythm, and how long after the last of them the partner is
// silent: between the two times.
var rhythms = []struct {
	name     string
	arrivals func(*rand.Rand) []time.Time
	from, to time.Duration
}{
	{"daily at six", func(*rand.Rand) []time.Time { return each(91, func(d int) []time.Duration { return hours(6) }) }, 24 * time.Hour, 60 * time.Hour},
	{"daily, some hours early or late", func(r *rand.Rand) []time.Time {
		return each(91, func(d int) []time.Duration {
			return []time.Duration{8*time.Hour + time.Duration(r.IntN(240)-120)*time.Minute}
		})
	}, 26 * time.Hour, 84 * time.Hour},
	{"each hour of working days", func(*rand.Rand) []time.Time {
		return each(91, func(d int) []time.Duration {
			if d%7 > 4 {
				return nil
			}
			return hours(8, 9, 10, 11, 12, 13, 14, 15, 16)
		})
	}, 60 * time.Hour, 72 * time.Hour}, // the last is a Friday's: on Monday
	{"once each working day", func(*rand.Rand) []time.Time {
		return each(91, func(d int) []time.Duration {
			if d%7 > 4 {
				return nil
			}
			return hours(10)
		})
	}, 3 * 24 * time.Hour, 5 * 24 * time.Hour},
	{"a burst each Wednesday", func(*rand.Rand) []time.Time {
		return each(91, func(d int) []time.Duration {
			if d%7 != 2 {
				return nil
			}
			var burst []time.Duration
			for i := range 80 {
				burst = append(burst, 2*time.Hour+time.Duration(i)*time.Minute)
			}
			return burst
		})
	}, 7 * 24 * time.Hour, 16 * 24 * time.Hour},
	{"twice a month", func(*rand.Rand) []time.Time {
		return each(91, func(d int) []time.Duration {
			if day := monday.AddDate(0, 0, d).Day(); day != 1 && day != 15 {
				return nil
			}
			return hours(9)
		})
	}, 15 * 24 * time.Hour, 60 * 24 * time.Hour},
	{"irregular, every other day or so", func(r *rand.Rand) (list []time.Time) {
		for at := monday; at.Before(monday.AddDate(0, 0, 91)); at = at.Add(time.Duration(r.ExpFloat64() * float64(40*time.Hour))) {
			list = append(list, at)
		}
		return list
	}, 3 * 24 * time.Hour, 30 * 24 * time.Hour},
}

// each gives the times of so many days.
func each(n int, of func(day int) []time.Duration) (list []time.Time) {
	for d := range n {
		for _, at := range of(d) {
			list = append(list, monday.AddDate(0, 0, d).Add(at))
		}
	}
	return list
}

func hours(list ...int) (out []time.Duration) {
	for _, h := range list {
		out = append(out, time.Duration(h)*time.Hour)
	}
	return out
}

// TestRhythms simulates a quarter, looked at every six hours: no partner is silent in it,
// and each is in time when nothing comes any more.
func TestRhythms(t *testing.T) {
	r := newRig(t)
	last := map[string]time.Time{}
	var pending []arrival
	for i, x := range rhythms {
		id := strings.ReplaceAll(strings.ReplaceAll(x.name, " ", "-"), ",", "")
		r.list = append(r.list, partner(id))
		for _, at := range x.arrivals(rand.New(rand.NewPCG(7, uint64(i)))) {
			pending = append(pending, arrival{at: at, partner: id, id: "http:north:" + at.String()})
			last[id] = latest(last[id], at)
		}
	}
	r.list = append(r.list, partner("monthly"))
	for m := range 3 {
		pending = append(pending, arrival{at: monday.AddDate(0, m, 27), partner: "monthly", id: "http:north:" + time.Month(m).String()})
	}
	silent := map[string]time.Time{}
	look := func(at time.Time) {
		var now []arrival
		for i := 0; i < len(pending); i++ {
			if !pending[i].at.After(at.Add(-3 * time.Minute)) {
				now = append(now, pending[i])
				pending = append(pending[:i], pending[i+1:]...)
				i--
			}
		}
		if len(now) > 0 {
			r.arrive(now...)
		}
		r.exec(`update habit_pass set up_at = $1`, at) // it looked all the time
		r.pass(at)
		for _, e := range r.events() {
			id, _, _ := strings.Cut(strings.TrimPrefix(e, "partner.silent "), ":")
			silent[id] = at
		}
	}
	end := monday.AddDate(0, 0, 91)
	for at := monday; at.Before(end); at = at.Add(6 * time.Hour) {
		look(at)
		for id := range silent {
			if at.Before(last[id]) {
				t.Fatalf("%s is silent at %s", id, at)
			}
		}
	}
	for at := end; at.Before(end.AddDate(0, 0, 70)); at = at.Add(6 * time.Hour) {
		look(at)
	}
	for i, x := range rhythms {
		id := r.list[i].ID
		after := silent[id].Sub(last[id])
		t.Logf("%s: silent %.1f days after the last", x.name, after.Hours()/24)
		if silent[id].IsZero() || after < x.from || after > x.to+6*time.Hour {
			t.Errorf("%s: silent %v after the last delivery, not between %v and %v", x.name, after, x.from, x.to)
		}
	}
	if at, is := silent["monthly"]; is {
		t.Errorf("three files in three months are no rhythm, and yet it was silent at %s", at)
	}
}

// daily are deliveries at six of so many days.
func daily(id string, n int) (list []arrival) {
	for d := range n {
		at := monday.AddDate(0, 0, d).Add(6 * time.Hour)
		list = append(list, arrival{at: at, partner: id, id: "http:north:" + at.String()})
	}
	return list
}

func TestASilence(t *testing.T) {
	r := newRig(t, "acme", "bolt", "cord")
	for _, p := range r.list[:2] {
		r.arrive(daily(p.ID, 30)...)
	}
	r.list[2].Policy.Silence = partners.Silence(72)
	end := monday.AddDate(0, 0, 30) // a day's delivery is not there yet
	types := func(list []string) (out []string) {
		for _, e := range list {
			word, _, _ := strings.Cut(e, ":")
			out = append(out, word)
		}
		return out
	}
	want := func(t *testing.T, words ...string) {
		t.Helper()
		if diff := cmp.Diff(words, types(r.events())); diff != "" {
			t.Errorf("told:\n%s", diff)
		}
	}

	r.pass(end)
	t.Run("nobody is silent for an outage of ours", func(t *testing.T) {
		r.pass(end.AddDate(0, 0, 10))
		r.pass(end.AddDate(0, 0, 10).Add(2 * time.Hour))
		want(t)
	})
	back := end.AddDate(0, 0, 10)
	t.Run("nor is one who is paused, or whose setting is off", func(t *testing.T) {
		r.list[1].Active = false
		r.through(back.AddDate(0, 0, 4))
		if got := r.habits("acme").Silence; got.SilentSince == nil || got.ExpectedBy == nil {
			t.Errorf("%+v", got)
		}
		if got := r.habits("bolt").Silence; got.Setting != "paused" || got.ExpectedBy != nil {
			t.Errorf("%+v", got)
		}
		list := r.events()
		if diff := cmp.Diff([]string{"partner.silent acme", "partner.silent cord"}, types(list)); diff != "" {
			t.Fatal(diff)
		}
		if !strings.Contains(list[0], "the last delivery came 2027-03-30 06:00:00Z") || !strings.Contains(list[1], "nothing was ever received") {
			t.Error(list)
		}
	})
	t.Run("it is told once", func(t *testing.T) {
		r.through(r.now.Add(5 * time.Hour))
		want(t)
	})
	t.Run("what is forged ends none", func(t *testing.T) {
		r.arrive(arrival{at: r.now, id: "http:north:forged", verdict: "refused"})
		r.through(r.now.Add(2 * time.Hour))
		want(t)
	})
	t.Run("a delivery does", func(t *testing.T) {
		r.arrive(arrival{at: r.now, id: "http:north:late"})
		r.through(r.now.Add(2 * time.Hour))
		want(t, "partner.heard acme")
		if got := r.habits("acme").Silence; got.SilentSince != nil || !got.ExpectedBy.After(r.now) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a setting does", func(t *testing.T) {
		r.list[2].Policy.Silence = partners.SilenceOff
		r.pass(r.now.Add(time.Hour))
		want(t, "partner.heard cord")
	})
	t.Run("who is no longer paused has his time from then on", func(t *testing.T) {
		r.list[1].Active = true
		r.pass(r.now.Add(time.Minute))
		if got := r.habits("bolt").Silence; got.ExpectedBy == nil || got.ExpectedBy.Before(r.now.Add(20*time.Hour)) {
			t.Errorf("%+v", got)
		}
		want(t)
	})
	t.Run("what has come and was not read yet keeps from it", func(t *testing.T) {
		due := *r.habits("bolt").Silence.ExpectedBy
		r.arrive(arrival{at: due, partner: "bolt", id: "http:north:just-now"})
		r.exec(`update habit_pass set up_at = $1`, due)
		r.pass(due.Add(time.Minute))
		for _, e := range types(r.events()) {
			if e == "partner.silent bolt" {
				t.Error(e)
			}
		}
	})
}
