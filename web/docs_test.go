package web

import (
	"cmp"
	"os"
	"strings"
	"testing"
)

func TestTheReferenceNamesRoutesRolesParametersAndProblems(t *testing.T) {
	b, err := os.ReadFile("../docs/reference/api.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	routes := 0
	for _, rt := range Routes {
		row := "| " + rt.Method + " | `" + rt.Path + "` | " + cmp.Or(string(rt.Role), "none") + " |"
		if !strings.Contains(text, row) {
			t.Errorf("there is no row %s", row)
		}
		for _, p := range rt.Query {
			if p.Kind == Cursor || p.Kind == Limit {
				continue
			}
			found := false
			for line := range strings.Lines(text) {
				found = found || strings.Contains(line, "`"+rt.Path+"`") && strings.Contains(line, "`"+p.Name+"`")
			}
			if !found {
				t.Errorf("no line names parameter %s of %s", p.Name, rt.Path)
			}
		}
	}
	for line := range strings.Lines(text) {
		for _, m := range []string{"GET", "PUT", "PATCH", "POST", "DELETE"} {
			if strings.HasPrefix(line, "| "+m+" | ") {
				routes++
			}
		}
	}
	if routes != len(Routes) {
		t.Errorf("the reference has %d routes, the API %d", routes, len(Routes))
	}
	for name := range Titles {
		if !strings.Contains(text, "| `"+name+"` | ") {
			t.Errorf("problem %s is not explained", name)
		}
	}
	if !strings.Contains(text, "`"+ProblemBase+"`") {
		t.Errorf("%s is not said", ProblemBase)
	}
}
