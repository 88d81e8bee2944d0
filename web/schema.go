package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// schemas checks values against the JSON Schemas of an OpenAPI 3.1 document, in
// the subset that ours is written in: a keyword outside it is a fault of the
// document. A library would bring a dozen dependencies for these lines.
type schemas struct {
	root     any
	patterns sync.Map // compiled, by their text
}

// misfit is one thing in a value that its schema does not allow.
type misfit struct {
	At     string // like .letters[0].partner; empty for the value as a whole
	Detail string
}

func (m misfit) String() string { return m.At + ": " + m.Detail }

// find follows a reference like #/components/schemas/Token.
func (s *schemas) find(ref string) any {
	at := s.root
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[part]
	}
	return at
}

var understoodKeywords = []string{"$ref", "type", "properties", "required", "additionalProperties", "items", "enum", "pattern",
	"format", "description", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "default", "allOf"}

// faults gives what in value does not fit schema, each with its place.
func (s *schemas) faults(schema, value any, at string) (list []misfit) {
	fault := func(format string, args ...any) {
		list = append(list, misfit{at, fmt.Sprintf(format, args...)})
	}
	m, ok := schema.(map[string]any)
	if !ok {
		fault("the schema is %T", schema)
		return list
	}
	for k := range m {
		if !slices.Contains(understoodKeywords, k) {
			fault("the schema has the keyword %q, which the check does not know", k)
		}
	}
	if ref, ok := m["$ref"].(string); ok {
		return append(list, s.faults(s.find(ref), value, at)...)
	}
	if all, ok := m["allOf"].([]any); ok {
		for _, part := range all {
			list = append(list, s.faults(part, value, at)...)
		}
	}
	if types := m["type"]; types != nil && !ofType(types, value) {
		fault("%s is not of type %v", show(value), types)
		return list
	}
	if enum, ok := m["enum"].([]any); ok && !slices.ContainsFunc(enum, func(e any) bool { return reflect.DeepEqual(e, value) }) {
		fault("%s is not one of %s", show(value), oneOf(enum))
	}
	bound := func(least, most, what string, n float64) {
		if limit, ok := m[least].(float64); ok && n < limit {
			fault("%v%s, but at least %v must be", n, what, limit)
		}
		if limit, ok := m[most].(float64); ok && n > limit {
			fault("%v%s, but at most %v may be", n, what, limit)
		}
	}
	switch v := value.(type) {
	case float64:
		bound("minimum", "maximum", "", v)
	case string:
		bound("minLength", "maxLength", " characters", float64(utf8.RuneCountInString(v)))
		if p, ok := m["pattern"].(string); ok {
			if re, err := s.pattern(p); err != nil {
				fault("the schema's pattern cannot be read: %v", err)
			} else if !re.MatchString(v) {
				fault("%q does not match %s", v, p)
			}
		}
		if f, ok := m["format"].(string); ok && !ofFormat(f, v) {
			fault("%q is no %s", v, f)
		}
	case []any:
		bound("minItems", "maxItems", " items", float64(len(v)))
		if items, ok := m["items"]; ok {
			for i, x := range v {
				list = append(list, s.faults(items, x, at+"["+strconv.Itoa(i)+"]")...)
			}
		}
	case map[string]any:
		if required, ok := m["required"].([]any); ok {
			for _, name := range required {
				if _, ok := v[fmt.Sprint(name)]; !ok {
					fault("%v is missing", name)
				}
			}
		}
		properties, _ := m["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			x := v[name]
			if p, ok := properties[name]; ok {
				list = append(list, s.faults(p, x, at+"."+name)...)
			} else if m["additionalProperties"] == false {
				fault("%q is not known here", name)
			}
		}
	}
	return list
}

func ofType(types, value any) bool {
	if several, ok := types.([]any); ok {
		return slices.ContainsFunc(several, func(t any) bool { return ofType(t, value) })
	}
	switch v := value.(type) {
	case string:
		return types == "string"
	case bool:
		return types == "boolean"
	case float64:
		return types == "number" || types == "integer" && v == math.Trunc(v)
	case []any:
		return types == "array"
	case map[string]any:
		return types == "object"
	}
	return types == "null"
}

func ofFormat(format, v string) bool {
	var err error
	switch format {
	case "date-time":
		_, err = time.Parse(time.RFC3339, v)
	case "date":
		_, err = time.Parse(time.DateOnly, v)
	case "uuid":
		err = uuid.Validate(v)
	default:
		return false
	}
	return err == nil
}

// pattern compiles one, once.
func (s *schemas) pattern(text string) (*regexp.Regexp, error) {
	if re, ok := s.patterns.Load(text); ok {
		return re.(*regexp.Regexp), nil
	}
	re, err := regexp.Compile(text)
	if err == nil {
		s.patterns.Store(text, re)
	}
	return re, err
}

func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}

// show gives a value as JSON, the beginning of a long one.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return strings.ToValidUTF8(string(b[:min(len(b), 80)]), "")
}
