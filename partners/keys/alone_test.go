package keys_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners/keys"
)

// TestTwoChangesAtOnce holds the first change open until the second one waits for
// it, or has ended without having waited.
func TestTwoChangesAtOnce(t *testing.T) {
	made := func(s *keys.Store, tx pgx.Tx, label string) error {
		_, err := s.CreateTx(t.Context(), tx, keys.New{Organisation: "north", Label: label, Purposes: []string{keys.AS2Sign}, Algorithm: "ec-p256", Valid: day, By: label})
		return err
	}
	atOnce := func(t *testing.T, s *keys.Store, first, second func(tx pgx.Tx) error) (err error) {
		t.Helper()
		ended := chan error(nil)
		if err := inTx(t, s, func(tx pgx.Tx) error {
			if err := first(tx); err != nil {
				return err
			}
			ended = begin(t, s, second)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return <-ended
	}
	t.Run("of two keys for one purpose the second does not take over without a word", func(t *testing.T) {
		s, _ := newStore(t)
		err := atOnce(t, s, func(tx pgx.Tx) error { return made(s, tx, "anna") }, func(tx pgx.Tx) error { return made(s, tx, "bert") })
		if !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), `key "anna" of north (ec-p256) signs for as2_sign`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a key has one successor", func(t *testing.T) {
		s, clock := newStore(t)
		create(t, s, "2026", "ec-p256", keys.AS2Sign)
		next := func(label string) func(tx pgx.Tx) error {
			return func(tx pgx.Tx) error {
				_, err := s.RotateTx(t.Context(), tx, keys.Rotation{Organisation: "north", Label: "2026", Successor: label, SignFrom: clock.Add(day), By: label})
				return err
			}
		}
		if err := atOnce(t, s, next("anna"), next("bert")); !errors.Is(err, keys.ErrUnfit) || !strings.Contains(err.Error(), `has a successor, "anna", made by anna`) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what is made while all are sealed anew is not left under the former master key", func(t *testing.T) {
		s, _ := newStore(t)
		create(t, s, "2026", "ec-p256", keys.AS2Sign)
		anew := &keys.Store{Pool: s.Pool, Master: master(t, second, first), Now: s.Now}
		err := atOnce(t, s, func(tx pgx.Tx) error {
			_, _, err := anew.ResealTx(t.Context(), tx)
			return err
		}, func(tx pgx.Tx) error {
			_, err := s.CreateTx(t.Context(), tx, keys.New{Organisation: "north", Label: "late", Purposes: []string{keys.AS4Decrypt}, Algorithm: "ec-p256", Valid: day})
			return err
		})
		if !errors.Is(err, keys.ErrNoMaster) {
			t.Errorf("got %v", err)
		}
	})
}

// begin starts a change, and comes back when it waits for a lock or has ended.
func begin(t *testing.T, s *keys.Store, change func(tx pgx.Tx) error) chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- pgx.BeginFunc(t.Context(), s.Pool, change) }()
	for waiting := false; !waiting; {
		select {
		case err := <-ended:
			ended <- err
			return ended
		case <-time.After(10 * time.Millisecond):
		}
		if err := s.Pool.QueryRow(t.Context(), `select exists (select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database()))`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	return ended
}
