package jsontext_test

import (
	"encoding/json"
	"testing"

	"github.com/edigw/edigw/jsontext"
)

func TestTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "a": 1}`:                      "a",
		`{"a": {"b": [1, {"c": 1, "c": 2}]}}`:   "a.b[2].c",
		`{"a": 1, "\u0061": 2}`:                 "a",
		`[{"a": null}, {"a": [], "a": []}]`:     "[2].a",
		`{"": 1, "": 2}`:                        "",
		`{"a": {"a": {"a": 1e999}}, "b": [[]]}`: "none",
		`{"a": 1, "A": 2}`:                      "none",
		`{"a": 1, "a": 2`:                       "none",
		`{"a": 1} {"a": 1}`:                     "none",
		`"a"`:                                   "none",
		``:                                      "none",
	} {
		t.Run(text, func(t *testing.T) {
			got, ok := jsontext.Twice([]byte(text))
			if !ok {
				got = "none"
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func FuzzTwice(f *testing.F) {
	f.Add([]byte(`{"a": {"b": [1, {"c": 1, "c": 2}]}, "d": -0.5e-7}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, ok := jsontext.Twice(text); ok {
			return
		}
		// Written anew it has no key twice, whatever it had.
		var v any
		if json.Unmarshal(text, &v) != nil {
			return
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := jsontext.Twice(again); ok {
			t.Fatalf("%q stands twice in %s", at, again)
		}
	})
}
