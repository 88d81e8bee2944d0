package keys_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners/keys"
)

const day = 24 * time.Hour

// told is who signs, and who opens, at an instant.
func told(t *testing.T, s *keys.Store, at time.Time) string {
	t.Helper()
	r := ring(t, s)
	words := "none"
	if k, err := r.Signer("north", keys.AS2Sign, at); err == nil {
		words = k.Label
	} else if !errors.Is(err, keys.ErrUnknown) {
		t.Fatal(err)
	}
	words += ":"
	for _, k := range r.Decrypters("north", keys.AS2Decrypt, at) {
		words += " " + k.Label
	}
	return words
}

func rotate(t *testing.T, s *keys.Store, r keys.Rotation) (k *keys.Key, err error) {
	t.Helper()
	r.Organisation, r.By = "north", "bert"
	err = inTx(t, s, func(tx pgx.Tx) (err error) {
		k, err = s.RotateTx(t.Context(), tx, r)
		return err
	})
	return k, err
}

func TestRotate(t *testing.T) {
	s, clock := newStore(t)
	create(t, s, "old", "ec-p256", keys.AS2Sign, keys.AS2Decrypt)
	clock.Time = clock.Add(day)
	rotated := clock.Time
	signs := rotated.Add(14 * day)
	t.Run("where a key signs, from when on its successor does has to be said", func(t *testing.T) {
		_, err := rotate(t, s, keys.Rotation{Label: "old", Successor: "new"})
		if !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), `key "old" of north (ec-p256) signs for as2_sign: say from when on "new" does`) || !strings.Contains(err.Error(), "--sign-from now") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nor does one that is made or imported beside it take over without a word", func(t *testing.T) {
		err := inTx(t, s, func(tx pgx.Tx) error {
			_, err := s.CreateTx(t.Context(), tx, keys.New{Organisation: "north", Label: "beside", Purposes: []string{keys.AS2Sign}, Algorithm: "ec-p256", Valid: day})
			return err
		})
		if !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), "say from when on") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no day is taken by which nobody signs any more", func(t *testing.T) {
		_, err := rotate(t, s, keys.Rotation{Label: "old", Successor: "new", SignFrom: rotated.Add(364*day + time.Hour)})
		if !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), "nobody would sign for as2_sign before") {
			t.Errorf("got %v", err)
		}
	})
	k, err := rotate(t, s, keys.Rotation{Label: "old", Successor: "new", SignFrom: signs, Overlap: 30 * day})
	if err != nil {
		t.Fatal(err)
	}
	if k.Algorithm != "ec-p256" || k.Certificates[0].Leaf().Subject.CommonName != "old" {
		t.Errorf("%s, %s", k, k.Certificates[0].Leaf().Subject)
	}
	hold := func(t *testing.T, signs time.Time) {
		for _, c := range []struct {
			at   time.Time
			want string
		}{
			{rotated, "old: new old"}, // partners who have the new certificate may encrypt to it already
			{signs.Add(-time.Second), "old: new old"},
			{signs, "new: new old"},
			{signs.Add(30*day - time.Second), "new: new old"},
			{signs.Add(30 * day), "new: new"},
			{rotated.Add(366 * day), "none: new"}, // its certificate has ended; what comes late is opened
		} {
			if got := told(t, s, c.at); got != c.want {
				t.Errorf("%s after it: got %q, want %q", c.at.Sub(rotated), got, c.want)
			}
		}
	}
	t.Run("the old key signs until the day, and opens for the overlap after it", func(t *testing.T) { hold(t, signs) })
	t.Run("a key has one successor, whoever asks for another", func(t *testing.T) {
		_, err := rotate(t, s, keys.Rotation{Label: "old", Successor: "other", SignFrom: signs})
		if !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), `"old" has a successor, "new", made by bert on`) || !strings.Contains(err.Error(), "rotate that one, or retire it") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("where the successor is retired, the old key is not ended by it", func(t *testing.T) {
		s, clock := newStore(t)
		create(t, s, "first", "ec-p256", keys.AS4Sign, keys.AS4Decrypt)
		if _, err := rotate(t, s, keys.Rotation{Label: "first", Successor: "mistaken", SignFrom: clock.Add(day)}); err != nil {
			t.Fatal(err)
		}
		if err := inTx(t, s, func(tx pgx.Tx) error {
			_, err := s.RetireTx(t.Context(), tx, "north", "mistaken")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		r := ring(t, s)
		k, err := r.Signer("north", keys.AS4Sign, clock.Add(100*day))
		if err != nil || k.Label != "first" || len(r.Decrypters("north", keys.AS4Decrypt, clock.Add(100*day))) != 1 {
			t.Errorf("got %v, %v", k, err)
		}
		if _, err := rotate(t, s, keys.Rotation{Label: "first", Successor: "right", SignFrom: clock.Add(50 * day), Overlap: day}); err != nil {
			t.Error(err)
		}
	})
	move := func(at time.Time) error {
		return inTx(t, s, func(tx pgx.Tx) error {
			_, err := s.SignFromTx(t.Context(), tx, "north", "new", at)
			return err
		})
	}
	t.Run("the day is put off, and the overlap with it", func(t *testing.T) {
		if err := move(signs.Add(7 * day)); err != nil {
			t.Fatal(err)
		}
		hold(t, signs.Add(7*day))
	})
	t.Run("even when it has passed, as long as the old key signs", func(t *testing.T) {
		clock.Time = signs.Add(8 * day)
		if err := move(signs.Add(9 * day)); err != nil {
			t.Fatal(err)
		}
		hold(t, signs.Add(9*day))
		if err := move(signs.Add(360 * day)); !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), "does not hold at") && !strings.Contains(err.Error(), "nobody else signs") {
			t.Errorf("got %v", err)
		}
		hold(t, signs.Add(9*day))
	})
	t.Run("a retired key is not used, and its label is free", func(t *testing.T) {
		retire := func(label string) error {
			return inTx(t, s, func(tx pgx.Tx) error {
				_, err := s.RetireTx(t.Context(), tx, "north", label)
				return err
			})
		}
		if err := retire("old"); err != nil {
			t.Fatal(err)
		}
		if got := told(t, s, signs.Add(10*day)); got != "new: new" {
			t.Errorf("got %q", got)
		}
		create(t, s, "old", "ec-p256", keys.EvidenceSign)
		if err := retire("nothing"); !errors.Is(err, keys.ErrUnknown) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("who does not sign has no day", func(t *testing.T) {
		create(t, s, "opens", "ec-p256", keys.AS4Decrypt)
		later := clock.Add(10 * day)
		if _, err := rotate(t, s, keys.Rotation{Label: "opens", Successor: "opens next", SignFrom: later, Overlap: 5 * day}); err != nil {
			t.Fatal(err)
		}
		for at, want := range map[time.Duration]int{0: 2, 15*day - time.Second: 2, 15 * day: 1} {
			if list := ring(t, s).Decrypters("north", keys.AS4Decrypt, clock.Add(at)); len(list) != want {
				t.Errorf("after %s %d open", at, len(list))
			}
		}
		err := inTx(t, s, func(tx pgx.Tx) error {
			_, err := s.SignFromTx(t.Context(), tx, "north", "opens", signs)
			return err
		})
		if !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), "does not sign") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("another organisation's keys are its own", func(t *testing.T) {
		if _, err := ring(t, s).Signer("south", keys.AS2Sign, rotated); !errors.Is(err, keys.ErrUnknown) || !strings.Contains(err.Error(), "keys create") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("one that is not used yet says from when on it is", func(t *testing.T) {
		if _, err := ring(t, s).Signer("north", keys.AS2Sign, rotated); !errors.Is(err, keys.ErrUnknown) || !strings.Contains(err.Error(), "signs from ") {
			t.Errorf("got %v", err)
		}
	})
}
