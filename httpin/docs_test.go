package httpin

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/edigw/edigw/gateway"
)

func TestReference(t *testing.T) {
	problems, http := page(t, "problems.md"), page(t, "http.md")
	sections := map[string]string{}
	for _, section := range strings.Split(problems, "\n### ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		sections[name] = text
	}
	documented := func(name string, status int) {
		text, ok := sections[name]
		if !ok {
			t.Errorf("problems.md has no section %s", name)
		} else if !strings.Contains(text, fmt.Sprint(status)) {
			t.Errorf("problems.md does not say that %s is a %d", name, status)
		}
	}
	seen := map[string]bool{}
	for _, p := range Problems {
		documented(p.Name, p.Status)
		seen[p.Name] = true
	}
	statuses := map[int]bool{200: true}
	for _, told := range gateway.Answers {
		statuses[told.HTTP] = true
		if told.Problem != "" {
			documented(told.Problem, told.HTTP)
			seen[told.Problem] = true
		} else if !strings.Contains(http, "`"+told.Word+"`") {
			t.Errorf("http.md does not name the outcome %s", told.Word)
		}
	}
	for name := range sections {
		if !seen[name] {
			t.Errorf("problems.md tells of %s, which is never answered", name)
		}
	}
	for _, p := range Problems {
		statuses[p.Status] = true
	}
	for status := range statuses {
		if !strings.Contains(http, fmt.Sprint(status)) {
			t.Errorf("http.md does not name status %d", status)
		}
	}
}

// Every field that the code reads or writes has its line.
func TestFieldsAreDocumented(t *testing.T) {
	text := page(t, "http.md")
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		code, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:[Hh]eader(?:\(\))?|Trailer)\.(?:Get|Set|Add|Values)\("([^"]+)"`).FindAllStringSubmatch(string(code), -1) {
			n++
			if m[1] != "Connection" && !strings.Contains(text, "`"+m[1]) {
				t.Errorf("%s uses %s, which http.md does not name", f.Name(), m[1])
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d uses of fields were found", n)
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../docs/reference/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
