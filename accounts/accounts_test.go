package accounts_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/pgtest"
)

var root = accounts.Identity{Person: "ada", Role: accounts.Admin}

// clock is a store's time that a test moves.
type clock struct{ time.Time }

func newStore(t *testing.T) (*accounts.Store, *clock) {
	c := &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	return &accounts.Store{Pool: pgtest.New(t), Now: func() time.Time { return c.Time }}, c
}

func audit(t *testing.T, s *accounts.Store, entries ...accounts.Entry) {
	t.Helper()
	for _, e := range entries {
		err := pgx.BeginFunc(t.Context(), s.Pool, func(tx pgx.Tx) error { return s.Audit(t.Context(), tx, e) })
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRoles(t *testing.T) {
	t.Run("each may do what those before it may, and no more", func(t *testing.T) {
		for i, r := range accounts.Roles {
			for j, least := range accounts.Roles {
				if got, want := r.AtLeast(least), i >= j; got != want {
					t.Errorf("%s at least %s: got %t, want %t", r, least, got, want)
				}
			}
		}
	})
	t.Run("what is no role has no rights and asks for none", func(t *testing.T) {
		for _, r := range append([]accounts.Role{"", "root", "Admin"}, accounts.Roles...) {
			if r.AtLeast("") || r.AtLeast("root") {
				t.Errorf("%q is at least something that is no role", r)
			}
		}
		if accounts.Role("root").AtLeast(accounts.Viewer) || accounts.Role("").AtLeast(accounts.Viewer) {
			t.Error("something that is no role may read")
		}
	})
	t.Run("an unknown one is refused with those there are", func(t *testing.T) {
		_, err := accounts.ParseRole("root")
		want := `role "root" is not one of viewer, consumer, operator, approver, admin`
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

func TestTokens(t *testing.T) {
	s, clock := newStore(t)
	ctx := t.Context()
	for _, person := range []string{"grace", "p"} {
		if _, err := s.AddUser(ctx, root, person, accounts.Operator); err != nil {
			t.Fatal(err)
		}
	}
	plain, token, err := s.CreateToken(ctx, root, accounts.NewToken{
		Person: "grace", Role: accounts.Operator, Label: "laptop", Expires: clock.Add(48 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}

	t.Run("the text has our prefix and 32 random bytes", func(t *testing.T) {
		if !strings.HasPrefix(plain, "edigw_t_") || len(plain) != len("edigw_t_")+43 {
			t.Errorf("got a token of %d characters, %q…", len(plain), plain[:8])
		}
	})
	t.Run("the text is nowhere in the database", func(t *testing.T) {
		var rows string
		if err := s.Pool.QueryRow(ctx, `select json_agg(t)::text from api_token t`).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(rows, plain[8:]) {
			t.Error("the token can be read in api_token")
		}
	})
	t.Run("it proves the person and the role", func(t *testing.T) {
		got, err := s.Authenticate(ctx, plain)
		want := accounts.Identity{Person: "grace", Role: accounts.Operator, TokenID: token.ID}
		if err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	})
	t.Run("its last use is noted at most once a minute", func(t *testing.T) {
		first := clock.Time
		lastUsed := func() time.Time {
			tokens, err := s.ListTokens(ctx, accounts.TokenFilter{})
			if err != nil {
				t.Fatal(err)
			}
			return *tokens[0].LastUsed
		}
		for _, step := range []struct {
			after, noted time.Duration
		}{{0, 0}, {59 * time.Second, 0}, {60 * time.Second, 60 * time.Second}, {100 * time.Second, 60 * time.Second}} {
			clock.Time = first.Add(step.after)
			if _, err := s.Authenticate(ctx, plain); err != nil {
				t.Fatal(err)
			}
			if got, want := lastUsed(), first.Add(step.noted); !got.Equal(want) {
				t.Errorf("after %s: got %s, want %s", step.after, got, want)
			}
		}
		clock.Time = first
	})
	t.Run("it is listed without its text", func(t *testing.T) {
		got, err := s.ListTokens(ctx, accounts.TokenFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]accounts.Token{token}, got, cmpopts.IgnoreFields(accounts.Token{}, "LastUsed")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("nobody is proven by anything else", func(t *testing.T) {
		for _, wrong := range []string{"", "edigw_t_", plain[:len(plain)-1], plain + "A", "edigw_p_" + plain[8:], strings.ToUpper(plain), strings.Repeat("x", 1<<20)} {
			if _, err := s.Authenticate(ctx, wrong); !errors.Is(err, accounts.ErrNotAuthenticated) {
				t.Errorf("%.20q: got %v", wrong, err)
			}
		}
	})
	t.Run("a database that cannot write still lets operators in", func(t *testing.T) {
		config := s.Pool.Config()
		config.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
		readOnly, err := pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		defer readOnly.Close()
		var log strings.Builder
		late := &accounts.Store{Pool: readOnly, Now: func() time.Time { return clock.Add(time.Hour) },
			Log: slog.New(slog.NewTextHandler(&log, nil))}
		if _, err := late.Authenticate(ctx, plain); err != nil {
			t.Errorf("got %v", err)
		}
		if !strings.Contains(log.String(), "read-only transaction") {
			t.Errorf("the log does not say why: %s", &log)
		}
	})
	t.Run("an expired one proves nobody, from its first instant on", func(t *testing.T) {
		defer func(before time.Time) { clock.Time = before }(clock.Time)
		clock.Time = token.Expires.Add(-time.Second)
		if _, err := s.Authenticate(ctx, plain); err != nil {
			t.Errorf("just before: %v", err)
		}
		clock.Time = *token.Expires
		if _, err := s.Authenticate(ctx, plain); !errors.Is(err, accounts.ErrNotAuthenticated) {
			t.Errorf("at its end: got %v", err)
		}
	})
	t.Run("a revoked one proves nobody, and is revoked once", func(t *testing.T) {
		if err := s.RevokeToken(ctx, root, token.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticate(ctx, plain); !errors.Is(err, accounts.ErrNotAuthenticated) {
			t.Errorf("got %v", err)
		}
		if err := s.RevokeToken(ctx, root, token.ID); !errors.Is(err, accounts.ErrUnknown) {
			t.Errorf("the second time: got %v", err)
		}
	})
	t.Run("making and revoking it are in the audit log", func(t *testing.T) {
		got, err := s.ListAudit(ctx, accounts.AuditFilter{Subject: token.ID.String()})
		if err != nil {
			t.Fatal(err)
		}
		detail := json.RawMessage(`{"role": "operator", "label": "laptop", "person": "grace", "expires": "2026-03-03T12:00:00Z"}`)
		want := []accounts.Entry{
			{Who: "ada", Role: accounts.Admin, Action: "token.revoked", Subject: token.ID.String(), Detail: detail},
			{Who: "ada", Role: accounts.Admin, Action: "token.created", Subject: token.ID.String(), Detail: detail},
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(accounts.Entry{}, "ID", "At"), sameJSON); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what cannot be made is said, and leaves nothing", func(t *testing.T) {
		for name, n := range map[string]accounts.NewToken{
			"no person":        {Role: accounts.Viewer, Label: "x"},
			"no label":         {Person: "p", Role: accounts.Viewer},
			"no role":          {Person: "p", Label: "x"},
			"a role unknown":   {Person: "p", Role: "root", Label: "x"},
			"a line break":     {Person: "p\nq", Role: accounts.Viewer, Label: "x"},
			"nobody there":     {Person: "q", Role: accounts.Viewer, Label: "x"},
			"more than he may": {Person: "p", Role: accounts.Admin, Label: "x"},
			"expired already":  {Person: "p", Role: accounts.Viewer, Label: "x", Expires: clock.Time},
		} {
			if _, _, err := s.CreateToken(ctx, root, n); !errors.Is(err, accounts.ErrUnfit) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if tokens, err := s.ListTokens(ctx, accounts.TokenFilter{}); err != nil || len(tokens) != 1 {
			t.Errorf("got %d tokens, %v", len(tokens), err)
		}
	})
	t.Run("one that cannot be audited is not made", func(t *testing.T) {
		_, _, err := s.CreateToken(ctx, accounts.Identity{}, accounts.NewToken{Person: "p", Role: accounts.Viewer, Label: "x"})
		if err == nil {
			t.Error("a token was made by nobody")
		}
		if tokens, err := s.ListTokens(ctx, accounts.TokenFilter{}); err != nil || len(tokens) != 1 {
			t.Errorf("got %d tokens, %v", len(tokens), err)
		}
	})
}

func TestAudit(t *testing.T) {
	s, _ := newStore(t)
	ctx := t.Context()
	audit(t, s,
		accounts.Entry{Who: "ada", Role: accounts.Admin, Action: "partner.applied", Subject: "acme", Partner: "acme", Detail: json.RawMessage(`{"revision": 2}`)},
		accounts.Entry{Who: "grace", Role: accounts.Operator, Action: "drift.decided", Subject: "d-1", Partner: "acme"},
		accounts.Entry{Who: "ada", Role: accounts.Admin, Action: "partner.applied", Subject: "beta", Partner: "beta"},
		accounts.Entry{Who: "command line", Action: "token.created", Subject: "t-1"},
	)
	subjects := func(f accounts.AuditFilter) []string {
		t.Helper()
		entries, err := s.ListAudit(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, e := range entries {
			list = append(list, e.Subject)
		}
		return list
	}
	all := []string{"t-1", "beta", "d-1", "acme"}

	t.Run("the latest stands first, whole", func(t *testing.T) {
		if diff := cmp.Diff(all, subjects(accounts.AuditFilter{})); diff != "" {
			t.Error(diff)
		}
		entries, err := s.ListAudit(ctx, accounts.AuditFilter{Subject: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		want := []accounts.Entry{{Who: "ada", Role: accounts.Admin, Action: "partner.applied", Subject: "acme", Partner: "acme", Detail: json.RawMessage(`{"revision": 2}`)}}
		if diff := cmp.Diff(want, entries, cmpopts.IgnoreFields(accounts.Entry{}, "ID", "At"), sameJSON); diff != "" {
			t.Error(diff)
		}
		if age := time.Since(entries[0].At); age < -time.Minute || age > time.Minute {
			t.Errorf("written %s ago", age)
		}
	})
	t.Run("every filter narrows", func(t *testing.T) {
		for name, c := range map[string]struct {
			filter accounts.AuditFilter
			want   []string
		}{
			"who":     {accounts.AuditFilter{Who: "ada"}, []string{"beta", "acme"}},
			"action":  {accounts.AuditFilter{Action: "drift.decided"}, []string{"d-1"}},
			"subject": {accounts.AuditFilter{Subject: "beta"}, []string{"beta"}},
			"partner": {accounts.AuditFilter{Partner: "acme"}, []string{"d-1", "acme"}},
			"since":   {accounts.AuditFilter{Since: time.Now().Add(time.Hour)}, nil},
			"until":   {accounts.AuditFilter{Until: time.Now().Add(-time.Hour)}, nil},
			"limit":   {accounts.AuditFilter{Limit: 2}, []string{"t-1", "beta"}},
			"both":    {accounts.AuditFilter{Who: "ada", Partner: "acme"}, []string{"acme"}},
		} {
			if diff := cmp.Diff(c.want, subjects(c.filter)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
	t.Run("pages follow each other without gap or repeat", func(t *testing.T) {
		var got []string
		f := accounts.AuditFilter{Limit: 1}
		for {
			entries, err := s.ListAudit(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) == 0 {
				break
			}
			got = append(got, entries[0].Subject)
			f.Before = &entries[0]
		}
		if diff := cmp.Diff(all, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("no line is changed, deleted or truncated", func(t *testing.T) {
		for _, sql := range []string{
			`update audit_entry set who = 'nobody'`,
			`update audit_entry set who = 'nobody' where who = 'not there'`,
			`delete from audit_entry`,
			`truncate audit_entry`,
			`insert into audit_entry (entry_id, who, role, action, subject, detail)
				select entry_id, 'nobody', role, action, subject, detail from audit_entry
				on conflict (entry_id) do update set who = excluded.who`,
		} {
			_, err := s.Pool.Exec(ctx, sql)
			if pg := (*pgconn.PgError)(nil); !errors.As(err, &pg) || pg.Code != "23001" {
				t.Errorf("%s: got %v", sql, err)
			}
		}
		if diff := cmp.Diff(all, subjects(accounts.AuditFilter{})); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a line goes with the transaction it tells of", func(t *testing.T) {
		undone := errors.New("undone")
		err := pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
			if err := s.Audit(ctx, tx, accounts.Entry{Who: "ada", Action: "partner.applied", Subject: "undone"}); err != nil {
				return err
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		if got := subjects(accounts.AuditFilter{Subject: "undone"}); got != nil {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a line without who or what is refused", func(t *testing.T) {
		for _, e := range []accounts.Entry{{Action: "a.b"}, {Who: "ada"}} {
			err := pgx.BeginFunc(context.Background(), s.Pool, func(tx pgx.Tx) error { return s.Audit(ctx, tx, e) })
			if err == nil {
				t.Errorf("%+v was taken", e)
			}
		}
	})
}

// sameJSON compares JSON by what it says: jsonb has its own spacing and order.
var sameJSON = cmp.Comparer(func(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
})
