package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/outbox"
)

func TestEffectsByTarget(t *testing.T) {
	none := effectsStanding{}
	t.Run("where nothing is open every target says so", func(t *testing.T) {
		want := map[string]effectsStanding{"folder": none, "acknowledgement-webhook": none, "acknowledgement-folder": none, "acknowledgement-as2": none, "acknowledgement-as4": none, "as2-mdn": none}
		if diff := cmp.Diff(want, effectsByTarget(nil), cmp.AllowUnexported(effectsStanding{})); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what waits and what is stuck are told apart, by target", func(t *testing.T) {
		open := []outbox.Standing{
			{Target: "folder", State: outbox.Pending, Count: 2, Oldest: time.Minute},
			{Target: "folder", State: outbox.Started, Count: 1, Oldest: time.Hour},
			{Target: "folder", State: outbox.Unknown, Count: 5, Oldest: 9 * time.Hour},
			{Target: "acknowledgement-webhook", State: outbox.GivenUp, Count: 3, Oldest: 2 * time.Hour},
			{Target: "acknowledgement-webhook", State: outbox.Unknown, Count: 1, Oldest: 2 * time.Hour},
			{Target: "as2-mdn", State: outbox.Pending, Count: 1, Oldest: 3 * time.Hour},
		}
		want := map[string]effectsStanding{
			"folder":                  {waiting: 3, stuck: 5, oldest: time.Hour},
			"acknowledgement-webhook": {stuck: 4},
			"acknowledgement-folder":  none,
			"acknowledgement-as2":     none,
			"acknowledgement-as4":     none,
			"as2-mdn":                 {waiting: 1, oldest: 3 * time.Hour},
		}
		if diff := cmp.Diff(want, effectsByTarget(open), cmp.AllowUnexported(effectsStanding{})); diff != "" {
			t.Error(diff)
		}
	})
}
