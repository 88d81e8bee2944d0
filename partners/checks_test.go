package partners_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/documents/checks"
	"github.com/edigw/edigw/partners"
)

func TestChecks(t *testing.T) {
	read := func(t *testing.T, line string) partners.Checks {
		t.Helper()
		specs, err := reader.Read("", []byte("kind: Partner\nid: acme\norganisation: north\n"+line+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return specs[0].Partner.Checks
	}
	for _, c := range []struct {
		name, line string
		want       partners.Checks
		words      string
	}{
		{"nothing is note", "", nil, "note"},
		{"and so is the word", "checks: note", nil, "note"},
		{"one word is for all", "checks: refuse", partners.Checks{"default": "refuse"}, "refuse"},
		{"what says what is so anyway is left out", "checks: {default: refuse, line-total: refuse, tax-total: note}", partners.Checks{"default": "refuse", "tax-total": "note"}, "{default: refuse, tax-total: note}"},
		{"without a default that is note", "checks: {tax-total: refuse, line-total: note, sscc-elsewhere: off}", partners.Checks{"tax-total": "refuse", "sscc-elsewhere": "off"}, "{sscc-elsewhere: off, tax-total: refuse}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := read(t, c.line)
			if diff := cmp.Diff(c.want, got); diff != "" || got.String() != c.words {
				t.Errorf("%s (-want +got):\n%s", got, diff)
			}
		})
	}
	t.Run("the codes that refuse are named", func(t *testing.T) {
		if got := read(t, "checks: {tax-total: refuse, line-total: refuse}").Refusing(); !slices.Equal(got, []string{"line-total", "tax-total"}) {
			t.Errorf("got %v", got)
		}
		if got := read(t, "checks: {default: refuse, line-total: note}").Refusing(); len(got) != len(checks.Settable())-1 {
			t.Errorf("%d codes", len(got))
		}
		if got := read(t, "").Refusing(); got != nil {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a change is a new revision, and a code set to null has its default again", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme", "checks: {tax-total: refuse}"))
		for _, c := range []struct {
			patch string
			want  partners.Checks
		}{
			{`{"checks": {"line-total": "refuse"}}`, partners.Checks{"tax-total": "refuse", "line-total": "refuse"}},
			{`{"checks": {"tax-total": null}}`, partners.Checks{"line-total": "refuse"}},
			{`{"checks": null}`, nil},
			{`{"checks": {"tax-total": "off"}}`, partners.Checks{"tax-total": "off"}},
		} {
			before := get(t, s, "acme")
			err := inTx(t, s, func(tx pgx.Tx) error {
				_, err := s.PatchTx(t.Context(), tx, "acme", before.Revision, []byte(c.patch))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			after := get(t, s, "acme")
			if diff := cmp.Diff(c.want, after.Policy.Checks); diff != "" || after.Revision != before.Revision+1 {
				t.Errorf("%s: revision %d after %d (-want +got):\n%s", c.patch, after.Revision, before.Revision, diff)
			}
		}
	})
}
