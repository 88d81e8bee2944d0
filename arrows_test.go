// Package edigw_test holds the rules that no single package can: which package
// may import which, who may know HTTP or SQL, and who owns a table. `make
// verify` runs it; docs/decisions says why.
package edigw_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a package may know of the world outside.
const (
	nothing = "neither HTTP nor SQL"
	http    = "HTTP"
	sql     = "SQL"
	both    = "HTTP and SQL" // only where everything is wired together
)

// rule is one package of the layout.
type rule struct {
	name  string
	knows string
	may   []string // packages of ours it may import
}

// Layers, from the bottom. Arrows point down only.
var (
	stores   = []string{"documents", "dedup", "journal", "outbox", "partners"}
	contents = []string{"edi", "compare", "lease", "jsontext", "documents/checks", "documents/roles"}
	gateways = slices.Concat([]string{"gateway", "accounts", "purge"}, stores, contents)
	all      = slices.Concat([]string{
		"as2", "as4", "as4/wssec", "httpin", "targets", "web", "proxy", "cms", "edifact", "x12", "structure", "embeddedpg", "migrations", "columns", "partners/keys", "habits",
	}, gateways)
)

var layout = []rule{
	{"edi", nothing, nil},
	{"lease", nothing, nil},
	{"jsontext", nothing, nil},
	{"cms", nothing, nil},
	{"compare", nothing, []string{"edi"}},
	{"edifact", nothing, []string{"edi"}},
	{"x12", nothing, []string{"edi"}},
	{"structure", nothing, []string{"edi"}}, // what may stand in a message; reaches both as a function

	{"embeddedpg", sql, nil},
	{"migrations", sql, nil},
	{"pgtest", sql, []string{"embeddedpg", "migrations"}}, // in no list above: for tests alone

	{"columns", sql, nil}, // rows as arrays, for the stores
	{"months", sql, nil},  // partitions by month of purge, for the stores

	{"documents/roles", nothing, []string{"edi"}},     // what qualifiers stand for, by guide: for who reads documents and for the settings of a partner
	{"documents/checks", nothing, nil},                // what may be found in documents, for those who judge it
	{"documents/ubl", nothing, []string{"documents"}}, // documents as files for others
	{"documents", sql, []string{"edi", "columns", "months"}},
	{"dedup", sql, []string{"edi", "columns", "months"}},
	{"journal", sql, []string{"edi", "columns", "months"}},
	{"outbox", sql, []string{"edi", "columns", "lease", "months"}},
	{"partners", sql, []string{"edi", "cms", "jsontext", "documents/checks", "documents/roles"}}, // cms: certificates that crypto/x509 refuses

	{"habits", sql, stores}, // what partners usually do, read from the journal after the answer

	{"gateway", sql, slices.Concat(stores, contents)}, // formats and transports reach it as values
	{"accounts", sql, slices.Concat(stores, contents)},
	{"purge", sql, slices.Concat(stores, []string{"months"})}, // what goes when its retention has passed: the stores' own statements, in runs

	{"proxy", http, nil},     // who is behind a request, for every transport
	{"entity", nothing, nil}, // MIME, for as2 and as4
	{"wire", http, nil},      // bodies at a pace, answers to who is slow, for every transport
	{"httpin", http, slices.Concat(gateways, []string{"proxy", "wire"})},
	{"as2", http, slices.Concat(gateways, []string{"cms", "entity", "proxy", "wire"})},
	{"as4/infoset", nothing, nil}, // XML as a bounded information set
	{"as4/c14n", nothing, []string{"as4/infoset"}},
	{"as4/wssec", nothing, []string{"as4/infoset", "as4/c14n"}}, // message security: reaches as4 as parts and elements
	{"as4", http, slices.Concat(gateways, []string{"entity", "proxy", "wire"})},
	{"targets", http, gateways},
	{"web", http, slices.Concat(gateways, []string{"documents/ubl", "habits"})},

	{"cmd/edigw", both, all},
	{"examples", both, nil}, // services of others: they know edigw from outside
	{"bench", both, slices.Concat(all, []string{"cmd/edigw"})},
	{"torture", both, []string{"bench/site", "accounts", "dedup"}}, // of dedup the names of states alone: it judges from outside
}

// goPackage is what `go list -json` says of one package.
type goPackage struct {
	Dir            string
	ImportPath     string
	Imports        []string // of the package, not of its tests
	GoFiles        []string
	IgnoredGoFiles []string
}

const module = "github.com/edigw/edigw"

func TestArrowsPointDown(t *testing.T) {
	for _, fault := range broken(layout, packages(t)) {
		t.Error(fault)
	}
}

// broken lists the imports that the layout does not allow.
func broken(layout []rule, packages []goPackage) (faults []string) {
	for _, p := range packages {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if len(p.GoFiles) == 0 {
			continue // tests alone, such as this folder
		}
		i := slices.IndexFunc(layout, func(r rule) bool { return r.name == name || strings.HasPrefix(name, r.name+"/") })
		if i < 0 {
			faults = append(faults, name+" has no line in the layout of arrows_test.go")
			continue
		}
		r := layout[i]
		for _, path := range p.Imports {
			ours, isOurs := strings.CutPrefix(path, module+"/")
			switch {
			case isOurs && ours != r.name && !strings.HasPrefix(ours, r.name+"/") && !slices.Contains(r.may, ours):
				faults = append(faults, name+" may not import "+ours)
			case isHTTP(path) && r.knows != http && r.knows != both:
				faults = append(faults, fmt.Sprintf("%s knows %s, and may not import %s", name, r.knows, path))
			case isSQL(path) && r.knows != sql && r.knows != both:
				faults = append(faults, fmt.Sprintf("%s knows %s, and may not import %s", name, r.knows, path))
			}
		}
	}
	return faults
}

func isHTTP(path string) bool {
	return path == "net" || path == "net/smtp" || path == "net/http" || strings.HasPrefix(path, "net/http/") ||
		strings.HasPrefix(path, "github.com/go-chi/")
}

func isSQL(path string) bool {
	return path == "database/sql" || strings.HasPrefix(path, "github.com/jackc/pgx/") || strings.HasPrefix(path, "github.com/pressly/goose/")
}

func TestABrokenArrowIsSeen(t *testing.T) {
	fake := func(name string, imports ...string) goPackage {
		return goPackage{ImportPath: module + "/" + name, Imports: imports, GoFiles: []string{"a.go"}}
	}
	const pgx, pool, ours = "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgxpool", module + "/"
	for _, c := range []struct {
		name string
		p    goPackage
		want []string
	}{
		{"what is allowed is silent", fake("gateway", "context", "net/url", pgx, ours+"dedup", ours+"edi"), nil},
		{"an arrow up", fake("dedup", pgx, ours+"gateway"), []string{"dedup may not import gateway"}},
		{"an arrow sideways", fake("journal", ours+"outbox"), []string{"journal may not import outbox"}},
		{"a format that is named", fake("gateway", ours+"edifact"), []string{"gateway may not import edifact"}},
		{"a transport with SQL", fake("httpin", "net/http", pool), []string{"httpin knows HTTP, and may not import " + pool}},
		{"the gateway with HTTP", fake("gateway", "net/http"), []string{"gateway knows SQL, and may not import net/http"}},
		{"a parser with a socket", fake("x12", "net"), []string{"x12 knows neither HTTP nor SQL, and may not import net"}},
		{"a test's database in the product", fake("cmd/edigw", ours+"pgtest"), []string{"cmd/edigw may not import pgtest"}},
		{"a folder below a package has its rule", fake("edifact/codes", ours+"documents"), []string{"edifact/codes may not import documents"}},
		{"a package nobody wrote down", fake("utils"), []string{"utils has no line in the layout of arrows_test.go"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, broken(layout, []goPackage{c.p})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// packages asks the go command for every package of the module.
func packages(t *testing.T) (list []goPackage) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=Dir,ImportPath,Imports,GoFiles,IgnoredGoFiles", "./...").Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("go list: %v\n%s", err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < 10 {
		t.Fatalf("go list knows %d packages only", len(list))
	}
	return list
}
