package web

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed openapi.yaml
var openAPIText []byte

// document is openapi.yaml: what the API says of itself, and what it holds every
// request against, so that the two cannot differ.
type document struct {
	json []byte
	schemas
	operations map[string]*operation // by name, like GET /partners
}

// operation is what the document says of one route.
type operation struct {
	OperationID string               `json:"operationId"`
	Role        string               `json:"x-role"`
	Security    *[]map[string]any    `json:"security"`
	Parameters  []map[string]any     `json:"parameters"`
	RequestBody *requestBody         `json:"requestBody"`
	Responses   map[string]*response `json:"responses"`
}

type requestBody struct {
	Content map[string]struct {
		Schema  any `json:"schema"`
		Example any `json:"example"`
	} `json:"content"`
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema any `json:"schema"`
	} `json:"content"`
}

// openAPIDocument is read once; that it can be is a test's business.
var openAPIDocument = sync.OnceValues(func() (*document, error) { return readDocument(openAPIText) })

func readDocument(text []byte) (*document, error) {
	d := &document{operations: map[string]*operation{}}
	var err error
	if d.json, err = yaml.YAMLToJSON(text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(d.json, &d.root); err != nil {
		return nil, err
	}
	if d.json, err = withAnswers(d.root, answersText); err != nil {
		return nil, err
	}
	var paths struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(d.json, &paths); err != nil {
		return nil, err
	}
	for path, item := range paths.Paths {
		var shared []map[string]any
		if raw, ok := item["parameters"]; ok {
			if err := json.Unmarshal(raw, &shared); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		for method, raw := range item {
			if method == "parameters" {
				continue
			}
			op := &operation{}
			if err := json.Unmarshal(raw, op); err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			op.Parameters = append(op.Parameters, shared...)
			for i, p := range op.Parameters {
				if ref, ok := p["$ref"].(string); ok {
					op.Parameters[i], _ = d.find(ref).(map[string]any) // nil where it is not there: a test asks
				}
			}
			d.operations[strings.ToUpper(method)+" "+path] = op
		}
	}
	return d, nil
}

// gives lists the media types of an operation's good answers, none where they
// have no body.
func (op *operation) gives() []string {
	types := map[string]bool{}
	for status, r := range op.Responses {
		if strings.HasPrefix(status, "2") {
			for t := range r.Content {
				types[t] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(types))
}

func (c *call) openAPI() error {
	d, err := openAPIDocument()
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusOK)
	if _, err := c.w.Write(d.json); err != nil {
		c.api.Log.DebugContext(c.ctx(), "the client went away during the answer", "err", err)
	}
	return nil
}
