package ubl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/edigw/edigw/documents"
)

// mutilated gives the files of documents that lack a part: each of our own with one
// field emptied, and with one text that has what XML escapes. What makes them unfit is
// left out.
func mutilated(t *testing.T) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, name := range ours(t) {
			for path, d := range variants(t, message(t, name+".edi")) {
				var b bytes.Buffer
				_, err := Write(&b, d)
				var unfit *Unfit
				switch {
				case errors.As(err, &unfit):
					if b.Len() > 0 {
						t.Errorf("%s %s: %d bytes of a file that is none", name, path, b.Len())
					}
				case err != nil:
					t.Errorf("%s %s: %v", name, path, err)
				case !yield(name+" "+path, b.Bytes()):
					return
				}
			}
		}
	}
}

// variants gives d with each of its fields changed in turn.
func variants(t *testing.T, d *documents.Document) iter.Seq2[string, *documents.Document] {
	whole, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string, *documents.Document) bool) {
		for i := 0; ; i++ {
			x := &documents.Document{}
			if err := json.Unmarshal(whole, x); err != nil {
				t.Fatal(err)
			}
			left := i
			path := change(reflect.ValueOf(x).Elem(), "", &left)
			if path == "" {
				return
			}
			if !yield(path, x) {
				return
			}
		}
	}
}

// odd is a text that XML cannot hold as it is.
const odd = "<&\"'>\x01 ]]>\n"

// change makes the change that left counts down to, and tells it; "" if there are fewer.
func change(v reflect.Value, path string, left *int) string {
	do := func(what string, f func()) string {
		if *left--; *left >= 0 {
			return ""
		}
		f()
		return path + " " + what
	}
	switch {
	case v.Type() == reflect.TypeFor[documents.Number]():
		if v.IsZero() {
			return ""
		}
		return do("without a number", v.SetZero)
	case v.Kind() == reflect.String:
		if v.IsZero() {
			return ""
		}
		if done := do("empty", v.SetZero); done != "" {
			return done
		}
		if isDate(path) {
			return ""
		}
		return do("odd", func() { v.SetString(odd) })
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			return ""
		}
		if done := change(v.Elem(), path, left); done != "" {
			return done
		}
		return do("without", v.SetZero)
	case v.Kind() == reflect.Slice:
		if v.Len() == 0 || v.Type().Elem().Kind() == reflect.Uint8 {
			return ""
		}
		for i := range v.Len() {
			if done := change(v.Index(i), fmt.Sprintf("%s[%d]", path, i), left); done != "" {
				return done
			}
		}
		return do("without", v.SetZero)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			if done := change(v.Field(i), path+"."+v.Type().Field(i).Name, left); done != "" {
				return done
			}
		}
	}
	return ""
}

// isDate reports whether a field holds a date, which mappers have checked.
func isDate(path string) bool {
	return strings.HasSuffix(path, "Date") || strings.HasSuffix(path, ".Value") && strings.Contains(path, "Dates[") || strings.HasSuffix(path, ".End")
}
