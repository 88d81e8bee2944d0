package documents

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/x12"
)

// judged is the table of what is found in files that others wrote: file, document,
// finding, and why it is right. Files without documents of ours stand in it too, so
// that none is left out.
const judged = "testdata/sample-findings.tsv"

// TestSamples holds what is found in the sample files against that table. A finding
// without a judgement fails, and so does one that is not found any more.
func TestSamples(t *testing.T) {
	const root = "../../shared/samples/edi"
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		t.Skip("shared absent")
	}
	text, err := os.ReadFile(judged)
	if err != nil && !*update {
		t.Fatal(err)
	}
	why := map[string]string{}
	var want []string
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 4 {
			t.Fatalf("%q has %d columns", line, len(columns))
		}
		row := strings.Join(columns[:3], "\t")
		why[row] = columns[3]
		want = append(want, row)
		if columns[2] != "-" && len(columns[3]) < 10 {
			t.Errorf("nobody has judged %q", row)
		}
	}
	var got []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".md") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		sample, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, row := range foundIn(sample) {
			got = append(got, filepath.ToSlash(name)+"\t"+row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if len(got) < 50 {
		t.Fatalf("only %d rows: the samples are not all there", len(got))
	}
	if *update {
		var b strings.Builder
		for _, row := range got {
			b.WriteString(row + "\t" + why[row] + "\n")
		}
		if err := os.WriteFile(judged, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-judged +found):\n%s", diff)
	}
}

// tolerant reads text as a partner's settings would have to say, so that what is wrong
// with its characters or lines keeps no document from being looked at.
func tolerant(text []byte) syntax {
	o := edi.Tolerance{DefaultCharset: "ISO-8859-1", LineWraps: true, Structure: edi.StructureIgnored}
	if x12.Leads(text) {
		r := x12.Reader{Tolerance: o, UnreliableMessageReferences: true}
		return syntax{r.Split, r.Scan}
	}
	r := edifact.Reader{Tolerance: o, UnreliableMessageReferences: true}
	return syntax{r.Split, r.Scan}
}

// foundIn gives a row for each finding in the documents of a text, and one for each
// document without any.
func foundIn(text []byte) (rows []string) {
	add := func(document string, findings ...string) {
		for _, f := range findings {
			rows = append(rows, document+"\t"+f)
		}
	}
	p := edi.Bytes(text)
	syntax := tolerant(text)
	for from := int64(0); from < p.Size(); {
		ic, err := syntax.split(p, from)
		if errors.Is(err, io.EOF) {
			break
		}
		if ic == nil || ic.Offset+ic.Length <= from {
			break
		}
		from = ic.Offset + ic.Length
		if err != nil {
			continue
		}
		err = syntax.scan(p, ic, func(i int, b *edi.Body) error {
			kind := ic.Messages[i].Type.Type
			h := slices.IndexFunc(Handlers(), func(h Handler) bool { return h.Type == kind })
			switch {
			case h < 0:
				return nil
			case edi.Worst(ic.MessageErrors[i]) >= edi.SeverityError:
				add(kind+" "+ic.Messages[i].Reference+", refused for its syntax", "-")
				return nil
			}
			doc, errs := Handlers()[h].Map(ic, i, b, nil)
			name := kind + " " + ic.Messages[i].Reference
			if doc == nil {
				name += ", refused"
			} else {
				name += ", " + doc.Number
			}
			if len(errs) == 0 {
				add(name, "-")
			}
			for _, e := range errs {
				add(name, fmt.Sprintf("%s %s at %d %s: %s", e.Severity, e.Code, e.Segment, e.Tag, e.Text))
			}
			return nil
		})
		if err != nil {
			add("unreadable", "-")
		}
	}
	if rows == nil {
		add("no document of ours", "-")
	}
	return rows
}
