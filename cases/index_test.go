package cases_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// indexed is a row of ../shared/cases/INDEX.tsv.
type indexed struct {
	number       int
	file, sha256 string
}

func index(t *testing.T) (rows []indexed) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "cases", "INDEX.tsv"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("shared absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if i == 0 {
			continue
		}
		f := strings.Split(line, "\t")
		n, err := strconv.Atoi(f[0])
		if err != nil || len(f) != 6 {
			t.Fatalf("INDEX.tsv: %q", line)
		}
		rows = append(rows, indexed{n, f[3], f[5]})
	}
	return rows
}

// sent are the files that a situation's tries send.
func (s *situation) sent() (files []string) {
	for _, y := range s.tries {
		files = append(files, y.files...)
		for _, p := range y.steps {
			files = append(files, p.send)
		}
	}
	return files
}

func (s *situation) leaves(file string) bool {
	return slices.ContainsFunc(s.left, func(l left) bool { return l.file == file && l.why != "" })
}

func TestEveryCaseIsHere(t *testing.T) {
	all := map[int]*situation{}
	for _, s := range table() {
		if all[s.number] != nil {
			t.Errorf("case %d stands twice", s.number)
		}
		if s.words == "" || len(s.tries) > 0 && s.does == "" || len(s.tries)+len(s.left) == 0 {
			t.Errorf("case %d says too little", s.number)
		}
		all[s.number] = &s
	}
	seen := map[int]bool{}
	for _, row := range index(t) {
		seen[row.number] = true
		s := all[row.number]
		switch {
		case s == nil:
			t.Errorf("case %d is not in the table", row.number)
		case row.file == "-":
			if len(s.tries) == 0 && !s.leaves("-") {
				t.Errorf("case %d is neither run nor left out for a reason", row.number)
			}
		case slices.Contains(s.sent(), row.file) == s.leaves(row.file):
			t.Errorf("case %d: %s has to be sent, or left out for a reason", row.number, row.file)
		case strings.HasSuffix(row.file, ".py"): // written anew in Go
		case !s.leaves(row.file):
			b, err := os.ReadFile(filepath.Join("testdata", row.file))
			if err != nil {
				t.Error(err)
			} else if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != row.sha256 {
				t.Errorf("testdata/%s is not the file of the case", row.file)
			}
		}
	}
	for n := range all {
		if !seen[n] {
			t.Errorf("there is no case %d", n)
		}
	}
}

func TestATryThatSendsNothing(t *testing.T) {
	for _, s := range table() {
		for _, y := range s.tries {
			if len(y.steps) == 0 && y.run == nil {
				t.Errorf("case %d, %s", s.number, y.name)
			}
		}
	}
}

var update = flag.Bool("update", false, "write generated documentation")

const docHead = `# Cases: situations of the wild, and what edigw does

Each is taken from a public fault report. The number is that of the situation; the
inputs are our own, in cases/testdata. Generated from the table that the tests
send: change that, then run ` + "`go test ./cases -run TestCasesDoc -update`" + `.

Whatever is sent, the bytes are kept as they came, the same bytes again change
nothing and get the same answer at once, and an interchange that was refused can be
mended and sent again under the same ids.

| | situation | what edigw does |
|---|---|---|
`

// doc is docs/reference/cases.md.
func doc() string {
	var b strings.Builder
	b.WriteString(docHead)
	for _, s := range table() {
		says := []string{}
		if s.does != "" {
			says = append(says, s.does)
		}
		for _, l := range s.left {
			if !slices.Contains(says, l.why) {
				says = append(says, l.why)
			}
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", s.number, s.words, strings.ReplaceAll(strings.Join(says, ". "), "|", `\|`))
	}
	return b.String()
}

func TestCasesDoc(t *testing.T) {
	path := filepath.Join("..", "docs", "reference", "cases.md")
	want := doc()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(want, string(got)); d != "" {
		t.Errorf("docs/reference/cases.md is not what the table says; run with -update (-table +document):\n%s", d)
	}
}
