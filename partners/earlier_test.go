package partners_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/partners"
)

func TestEarlierKeySettings(t *testing.T) {
	day := 24 * time.Hour
	// settings gives the chain as text: what, and for how many days from start.
	settings := func(p *partners.Partner, start time.Time) []string {
		var chain []string
		for k := p.Policy.Previous; k != nil; k = k.Before {
			chain = append(chain, fmt.Sprintf("%s %t %dd", k.ControlReference, k.KeyIncludesApplication, k.Until.Sub(start)/day))
		}
		return chain
	}
	type step struct {
		after int // days from start
		keys  []string
		want  []string
	}
	for name, steps := range map[string][]step{
		"none without a change": {
			{0, nil, nil}, {1, []string{"attempts: 3"}, nil}},
		"a change is remembered for the dedup window": {
			{0, nil, nil},
			{10, []string{"control_reference: unique_per_day"}, []string{"unique false 410d"}},
			{11, []string{"control_reference: unique_per_day", "attempts: 3"}, []string{"unique false 410d"}},
			{410, []string{"control_reference: unique_per_day", "attempts: 4"}, nil}},
		"so is 0026 in the key": {
			{0, nil, nil}, {1, []string{"key_includes_application: true"}, []string{"unique false 401d"}}},
		"two changes are both remembered, the newest first": {
			{0, nil, nil},
			{1, []string{"control_reference: unique_per_day"}, []string{"unique false 401d"}},
			{2, []string{"control_reference: unreliable"}, []string{"unique_per_day false 402d", "unique false 401d"}}},
		"back again, what is in force now is not an earlier one": {
			{0, nil, nil},
			{1, []string{"control_reference: unreliable"}, []string{"unique false 401d"}},
			{2, nil, []string{"unreliable false 402d"}},
			{3, []string{"control_reference: unreliable"}, []string{"unique false 403d"}}},
		"a window that is shortened with it does not shorten the memory": {
			{0, nil, nil},
			{1, []string{"control_reference: unreliable", "retention: {dedup_window: 100d}"}, []string{"unique false 401d"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s, clock := newStore(t)
			start := clock.Time
			apply(t, s, north)
			for _, st := range steps {
				clock.Time = start.Add(time.Duration(st.after) * day)
				apply(t, s, partner("acme", st.keys...))
				if diff := cmp.Diff(st.want, settings(get(t, s, "acme"), start)); diff != "" {
					t.Errorf("day %d: %s", st.after, diff)
				}
			}
		})
	}
	t.Run("it ends by itself", func(t *testing.T) {
		s, clock := newStore(t)
		start := clock.Time
		apply(t, s, north+partner("acme"))
		apply(t, s, partner("acme", "control_reference: unreliable"))
		clock.Time = start.Add(400*day - 1)
		if get(t, s, "acme").Policy.Previous == nil {
			t.Error("ended early")
		}
		clock.Time = start.Add(400 * day)
		if get(t, s, "acme").Policy.Previous != nil {
			t.Error("did not end")
		}
	})
}
