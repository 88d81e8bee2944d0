package partners_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

func load(t *testing.T, s *partners.Store) *partners.Directory {
	t.Helper()
	d := &partners.Directory{Store: s}
	if err := d.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

func issue(t *testing.T, s *partners.Store, partner, label string, expires time.Time) string {
	t.Helper()
	plain, err := s.IssueToken(t.Context(), partner, label, expires)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// whose is the partner a token proves, or "nobody".
func whose(d *partners.Directory, plain string) string {
	p, ok := d.ByToken(plain)
	if !ok {
		return "nobody"
	}
	return p.ID
}

func TestTokens(t *testing.T) {
	t.Run("an issued token is its partner's, at once after a reload", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme")+partner("beta"))
		d := load(t, s)
		plain := issue(t, s, "acme", "erp", time.Time{})
		if got := whose(d, plain); got != "nobody" {
			t.Errorf("before: %s", got)
		}
		if err := d.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := whose(d, plain); got != "acme" {
			t.Errorf("after: %s", got)
		}
		if !strings.HasPrefix(plain, "edigw_p_") || len(plain) != len("edigw_p_")+43 {
			t.Errorf("got a token of %d characters, %q…", len(plain), plain[:8])
		}
	})
	t.Run("its text is nowhere in the database", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		plain := issue(t, s, "acme", "erp", time.Time{})
		var rows string
		if err := s.Pool.QueryRow(t.Context(), `select json_agg(t)::text from partner_token t`).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(rows, plain[8:]) {
			t.Error("the token can be read in partner_token")
		}
	})
	t.Run("issuing one is no revision and no part of the export", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		before, err := s.Export(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		issue(t, s, "acme", "erp", time.Time{})
		after, err := s.Export(t.Context())
		if diff := cmp.Diff(string(before), string(after)); err != nil || diff != "" {
			t.Error(err, diff)
		}
		if got := get(t, s, "acme").Revision; got != 1 {
			t.Errorf("revision %d", got)
		}
		if got := apply(t, s, partner("acme", "attempts: 2")); len(got) != 1 {
			t.Errorf("got %v", got)
		}
		if tokens, err := s.Tokens(t.Context(), "acme"); err != nil || len(tokens) != 1 || tokens[0].Label != "erp" || tokens[0].Declared {
			t.Errorf("after an apply: %+v, %v", tokens, err)
		}
	})
	t.Run("nobody is proven by anything else", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		plain := issue(t, s, "acme", "erp", time.Time{})
		d := load(t, s)
		for _, wrong := range []string{"", "edigw_p_", plain[:len(plain)-1], plain + "A", strings.ToUpper(plain), sha256Hex(plain)} {
			if got := whose(d, wrong); got != "nobody" {
				t.Errorf("%q: %s", wrong, got)
			}
		}
	})
	t.Run("it expires by itself, at its instant", func(t *testing.T) {
		s, clock := newStore(t)
		apply(t, s, north+partner("acme"))
		end := clock.Add(time.Hour)
		plain := issue(t, s, "acme", "erp", end)
		d := load(t, s)
		clock.Time = end.Add(-time.Nanosecond)
		if got := whose(d, plain); got != "acme" {
			t.Errorf("just before: %s", got)
		}
		clock.Time = end
		if got := whose(d, plain); got != "nobody" {
			t.Errorf("at its end: %s", got)
		}
	})
	t.Run("a paused partner's token still says whose it is", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme", "state: paused"))
		plain := issue(t, s, "acme", "erp", time.Time{})
		p, ok := load(t, s).ByToken(plain)
		if !ok || p.ID != "acme" || p.Active {
			t.Errorf("got %+v, %t", p, ok)
		}
	})
	t.Run("what cannot be issued is said", func(t *testing.T) {
		s, clock := newStore(t)
		apply(t, s, north+partner("acme"))
		issue(t, s, "acme", "erp", time.Time{})
		for _, c := range []struct {
			partner, label string
			expires        time.Time
			want           string
		}{
			{"acme", "", time.Time{}, "label: must be 1 to 60 printable characters on one line"},
			{"acme", "a\nb", time.Time{}, "label: must be 1 to 60 printable characters on one line"},
			{"acme", "erp", time.Time{}, `label: partner acme has a token "erp"; take another label, or revoke that one`},
			{"acme", "x", clock.Time, "expires: is past: 2026-03-01T12:00:00Z"},
			{"ghost", "x", time.Time{}, "partner ghost: unknown"},
		} {
			plain, err := s.IssueToken(t.Context(), c.partner, c.label, c.expires)
			if err == nil || err.Error() != c.want || plain != "" {
				t.Errorf("%+v: got %v", c, err)
			}
		}
	})
	t.Run("a revoked one proves nobody, and its label is free again", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		plain := issue(t, s, "acme", "erp", time.Time{})
		if err := s.RevokeToken(t.Context(), "acme", "erp"); err != nil {
			t.Fatal(err)
		}
		if got := whose(load(t, s), plain); got != "nobody" {
			t.Error(got)
		}
		if err := s.RevokeToken(t.Context(), "acme", "erp"); !errors.Is(err, partners.ErrUnknown) {
			t.Errorf("a second time: %v", err)
		}
		if err := s.RevokeToken(t.Context(), "ghost", "erp"); !errors.Is(err, partners.ErrUnknown) {
			t.Errorf("of nobody: %v", err)
		}
		next := issue(t, s, "acme", "erp", time.Time{})
		if got := whose(load(t, s), next); got != "acme" {
			t.Error(got)
		}
		if _, err := s.Tokens(t.Context(), "ghost"); !errors.Is(err, partners.ErrUnknown) {
			t.Errorf("got %v", err)
		}
	})
}

func TestDeclaredTokens(t *testing.T) {
	const one, two = "the first of two tokens", "the second of two tokens"
	declare := func(lines ...string) string {
		return partner("acme", "http: {tokens: ["+strings.Join(lines, ", ")+"]}")
	}
	token := func(label, plain string) string {
		return fmt.Sprintf("{label: %s, sha256: %s}", label, sha256Hex(plain))
	}

	t.Run("one that is declared is its partner's until it is taken out", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+declare(token("a", one), token("b", two)))
		if d := load(t, s); whose(d, one) != "acme" || whose(d, two) != "acme" {
			t.Error("not both are acme's")
		}
		apply(t, s, declare(token("b", two)))
		if d := load(t, s); whose(d, one) != "nobody" || whose(d, two) != "acme" {
			t.Error("not only the second is acme's")
		}
		apply(t, s, declare(token("a", one)))
		if d := load(t, s); whose(d, one) != "acme" || whose(d, two) != "nobody" {
			t.Error("the first did not come back")
		}
	})
	t.Run("one that stays keeps its row", func(t *testing.T) {
		s, clock := newStore(t)
		apply(t, s, north+declare(token("a", one)))
		before, err := s.Tokens(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		clock.Time = clock.Add(time.Hour)
		apply(t, s, declare(token("a", one), token("b", two)))
		after, err := s.Tokens(t.Context(), "acme")
		if err != nil || len(after) != 2 {
			t.Fatal(after, err)
		}
		if diff := cmp.Diff(before[0], after[0]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("labels may change places", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+declare(token("a", one), token("b", two)))
		apply(t, s, declare(token("b", one), token("a", two)))
		if d := load(t, s); whose(d, one) != "acme" || whose(d, two) != "acme" {
			t.Error("not both are acme's")
		}
	})
	t.Run("one that was issued may be declared", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		plain := issue(t, s, "acme", "a", time.Time{})
		apply(t, s, declare(token("a", plain)))
		tokens, err := s.Tokens(t.Context(), "acme")
		if err != nil || len(tokens) != 1 || !tokens[0].Declared || whose(load(t, s), plain) != "acme" {
			t.Errorf("got %+v, %v", tokens, err)
		}
	})
	t.Run("a label or digest of an issued one is refused", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme")+partner("beta"))
		issue(t, s, "acme", "a", time.Time{})
		betas := issue(t, s, "beta", "b", time.Time{})
		_, err := tryApply(t, s, declare(token("a", one), token("x", betas)))
		want := `test.yaml:2:1: http.tokens: label "a" is that of an issued token; take another, or revoke that one
test.yaml:2:1: http.tokens: token "x" is also partner beta's; each needs its own`
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no old file brings back a revoked one", func(t *testing.T) {
		s, _ := newStore(t)
		text := declare(token("a", one), token("b", two))
		apply(t, s, north+text)
		if err := s.RevokeToken(t.Context(), "acme", "a"); err != nil {
			t.Fatal(err)
		}
		if d := load(t, s); whose(d, one) != "nobody" || whose(d, two) != "acme" || d.Partner("acme").Revision != 2 {
			t.Errorf("revision %d", d.Partner("acme").Revision)
		}
		_, err := tryApply(t, s, text)
		if want := `test.yaml:2:1: http.tokens: token "a" was revoked on 2026-03-01; take it out`; err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		exported, err := s.Export(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := apply(t, s, string(exported)); got != nil {
			t.Errorf("an export changes %v", got)
		}
	})
}

func TestDirectory(t *testing.T) {
	s, _ := newStore(t)
	apply(t, s, north+"identifiers: [{qualifier: \"14\", id: \"4012345000009\"}]\n---\nkind: Organisation\nid: open\n"+
		partner("acme", `identifiers: [{qualifier: "14", id: "5412345000013"}, {id: ACME}]`)+
		partner("paused", "state: paused", "identifiers: [{id: P}]")+
		partner("van", "speaks_for: [acme, paused]"))
	d := load(t, s)

	t.Run("a partner is found by its id", func(t *testing.T) {
		if diff := cmp.Diff(get(t, s, "acme"), d.Partner("acme")); diff != "" {
			t.Error(diff)
		}
		if p := d.Partner("ghost"); p != nil {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("all come by id", func(t *testing.T) {
		var got []string
		for _, p := range d.Partners() {
			got = append(got, p.ID)
		}
		if diff := cmp.Diff([]string{"acme", "paused", "van"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a sender is found by qualifier and id, both exactly", func(t *testing.T) {
		for party, want := range map[edi.Party]string{
			{Qualifier: "14", ID: "5412345000013"}: "acme",
			{ID: "ACME"}:                           "acme",
			{ID: "P"}:                              "paused",
			{ID: "5412345000013"}:                  "nobody",
			{Qualifier: "ZZ", ID: "5412345000013"}: "nobody",
			{Qualifier: "ZZ", ID: "ACME"}:          "nobody",
			{ID: "acme"}:                           "nobody",
			{}:                                     "nobody",
		} {
			got := "nobody"
			if p := d.BySender(party); p != nil {
				got = p.ID
			}
			if got != want {
				t.Errorf("%+v: got %s, want %s", party, got, want)
			}
		}
	})
	t.Run("an address is ours if we declare it, or declare none", func(t *testing.T) {
		ours, other := edi.Party{Qualifier: "14", ID: "4012345000009"}, edi.Party{Qualifier: "14", ID: "4099999000001"}
		for _, c := range []struct {
			organisation string
			party        edi.Party
			want         bool
		}{{"north", ours, true}, {"north", other, false}, {"north", edi.Party{ID: ours.ID}, false}, {"open", other, true}, {"ghost", ours, false}} {
			if got := d.IsOurs(c.organisation, c.party); got != c.want {
				t.Errorf("%+v: got %t", c, got)
			}
		}
	})
	t.Run("a partner speaks for itself and for those it is allowed to", func(t *testing.T) {
		for _, c := range []struct {
			transport, owner string
			want             bool
		}{
			{"acme", "acme", true}, {"van", "acme", true}, {"van", "van", true}, {"acme", "van", false},
			{"van", "paused", false}, {"paused", "paused", false}, {"acme", "ghost", false}, {"ghost", "acme", false}, {"ghost", "ghost", false},
		} {
			if got := d.MaySpeakFor(d.Partner(c.transport), d.Partner(c.owner)); got != c.want {
				t.Errorf("%+v: got %t", c, got)
			}
		}
	})
	t.Run("one that has not loaded knows nobody", func(t *testing.T) {
		empty := &partners.Directory{Store: s}
		_, ok := empty.ByToken("x")
		if ok || empty.Partner("acme") != nil || empty.Partners() != nil || empty.BySender(edi.Party{ID: "ACME"}) != nil ||
			empty.IsOurs("open", edi.Party{ID: "x"}) {
			t.Error("it knows somebody")
		}
	})
	t.Run("a partner in use is not changed by a reload", func(t *testing.T) {
		held := d.Partner("acme")
		apply(t, s, partner("acme", "attempts: 7"))
		if err := d.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if held.Policy.Attempts != 5 || held.Revision != 1 || d.Partner("acme").Policy.Attempts != 7 || d.Partner("acme").Revision != 2 {
			t.Errorf("held %d, now %d", held.Policy.Attempts, d.Partner("acme").Policy.Attempts)
		}
	})
}

func TestWatch(t *testing.T) {
	url := pgtest.URL(t)
	before := goleak.IgnoreCurrent()
	pool := pgtest.Pool(t, url)
	s := &partners.Store{Pool: pool}
	apply(t, s, north+partner("acme"))
	var log syncBuffer
	d := &partners.Directory{Store: s, Every: 10 * time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil))}
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { d.Watch(ctx) })
	eventually := func(what string, f func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not within 20 s: %s\n%s", what, log.String())
			}
		}
	}

	eventually("it loads by itself", func() bool { return d.Partner("acme") != nil })
	apply(t, s, partner("beta"))
	eventually("it sees what another process applied", func() bool { return d.Partner("beta") != nil })
	plain := issue(t, s, "acme", "erp", time.Time{})
	eventually("and a token that was issued", func() bool { return whose(d, plain) == "acme" })
	if err := s.RevokeToken(t.Context(), "acme", "erp"); err != nil {
		t.Fatal(err)
	}
	eventually("and one that was revoked", func() bool { return whose(d, plain) == "nobody" })

	if _, err := pool.Exec(t.Context(), `alter table configuration rename to away`); err != nil {
		t.Fatal(err)
	}
	eventually("a fault is logged", func() bool { return strings.Contains(log.String(), "partners may be out of date") })
	time.Sleep(100 * time.Millisecond)
	if n := strings.Count(log.String(), "partners may be out of date"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	if d.Partner("acme") == nil {
		t.Error("the last snapshot is gone")
	}
	if _, err := pool.Exec(t.Context(), `alter table away rename to configuration`); err != nil {
		t.Fatal(err)
	}
	eventually("so is its end", func() bool { return strings.Contains(log.String(), "partners are up to date again") })

	stop()
	done.Wait()
	pool.Close()
	goleak.VerifyNone(t, before)
}

// Reads go on, whole, while snapshots are swapped under them; run with -race.
func TestReadsDuringReloads(t *testing.T) {
	s, _ := newStore(t)
	apply(t, s, north+partner("acme", "identifiers: [{id: A}]"))
	plain := issue(t, s, "acme", "erp", time.Time{})
	d := load(t, s)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ; ctx.Err() == nil; time.Sleep(time.Microsecond) {
				p := d.BySender(edi.Party{ID: "A"})
				if p == nil || p.Policy.Attempts != int(p.Revision) && p.Revision > 1 || whose(d, plain) != "acme" {
					t.Errorf("got %+v", p)
					return
				}
			}
		})
	}
	for n := 2; n < 8; n++ {
		apply(t, s, partner("acme", "identifiers: [{id: A}]", fmt.Sprintf("attempts: %d", n)))
		if err := d.Reload(t.Context()); err != nil {
			t.Error(err)
		}
	}
	stop()
	readers.Wait()
}

func TestTokensInATransaction(t *testing.T) {
	s, _ := newStore(t)
	apply(t, s, north+partner("acme"))
	undone := errors.New("undone")
	err := pgx.BeginFunc(t.Context(), s.Pool, func(tx pgx.Tx) error {
		if _, err := s.IssueTokenTx(t.Context(), tx, "acme", "erp", time.Time{}); err != nil {
			return err
		}
		return undone
	})
	if tokens, listErr := s.Tokens(t.Context(), "acme"); !errors.Is(err, undone) || listErr != nil || len(tokens) != 0 {
		t.Errorf("got %v, %v, %v", err, tokens, listErr)
	}
}

// syncBuffer is a log two goroutines use.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
