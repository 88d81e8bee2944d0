package web

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"
)

// described gives the operations of the document as "GET /partners".
func described(t *testing.T) (operations map[string]*operation, d *document) {
	t.Helper()
	d, err := openAPIDocument()
	if err != nil {
		t.Fatal(err)
	}
	if version := d.root.(map[string]any)["openapi"]; version != "3.1.0" {
		t.Fatalf("openapi: %q", version)
	}
	return d.operations, d
}

func TestTheDocumentDescribesEveryRoute(t *testing.T) {
	operations, document := described(t)
	routed := map[string]bool{}
	mux := (&API{Metrics: http.NotFoundHandler()}).Handler().(chi.Router)
	err := chi.Walk(mux, func(method, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if rest, ok := strings.CutPrefix(path, Prefix); ok {
			routed[method+" "+rest] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(routed)), slices.Sorted(maps.Keys(operations))); diff != "" {
		t.Errorf("routed (-) and described (+):\n%s", diff)
	}
	ids := map[string]string{}
	for _, rt := range Routes {
		name := rt.Method + " " + rt.Path
		op := operations[name]
		t.Run(name, func(t *testing.T) {
			if op == nil {
				t.Fatal("it is not described")
			}
			if op.Role != string(rt.Role) {
				t.Errorf("x-role is %q, the route asks for %q", op.Role, rt.Role)
			}
			if open := op.Security != nil && len(*op.Security) == 0; open != (rt.Role == "") {
				t.Errorf("security says open: %v, but the role is %q", open, rt.Role)
			}
			if other := ids[op.OperationID]; other != "" || op.OperationID == "" {
				t.Errorf("operationId %q is also that of %q", op.OperationID, other)
			}
			ids[op.OperationID] = name
			if diff := cmp.Diff(understood(rt), parametersOf(op)); diff != "" {
				t.Errorf("parameters understood (-) and described (+):\n%s", diff)
			}
			if op.RequestBody != nil {
				for contentType, media := range op.RequestBody.Content {
					for _, f := range document.faults(media.Schema, media.Example, "") {
						t.Errorf("the example of %s does not fit its schema: %s", contentType, f)
					}
				}
			}
			if op.Responses["default"] == nil || op.Responses["default"].Ref != "#/components/responses/Problem" {
				t.Error("the default response is not a problem")
			}
		})
	}
}

// understood lists a route's parameters as "in name values".
func understood(rt Route) []string {
	var list []string
	for part := range strings.SplitSeq(rt.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			list = append(list, "path "+strings.TrimSuffix(name, "}"))
		}
	}
	for _, p := range rt.Query {
		line := "query " + p.Name
		switch p.Kind {
		case Time:
			line += " date-time"
		case Day:
			line += " date"
		case Decimal:
			line += " " + isDecimal.String()
		case ID:
			line += " uuid"
		case Limit:
			line += " integer"
		case Digest:
			line += " ^[0-9a-fA-F]{64}$"
		}
		if p.Values != nil {
			line += " " + strings.Join(p.Values, "|")
		}
		list = append(list, line)
	}
	slices.Sort(list)
	return list
}

func parametersOf(op *operation) []string {
	var list []string
	for _, p := range op.Parameters {
		if p["in"] == "header" { // tested where it is read
			continue
		}
		line := p["in"].(string) + " " + p["name"].(string)
		s := p["schema"].(map[string]any)
		if p["in"] == "query" {
			switch {
			case s["format"] != nil:
				line += " " + s["format"].(string)
			case s["pattern"] != nil && s["pattern"] != "^[A-Za-z0-9_-]+$":
				line += " " + s["pattern"].(string)
			case s["type"] == "integer":
				line += " integer"
			}
		}
		if values, ok := s["enum"].([]any); ok {
			words := make([]string, len(values))
			for i, v := range values {
				words[i] = v.(string)
			}
			line += " " + strings.Join(words, "|")
		}
		list = append(list, line)
	}
	slices.Sort(list)
	return list
}

func TestEverySchemaThatIsNamedIsThereAndUsed(t *testing.T) {
	_, document := described(t)
	named := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				named[ref] = true
				if document.find(ref) == nil {
					t.Errorf("%s is named, but not there", ref)
				}
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(document.root)
	for name := range document.find("#/components/schemas").(map[string]any) {
		if !named["#/components/schemas/"+name] {
			t.Errorf("schema %s is used nowhere", name)
		}
	}
}
