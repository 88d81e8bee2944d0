package partners_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners"
)

func TestPatch(t *testing.T) {
	patch := func(t *testing.T, s *partners.Store, revision int32, text string) (changes partners.Changes, err error) {
		t.Helper()
		err = inTx(t, s, func(tx pgx.Tx) (err error) {
			changes, err = s.PatchTx(t.Context(), tx, "acme", revision, []byte(text))
			return err
		})
		return changes, err
	}
	s, _ := newStore(t)
	apply(t, s, north+partner("acme", "on_drift: hold", "processing: deferred", "retention: {payloads: 60d, deliveries: 300d}", "http: {tokens: [{label: a, sha256: "+sha256Hex("a")+"}]}"))
	t.Run("what it names changes, what it does not stays, null is the default", func(t *testing.T) {
		changes, err := patch(t, s, 1, `{"attempts": 3, "on_drift": null, "retention": {"payloads": "70d", "deliveries": null}, "types": ["INVOIC"]}`)
		if err != nil {
			t.Fatal(err)
		}
		var fields []string
		for _, f := range changes[0].Fields {
			fields = append(fields, f.String())
		}
		want := []string{"attempts: 5 → 3", "on_drift: hold → reject", "retention.deliveries: 300d → 400d", "retention.payloads: 60d → 70d", `types: ["810","856","DESADV","INVOIC"] → ["INVOIC"]`}
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Error(diff)
		}
		if whose(load(t, s), "a") != "acme" {
			t.Error("its token is gone")
		}
	})
	t.Run("an identifier without quotes keeps every digit", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		for i, id := range []string{"9520001000010", "95200010000100012345678901", "0", "1.0", "1e3"} {
			if _, err := patch(t, s, int32(i+1), `{"identifiers": [{"qualifier": 14, "id": `+id+`}]}`); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]partners.Identifier{{Qualifier: "14", ID: id}}, get(t, s, "acme").Identifiers); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("AS4 is switched on by a profile, which brings its defaults", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		if _, err := patch(t, s, 1, `{"as4": {"profile": "peppol", "from": {"id": "POP000001"}, "to": {"id": "POP000002"}}}`); err != nil {
			t.Fatal(err)
		}
		got := get(t, s, "acme").AS4
		if got == nil || got.Agreement != "urn:fdc:peppol.eu:2017:agreements:tia:ap_provider" || got.From.Type != "urn:fdc:peppol.eu:2017:identifiers:ap" || got.MPC != "" {
			t.Errorf("got %+v", got)
		}
		if _, err := patch(t, s, 2, `{"as4": {"profile": "none"}}`); err == nil {
			t.Error("what is of no use was taken")
		}
		if _, err := patch(t, s, 2, `{"as4": null}`); err != nil || get(t, s, "acme").AS4 != nil {
			t.Errorf("%v, %+v", err, get(t, s, "acme").AS4)
		}
	})
	t.Run("what is nowhere written out is patched as well", func(t *testing.T) {
		s, _ := newStore(t)
		apply(t, s, north+partner("acme"))
		if changes, err := patch(t, s, 1, `{"attempts": 3}`); err != nil || len(changes) != 1 || len(changes[0].Fields) != 1 {
			t.Errorf("%v, %v", changes, err)
		}
	})
	t.Run("on what is not the present revision it changes nothing", func(t *testing.T) {
		_, err := patch(t, s, 1, `{"attempts": 4}`)
		if !errors.Is(err, partners.ErrMoved) || err.Error() != "partner acme is at revision 2, not 1: the configuration has changed since" {
			t.Errorf("got %v", err)
		}
	})
	for text, want := range map[string]string{
		`{"attempts": 0}`:                `attempts: must be a number, 1 to 100, not "0"`,
		`{"attemps": 4}`:                 "attemps: unknown key; did you mean attempts?",
		`{"id": "other"}`:                "id: a partner keeps its id, which stands in every key",
		`{"organisation": "south"}`:      "Partner acme: organisation: there is no organisation south: apply `kind: Organisation` with that id first, or in the same file",
		`{"attempts": 3, "attempts": 4}`: "attempts: stands twice",
		`{"retention": {"payloads": "60d", "payloads": "70d"}}`:  "retention.payloads: stands twice",
		`{"identifiers": [{"id": "A"}, {"id": "B", "id": "C"}]}`: "identifiers[2].id: stands twice",
		`{"attempts": 3} {}`:         "the change must be a JSON object with the keys to change",
		strings.Repeat("[", 1<<20):   "the change must be a JSON object with the keys to change",
		`[]`:                         "the change must be a JSON object with the keys to change",
		`null`:                       "the change must be a JSON object with the keys to change",
		`{"retention": "short"}`:     "retention: must be a mapping with the keys dedup_window, retry_window, reuse_after, payloads, acknowledgements, quarantine, deliveries, documents, legal_hold",
		`{"http": {"tokens": [{}]}}`: "http.tokens[1]: needs one of sha256, env and file",
		`{"kind": "Organisation"}`:   "",
	} {
		t.Run("a fault names the key: "+text[:min(len(text), 60)], func(t *testing.T) {
			_, err := patch(t, s, 2, text)
			if want == "" {
				if err != nil {
					t.Errorf("a kind is no setting: %v", err)
				}
				return
			}
			if !partners.IsFault(err) || err.Error() != want {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("nobody is unknown", func(t *testing.T) {
		err := inTx(t, s, func(tx pgx.Tx) error {
			_, err := s.PatchTx(t.Context(), tx, "nobody", 1, []byte(`{}`))
			return err
		})
		if !errors.Is(err, partners.ErrUnknown) {
			t.Errorf("got %v", err)
		}
	})
}
