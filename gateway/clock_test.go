package gateway

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/pgtest"
)

func TestClock(t *testing.T) {
	// A node whose own clock is a day ahead of the database's.
	behind := func(d time.Duration) *Clock {
		c := &Clock{}
		c.at.Store(&reading{time.Now().Add(-d), time.Now()})
		return c
	}
	of := func(id uuid.UUID) time.Time {
		sec, nsec := id.Time().UnixTime()
		return time.Unix(sec, nsec)
	}
	t.Run("time and ids are the database's, not the node's", func(t *testing.T) {
		c := behind(24 * time.Hour)
		for _, got := range []time.Time{c.Now(), of(c.NewID())} {
			if d := time.Since(got) - 24*time.Hour; d < -time.Second || d > time.Minute {
				t.Errorf("%v is %v off", got, d)
			}
		}
	})
	t.Run("ids of one process only grow, though the clock is set back", func(t *testing.T) {
		c := behind(0)
		last := c.NewID()
		for i := range 10_000 {
			if i == 5_000 {
				c.at.Store(&reading{time.Now().Add(-time.Hour), time.Now()})
			}
			id := c.NewID()
			if id.String() <= last.String() || id.Version() != 7 || id.Variant() != uuid.RFC4122 {
				t.Fatalf("%s after %s", id, last)
			}
			last = id
		}
	})
	t.Run("it is measured by asking", func(t *testing.T) {
		var c Clock
		if err := c.Measure(t.Context(), pgtest.New(t)); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(c.Now()).Abs(); d > time.Minute || c.Now().Location() != time.UTC {
			t.Errorf("the database of this machine is %v off: %v", d, c.Now())
		}
	})
}
