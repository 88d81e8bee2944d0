package accounts_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/accounts"
)

func TestAStandingTokenIsOne(t *testing.T) {
	s, clock := newStore(t)
	by := accounts.Identity{Person: "edigw serve", Role: accounts.Admin}
	stand := func(label, known string) string {
		t.Helper()
		plain, _, err := s.StandingToken(t.Context(), by, accounts.NewToken{Person: "local", Role: accounts.Admin, Label: label, Expires: s.Now().Add(7 * 24 * time.Hour)}, known)
		if err != nil {
			t.Fatal(err)
		}
		return plain
	}
	holds := func(plain string) bool {
		t.Helper()
		who, err := s.Authenticate(t.Context(), plain)
		if err != nil && !errors.Is(err, accounts.ErrNotAuthenticated) {
			t.Fatal(err)
		}
		return err == nil && who.Role == accounts.Admin
	}
	first, other := stand("here", ""), stand("there", "")
	t.Run("the one that stands in the place is given again, and lasts", func(t *testing.T) {
		clock.Time = clock.Add(6 * 24 * time.Hour)
		if again := stand("here", first); again != first {
			t.Error("it is another")
		}
		clock.Time = clock.Add(6 * 24 * time.Hour)
		if !holds(first) || holds(other) {
			t.Errorf("%v, the one that nobody prolongs %v", holds(first), holds(other))
		}
	})
	t.Run("where its text is gone it is revoked, and another place's is not", func(t *testing.T) {
		other = stand("there", "")
		for _, known := range []string{"", "edigw_t_x", other} {
			before := first
			if first = stand("here", known); first == before || holds(before) || !holds(first) || !holds(other) {
				t.Errorf("%.10q: the one before holds: %v, the new one: %v, the other place's: %v", known, holds(before), holds(first), holds(other))
			}
		}
	})
	t.Run("one that has ended or was revoked is replaced", func(t *testing.T) {
		clock.Time = clock.Add(8 * 24 * time.Hour)
		before := first
		if first = stand("here", before); first == before || !holds(first) {
			t.Error("it is given again")
		}
	})
	t.Run("a running gateway prolongs it, unless somebody has revoked it", func(t *testing.T) {
		_, id, err := s.StandingToken(t.Context(), by, accounts.NewToken{Person: "local", Role: accounts.Admin, Label: "here", Expires: s.Now().Add(time.Hour)}, first)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.ProlongToken(t.Context(), id, s.Now().Add(48*time.Hour)); err != nil {
			t.Fatal(err)
		}
		clock.Time = clock.Add(47 * time.Hour)
		if !holds(first) {
			t.Error("it holds no more")
		}
		if err := s.RevokeToken(t.Context(), by, id); err != nil {
			t.Fatal(err)
		}
		if err := s.ProlongToken(t.Context(), id, s.Now().Add(48*time.Hour)); !errors.Is(err, accounts.ErrUnknown) || holds(first) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("each act is in the audit log", func(t *testing.T) {
		var made, revoked int
		if err := s.Pool.QueryRow(t.Context(), `
			select count(*) filter (where action = 'token.created'), count(*) filter (where action = 'token.revoked') from audit_entry`).Scan(&made, &revoked); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{7, 6}, []int{made, revoked}); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a person who may not be an administrator has none", func(t *testing.T) {
		if _, err := s.AddUser(t.Context(), by, "root", accounts.Admin); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SetRole(t.Context(), by, "local", accounts.Viewer); err != nil {
			t.Fatal(err)
		}
		_, _, err := s.StandingToken(t.Context(), by, accounts.NewToken{Person: "local", Role: accounts.Admin, Label: "here"}, "")
		if !errors.Is(err, accounts.ErrUnfit) {
			t.Errorf("got %v", err)
		}
	})
}
