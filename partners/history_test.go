package partners_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/partners"
)

// inTx runs do in a transaction and gives its error.
func inTx(t *testing.T, s *partners.Store, do func(tx pgx.Tx) error) error {
	t.Helper()
	return pgx.BeginFunc(t.Context(), s.Pool, do)
}

// told gives revisions as text.
func told(list []partners.Revision) []string {
	var out []string
	for _, r := range list {
		var fields []string
		for _, f := range r.Fields {
			fields = append(fields, f.String())
		}
		if len(fields) > 3 {
			fields = []string{"everything"}
		}
		out = append(out, fmt.Sprintf("%d %s by %s on %s: %s", r.Number, r.Cause, r.By, r.Applied.Format(time.DateOnly), strings.Join(fields, ", ")))
	}
	return out
}

func TestHistory(t *testing.T) {
	s, clock := newStore(t)
	apply(t, s.As("anna"), north+"name: Nord\n"+partner("acme"))
	clock.Time = clock.Add(24 * time.Hour)
	apply(t, s.As("bert"), partner("acme", "on_drift: hold", "retention: {payloads: 60d}"))
	clock.Time = clock.Add(24 * time.Hour)
	apply(t, s, north+"name: Nord\nidentifiers: [{id: NORD}]\n")
	t.Run("each revision says who, when and what", func(t *testing.T) {
		list, err := s.History(t.Context(), "acme", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"3 organisation north changed its identifiers by  on 2026-03-03: ",
			"2 changed by bert on 2026-03-02: on_drift: reject → hold, retention.payloads: 90d → 60d",
			"1 created by anna on 2026-03-01: everything",
		}
		if diff := cmp.Diff(want, told(list)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("organisations have theirs", func(t *testing.T) {
		list, err := s.OrganisationHistory(t.Context(), "north", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{`2 changed by  on 2026-03-03: identifiers: null → [{"qualifier":"","id":"NORD"}]`, "1 created by anna on 2026-03-01: id: north, identifiers: null, name: Nord"}
		got := told(list)
		if len(got) != 2 || !strings.HasPrefix(got[0], "2 changed by  on 2026-03-03: identifiers") || !strings.HasPrefix(got[1], "1 created by anna on 2026-03-01: id: north") {
			t.Error(cmp.Diff(want, got))
		}
	})
	t.Run("an organisation from before there were revisions keeps what it was", func(t *testing.T) {
		if _, err := s.Pool.Exec(t.Context(), `insert into organisation (organisation_id, spec, applied_at) values ('old', '{"id": "old", "name": "Old"}', now())`); err != nil {
			t.Fatal(err)
		}
		apply(t, s.As("anna"), "kind: Organisation\nid: old\nname: New\n")
		list, err := s.OrganisationHistory(t.Context(), "old", 0, 0)
		if err != nil || len(list) != 2 || list[0].Number != 2 || list[0].By != "anna" || list[0].Fields[0].String() != "name: Old → New" {
			t.Errorf("%v, %v", told(list), err)
		}
	})
	t.Run("a configuration of before can be seen", func(t *testing.T) {
		spec, err := s.RevisionOf(t.Context(), "acme", 2)
		if err != nil || spec.OnDrift != "hold" {
			t.Errorf("%v, %v", spec, err)
		}
	})
	t.Run("what there is not is unknown", func(t *testing.T) {
		_, no := s.History(t.Context(), "nobody", 0, 0)
		_, none := s.RevisionOf(t.Context(), "acme", 9)
		_, other := s.OrganisationHistory(t.Context(), "acme", 0, 0)
		for _, err := range []error{no, none, other} {
			if !errors.Is(err, partners.ErrUnknown) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestRestore(t *testing.T) {
	restore := func(t *testing.T, s *partners.Store, number int32, withCredentials bool) (changes []string, left partners.Left) {
		t.Helper()
		if err := inTx(t, s, func(tx pgx.Tx) error {
			ch, l, err := s.RestoreTx(t.Context(), tx, "acme", number, withCredentials)
			changes, left = strs(ch), l
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return changes, left
	}
	t.Run("it is what it was, under a revision of its own", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme", "on_drift: hold"))
		apply(t, s, partner("acme", "attempts: 3"))
		changes, left := restore(t, s, 1, false)
		if diff := cmp.Diff([]string{"partner acme: changed (revision 3)"}, changes) + cmp.Diff(partners.Left{}, left); diff != "" {
			t.Error(diff)
		}
		if p := get(t, s, "acme"); p.Policy.OnDrift != "hold" || p.Policy.Attempts != 5 || p.Revision != 3 {
			t.Errorf("%+v", p)
		}
		if changes, _ := restore(t, s, 3, false); changes != nil {
			t.Errorf("the present one again: %v", changes)
		}
	})
	t.Run("one connection is enough for it, and for every other change", func(t *testing.T) {
		s, _ := newStore(t)
		config := s.Pool.Config()
		config.MaxConns, config.MinConns = 1, 0
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		s.Pool = pool
		apply(t, s, north+partner("acme", "on_drift: hold"))
		apply(t, s, partner("acme"))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // it waited for itself
		defer cancel()
		if err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if _, _, err := s.RestoreTx(ctx, tx, "acme", 1, true); err != nil {
				return err
			}
			if _, err := s.PatchTx(ctx, tx, "acme", 3, []byte(`{"attempts": 3}`)); err != nil {
				return err
			}
			plain, err := s.IssueTokenTx(ctx, tx, "acme", "a", time.Time{})
			if err != nil || plain == "" {
				return err
			}
			return s.RevokeTokenTx(ctx, tx, "acme", "a")
		}); err != nil {
			t.Error(err)
		}
	})
	t.Run("tokens and certificates stay as they are now", func(t *testing.T) {
		s, _ := newStore(t)
		declared := func(label string) string {
			return "http: {tokens: [{label: " + label + ", sha256: " + sha256Hex(label) + "}]}"
		}
		certificates := func(label string) string {
			return "certificates: [{label: " + label + ", purposes: [tls_client], certificate: " + b64(issued(t, newKey(t), nil)) + "}]"
		}
		apply(t, s, north+partner("acme", "on_drift: hold", declared("old"), certificates("old")))
		apply(t, s, partner("acme", declared("new"), certificates("new")))
		changes, left := restore(t, s, 1, false)
		if diff := cmp.Diff(partners.Left{Tokens: []string{"old"}, Certificates: []string{"old"}}, left); diff != "" || len(changes) != 1 {
			t.Error(changes, diff)
		}
		p := get(t, s, "acme")
		if p.Policy.OnDrift != "hold" || len(p.Certificates) != 1 || p.Certificates[0].Label != "new" {
			t.Errorf("%s, %+v", p.Policy.OnDrift, p.Certificates)
		}
		if d := load(t, s); whose(d, "old") != "nobody" || whose(d, "new") != "acme" {
			t.Errorf("old is %s's, new is %s's", whose(d, "old"), whose(d, "new"))
		}
		t.Run("unless it is asked for", func(t *testing.T) {
			_, left := restore(t, s, 1, true)
			if diff := cmp.Diff(partners.Left{}, left); diff != "" {
				t.Error(diff)
			}
			p := get(t, s, "acme")
			if d := load(t, s); len(p.Certificates) != 1 || p.Certificates[0].Label != "old" || whose(d, "old") != "acme" || whose(d, "new") != "nobody" {
				t.Errorf("%+v, old is %s's, new is %s's", p.Certificates, whose(d, "old"), whose(d, "new"))
			}
		})
	})
	t.Run("a token that was revoked since stays revoked", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme", "http: {tokens: [{label: a, sha256: "+sha256Hex("a")+"}, {label: b, sha256: "+sha256Hex("b")+"}]}"))
		if err := s.RevokeToken(t.Context(), "acme", "a"); err != nil {
			t.Fatal(err)
		}
		apply(t, s, partner("acme"))
		_, left := restore(t, s, 1, true)
		if diff := cmp.Diff(partners.Left{Tokens: []string{"a"}}, left); diff != "" {
			t.Error(diff)
		}
		d := load(t, s)
		if whose(d, "a") != "nobody" || whose(d, "b") != "acme" {
			t.Errorf("a is %s's, b is %s's", whose(d, "a"), whose(d, "b"))
		}
	})
}
