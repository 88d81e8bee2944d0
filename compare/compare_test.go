package compare_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edigw/edigw/compare"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
)

// parse reads one EDIFACT interchange into a side of a comparison.
func parse(t testing.TB, text string) *compare.Interchange {
	t.Helper()
	side, _ := parseBeside(t, text, nil, compare.Limits{})
	return side
}

// parseBeside reads one that is compared with other, scanned before.
func parseBeside(t testing.TB, text string, other *edi.Interchange, limits compare.Limits) (*compare.Interchange, *edi.Interchange) {
	t.Helper()
	p := edi.Bytes([]byte(text))
	ic, err := edifact.Reader{}.Split(p, 0)
	if e := (*edi.Error)(nil); errors.As(err, &e) {
		return compare.Unreadable(e.Text), ic
	}
	if err != nil {
		t.Fatal(err)
	}
	b := compare.Builder{Envelope: ic, Payload: p, Other: other, Limits: limits}
	if err := (edifact.Reader{}).Scan(p, ic, b.Visit); err != nil {
		t.Fatal(err)
	}
	return b.Interchange(), ic
}

// parseX12 reads ISA…IEA with one group, * and ~ as the sample has them.
func parseX12(t testing.TB, text string) *compare.Interchange {
	t.Helper()
	p := edi.Bytes([]byte(text))
	d := edi.Delimiters{Element: '*', Component: '>', Terminator: '~'}
	ic := &edi.Interchange{Syntax: "x12", Delimiters: d, Length: p.Size(), Complete: true,
		Groups: []edi.Group{{}}}
	all := edi.NewBody([]byte(text), 0, 1, d, nil)
	b := compare.Builder{Envelope: ic, Payload: p}
	start := 0
	for i, s := range all.Segments {
		switch s.Tag() {
		case "ISA":
			ic.Sender = edi.Party{ID: strings.TrimRight(s.Get(6, 1), " "), Qualifier: s.Get(5, 1)}
			ic.Recipient = edi.Party{ID: strings.TrimRight(s.Get(8, 1), " "), Qualifier: s.Get(7, 1)}
			ic.ControlReference = s.Get(13, 1)
		case "GS":
			ic.Groups[0] = edi.Group{FunctionalID: s.Get(1, 1), Date: s.Get(4, 1), Time: s.Get(5, 1), Reference: s.Get(6, 1)}
		case "ST":
			start = i
		case "SE":
			st := all.Segments[start]
			ic.Messages = append(ic.Messages, edi.Message{Type: &edi.MessageType{Type: st.Get(1, 1)}, Reference: st.Get(2, 1)})
			if err := b.Visit(len(ic.Messages)-1, &edi.Body{Segments: all.Segments[start : i+1]}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Interchange()
}

// sample reads testdata and applies edits: pairs of old and new text, each of
// which must be found.
func sample(t testing.TB, name string, edits ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	s := string(b)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(s, edits[i]) {
			t.Fatalf("%s holds no %q", name, edits[i])
		}
		s = strings.Replace(s, edits[i], edits[i+1], 1)
	}
	return s
}

// told is what a test says of a result.
type told struct {
	Class    compare.Class
	Severity compare.Severity
	Words    string
}

func tell(r *compare.Result) told { return told{r.Class, r.Severity, r.Words()} }

// brief lists changes in short: kind, where, element, before → after.
func brief(list []compare.Change) []string {
	var out []string
	for _, c := range list {
		var b strings.Builder
		b.WriteString(string(c.Kind) + " " + string(c.Facet) + " ")
		if c.Package != "" {
			b.WriteString("package " + c.Package + " ")
		}
		if c.Line != "" {
			b.WriteString("line " + c.Line + " ")
		}
		b.WriteString(c.Tag)
		if c.Before != "" || c.After != "" {
			b.WriteString(" " + c.Before + " → " + c.After)
		} else if c.BeforeSegment != nil {
			b.WriteString(" " + c.BeforeSegment.Text)
		} else if c.AfterSegment != nil {
			b.WriteString(" " + c.AfterSegment.Text)
		}
		out = append(out, b.String())
	}
	return out
}

func shared(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "shared", "cases", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("shared absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// lines writes an invoice of n lines.
func lines(n int, edit func(line int, s string) string) string {
	var b bytes.Buffer
	_, _ = io.WriteString(&b, "UNB+UNOC:3+A:14+B:14+261129:1015+BIG1'UNH+1+INVOIC:D:96A:UN'BGM+380+RG-BIG+9'DTM+137:20261127:102'CUX+2:EUR:4'") // a Buffer does not fail
	segments := 4
	for i := 1; i <= n; i++ {
		s := line(i)
		if edit != nil {
			s = edit(i, s)
		}
		segments += strings.Count(s, "'")
		_, _ = io.WriteString(&b, s) // a Buffer does not fail
	}
	tail := "UNS+S'MOA+77:119.00'"
	_, _ = io.WriteString(&b, tail+"UNT+"+itoa(segments+3)+"+1'UNZ+1+BIG1'") // a Buffer does not fail
	return b.String()
}

func line(i int) string {
	n := itoa(i)
	return "LIN+" + n + "++95200" + n + ":EN'IMD+F++:::Item " + n + "'QTY+47:" + itoa(i%7+1) + "'MOA+203:100.00'PRI+AAA:10.00'TAX+7+VAT+++:::19+S'"
}
