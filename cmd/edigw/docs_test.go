package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// shown are the flags that the reference explains once for all commands.
var shown = map[string]string{
	"config": "## Settings", "data-dir": "## Settings", "tables": "## Settings", "help": "## Settings",
	"database-url": "### The database", "database-connections": "### The database",
	"master-key": "### The master key", "former-master-keys": "### The master key",
	"api": "### The gateway to ask", "token": "### The gateway to ask",
	"output": "### What to show", "limit": "### What to show", "cursor": "### What to show", "all": "### What to show",
}

func TestTheReferenceNamesEveryCommandAndFlag(t *testing.T) {
	text := read(t, "../../docs/reference/cli.md")
	sections := map[string]string{}
	for part := range strings.SplitSeq("\n"+text, "\n## ") {
		for i, sub := range strings.Split(part, "\n### ") {
			title, body, _ := strings.Cut(sub, "\n")
			marks := "### "
			if i == 0 {
				marks = "## "
			}
			sections[marks+title] = body
		}
	}
	a := &app{env: lookup(nil), stdout: os.Stdout, stderr: os.Stderr, grammar: &grammar{}}
	parser, err := a.parser(&settings{env: a.env})
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, leaf := range parser.Model.Leaves(false) {
		title := "## edigw " + leaf.Path()
		commands = append(commands, title)
		t.Run(leaf.Path(), func(t *testing.T) {
			own, ok := sections[title]
			if !ok {
				t.Fatalf("there is no section %q", title)
			}
			for _, group := range leaf.AllFlags(false) {
				for _, f := range group {
					section, in := own, title
					if at, ok := shown[f.Name]; ok {
						section, in = sections[at], at
					} else if strings.HasPrefix(leaf.Path(), "config ") { // they take those of serve
						section, in = sections["## edigw serve"], "## edigw serve"
					}
					line := lineOf(section, "`--"+f.Name)
					if line == "" {
						t.Errorf("--%s does not stand in %q", f.Name, in)
						continue
					}
					checkFlag(t, f, line, in != "## edigw doctor")
				}
			}
		})
	}
	for title := range sections {
		if strings.HasPrefix(title, "## edigw ") && !slices.Contains(commands, title) {
			t.Errorf("section %q is of no command", title)
		}
	}
}

// checkFlag holds a flag's line against the grammar.
func checkFlag(t *testing.T, f *kong.Flag, line string, table bool) {
	t.Helper()
	if !table {
		return
	}
	for tag, word := range map[string]string{"setting": "setting", "secret": "secret"} {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, ""), "|")
		if len(cells) < 4 {
			t.Errorf("--%s stands in no table: %s", f.Name, line)
			return
		}
		if says := strings.Contains(cells[2], word); says != f.Tag.Has(tag) {
			t.Errorf("--%s is a %s: %v, the reference says %v", f.Name, word, f.Tag.Has(tag), says)
		}
	}
	if f.Short != 0 && !strings.Contains(line, "-"+string(f.Short)) {
		t.Errorf("--%s: the reference leaves out -%c", f.Name, f.Short)
	}
}

// lineOf gives the line in which a flag is named, whole and not as the beginning
// of another; one of a table before one of the text.
func lineOf(section, flag string) string {
	inText := ""
	for line := range strings.Lines(section) {
		for rest := line; ; {
			i := strings.Index(rest, flag)
			if i < 0 {
				break
			}
			rest = rest[i+len(flag):]
			if rest == "" || !strings.ContainsRune("` ,", rune(rest[0])) {
				continue
			}
			if strings.HasPrefix(line, "|") {
				return line
			}
			if inText == "" {
				inText = line
			}
		}
	}
	return inText
}
