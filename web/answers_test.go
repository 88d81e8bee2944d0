package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write answers.json anew")

// answersMade are the first good JSON answers of the operations, as examples.
type answersMade map[string]any

// keep takes an answer of an operation, if it is the first of its status.
func (m answersMade) keep(t *testing.T, op string, a answer) {
	t.Helper()
	name := fmt.Sprintf("%s %d", op, a.status)
	if a.status >= 300 || a.header.Get("Content-Type") != "application/json" || op == "GET /openapi.json" || m[name] != nil {
		return
	}
	var value any
	if err := json.Unmarshal([]byte(a.body), &value); err != nil {
		t.Fatal(err)
	}
	m[name] = shortened(value)
}

// shortened leaves the first two items of a list, and of a token only what it begins
// with.
func shortened(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = shortened(x)
		}
	case []any:
		v = v[:min(len(v), 2)]
		for i, x := range v {
			v[i] = shortened(x)
		}
		return v
	case string:
		if strings.HasPrefix(v, "edigw_") {
			return v[:8] + "…"
		}
	}
	return v
}

// check holds answers.json against what was answered now: the same operations, and the
// same shape; and against the document.
func (m answersMade) check(t *testing.T) {
	t.Helper()
	if *update {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("answers.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]any
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	const anew = "`go test ./web -run TestAnswersFitTheirSchemas -update` writes it anew"
	if diff := cmp.Diff(slices.Sorted(maps.Keys(m)), slices.Sorted(maps.Keys(shown))); diff != "" {
		t.Errorf("answered (-) and in answers.json (+); %s:\n%s", anew, diff)
	}
	operations, document := described(t)
	for name, example := range shown {
		at := strings.LastIndexByte(name, ' ')
		op := operations[name[:at]]
		if op == nil || op.Responses[name[at+1:]] == nil {
			t.Errorf("%s is not described", name)
			continue
		}
		for _, f := range document.faults(op.Responses[name[at+1:]].Content["application/json"].Schema, example, "") {
			t.Errorf("the example of %s: %s", name, f)
		}
		if diff := cmp.Diff(shape(m[name]), shape(example)); diff != "" {
			t.Errorf("%s is answered in another shape (-) than answers.json shows (+); %s:\n%s", name, anew, diff)
		}
	}
}

// shape lists the places in a value with their types.
func shape(v any) []string {
	places := map[string]bool{}
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				walk(x, at+"."+k)
			}
		case []any:
			for _, x := range v {
				walk(x, at+"[]")
			}
		default:
			places[fmt.Sprintf("%s %T", at, v)] = true
		}
	}
	walk(v, "")
	return slices.Sorted(maps.Keys(places))
}
