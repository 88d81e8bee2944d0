package documents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// ordered is a JSON object whose names keep their order.
type ordered []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members as they stand.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(append(append(name, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// comments of the types and fields in folders, by their names: documents.Line,
// documents.Line.No.
func comments(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files in %s, %v", len(files), folder, err)
		}
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.TYPE {
					addTypes(said, f.Name.Name, d)
				}
			}
		}
	}
	return said
}

func addTypes(said map[string]string, in string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		typ := spec.(*ast.TypeSpec)
		said[in+"."+typ.Name.Name] = sentence(d.Doc)
		fields, ok := typ.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range fields.Fields.List {
			text := sentence(f.Comment)
			if text == "" {
				text = sentence(f.Doc)
			}
			for _, name := range f.Names {
				said[in+"."+typ.Name.Name+"."+name.Name] = text
			}
		}
	}
}

// wordsFile says more of fields than their comments do, which are for who reads the source.
const wordsFile = "testdata/schema_words.txt"

// words gives what it says, by the fields' names: Line.No.
func words(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(wordsFile)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(text)) {
		field, rest, is := strings.Cut(strings.TrimSpace(line), "  ")
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if !is || said[field] != "" {
			t.Fatalf("%s: %q is no field with its description, or stands twice", wordsFile, line)
		}
		said[field] = strings.TrimSpace(rest)
	}
	return said
}

func sentence(c *ast.CommentGroup) string {
	return strings.Join(strings.Fields(c.Text()), " ")
}

// schemaMaker makes a schema of types.
type schemaMaker struct {
	words   map[string]string // what wordsFile says, without what was used
	said    map[string]string // comments
	types   []reflect.Type    // those that are defined beside the root, in the order in which they were met
	without []string          // fields of which nothing is said
}

var (
	schemaOf = map[reflect.Type]ordered{
		reflect.TypeFor[Number]():          {{"$ref", "#/$defs/Number"}},
		reflect.TypeFor[uuid.UUID]():       {{"type", "string"}, {"format", "uuid"}},
		reflect.TypeFor[time.Time]():       {{"type", "string"}, {"format", "date-time"}},
		reflect.TypeFor[State]():           {{"enum", []State{StateLive, StateHeld}}},
		reflect.TypeFor[Reported]():        {{"enum", Reports}},
		reflect.TypeFor[json.RawMessage](): {{"$ref", "#/$defs/Segment"}},
	}
	// Both hold more than their types say.
	schemaOfField = map[string]ordered{
		"documents.Document.Class":    {{"enum", []string{ClassInvoice, ClassDespatch, ClassGeneric}}},
		"documents.Document.Segments": {{"type", "array"}, {"items", ordered{{"$ref", "#/$defs/Segment"}}}},
	}
	numberSchema = ordered{{"description", "A decimal with the digits and the scale that it was sent with: 100.00 stays so. It is text, since a JSON number would be read as a float."},
		{"type", "string"}, {"pattern", `^-?[0-9]+(\.[0-9]+)?$`}}
	segmentSchema = ordered{{"description", "A segment as it was sent: its tag, then each element, as text, as an array of its components, or as an object whose repeat holds its repetitions."},
		{"type", "array"}, {"minItems", 1}, {"prefixItems", []any{ordered{{"type", "string"}}}},
		{"items", ordered{{"type", []string{"string", "array", "object"}}}}}
	dayForm = regexp.MustCompile(`\bCCYY-MM-DD\b`)
	term    = regexp.MustCompile(`\bB[TG]-[0-9]+\b`)
)

// saidOf gives what is said of a type.
func (m *schemaMaker) saidOf(typ reflect.Type) string {
	if own := m.words[typ.Name()]; own != "" {
		delete(m.words, typ.Name())
		return own
	}
	return m.said[typ.String()]
}

// of gives the schema of a value.
func (m *schemaMaker) of(t *testing.T, typ reflect.Type) ordered {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if s, known := schemaOf[typ]; known {
		return s
	}
	switch typ.Kind() {
	case reflect.String:
		return ordered{{"type", "string"}}
	case reflect.Bool:
		return ordered{{"type", "boolean"}}
	case reflect.Int, reflect.Int64:
		return ordered{{"type", "integer"}}
	case reflect.Slice:
		return ordered{{"type", "array"}, {"items", m.of(t, typ.Elem())}}
	case reflect.Struct:
		if !strings.HasPrefix(typ.PkgPath(), "github.com/edigw/edigw/") {
			break
		}
		for _, known := range m.types {
			if known == typ {
				return ordered{{"$ref", "#/$defs/" + typ.Name()}}
			}
		}
		m.types = append(m.types, typ)
		return ordered{{"$ref", "#/$defs/" + typ.Name()}}
	}
	t.Fatalf("%v has no schema: say in schemaOf what it is in JSON", typ)
	return nil
}

// object gives the schema of a struct; what it embeds is part of it.
func (m *schemaMaker) object(t *testing.T, typ reflect.Type) ordered {
	properties, required := ordered{}, []string{}
	var add func(typ reflect.Type)
	add = func(typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" {
				add(f.Type)
				continue
			}
			if !f.IsExported() || name == "-" {
				continue
			}
			place := typ.String() + "." + f.Name
			p := ordered{}
			said := m.said[place]
			if own := typ.Name() + "." + f.Name; m.words[own] != "" {
				said = m.words[own]
				delete(m.words, own)
			}
			if said == "" {
				m.without = append(m.without, place)
			}
			if terms := term.FindAllString(said, -1); terms != nil {
				p = append(p, member{"title", strings.Join(terms, ", ")})
			}
			s := m.of(t, f.Type)
			if own, known := schemaOfField[place]; known {
				s = own
			}
			p = append(append(p, member{"description", said}), s...)
			if f.Type.Kind() == reflect.String && dayForm.MatchString(said) {
				p = append(p, member{"format", "date"})
			}
			must := !strings.Contains(options, "omit")
			if must && f.Type == reflect.TypeFor[Number]() { // absent, it is null
				p[len(p)-1] = member{"anyOf", []any{s, ordered{{"type", "null"}}}}
			}
			if must {
				required = append(required, name)
			}
			properties = append(properties, member{name, p})
		}
	}
	add(typ)
	o := ordered{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		o = append(o, member{"required", required})
	}
	return o
}

// schema makes that of a document as it is stored.
func (m *schemaMaker) schema(t *testing.T) ordered {
	root := append(ordered{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", "https://edigw.dev/schemas/document.json"},
		{"title", "Business document"},
		{"description", m.saidOf(reflect.TypeFor[Stored]())},
	}, m.object(t, reflect.TypeFor[Stored]())...)
	defined := ordered{{"Number", numberSchema}, {"Segment", segmentSchema}}
	for i := 0; i < len(m.types); i++ { // each may name more
		said := ordered{}
		if text := m.saidOf(m.types[i]); text != "" {
			said = ordered{{"description", text}}
		}
		defined = append(defined, member{m.types[i].Name(), append(said, m.object(t, m.types[i])...)})
	}
	return append(root, member{"$defs", defined})
}

// TestSchema holds the published schema against the types.
func TestSchema(t *testing.T) {
	m := &schemaMaker{words: words(t), said: comments(t, ".", "../edi")}
	b, err := json.MarshalIndent(m.schema(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	t.Run("every field is described", func(t *testing.T) {
		for _, place := range m.without {
			t.Errorf("%s has no description in the schema: say in a comment or in %s what it is, with its business term", place, wordsFile)
		}
		for field := range m.words {
			t.Errorf("%s is described in %s and is no field", field, wordsFile)
		}
	})
	if *update {
		if err := os.WriteFile("schema.json", b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(b), string(is)); diff != "" {
		t.Errorf("the types (-) and schema.json (+) differ; `go test ./documents -run TestSchema -update` writes it anew:\n%s", diff)
	}
	t.Run("what it names is there", func(t *testing.T) {
		for _, ref := range regexp.MustCompile(`"#/\$defs/([A-Za-z]+)"`).FindAllSubmatch(b, -1) {
			if !bytes.Contains(b, fmt.Appendf(nil, "\n  %q: {", ref[1])) {
				t.Errorf("%s is named and not defined", ref[1])
			}
		}
	})
}
