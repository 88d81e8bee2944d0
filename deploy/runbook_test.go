package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runbookCommand is a command of ours that a page of the runbook names.
type runbookCommand struct {
	page, text string
	args       []string
}

var (
	inBlock  = regexp.MustCompile(`(?m)^edigw (.+)$`)
	inText   = regexp.MustCompile("`edigw ([^`]+)`")
	standIns = strings.NewReplacer(
		"PARTNER", "muster-kaffee", "ALERT", "01a22968-ff8f-7be9-9439-cd3a472a3006", "EVENT", "01a22968-ff8f-7be9-9439-cd3a472a3006",
		"MESSAGE", "unb:9520001000010:14:9520002000019:14:1", "NAME", "orders", "NOTE", "asked", "TEXT", "asked", "ID", "01a22968-ff8f-7be9-9439-cd3a472a3006",
	)
)

// runbookCommands are those in blocks, which stand there whole, and those in the text that
// have arguments; of a command that is only named, docs_test holds the name.
func runbookCommands(t *testing.T) (list []runbookCommand) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pages, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		flat := strings.ReplaceAll(string(text), "\n   ", " ") // a command may be broken in a list
		found := inBlock.FindAllStringSubmatch(string(text), -1)
		for _, m := range inText.FindAllStringSubmatch(flat, -1) {
			if strings.ContainsAny(m[1], "-") || strings.ToLower(m[1]) != m[1] {
				found = append(found, m)
			}
		}
		for _, m := range found {
			if seen[m[1]] || strings.Contains(m[1], "FILE") || m[1] == "messages re-evaluate" {
				continue
			}
			seen[m[1]] = true
			list = append(list, runbookCommand{filepath.Base(file), m[1], strings.Fields(standIns.Replace(m[1]))})
		}
	}
	return list
}
