package main

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

func TestActs(t *testing.T) {
	pool := pgtest.New(t)
	away, err := pgxpool.New(t.Context(), "postgres://")
	if err != nil {
		t.Fatal(err)
	}
	away.Close()
	var log buffer
	s := &administration{
		pool: pool, partners: &partners.Store{Pool: pool}, accounts: &accounts.Store{Pool: pool},
		directory: &partners.Directory{Store: &partners.Store{Pool: away}}, log: slog.New(slog.NewTextHandler(&log, nil)),
	}
	t.Run("what was committed is told as done, though it cannot be loaded again", func(t *testing.T) {
		changes, err := s.apply(t.Context(), accounts.Identity{Person: "anna", Role: accounts.Admin}, []byte("kind: Organisation\nid: north\nname: North\n"), nil)
		if err != nil || len(changes) != 1 {
			t.Fatalf("%v, %v", changes, err)
		}
		if list, err := s.partners.Organisations(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
		if !strings.Contains(log.String(), "action=partners.applied") {
			t.Errorf("the log says %q", log.String())
		}
	})
	t.Run("what was not committed is not", func(t *testing.T) {
		err := s.act(t.Context(), accounts.Identity{}, accounts.Entry{Action: "partners.applied"}, func(pgx.Tx) (any, error) { return nil, partners.ErrUnknown })
		if err == nil {
			t.Error("it was told as done")
		}
	})
}
