package edigw_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// owners says which package alone names a table in its SQL. Others ask it.
var owners = map[string]string{
	"inbox":                      "dedup",
	"variant":                    "dedup",
	"message_state":              "dedup",
	"document_key":               "dedup",
	"drift_alert":                "dedup",
	"drift_copy":                 "dedup",
	"job":                        "dedup",
	"legal_hold":                 "dedup",
	"purge":                      "purge",
	"purge_run":                  "purge",
	"purge_step":                 "purge",
	"purge_settled":              "purge",
	"key_import":                 "dedup",
	"delivery":                   "journal",
	"payload":                    "journal",
	"evidence":                   "journal",
	"acknowledgement":            "journal",
	"control_number":             "journal",
	"outbox":                     "outbox",
	"effect":                     "outbox",
	"effect_attempt":             "outbox",
	"effect_pause":               "outbox",
	"expiry_told":                "outbox",
	"outgoing":                   "outbox",
	"functional_acknowledgement": "outbox",
	"functional_answer":          "outbox",
	"subscription":               "outbox",
	"subscription_stream":        "outbox",
	"subscription_event":         "outbox",
	"subscription_attempt":       "outbox",
	"habit":                      "habits",
	"habit_outage":               "habits",
	"habit_pass":                 "habits",
	"habit_series":               "habits",
	"sequence_gap":               "habits",
	"document":                   "documents",
	"document_line":              "documents",
	"document_package":           "documents",
	"partner":                    "partners",
	"partner_identifier":         "partners",
	"partner_revision":           "partners",
	"partner_token":              "partners",
	"organisation":               "partners",
	"organisation_revision":      "partners",
	"configuration":              "partners",
	"private_key":                "partners/keys",
	"private_key_certificate":    "partners/keys",
	"account":                    "accounts",
	"api_token":                  "accounts",
	"audit_entry":                "accounts",
}

func TestATableHasOneOwner(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if name == "bench" || strings.HasPrefix(name, "bench/") || name == "torture" {
			continue // counts what has arrived, as tests do
		}
		for _, file := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			src, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range trespasses(t, name, filepath.Join(name, file), src) {
				t.Error(fault)
			}
		}
	}
}

func TestEveryTableHasAnOwner(t *testing.T) {
	files, err := filepath.Glob("migrations/0*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("migrations: %v, %v", files, err)
	}
	created := regexp.MustCompile(`(?mi)^\s*create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(\w+)(\s+partition\s+of)?`)
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range created.FindAllStringSubmatch(string(text), -1) {
			if m[2] == "" { // a partition belongs to whom its table belongs
				found[m[1]] = true
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(owners)), slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("owners in tables_test.go, and the tables of the migrations (-owned +created):\n%s", diff)
	}
}

var (
	// A literal with one of these is SQL; "a copy from delivery 7" is not.
	statement = regexp.MustCompile(`(?i)\b(select\s|insert\s+into\s|update\s+\w+\s+(as\s+\w+\s+|\w+\s+)?set\s|delete\s+from\s|truncate\s|lock\s+table\s|(create|alter|drop)\s+table\s|copy\s+\w+\s+(\(|from|to))`)
	// Where a table's name stands in SQL. A fragment that is put together with
	// others begins with from or join more often than with select.
	named = regexp.MustCompile(`(?i)\b(?:from|join|into|update|table|truncate|copy|only|partition\s+of|using)\s+(?:public\.)?"?([a-z_]+)"?`)
	part  = regexp.MustCompile(`(?i)^\s*(from|join|left\s+join|inner\s+join)\s`)
)

// trespasses lists the tables of others that a source file of package name
// names: in a string that is SQL, or as a pgx.Identifier for CopyFrom.
func trespasses(t *testing.T, name, file string, src []byte) (faults []string) {
	t.Helper()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	report := func(pos token.Pos, table string) {
		owner, known := owners[strings.ToLower(table)]
		if known && owner != name {
			faults = append(faults, fmt.Sprintf("%s:%d names table %s, which belongs to %s", file, fset.Position(pos).Line, table, owner))
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if kind, ok := n.Type.(*ast.SelectorExpr); ok && kind.Sel.Name == "Identifier" {
				for _, e := range n.Elts {
					if lit, ok := e.(*ast.BasicLit); ok {
						report(lit.Pos(), text(t, lit))
					}
				}
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			s := text(t, n)
			if !statement.MatchString(s) && !part.MatchString(s) {
				return true
			}
			for _, m := range named.FindAllStringSubmatch(s, -1) {
				report(n.Pos(), m[1])
			}
		}
		return true
	})
	return faults
}

func text(t *testing.T, lit *ast.BasicLit) string {
	t.Helper()
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestATrespassIsSeen(t *testing.T) {
	for _, c := range []struct {
		name, pkg, code string
		want            []string
	}{
		{"the owner may", "dedup", "const q = `select state from inbox where partner_id = $1`", nil},
		{"others may not read", "web", "const q = `\n\tselect state\n\tfrom inbox`", []string{"a.go:3 names table inbox, which belongs to dedup"}},
		{"nor join", "journal", "const q = `select 1 from delivery d left join partner p using (partner_id)`", []string{"a.go:3 names table partner, which belongs to partners"}},
		{"nor write", "gateway", "const q = `insert into outbox (event_id) values ($1)`", []string{"a.go:3 names table outbox, which belongs to outbox"}},
		{"nor copy into", "gateway", `var q = pgx.Identifier{"document_line"}`, []string{"a.go:3 names table document_line, which belongs to documents"}},
		{"nor make partitions of", "cmd/edigw", "const q = `create table x partition of payload for values from (1) to (2)`", []string{"a.go:3 names table payload, which belongs to journal"}},
		{"nor put a statement together", "web", "const q = `from drift_alert a `", []string{"a.go:3 names table drift_alert, which belongs to dedup"}},
		{"prose is no SQL", "httpin", "const q = `take the answer from acknowledgement 3, or update partner acme`", nil},
		{"a longer name is another table", "documents", "const q = `select 1 from document_line`", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := trespasses(t, c.pkg, "a.go", []byte("package p\n\n"+c.code+"\n"))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
