package web

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// answersText holds an answer of each operation that gives JSON, by "METHOD path
// status": real ones, which a test makes and holds the file against. They are examples
// in the document.
//
//go:embed answers.json
var answersText []byte

// withAnswers puts the examples into the document's responses, and gives its text. One
// that there is no response for is a fault of the file.
func withAnswers(root any, text []byte) ([]byte, error) {
	var answers map[string]any
	if err := json.Unmarshal(text, &answers); err != nil {
		return nil, fmt.Errorf("answers.json: %w", err)
	}
	for name, example := range answers {
		parts := strings.Fields(name)
		if len(parts) != 3 {
			return nil, fmt.Errorf("answers.json: %q is no method, path and status", name)
		}
		at := root
		for _, key := range []string{"paths", parts[1], strings.ToLower(parts[0]), "responses", parts[2], "content", "application/json"} {
			m, ok := at.(map[string]any)
			if !ok || m[key] == nil {
				return nil, fmt.Errorf("answers.json: the document has no %s for %q", key, name)
			}
			at = m[key]
		}
		at.(map[string]any)["example"] = example
	}
	return json.Marshal(root)
}
