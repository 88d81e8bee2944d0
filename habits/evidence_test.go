package habits_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/habits"
	"github.com/edigw/edigw/partners"
)

const day = 24 * time.Hour

// hundredDays are those of acme: a delivery each day, whose references are used again after
// 90 days, one copy under the same transport id after two hours, and one under a new one after
// 20 days.
func hundredDays() (list []arrival) {
	at := func(d int) time.Time { return monday.AddDate(0, 0, d).Add(6 * time.Hour) }
	for d := range 100 {
		a := arrival{at: at(d), key: unb(fmt.Sprint(d%90 + 1)), id: fmt.Sprintf("http:north:%d", d)}
		if d >= 90 {
			a.verdict, a.content = "drift", fmt.Sprintf("another invoice %d", d)
		}
		list = append(list, a)
		switch d {
		case 3:
			list = append(list, arrival{at: at(d).Add(2 * time.Hour), key: a.key, id: a.id, verdict: "duplicate"})
		case 24:
			list = append(list, arrival{at: at(d), key: unb("5"), id: "http:north:again", verdict: "duplicate"})
		}
	}
	return list
}

func TestAdvice(t *testing.T) {
	said := func(r *habits.Report) (list []string) {
		for _, w := range r.Warnings {
			list = append(list, "warning "+w.Setting)
		}
		for _, a := range r.Advice {
			list = append(list, fmt.Sprintf("advice %s %s → %s", a.Setting, a.Now, a.Suggest))
		}
		return list
	}
	r := newRig(t, "acme")
	p := r.list[0]
	list := hundredDays()

	t.Run("of little nothing is said", func(t *testing.T) {
		r.arrive(list[:20]...)
		r.pass(r.now.Add(time.Hour))
		got := r.habits("acme")
		if said(got) != nil || !strings.Contains(got.Rests, "too few") || got.Deliveries != 20 {
			t.Errorf("%+v", got)
		}
	})
	r.arrive(list[20:]...)
	r.pass(r.now.Add(time.Hour))
	t.Run("what was seen is told", func(t *testing.T) {
		got := r.habits("acme")
		if got.Deliveries != 102 || got.Days != 100 || got.Transport.Count != 1 || got.Transport.Longest != 2*3600 ||
			got.Interchange.Count != 2 || got.Interchange.Longest != 20*86400 || got.Reused.Later != 10 || got.Reused.Soon != 0 || got.Reused.Shortest != 70*86400 {
			t.Errorf("%+v", got)
		}
	})
	for _, c := range []struct {
		name                string
		dedup, retry, reuse time.Duration
		want                []string
	}{
		{"the windows of the defaults", 400 * day, 30 * day, 0, []string{"warning dedup_window", "advice retry_window 30d → 31d", "advice reuse_after off → 56d"}},
		{"windows that fit", 400 * day, 31 * day, 56 * day, nil},
		{"shorter than a copy was late", 15 * day, 10 * day, 56 * day, []string{"warning retry_window", "warning dedup_window", "advice retry_window 10d → 31d", "advice dedup_window 15d → 31d"}},
		{"with too little margin", 25 * day, 25 * day, 56 * day, []string{"warning dedup_window", "advice retry_window 25d → 31d", "advice dedup_window 25d → 31d"}},
		{"numbers are used again before they may be", 400 * day, 31 * day, 120 * day, []string{"warning reuse_after", "advice reuse_after 120d → 56d"}},
		{"a copy would be taken for a use of its number", 400 * day, 31 * day, 10 * day, []string{"warning reuse_after", "advice reuse_after 10d → 56d"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.Retention.DedupWindow, p.Retention.RetryWindow, p.Policy.ReuseAfter = c.dedup, c.retry, c.reuse
			if diff := cmp.Diff(c.want, said(r.habits("acme"))); diff != "" {
				t.Errorf("%s\n%+v", diff, r.habits("acme"))
			}
		})
	}
	t.Run("the evidence outlives the purge", func(t *testing.T) {
		before := r.habits("acme")
		r.exec(`delete from delivery`)
		r.exec(`delete from inbox`)
		r.pass(r.now.Add(5 * time.Minute))
		if diff := cmp.Diff(before, r.habits("acme")); diff != "" {
			t.Error(diff)
		}
	})
}

// TestNothingCountsTwice breaks the reading off at every place and lets others go on.
func TestNothingCountsTwice(t *testing.T) {
	begin := func(t *testing.T) *rig {
		r := newRig(t, "acme")
		r.arrive(hundredDays()...)
		r.now = r.now.Add(time.Hour)
		return r
	}
	calm := begin(t)
	calm.pass(calm.now)
	want := calm.habits("acme")
	// expired lets the lease of who died, or only slept, run out.
	expired := func(r *rig) { r.exec(`update habit_pass set leased_until = now() - interval '1 second'`) }

	t.Run("killed before each batch", func(t *testing.T) {
		r := begin(t)
		for n := 2; r.habits("acme").Deliveries < want.Deliveries; n++ {
			if n > 200 {
				t.Fatal("it does not come on")
			}
			ctx, kill := context.WithCancel(t.Context())
			w, asked := r.watcher(), 0
			w.Batch = 7
			w.Now = func() time.Time {
				if asked++; asked > 4+n%3 {
					kill()
				}
				return r.now
			}
			_ = w.Pass(ctx) // it was killed, or had done all
			kill()
			expired(r)
		}
		if diff := cmp.Diff(want, r.habits("acme")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("killed in the midst of batches", func(t *testing.T) {
		r := begin(t)
		r.exec(`create sequence dies`)
		r.exec(`create function dies() returns trigger language plpgsql as $$
			begin
				if nextval('dies') % 2 = 0 then raise exception 'killed'; end if;
				return new;
			end $$`)
		r.exec(`create trigger dies before update on habit for each row execute function dies()`)
		failed := 0
		for range 100 {
			w := r.watcher()
			w.Batch = 7
			if err := w.Pass(t.Context()); err == nil {
				break
			}
			failed++
			expired(r)
		}
		if diff := cmp.Diff(want, r.habits("acme")); diff != "" || failed < 5 {
			t.Errorf("after %d failures:\n%s", failed, diff)
		}
	})
	t.Run("another goes on while one only slept", func(t *testing.T) {
		r := begin(t)
		slept, asked := r.watcher(), 0
		slept.Batch = 7
		slept.Now = func() time.Time {
			if asked++; asked == 6 { // between two batches
				expired(r)
				other := r.watcher()
				other.Batch = 11
				if err := other.Pass(t.Context()); err != nil {
					t.Error(err)
				}
			}
			return r.now
		}
		if err := slept.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.habits("acme")); diff != "" || asked < 6 {
			t.Errorf("asked %d times: %s", asked, diff)
		}
	})
	t.Run("who has no lease does nothing", func(t *testing.T) {
		r := begin(t)
		first := r.watcher()
		first.Partners = func() []*partners.Partner { return nil }
		if err := first.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.pass(r.now)
		if got := r.habits("acme").Deliveries; got != 0 {
			t.Errorf("%d deliveries", got)
		}
	})
}
