package gateway_test

import (
	"testing"

	"github.com/edigw/edigw/purge"
)

// Whether the clock is right is asked for as long as a run is at work.
func TestTheClockJumpsMeanwhile(t *testing.T) {
	t.Run("nothing more goes once the clock has jumped", func(t *testing.T) {
		a := newAged(t, firstDay, short)
		a.invoice("")
		a.days(60)
		_, key := a.invoice("") // its window has days to go
		a.purger.Hook = func(point string) {
			if point == "committed" {
				a.purger.Hook = nil
				a.clock.Set(a.clock.Now().AddDate(1, 0, 0))
				a.configure("other", "9520003000003", short) // windows are read again, with the day
			}
		}
		r, err := a.purger.Run(t.Context(), "")
		if err != nil || r.State != purge.Refused {
			t.Errorf("the run is %+v, %v", r, err)
		}
		if row, payload, _ := a.keeps(key); !row || !payload {
			t.Errorf("the key is there: %v, its payload: %v", row, payload)
		}
		if r, err = a.purger.Run(t.Context(), ""); err != nil || r.State != purge.Refused {
			t.Errorf("the next run is %+v, %v", r, err)
		}
	})
}
