package documents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// closed has a schema allow nothing that it does not name, which the published one does
// for the sake of later releases.
func closed(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["properties"] != nil && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, x := range v {
			closed(x)
		}
	case []any:
		for _, x := range v {
			closed(x)
		}
	}
}

// compiled gives the schema, closed, by a library of others.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	closed(doc)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("https://edigw.dev/schemas/document.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://edigw.dev/schemas/document.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDocumentsFitTheSchema(t *testing.T) {
	s := compiled(t)
	fits := func(t *testing.T, d *Stored) error {
		t.Helper()
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(v)
	}
	stored := func(d *Document) *Stored {
		id := newID(t)
		return &Stored{Partner: "acme", State: StateLive, Revision: 1, Supersedes: &id, MessageID: "unb:x", MessageSHA256: "00", ReceivedAt: time.Now(),
			PurgeOn: "2027-01-31", Report: &Report{Is: Posted, At: time.Now(), By: "erp"}, Document: *d}
	}
	files, err := filepath.Glob("testdata/*.edi")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d messages, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, all := read(t, testdata(t, filepath.Base(file)))
			for _, m := range all {
				if m.doc == nil {
					continue
				}
				if err := fits(t, stored(m.doc)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	t.Run("a message that is kept without a mapping", func(t *testing.T) {
		_, all := read(t, interchange([]string{"UNH+1+ORDERS:D:96A:UN:EAN008", "BGM+220+PO-7?+1+9", "DTM+137:20261127:102", "FTX+AAI+++sagt \"Ja\"?: C?:\\temp"}))
		if err := fits(t, stored(all[0].doc)); err != nil {
			t.Error(err)
		}
	})
	t.Run("and what is no document does not", func(t *testing.T) {
		_, all := read(t, testdata(t, "invoic-d96a.edi"))
		for name, spoil := range map[string]func(*Stored){
			"a class that there is not": func(d *Stored) { d.Class = "letter" },
			"a state that there is not": func(d *Stored) { d.State = "gone" },
			"a day that is none":        func(d *Stored) { d.IssueDate = "27.11.2026" },
			"a report that is none":     func(d *Stored) { d.Report.Is = "lost" },
		} {
			d := stored(all[0].doc)
			spoil(d)
			if err := fits(t, d); err == nil {
				t.Errorf("%s is taken", name)
			}
		}
		for name, text := range map[string]string{"a number that is a float": `{"quantity": 1.5}`, "a field that there is not": `{"colour": "red"}`} {
			b, err := json.Marshal(stored(all[0].doc))
			if err != nil {
				t.Fatal(err)
			}
			var v map[string]any
			if err := json.Unmarshal(b, &v); err != nil {
				t.Fatal(err)
			}
			var line any
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatal(err)
			}
			v["lines"] = []any{line}
			if err := s.Validate(v); err == nil {
				t.Errorf("%s is taken: %s", name, fmt.Sprint(v["lines"]))
			}
		}
	})
}
