package partners_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

// clock is a store's time that a test moves.
type clock struct{ time.Time }

func newStore(t *testing.T) (*partners.Store, *clock) {
	c := &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	return &partners.Store{Pool: pgtest.New(t), Now: func() time.Time { return c.Time }}, c
}

const north = "kind: Organisation\nid: north\n"

// partner is YAML of a partner of organisation north with more keys.
func partner(id string, more ...string) string {
	return "---\nkind: Partner\nid: " + id + "\norganisation: north\n" + strings.Join(more, "\n") + "\n"
}

func tryApply(t *testing.T, s *partners.Store, text string) (changes partners.Changes, err error) {
	t.Helper()
	return tryApplySpecs(t, s, specs(t, "test.yaml", text)...)
}

func tryApplySpecs(t *testing.T, s *partners.Store, read ...partners.Spec) (changes partners.Changes, err error) {
	t.Helper()
	err = pgx.BeginFunc(t.Context(), s.Pool, func(tx pgx.Tx) error {
		changes, err = s.Apply(t.Context(), tx, read)
		return err
	})
	return changes, err
}

// apply applies YAML that has no fault, and gives the changes as text.
func apply(t *testing.T, s *partners.Store, text string) []string {
	t.Helper()
	changes, err := tryApply(t, s, text)
	if err != nil {
		t.Fatal(err)
	}
	return strs(changes)
}

func strs[T fmt.Stringer](list []T) []string {
	var out []string
	for _, x := range list {
		out = append(out, x.String())
	}
	return out
}

func get(t *testing.T, s *partners.Store, id string) *partners.Partner {
	t.Helper()
	p, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func counter(t *testing.T, s *partners.Store) (n int64) {
	t.Helper()
	if err := s.Pool.QueryRow(t.Context(), `select counter from configuration`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestApply(t *testing.T) {
	varied := string(readFile(t, "testdata/varied.yaml"))

	t.Run("the first time everything is created", func(t *testing.T) {
		s, clock := newStore(t)
		want := []string{"organisation north: created (revision 1)", "partner small: created (revision 1)", "partner varied: created (revision 1)"}
		if diff := cmp.Diff(want, apply(t, s, varied)); diff != "" {
			t.Error(diff)
		}
		spec := variedPartner(t)
		want2 := partners.PartnerOf(*spec)
		want2.Revision, want2.Connected = 1, clock.Truncate(24*time.Hour)
		if diff := cmp.Diff(want2, get(t, s, "varied")); diff != "" {
			t.Error(diff)
		}
		list, err := s.List(t.Context())
		if err != nil || len(list) != 2 || list[0].ID != "small" || list[1].ID != "varied" {
			t.Errorf("got %v, %v", list, err)
		}
		organisations, err := s.Organisations(t.Context())
		want3 := []partners.OrganisationSpec{{ID: "north", Name: "Nordwind Handels GmbH",
			Identifiers: []partners.Identifier{{ID: "NORDWIND"}, {Qualifier: "14", ID: "4012345000009"}}, AS2: partners.OrganisationAS2{Names: []string{"NORDWIND-AS2"}}}}
		if diff := cmp.Diff(want3, organisations); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
	t.Run("the second time nothing changes", func(t *testing.T) {
		s, clock := newStore(t)
		apply(t, s, varied)
		before := counter(t, s)
		clock.Time = clock.Add(72 * time.Hour)
		if got := apply(t, s, varied); got != nil {
			t.Errorf("got %v", got)
		}
		if got := get(t, s, "varied").Revision; got != 1 {
			t.Errorf("revision %d", got)
		}
		if got := counter(t, s); got != before {
			t.Errorf("the counter moved from %d to %d", before, got)
		}
	})
	t.Run("the order of a list is not a change", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("other")+partner("acme", "types: [INVOIC, DESADV]", "identifiers: [{id: A}, {id: B}]"))
		if got := apply(t, s, partner("acme", "types: [DESADV, INVOIC]", "identifiers: [{id: B}, {id: A}]")); got != nil {
			t.Errorf("got %v", got)
		}
	})
	t.Run("what is exported and applied changes nothing", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, varied)
		text, err := s.Export(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if changes, err := s.Diff(t.Context(), specs(t, "export.yaml", string(text))); err != nil || len(changes) > 0 {
			t.Errorf("diff: %v, %v", changes, err)
		}
		if got := apply(t, s, string(text)); got != nil {
			t.Errorf("got %v from\n%s", got, text)
		}
		t.Run("nor on another gateway, where it makes the same", func(t *testing.T) {
			other, _ := newStore(t)
			apply(t, other, string(text))
			again, err := other.Export(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), string(again)); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("an export of one partner holds its organisation and no other", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, varied+"---\nkind: Organisation\nid: south\n")
		text, err := s.Export(t.Context(), "small")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, spec := range specs(t, "export.yaml", string(text)) {
			if spec.Organisation != nil {
				got = append(got, spec.Organisation.ID)
			} else {
				got = append(got, spec.Partner.ID)
			}
		}
		if diff := cmp.Diff([]string{"north", "small"}, got); diff != "" {
			t.Error(diff)
		}
		if _, err := s.Export(t.Context(), "nobody"); !errors.Is(err, partners.ErrUnknown) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("every key that changes makes one revision and tells before and after", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, varied)
		defaults := leaves(partners.Defaults())
		spec := variedPartner(t)
		revision := int32(1)
		for path := range sortedLeaves(*spec) {
			if path == ".ID" || path == ".Organisation" || path == ".AS4.Profile" { // without a profile nothing else of AS4 is written
				continue
			}
			setLeaf(spec, path, defaults[path])
			if path == ".Name" {
				spec.Name = "Other"
			}
			changes, err := tryApplySpecs(t, s, partners.Spec{Partner: spec})
			if err != nil {
				t.Fatal(path, err)
			}
			revision++
			if len(changes) != 1 || changes[0].ID != "varied" || changes[0].Revision != revision || len(changes[0].Fields) != 1 {
				t.Errorf("%s: got %+v, want revision %d and one field", path, changes, revision)
			}
		}
		setLeaf(spec, ".AS4.Profile", defaults[".AS4.Profile"])
		changes, err := tryApplySpecs(t, s, partners.Spec{Partner: spec})
		if revision++; err != nil || len(changes) != 1 || changes[0].Revision != revision {
			t.Errorf("as4.profile: got %+v, %v", changes, err)
		}
		want := partners.PartnerOf(partners.Defaults())
		got := get(t, s, "varied")
		ignore := cmpopts.IgnoreFields(partners.Partner{}, "ID", "Name", "Organisation", "Revision", "Connected", "Policy.Previous")
		if diff := cmp.Diff(want, got, ignore); diff != "" {
			t.Error(diff)
		}
		var kept int
		if err := s.Pool.QueryRow(t.Context(), `select count(*) from partner_revision where partner_id = 'varied'`).Scan(&kept); err != nil || kept != int(revision) {
			t.Errorf("%d revisions are kept, %v", kept, err)
		}
	})
	t.Run("a revision keeps the spec that was applied", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		apply(t, s, partner("acme", "on_drift: hold"))
		var got []string
		rows, err := s.Pool.Query(t.Context(), `select revision || ' ' || cause || ' ' || (spec ->> 'on_drift') from partner_revision order by revision`)
		if err == nil {
			got, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if diff := cmp.Diff([]string{"1 created reject", "2 changed hold"}, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
	t.Run("a partner that the file does not name stays", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme")+partner("beta"))
		apply(t, s, partner("beta", "state: paused"))
		if p := get(t, s, "acme"); !p.Active || p.Revision != 1 {
			t.Errorf("got %+v", p)
		}
		if p := get(t, s, "beta"); p.Active || p.Revision != 2 {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("the day it was connected stays", func(t *testing.T) {
		s, clock := newStore(t)
		apply(t, s, north+partner("acme"))
		clock.Time = clock.AddDate(0, 1, 0)
		apply(t, s, partner("acme", "attempts: 2"))
		if got, want := get(t, s, "acme").Connected, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("a partner stored before a key existed has that key's default", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		if _, err := s.Pool.Exec(t.Context(), `update partner set spec = spec - 'attempts' - 'known_document'`); err != nil {
			t.Fatal(err)
		}
		p := get(t, s, "acme")
		if p.Policy.Attempts != 5 || p.Policy.OnKnownDocument["invoice"] != "hold" {
			t.Errorf("got %+v", p.Policy)
		}
		if got := apply(t, s, partner("acme")); got != nil {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a diff says the same as an apply and changes nothing", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		next := partner("acme", "retention: {payloads: 60d}", "absorb: [formatting]") + partner("beta")
		changes, err := s.Diff(t.Context(), specs(t, "next.yaml", next))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{`absorb: ["formatting"]`, "retention.payloads: 90d → 60d"}
		if diff := cmp.Diff(want, strs(changes[0].Fields)); diff != "" {
			t.Error(diff)
		}
		if p := get(t, s, "acme"); p.Revision != 1 {
			t.Errorf("revision %d", p.Revision)
		}
		if diff := cmp.Diff(strs(changes), apply(t, s, next)); diff != "" {
			t.Error(diff)
		}
	})
}

// What was refused is judged again only under a new revision, so a partner's
// moves with everything its deliveries are judged by.
func TestRevisionMovesWith(t *testing.T) {
	start := north + "identifiers: [{id: WE}]\n" + partner("sender", "identifiers: [{id: S}]") + partner("van", "speaks_for: [sender]") + partner("other")
	for name, c := range map[string]struct{ text, want string }{
		"our own address": {north + "identifiers: [{id: WE}, {id: US}]\n",
			"organisation north: changed (revision 2); partner other: organisation north changed its identifiers (revision 2); partner sender: organisation north changed its identifiers (revision 2); partner van: organisation north changed its identifiers (revision 2)"},
		"our name, not at all": {north + "name: Nord\nidentifiers: [{id: WE}]\n", "organisation north: changed (revision 2)"},
		"the address of one it speaks for": {partner("sender", "identifiers: [{id: S}, {id: T}]"),
			"partner sender: changed (revision 2); partner van: partner sender, for which it speaks, changed its identifiers or state (revision 2)"},
		"the state of one it speaks for": {partner("sender", "identifiers: [{id: S}]", "state: paused"),
			"partner sender: changed (revision 2); partner van: partner sender, for which it speaks, changed its identifiers or state (revision 2)"},
		"a setting of one it speaks for, not at all": {partner("sender", "identifiers: [{id: S}]", "attempts: 2"), "partner sender: changed (revision 2)"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newStore(t)
			apply(t, s, start)
			if diff := cmp.Diff(c.want, strings.Join(apply(t, s, c.text), "; ")); diff != "" {
				t.Error(diff)
			}
			if got := apply(t, s, c.text); got != nil {
				t.Errorf("again: %v", got)
			}
		})
	}
}

func TestApplyFaults(t *testing.T) {
	const sum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	for name, c := range map[string]struct{ before, text, want string }{
		"an address of another partner": {
			north + partner("acme", "identifiers: [{qualifier: ZZ, id: A}]"),
			partner("beta", "identifiers: [{qualifier: ZZ, id: A}]"),
			"test.yaml:2:1: identifiers: ZZ:A belongs to partner acme"},
		"an address that two partners of a file claim": {
			north, partner("acme", "identifiers: [{id: A}]") + partner("beta", "identifiers: [{id: A}]"),
			"test.yaml:2:1: identifiers: A belongs to partner beta\ntest.yaml:7:1: identifiers: A belongs to partner acme"},
		"an organisation that is not there": {
			"", partner("acme"),
			"test.yaml:2:1: organisation: there is no organisation north: apply `kind: Organisation` with that id first, or in the same file"},
		"speaking for nobody": {
			north, partner("acme", "speaks_for: [ghost]"), "test.yaml:2:1: speaks_for: there is no partner ghost"},
		"a partner twice": {
			north, partner("acme") + partner("acme"), "test.yaml:7:1: id: Partner acme is given twice; the other is in test.yaml:2"},
		"a token of another partner": {
			north + partner("acme", "http: {tokens: [{label: x, sha256: "+sum+"}]}"),
			partner("beta", "http: {tokens: [{label: y, sha256: "+sum+"}]}"),
			`test.yaml:2:1: http.tokens: token "y" is also partner acme's; each needs its own`},
		"an AS2 name of a partner who sends to the same organisation": {
			north + partner("acme", "as2: {names: [A, B]}"), partner("beta", "as2: {names: [B]}"),
			`test.yaml:2:1: as2.names: "B" is a name of partner acme, who sends to north as well`},
		"an AS2 name of another organisation": {
			north + "as2: {names: [N]}\n", "kind: Organisation\nid: south\nas2: {names: [S, N]}\n",
			`test.yaml:1:1: as2.names: "N" is a name of organisation north`},
		"sending over AS2 under no name": {
			north, partner("acme", "as2: {names: [A], send: {url: 'https://acme.example'}}"),
			`test.yaml:2:1: as2.send.url: organisation north has no AS2 name to send under: say as2: {names: […]} there`},
		"sending over AS2 under one of two names": {
			north + "as2: {names: [N, M]}\n", partner("acme", "as2: {names: [A], send: {url: 'https://acme.example'}}"),
			`test.yaml:2:1: as2.send.from: is missing: which of our names [M N] we send under`},
		"sending over AS2 under another's name": {
			north + "as2: {names: [N]}\n", partner("acme", "as2: {names: [A], send: {url: 'https://acme.example', from: X}}"),
			`test.yaml:2:1: as2.send.from: "X" is none of the names [N] of organisation north`},
		"all at once": {
			north + partner("acme", "identifiers: [{id: A}]"),
			partner("beta", "identifiers: [{id: A}]", "speaks_for: [ghost]"),
			"test.yaml:2:1: speaks_for: there is no partner ghost\ntest.yaml:2:1: identifiers: A belongs to partner acme"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newStore(t)
			if c.before != "" {
				apply(t, s, c.before)
			}
			before := counter(t, s)
			_, err := tryApply(t, s, c.text)
			if !partners.IsFault(err) || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if _, err := s.Diff(t.Context(), specs(t, "test.yaml", c.text)); err == nil || err.Error() != c.want {
				t.Errorf("diff got %v", err)
			}
			if got := counter(t, s); got != before {
				t.Error("something was written")
			}
		})
	}
	t.Run("an address may move from a partner to another in one apply", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme", "identifiers: [{id: A}, {id: B}]")+partner("beta", "identifiers: [{id: C}]"))
		apply(t, s, partner("acme", "identifiers: [{id: C}]")+partner("beta", "identifiers: [{id: A}]"))
		var got []string
		rows, err := s.Pool.Query(t.Context(), `select identifier || ' ' || partner_id from partner_identifier order by 1`)
		if err == nil {
			got, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if diff := cmp.Diff([]string{"A beta", "C acme"}, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
	t.Run("a fault of a hand-made spec names the partner", func(t *testing.T) {
		s, _ := newStore(t)
		spec := partners.Defaults()
		spec.ID, spec.Organisation = "acme", "north"
		_, err := s.Diff(t.Context(), []partners.Spec{{Partner: &spec}})
		if err == nil || !strings.HasPrefix(err.Error(), "Partner acme: organisation: there is no") {
			t.Errorf("got %v", err)
		}
	})
}

func TestConcurrentApplies(t *testing.T) {
	s, _ := newStore(t)
	apply(t, s, north)
	t.Run("two that claim the same address wait for each other, and one is told", func(t *testing.T) {
		ctx := t.Context()
		first, err := s.Pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Apply(ctx, first, specs(t, "a.yaml", partner("acme", "identifiers: [{id: A}]"))); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			done <- pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
				_, err := s.Apply(ctx, tx, specs(t, "b.yaml", partner("beta", "identifiers: [{id: A}]")))
				return err
			})
		}()
		waitForLock(t, s)
		if err := first.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err == nil || err.Error() != "b.yaml:2:1: identifiers: A belongs to partner acme" {
			t.Errorf("got %v", err)
		}
	})
}

// waitForLock returns when a session waits for another's transaction.
func waitForLock(t *testing.T, s *partners.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		var waiting bool
		err := s.Pool.QueryRow(ctx, `select exists (select from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock')`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		if waiting {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func sortedLeaves(v any) func(yield func(string) bool) {
	return slices.Values(slices.Sorted(maps.Keys(leaves(v))))
}
