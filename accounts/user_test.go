package accounts_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/edigw/edigw/accounts"
)

func TestUsers(t *testing.T) {
	s, clock := newStore(t)
	ctx := t.Context()
	add := func(person string, role accounts.Role) {
		t.Helper()
		if _, err := s.AddUser(ctx, root, person, role); err != nil {
			t.Fatal(err)
		}
	}
	labels := 0
	token := func(person string, role accounts.Role) string {
		t.Helper()
		labels++
		plain, _, err := s.CreateToken(ctx, root, accounts.NewToken{Person: person, Role: role, Label: fmt.Sprint("x", labels)})
		if err != nil {
			t.Fatal(err)
		}
		return plain
	}
	role := func(plain string) accounts.Role {
		t.Helper()
		who, err := s.Authenticate(ctx, plain)
		if err != nil && !errors.Is(err, accounts.ErrNotAuthenticated) {
			t.Fatal(err)
		}
		return who.Role
	}
	add("ada", accounts.Admin)
	add("grace", accounts.Approver)

	t.Run("a token is somebody's, whatever case his name is written in", func(t *testing.T) {
		who, err := s.Authenticate(ctx, token("GRACE", accounts.Viewer))
		if err != nil || who.Person != "grace" || who.Role != accounts.Viewer {
			t.Errorf("%+v, %v", who, err)
		}
	})
	t.Run("nobody is added twice, under no spelling, nor without a name or a role", func(t *testing.T) {
		for _, n := range []struct {
			person string
			role   accounts.Role
		}{{"grace", accounts.Viewer}, {"Grace", accounts.Admin}, {" grace", accounts.Viewer}, {"", accounts.Viewer}, {"x\ny", accounts.Viewer}, {"x", "root"}, {"x", ""}} {
			if _, err := s.AddUser(ctx, root, n.person, n.role); !errors.Is(err, accounts.ErrUnfit) {
				t.Errorf("%q as %q: %v", n.person, n.role, err)
			}
		}
	})
	t.Run("a lesser role takes hold of the tokens there are, and a greater one gives them no more", func(t *testing.T) {
		approver, viewer := token("grace", accounts.Approver), token("grace", accounts.Viewer)
		for _, step := range []struct{ to, first, second accounts.Role }{
			{accounts.Operator, accounts.Operator, accounts.Viewer},
			{accounts.Admin, accounts.Approver, accounts.Viewer},
		} {
			if _, err := s.SetRole(ctx, root, "grace", step.to); err != nil {
				t.Fatal(err)
			}
			if got := [2]accounts.Role{role(approver), role(viewer)}; got != [2]accounts.Role{step.first, step.second} {
				t.Errorf("as %s: %v", step.to, got)
			}
		}
	})
	t.Run("whoever is disabled has no token at once, and enabled needs a new one", func(t *testing.T) {
		before := token("grace", accounts.Operator)
		clock.Time = clock.Add(time.Minute)
		u, err := s.Disable(ctx, root, "grace")
		if err != nil || u.Disabled == nil || u.Tokens != 0 || role(before) != "" {
			t.Fatalf("%+v, %v; the token allows %q", u, err, role(before))
		}
		if _, _, err := s.CreateToken(ctx, root, accounts.NewToken{Person: "grace", Role: accounts.Viewer, Label: "x"}); !errors.Is(err, accounts.ErrUnfit) {
			t.Errorf("a token for whoever is disabled: %v", err)
		}
		if again, err := s.Disable(ctx, root, "grace"); err != nil || !again.Disabled.Equal(*u.Disabled) {
			t.Errorf("disabled twice: %+v, %v", again, err)
		}
		if u, err = s.Enable(ctx, root, "grace"); err != nil || u.Disabled != nil || role(before) != "" {
			t.Errorf("%+v, %v; the token from before allows %q", u, err, role(before))
		}
		if got := role(token("grace", accounts.Operator)); got != accounts.Operator {
			t.Errorf("a new token allows %q", got)
		}
	})
	t.Run("of two administrators who disable each other at once, one stays", func(t *testing.T) {
		errs := make([]error, 2)
		var wg sync.WaitGroup
		for i, person := range []string{"ada", "grace"} {
			wg.Go(func() { _, errs[i] = s.Disable(ctx, root, person) })
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), accounts.ErrLastAdmin) {
			t.Fatalf("%v", errs)
		}
		if _, err := s.Enable(ctx, root, "ada"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Enable(ctx, root, "grace"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SetRole(ctx, root, "grace", accounts.Viewer); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SetRole(ctx, root, "ada", accounts.Approver); !errors.Is(err, accounts.ErrLastAdmin) {
			t.Errorf("the last administrator was given another role: %v", err)
		}
	})
	t.Run("whoever is not there is not changed", func(t *testing.T) {
		if _, err := s.Disable(ctx, root, "nobody"); !errors.Is(err, accounts.ErrUnknown) {
			t.Errorf("%v", err)
		}
	})
	t.Run("each change has its line in the audit log, what changes nothing none", func(t *testing.T) {
		add("hedy", accounts.Viewer)
		for _, do := range []func() (accounts.User, error){
			func() (accounts.User, error) { return s.SetRole(ctx, root, "hedy", accounts.Operator) },
			func() (accounts.User, error) { return s.SetRole(ctx, root, "hedy", accounts.Operator) },
			func() (accounts.User, error) { return s.Disable(ctx, root, "hedy") },
			func() (accounts.User, error) { return s.Disable(ctx, root, "hedy") },
			func() (accounts.User, error) { return s.Enable(ctx, root, "hedy") },
		} {
			if _, err := do(); err != nil {
				t.Fatal(err)
			}
		}
		entries, err := s.ListAudit(ctx, accounts.AuditFilter{Subject: "hedy"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Who+" "+e.Action)
		}
		if diff := cmp.Diff([]string{"ada user.enabled", "ada user.disabled", "ada user.role", "ada user.added"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("all are listed, with the tokens that hold", func(t *testing.T) {
		got, err := s.Users(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := []accounts.User{{Person: "ada", Role: accounts.Admin}, {Person: "grace", Role: accounts.Viewer}, {Person: "hedy", Role: accounts.Operator}}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(accounts.User{}, "Created", "Tokens")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestATokenIsMadeOnce(t *testing.T) {
	s, c := newStore(t)
	ctx := t.Context()
	root := accounts.Identity{Person: "root", Role: accounts.Admin}
	if _, err := s.AddUser(ctx, root, "vera", accounts.Operator); err != nil {
		t.Fatal(err)
	}
	create := func(role accounts.Role, label string) (accounts.Token, error) {
		_, made, err := s.CreateToken(ctx, root, accounts.NewToken{Person: "vera", Role: role, Label: label, Expires: c.Add(time.Hour)})
		return made, err
	}
	first, err := create(accounts.Viewer, "dashboard")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(accounts.Viewer, "dashboard"); !errors.Is(err, accounts.ErrUnfit) || !strings.Contains(err.Error(), "edigw tokens revoke "+first.ID.String()) {
		t.Errorf("the same asked for again: %v", err)
	}
	for _, other := range []struct {
		role  accounts.Role
		label string
	}{{accounts.Operator, "dashboard"}, {accounts.Viewer, "phone"}} {
		if _, err := create(other.role, other.label); err != nil {
			t.Errorf("%v: %v", other, err)
		}
	}
	c.Time = c.Add(2 * time.Hour)
	second, err := create(accounts.Viewer, "dashboard")
	if err != nil {
		t.Errorf("after it has expired: %v", err)
	}
	if err := s.RevokeToken(ctx, root, second.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := create(accounts.Viewer, "dashboard"); err != nil {
		t.Errorf("after it was revoked: %v", err)
	}
	if _, _, err := s.FirstToken(ctx, root, accounts.NewToken{Person: "vera", Role: accounts.Viewer, Label: "dashboard"}); err != nil {
		t.Errorf("at the database itself: %v", err)
	}
}

func TestAFirstTokenNeedsNobody(t *testing.T) {
	s, _ := newStore(t)
	by := accounts.Identity{Person: "command line", Role: accounts.Admin}
	plain, _, err := s.FirstToken(t.Context(), by, accounts.NewToken{Person: "ada", Role: accounts.Admin, Label: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if who, err := s.Authenticate(t.Context(), plain); err != nil || who.Person != "ada" || who.Role != accounts.Admin {
		t.Errorf("%+v, %v", who, err)
	}
	if _, _, err := s.FirstToken(t.Context(), by, accounts.NewToken{Person: "ada", Role: accounts.Viewer, Label: "y"}); err != nil {
		t.Errorf("a second one: %v", err)
	}
	if _, err := s.Pool.Exec(t.Context(), `delete from account`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), plain); !errors.Is(err, accounts.ErrNotAuthenticated) {
		t.Errorf("a token of nobody's holds: %v", err)
	}
}
