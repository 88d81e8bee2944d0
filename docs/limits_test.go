package docs_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	limitRow   = regexp.MustCompile(`(?m)^\| (.+?) \|$`)
	limitCode  = regexp.MustCompile("^([a-z0-9/]+) `(\\w+)`$")
	limitTest  = regexp.MustCompile("^([a-z0-9/]+) `(Test\\w+)`(?:: (.+))?$")
	limitFlag  = regexp.MustCompile("^`--([a-z0-9-]+)`$")
	limitShown = regexp.MustCompile(`^([0-9,]+)(?: (KiB|MiB|GiB|s))?$`)
	flagField  = regexp.MustCompile("`setting:\"\"[^`]*`")
	// limitName is how what bounds something that comes is named.
	limitName = regexp.MustCompile(`^(max|Max|most|longest|quarantine|DefaultMax|header)[A-Z]\w*$|AtOnce$|^copiesUnproved$|^unprovedMemory$|^freeRatio$`)
)

// sources are the packages, or files, in which every bound of what comes has to be on the
// page; with what is named alike and bounds what we write, or a small part of what is bounded
// as a whole.
var sources = map[string][]string{
	"as2/*.go":             {"maxErrors", "maxAnswer"},
	"as4/*.go":             {"maxTold", "maxDetail", "maxProperties"},
	"as4/infoset/*.go":     nil,
	"as4/c14n/*.go":        nil,
	"as4/wssec/*.go":       {"longest"},
	"cms/*.go":             {"mostUsages", "mostKeyBytes", "mostSerial", "mostAttributes", "mostNameBytes", "mostNameText", "mostKeyInfo", "mostByKey", "mostSignedWhole"},
	"entity/*.go":          {"maxParameters", "maxPadding", "longestLabel"},
	"wire/*.go":            {"maxReadingHeader"},
	"httpin/*.go":          {"maxItemBytes", "maxErrors"},
	"edifact/reader.go":    nil,
	"x12/reader.go":        nil,
	"edi/pass.go":          nil,
	"gateway/walk.go":      nil,
	"gateway/refuse.go":    nil,
	"gateway/entry.go":     nil,
	"cmd/edigw/listen.go":  nil,
	"gateway/admission.go": nil,
}

// TestLimitsAreDocumented holds docs/reference/limits.md against the program: each value is
// what the page says, no bound is missing, and each test that is named is there.
func TestLimitsAreDocumented(t *testing.T) {
	t.Parallel()
	page := readPage(t, "docs/reference/limits.md").text
	named := map[string]bool{}
	rows := 0
	for _, m := range limitRow.FindAllStringSubmatch(page, -1) {
		cells := strings.Split(m[1], " | ")
		if cells[0] == "what" || cells[0] == "setting" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		rows++
		for i, cell := range cells {
			cells[i] = strings.TrimSpace(cell)
			if code := limitCode.FindStringSubmatch(cells[i]); code != nil && !strings.HasPrefix(code[2], "Test") {
				named[code[1]+" "+code[2]] = true
				compareLimit(t, code[1], code[2], cells[1])
			}
			if test := limitTest.FindStringSubmatch(cells[i]); test != nil {
				isTest(t, test[1], test[2], test[3])
			}
		}
		if flag := limitFlag.FindStringSubmatch(cells[0]); flag != nil {
			isFlag(t, flag[1], cells[1])
		}
		if len(cells) == 5 && limitTest.FindString(cells[4]) == "" {
			t.Errorf("%s: no test is named that crosses it: %q", cells[0], cells[4])
		}
	}
	if rows < 60 {
		t.Errorf("%d rows were read: the test looks for the wrong thing", rows)
	}
	for pattern, others := range sources {
		dir := filepath.Dir(pattern)
		for name := range constants(t, pattern) {
			if limitName.MatchString(name) && !named[dir+" "+name] && !slices.Contains(others, name) {
				t.Errorf("docs/reference/limits.md does not name %s of %s", name, dir)
			}
		}
	}
}

// compareLimit holds what the page says against a constant, or against a field of a
// literal, of a package.
func compareLimit(t *testing.T, dir, name, shown string) {
	t.Helper()
	text, found := constants(t, dir+"/*.go")[name]
	if !found {
		t.Errorf("%s has no %s", dir, name)
		return
	}
	for unit, factor := range map[string]string{"time.Second": "1", "wire.": "", "mostRSA": "8192"} {
		text = strings.ReplaceAll(text, unit, factor)
	}
	got, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
	if err != nil {
		t.Errorf("%s of %s is %s: %v", name, dir, text, err)
		return
	}
	said := limitShown.FindStringSubmatch(shown)
	if said == nil {
		t.Errorf("%s of %s: %q is no number", name, dir, shown)
		return
	}
	want := constant.MakeFromLiteral(strings.ReplaceAll(said[1], ",", ""), token.INT, 0)
	if shift := map[string]uint{"KiB": 10, "MiB": 20, "GiB": 30}[said[2]]; shift > 0 {
		want = constant.Shift(want, token.SHL, shift)
	}
	if !constant.Compare(got.Value, token.EQL, want) {
		t.Errorf("%s of %s is %s, and docs/reference/limits.md says %s", name, dir, text, shown)
	}
}

// constants are those of the files that a pattern names, as they are written: the package's
// own, the fields of its literals, and what cmp.Or falls back on in a method of one line.
func constants(t *testing.T, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		written := func(e ast.Expr) string { return string(text[e.Pos()-file.FileStart : e.End()-file.FileStart]) }
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				v, ok := s.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, name := range v.Names {
					if i < len(v.Values) && g.Tok == token.CONST {
						found[name.Name] = written(v.Values[i])
					}
					if name.Name != "Header" || i >= len(v.Values) { // what a SOAP part may be
						continue
					}
					if literal, ok := v.Values[i].(*ast.CompositeLit); ok {
						for _, e := range literal.Elts {
							if pair, ok := e.(*ast.KeyValueExpr); ok {
								found[written(pair.Key)] = written(pair.Value)
							}
						}
					}
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool { // cmp.Or(l.Depth, 32)
			call, ok := n.(*ast.CallExpr)
			if ok && len(call.Args) == 2 && written(call.Fun) == "cmp.Or" {
				if field, ok := call.Args[0].(*ast.SelectorExpr); ok && written(field.X) == "l" {
					found[field.Sel.Name] = written(call.Args[1])
				}
			}
			return true
		})
	}
	return found
}

// isTest looks for a test, and within its file for the name of a case of it.
func isTest(t *testing.T, dir, name, inner string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "func "+name+"(t *testing.T)") {
			if !strings.Contains(string(text), `"`+inner) && !strings.Contains(string(text), inner+`"`) {
				t.Errorf("%s of %s has no case %q", name, dir, inner)
			}
			return
		}
	}
	t.Errorf("%s has no test %s", dir, name)
}

// isFlag looks for a setting of the server, with its default.
func isFlag(t *testing.T, name, value string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "cmd/edigw/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			tag := flagField.FindString(line)
			field := strings.Fields(line)
			if tag == "" || flagName(field[0]) != name && !strings.Contains(tag, `name:"`+name+`"`) {
				continue
			}
			// One that is made of another is told in words.
			if number := strings.Trim(value, "`"); strings.Contains(tag, "default:") && !strings.Contains(tag, `default:"`+number+`"`) || !strings.Contains(tag, "default:") && limitShown.MatchString(number) {
				t.Errorf("--%s: docs/reference/limits.md says %s, the program %s", name, value, tag)
			}
			return
		}
	}
	t.Errorf("there is no setting --%s", name)
}

// flagName is how a field is called as a flag: MaxBody is max-body.
func flagName(field string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(field, "$1-$2"))
}
