package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	inlineCode = regexp.MustCompile("`[^`\n]+`")
	link       = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
)

// links are the targets of a page that are no addresses, as file and anchor.
func (p *page) links() (targets [][2]string) {
	for _, m := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(p.text, "code"), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		file, anchor, _ := strings.Cut(m[1], "#")
		if file == "" {
			file = p.path
		} else {
			file = filepath.Join(filepath.Dir(p.path), file)
		}
		targets = append(targets, [2]string{file, anchor})
	}
	return targets
}

// anchors are the names that the headings of a page can be linked by.
func (p *page) anchors() (names []string) {
	for _, m := range heading.FindAllStringSubmatch(p.text, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, m[1])
		for i, plain := 1, name; slices.Contains(names, name); i++ {
			name = plain + "-" + strconv.Itoa(i)
		}
		names = append(names, name)
	}
	return names
}

func TestLinks(t *testing.T) {
	for _, path := range paths(t) {
		for _, to := range readPage(t, path).links() {
			if _, err := os.Stat(filepath.Join(root, to[0])); err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if to[1] != "" && !slices.Contains(readPage(t, to[0]).anchors(), to[1]) {
				t.Errorf("%s: there is no heading #%s in %s", path, to[1], to[0])
			}
		}
	}
}

func TestTheIndexNamesEveryPage(t *testing.T) {
	index := readPage(t, "docs/README.md").links()
	for _, path := range paths(t) {
		if strings.HasPrefix(path, "docs/") && path != "docs/README.md" && !strings.HasPrefix(path, "docs/decisions/") &&
			!(strings.HasPrefix(path, "docs/runbook/") && path != "docs/runbook/README.md") && // its index names them: package deploy
			!slices.ContainsFunc(index, func(to [2]string) bool { return to[0] == path }) {
			t.Errorf("docs/README.md does not name %s", path)
		}
	}
}

func TestFilesAreShownAsTheyAre(t *testing.T) {
	for _, path := range paths(t) {
		for _, b := range readPage(t, path).blocks {
			same, given := b.attrs["same"]
			if !given {
				continue
			}
			is, err := os.ReadFile(filepath.Join(root, same))
			if err != nil {
				t.Fatal(err)
			}
			if string(is) != b.text {
				t.Errorf("%s:%d is not %s", path, b.line, same)
			}
		}
	}
}

var (
	target  = regexp.MustCompile(`\bmake ([a-z]+(?:-[a-z0-9]+)*)\b`)
	goTest  = regexp.MustCompile(`go test (?:-\S+ )*\./(\S+) -run '?([A-Za-z|]+)`)
	command = regexp.MustCompile("`(?:bin/)?edigw ([a-z0-9]+)(?: ([a-z]+(?:-[a-z]+)*))?")
)

// TestWhatIsNamedIsThere holds names of commands, make's targets and tests, also
// of those that no test of a page runs.
func TestWhatIsNamedIsThere(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	help, err := exec.Command(program, "--help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	commands, groups := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z0-9]+)(?: ([a-z]+(?:-[a-z]+)*))? {2,}`).FindAllStringSubmatch(string(help), -1) {
		commands[strings.TrimSpace(m[1]+" "+m[2])] = true
		groups[m[1]] = m[2] != ""
	}
	for _, path := range paths(t) {
		b, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		code := strings.Join(inlineCode.FindAllString(readPage(t, path).text, -1), "\n")
		for _, m := range command.FindAllStringSubmatch(code, -1) {
			if path == "docs/reference/digests.md" {
				break // what it names so are texts that are hashed
			}
			if group, known := groups[m[1]]; !known || group && m[2] != "" && !commands[m[1]+" "+m[2]] {
				t.Errorf("%s: there is no command %s", path, m[0])
			}
		}
		for _, block := range readPage(t, path).blocks {
			if block.lang == "sh" || block.lang == "" {
				code += "\n" + block.text
			}
		}
		for _, m := range target.FindAllStringSubmatch(code, -1) {
			if !strings.Contains(string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s: the Makefile has no target %s", path, m[1])
			}
		}
		for _, m := range goTest.FindAllStringSubmatch(strings.ReplaceAll(string(b), `\|`, "|"), -1) {
			for name := range strings.SplitSeq(m[2], "|") {
				if !hasTest(t, m[1], name) {
					t.Errorf("%s: there is no %s in %s", path, name, m[1])
				}
			}
		}
	}
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(b), "\nfunc "+name+"(t *testing.T)")
	})
}
