package x12_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/structure"
	"github.com/edigw/edigw/x12"
)

// unfold reads half a file of testdata/broken: a segment a line, whose terminator is
// left out; \xNN is a byte.
func unfold(t testing.TB, text string) string {
	t.Helper()
	text = strings.ReplaceAll(text, "\n", "~")
	return regexp.MustCompile(`\\x..`).ReplaceAllStringFunc(text, func(s string) string {
		n, err := strconv.ParseUint(s[2:], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		return string([]byte{byte(n)})
	})
}

// broken is one file of testdata/broken: what it shows, what the partner's settings
// are, what came and what has to be answered, "" for nothing.
type broken struct {
	settings map[string]string
	sent     string
	want     string
}

func readBroken(t testing.TB, file string) broken {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sent, want, found := strings.Cut(string(raw), "===\n")
	if !found {
		t.Fatal("no answer")
	}
	b := broken{settings: map[string]string{}, want: unfold(t, want)}
	for strings.HasPrefix(sent, "#") || strings.HasPrefix(sent, "!") {
		line, rest, _ := strings.Cut(sent, "\n")
		if set, ok := strings.CutPrefix(line, "! "); ok {
			name, value, _ := strings.Cut(set, " ")
			b.settings[name] = value
		}
		sent = rest
	}
	b.sent = unfold(t, sent)
	return b
}

// TestBrokenInterchanges compares the answers to broken interchanges, byte for byte,
// with answers that were written by hand from what is publicly known of TA1, 997 and
// 999 and of their lists of codes: I18, 715 to 718, 720, 723, 620 and 621.
func TestBrokenInterchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.txt")
	if err != nil || len(files) < 60 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			b := readBroken(t, file)
			ic, got := b.answer(t)
			if d := cmp.Diff(strings.Split(b.want, "~"), strings.Split(got, "~")); d != "" {
				t.Fatalf("%v\n%s", slices.Concat(ic.Errors, ic.MessageErrors[0]), d)
			}
			if d := cmp.Diff(unsound[strings.TrimSuffix(filepath.Base(file), ".txt")], findings(t, got)); d != "" {
				t.Errorf("our answer, read back: %s", d)
			}
		})
	}
}

// unsound is what our own reader has to say of answers that repeat what is missing or
// wrong in what they answer: 715 and 717 have no other way to name it.
var unsound = map[string][]string{
	"gs-functional-missing": {"element-missing AK1 1"},
	"gs-number-letters":     {"element-characters AK1 2"},
	"gs-number-missing":     {"element-missing AK1 2"},
	"st-number-missing":     {"element-missing AK2 2"},
	"st-type-missing":       {"element-missing AK2 1"},
}

// findings reads an answer of ours, judges its sets by the built-in tables, and gives
// what is wrong.
func findings(t testing.TB, text string) (list []string) {
	t.Helper()
	if text == "" {
		return nil
	}
	p := edi.Bytes([]byte(text))
	r := x12.Reader{Check: tables(t).Checker(edi.Tolerance{Structure: edi.StructureRefused})}
	ic, err := r.Split(p, 0)
	if err == nil {
		err = r.Scan(p, ic, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := ic.Errors
	for i := range ic.Groups {
		all = append(all, ic.Groups[i].Errors...)
	}
	for i := range ic.Messages {
		all = append(all, ic.MessageErrors[i]...)
	}
	for _, e := range all {
		// Neither says that something is wrong. There are tables of 004010 and 005010.
		if e.Code != "ta1-received" && e.Code != "structure-unknown" {
			list = append(list, fmt.Sprintf("%s %s %d", e.Code, e.Tag, e.Element))
		}
	}
	return list
}

var structures = map[string]edi.Structure{"": edi.StructureNoted, "refuse": edi.StructureRefused}

// answer does what a gateway does with such settings, with one interchange.
func (b broken) answer(t *testing.T) (*edi.Interchange, string) {
	t.Helper()
	ic, answer := b.scanned(t)
	if ic.Length != int64(len(b.sent)) {
		t.Fatalf("the interchange has %d of %d bytes", ic.Length, len(b.sent))
	}
	return ic, answer
}

// scanned reads the first interchange of what was sent, and answers it.
func (b broken) scanned(t testing.TB) (*edi.Interchange, string) {
	t.Helper()
	p := edi.Bytes([]byte(b.sent))
	r := x12.Reader{Check: tables(t).Checker(edi.Tolerance{Structure: structures[b.settings["structure"]], Guide: b.settings["guide"]})}
	ic, err := r.Split(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Scan(p, ic, nil); err != nil {
		t.Fatal(err)
	}
	a := edi.Acknowledgement{Reference: "77", Prepared: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), Action: edi.ActionAcknowledged,
		Errors: errorsAlone(ic.Errors), Form: b.settings["form"], TA1: b.settings["ta1"]}
	if len(a.Errors) > 0 {
		a.Action = edi.ActionRejected
	}
	for i := range ic.Messages {
		m := edi.MessageAnswer{Index: i, Action: edi.ActionRejected, Errors: errorsAlone(ic.MessageErrors[i])}
		if kind := b.settings["unsupported"]; kind != "" && ic.Messages[i].Type.Type == kind {
			m.Errors = append(m.Errors, &edi.Error{Code: "unsupported-message-type", Standard: "1", Severity: edi.SeverityError})
		}
		if len(m.Errors) == 0 && !ic.Refused(i) {
			continue
		}
		if a.Messages = append(a.Messages, m); b.settings["acceptance"] == "interchange" {
			a.Action = edi.ActionRejected
		}
	}
	_, got, err := x12.Acknowledge(ic, a)
	if err != nil {
		t.Fatal(err)
	}
	return ic, string(got)
}

func errorsAlone(list []*edi.Error) (out []*edi.Error) {
	for _, e := range list {
		if e.Severity == edi.SeverityError {
			out = append(out, e)
		}
	}
	return out
}

// tables are the built-in ones and those of an invented guide.
func tables(t testing.TB) *structure.Tables {
	t.Helper()
	list, err := withGuide()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var withGuide = sync.OnceValues(func() (*structure.Tables, error) {
	list, err := structure.BuiltIn()
	if err != nil {
		return nil, err
	}
	const guide = "syntax x12\ndirectory 004010 ACME\ncodes 353 00 05\n" +
		"message 810\n BIG M 1\n IT1 O 10\n group N1 O 2\n N1 M 1\n N3 M 1\n end\n TDS M 1\nend\n"
	return list.With("acme.txt", strings.NewReader(guide))
})
