package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/edigw/edigw/accounts"
)

// The answers are held against the schema that the API gives, by somebody else's reading
// of it.
func TestDocumentsFitThePublishedSchema(t *testing.T) {
	r := filled(t)
	a := r.ask("", http.MethodGet, "/schemas/document.json", "")
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/schema+json" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	text, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("https://edigw.dev/schemas/document.json", text); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("https://edigw.dev/schemas/document.json")
	if err != nil {
		t.Fatal(err)
	}
	fits := func(what, body string) {
		t.Helper()
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
		if err == nil {
			err = schema.Validate(v)
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	var list struct {
		Items []struct {
			ID string `json:"document_id"`
		}
	}
	r.get(accounts.Viewer, "/documents", &list)
	if len(list.Items) < 2 {
		t.Fatalf("%d documents", len(list.Items))
	}
	if a := r.ask(r.tokens[accounts.Consumer], http.MethodPost, "/documents/"+list.Items[0].ID+"/report", `{"is":"posted","note":"booked"}`, "Content-Type", "application/json"); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, d := range list.Items {
		a := r.ask(r.tokens[accounts.Viewer], http.MethodGet, "/documents/"+d.ID, "")
		fits("document "+d.ID, a.body)
		if got := a.header.Get("Link"); got != `</api/v1/schemas/document.json>; rel="describedby"` {
			t.Errorf("Link: %s", got)
		}
	}
	_, body, broke := r.exported("")
	if broke != nil {
		t.Fatal(broke)
	}
	for line := range strings.Lines(body) {
		fits("line", line)
	}
	t.Run("what is no document does not", func(t *testing.T) {
		var v map[string]any
		if err := json.Unmarshal([]byte(r.ask(r.tokens[accounts.Viewer], http.MethodGet, "/documents/"+list.Items[0].ID, "").body), &v); err != nil {
			t.Fatal(err)
		}
		delete(v, "number")
		if schema.Validate(v) == nil {
			t.Error("one without a number is taken")
		}
	})
}
