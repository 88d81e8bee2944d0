package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is one file of the documentation. Paths are relative to the repository.
type page struct {
	path            string
	text            string // without fenced blocks
	blocks          []*block
	after, database string
}

// block is a fenced block.
type block struct {
	page   string
	line   int // of its fence, from 1
	lang   string
	attrs  map[string]string
	text   string
	output *block // what it prints, if the page shows it
}

func (b *block) has(attr string) bool { _, ok := b.attrs[attr]; return ok }

func (p *page) runs() bool {
	return slices.ContainsFunc(p.blocks, func(b *block) bool { return b.lang == "sh" && !b.has("no-run") })
}

// paths are all pages: README.md, CONTRIBUTING.md and those in docs.
func paths(t *testing.T) []string {
	t.Helper()
	found := []string{"README.md", "CONTRIBUTING.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			path, err = filepath.Rel(root, path)
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var (
	fence     = regexp.MustCompile("^```([^ `]*) *(.*)$")
	attribute = regexp.MustCompile(`([a-z-]+)(?:=(?:"([^"]*)"|(\S+)))?`)
	directive = regexp.MustCompile(`(?m)^<!-- (after|database): (\S+) -->$`)
	known     = []string{"background", "stopped", "eventually", "exit", "no-run", "file", "same"}
)

func readPage(t *testing.T, path string) *page {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	p := &page{path: path}
	var open *block
	var text, code strings.Builder
	for i, line := range strings.Split(string(b), "\n") {
		switch m := fence.FindStringSubmatch(line); {
		case open != nil && line == "```":
			open.text = code.String()
			p.add(open)
			open = nil
		case open != nil:
			code.WriteString(line + "\n")
		case m != nil:
			open = &block{page: path, line: i + 1, lang: m[1], attrs: map[string]string{}}
			code.Reset()
			for _, a := range attribute.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(known, a[1]) {
					t.Errorf("%s:%d: a block cannot have %q", path, i+1, a[1])
				}
				open.attrs[a[1]] = a[2] + a[3]
			}
			if why, not := open.attrs["no-run"]; not && why == "" {
				t.Errorf("%s:%d: no-run needs a reason", path, i+1)
			}
		default:
			text.WriteString(line)
		}
		text.WriteString("\n") // lines keep their numbers
	}
	if open != nil {
		t.Fatalf("%s:%d: the block does not end", path, open.line)
	}
	p.text = text.String()
	for _, m := range directive.FindAllStringSubmatch(p.text, -1) {
		if m[1] == "after" {
			p.after = m[2]
		} else {
			p.database = m[2]
		}
	}
	return p
}

// add appends a block; text behind commands is what they print.
func (p *page) add(b *block) {
	if n := len(p.blocks); n > 0 && (b.lang == "text" || b.lang == "json") && p.blocks[n-1].lang == "sh" {
		p.blocks[n-1].output = b
	}
	p.blocks = append(p.blocks, b)
}
