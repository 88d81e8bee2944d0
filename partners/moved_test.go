package partners_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners"
)

func TestApplyOnWhatItIs(t *testing.T) {
	s, clock := newStore(t)
	number := func() int64 {
		t.Helper()
		n, err := s.Number(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	on := func(n int64, text string) error {
		t.Helper()
		read := specs(t, "test.yaml", text)
		return inTx(t, s, func(tx pgx.Tx) error {
			_, err := s.ApplyOn(t.Context(), tx, n, read)
			return err
		})
	}
	if err := on(0, north+partner("acme")+partner("other")); err != nil {
		t.Fatal(err)
	}
	seen := number()
	t.Run("a token that is issued is no change of it", func(t *testing.T) {
		if _, err := s.IssueToken(t.Context(), "acme", "a", time.Time{}); err != nil {
			t.Fatal(err)
		}
		if number() != seen {
			t.Errorf("%d, and was %d", number(), seen)
		}
	})
	clock.Time = clock.Add(time.Hour)
	apply(t, s.As("bert"), partner("acme", "on_drift: hold"))
	clock.Time = clock.Add(time.Hour)
	apply(t, s.As("cora"), "kind: Organisation\nid: north\nname: Nord\n")
	t.Run("what was made on another one is refused, and says what changed and by whom", func(t *testing.T) {
		err := on(seen, partner("acme", "attempts: 3"))
		moved := (*partners.MovedError)(nil)
		if !errors.As(err, &moved) || !errors.Is(err, partners.ErrMoved) || moved.Now != seen+2 || len(moved.Since) != 2 {
			t.Fatalf("got %v", err)
		}
		if got := moved.Since[0]; got.Kind != "Organisation" || got.ID != "north" || got.String() != "revision 2 by cora, 2026-03-01T14:00:00Z: name: Nord" && got.String() != "revision 2 by cora, 2026-03-01T14:00:00Z: name: north → Nord" {
			t.Errorf("got %s %s", got.ID, got)
		}
		if got := moved.Since[1]; got.ID != "acme" || got.String() != "revision 2 by bert, 2026-03-01T13:00:00Z: on_drift: reject → hold" {
			t.Errorf("got %s %s", got.ID, got)
		}
		if p := get(t, s, "acme"); p.Policy.Attempts != 5 {
			t.Error("it was applied")
		}
	})
	t.Run("one of another database is refused, too", func(t *testing.T) {
		if err := on(seen+99, partner("acme", "attempts: 3")); !errors.Is(err, partners.ErrMoved) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("on the present one it is applied", func(t *testing.T) {
		if err := on(seen+2, partner("acme", "attempts: 3")); err != nil || number() != seen+3 {
			t.Errorf("%d, %v", number(), err)
		}
	})
}

func TestAnExportSaysItsRevisions(t *testing.T) {
	s, _ := newStore(t)
	apply(t, s, north+partner("acme")+partner("other"))
	apply(t, s, partner("acme", "attempts: 3"))
	text, err := s.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	revisions := func(text string) map[string]int32 {
		found := map[string]int32{}
		for _, spec := range specs(t, "export.yaml", text) {
			if spec.Partner != nil {
				found[spec.Partner.ID] = spec.Revision
			} else {
				found[spec.Organisation.ID] = spec.Revision
			}
		}
		return found
	}
	t.Run("and they are read with it", func(t *testing.T) {
		for _, form := range []string{string(text), strings.ReplaceAll(string(text), "\n", "\r\n")} {
			if got := revisions(form); got["north"] != 1 || got["acme"] != 2 || got["other"] != 1 {
				t.Errorf("%v", got)
			}
		}
	})
	t.Run("with the instant that its history tells", func(t *testing.T) {
		for _, spec := range specs(t, "export.yaml", string(text)) {
			if spec.Partner == nil {
				continue
			}
			if list, err := s.History(t.Context(), spec.Partner.ID, 0, 0); err != nil || !list[0].Applied.Equal(spec.Applied) {
				t.Errorf("%v, %v", spec.Applied, err)
			}
		}
	})
	t.Run("one of another partner is none", func(t *testing.T) {
		if got := revisions(strings.ReplaceAll(string(text), "id: acme", "id: copy")); got["copy"] != 0 {
			t.Errorf("%v", got)
		}
	})
}
