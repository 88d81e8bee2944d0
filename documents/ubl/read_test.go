package ubl

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/x12"
)

var update = flag.Bool("update", false, "write the expected files anew")

// mapped maps the only message of EDIFACT or X12 text.
func mapped(t testing.TB, text []byte) *documents.Document {
	t.Helper()
	p := edi.Bytes(text)
	split, scan := edifact.Reader{}.Split, edifact.Reader{}.Scan
	if x12.Leads(text) {
		split, scan = x12.Reader{}.Split, x12.Reader{}.Scan
	}
	ic, err := split(p, 0)
	if err != nil {
		t.Fatalf("split: %v", err)
	}
	var d *documents.Document
	err = scan(p, ic, func(i int, b *edi.Body) error {
		for _, e := range ic.MessageErrors[i] {
			if e.Severity >= edi.SeverityError {
				return e
			}
		}
		for _, h := range documents.Handlers() {
			if h.Type != ic.Messages[i].Type.Type {
				continue
			}
			var errs []*edi.Error
			if d, errs = h.Map(ic, i, b, nil); d == nil {
				return errs[0]
			}
		}
		return nil
	})
	if err != nil || d == nil {
		t.Fatalf("no document: %v", err)
	}
	return d
}

// all maps what messages of EDIFACT or X12 text it can.
func all(text []byte) (list []*documents.Document) {
	p := edi.Bytes(text)
	split, scan := edifact.Reader{}.Split, edifact.Reader{}.Scan
	if x12.Leads(text) {
		split, scan = x12.Reader{}.Split, x12.Reader{}.Scan
	}
	ic, err := split(p, 0)
	if err != nil {
		return nil
	}
	_ = scan(p, ic, func(i int, b *edi.Body) error { // what the syntax layer refuses is not the subject
		for _, h := range documents.Handlers() {
			if h.Type == ic.Messages[i].Type.Type {
				if d, _ := h.Map(ic, i, b, nil); d != nil {
					list = append(list, d)
				}
			}
		}
		return nil
	})
	return list
}

// message maps a message of our own.
func message(t testing.TB, name string) *documents.Document {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return mapped(t, b)
}

// shared reads a file beside the repository.
func shared(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", filepath.FromSlash(name)))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("shared absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// written writes d as UBL.
func written(t testing.TB, d *documents.Document) (string, []Remark) {
	t.Helper()
	var b bytes.Buffer
	list, err := Write(&b, d)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), list
}

// ours are messages of our own, by name in testdata.
func ours(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.edi")
	if err != nil || len(files) == 0 {
		t.Fatalf("no messages: %v", err)
	}
	for i := range files {
		files[i] = strings.TrimSuffix(filepath.Base(files[i]), ".edi")
	}
	return files
}

// TestGolden writes whole messages and compares the files, and what is told of them,
// with files that a person has read.
func TestGolden(t *testing.T) {
	for _, name := range ours(t) {
		t.Run(name, func(t *testing.T) {
			file, list := written(t, message(t, name+".edi"))
			var told strings.Builder
			for _, r := range list {
				told.WriteString(r.Term + " " + r.String() + "\n")
			}
			expect(t, name+".xml", file)
			expect(t, name+".txt", told.String())
		})
	}
}

func expect(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
