package partners_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners"
)

func TestAnAddressThatNothingMayBeSentToIsRefusedWhereItStands(t *testing.T) {
	s, _ := newStore(t)
	const text = `kind: Organisation
id: north
name: North
identifiers: [{qualifier: "14", id: "9520002000019"}]
---
kind: Partner
id: acme
name: ACME
organisation: north
identifiers: [{qualifier: "14", id: "9520001000010"}]
acknowledge_by: webhook
acknowledge_url: http://acme.example/edi
`
	apply(t, s, text) // by a process that allows it
	s.Refuses = func(address string) error {
		if strings.HasPrefix(address, "http:") {
			return errors.New("is not https")
		}
		return nil
	}
	try := func(text string) (faults partners.Faults) {
		t.Helper()
		specs, err := partners.Reader{}.Read("acme.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, differs := s.Diff(t.Context(), specs)
		err = pgx.BeginFunc(t.Context(), s.Pool, func(tx pgx.Tx) error { _, err := s.Apply(t.Context(), tx, specs); return err })
		if diff := cmp.Diff(errors.As(err, &faults), partners.IsFault(differs)); diff != "" {
			t.Errorf("apply and diff do not agree: %v, %v", err, differs)
		}
		if err != nil && faults == nil {
			t.Fatal(err)
		}
		return faults
	}
	t.Run("a new one is", func(t *testing.T) {
		want := partners.Faults{{File: "acme.yaml", Line: 6, Column: 1, Key: "acknowledge_url", Text: "is not https"}}
		if diff := cmp.Diff(want, try(strings.Replace(text, "acme.example", "other.example", 1))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("one that stands is no fault of who changes the name", func(t *testing.T) {
		if faults := try(strings.Replace(text, "name: ACME", "name: ACME Ltd", 1)); faults != nil {
			t.Error(faults)
		}
	})
	t.Run("a patch that brings it in is refused", func(t *testing.T) {
		revision := get(t, s, "acme").Revision
		err := pgx.BeginFunc(t.Context(), s.Pool, func(tx pgx.Tx) error {
			_, err := s.PatchTx(t.Context(), tx, "acme", revision, []byte(`{"acknowledge_url":"http://other.example/"}`))
			return err
		})
		if !partners.IsFault(err) || !strings.Contains(err.Error(), "acknowledge_url") {
			t.Errorf("%v", err)
		}
	})
}
