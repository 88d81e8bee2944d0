// Package model_test has spin search every state of the model of receiving
// (edigw.pml): two nodes, three deliveries, two jobs of the back office. The
// invariants of docs/reference/outcomes.md hold in all of them, and in each
// mutation named in docs/explanation/model.md one does not: the page's table is
// what is run. It needs spin and a C compiler.
package model_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

const page = "../docs/explanation/model.md"

var mutants, caught atomic.Int64

func TestMain(m *testing.M) {
	code := m.Run()
	fmt.Printf("%d mutations, %d caught\n", mutants.Load(), caught.Load())
	os.Exit(code)
}

func TestTheInvariantsHoldInEveryState(t *testing.T) {
	t.Parallel()
	found := search(t, "-O2")
	if found.broken != "" {
		t.Errorf("%s is broken:\n%s", found.broken, found.story())
	}
	if len(found.unreached) > 0 {
		t.Errorf("steps that are never taken prove nothing:\n%s", strings.Join(found.unreached, "\n"))
	}
	t.Logf("%s states, searched to the end", found.states)
}

func TestEachMutationIsCaught(t *testing.T) {
	list := mutations(t)
	if len(list) < 8 {
		t.Fatalf("%s names %d mutations only", page, len(list))
	}
	for _, m := range list {
		t.Run(m.macro, func(t *testing.T) {
			t.Parallel()
			mutants.Add(1)
			// One job of the back office is enough, and what is soon found needs no optimizer.
			found := search(t, "-O0", "-D"+m.macro, "-DOFFICES=1")
			if found.broken == "" {
				t.Fatalf("%s states, and nothing is wrong with them", found.states)
			}
			caught.Add(1)
			if found.broken != m.breaks {
				t.Errorf("it breaks %s, and the page says %s:\n%s", found.broken, m.breaks, found.story())
			}
		})
	}
}

func TestThePageNamesEveryMutation(t *testing.T) {
	var want, got []string
	conditions := regexp.MustCompile(`(?m)^#(?:ifn?def|if|elif) (.*)$`)
	macro := regexp.MustCompile(`\b[A-Z][A-Z_]{3,}\b`)
	files, err := filepath.Glob("*.pml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range conditions.FindAllStringSubmatch(string(b), -1) {
			want = append(want, macro.FindAllString(line[1], -1)...)
		}
	}
	want = slices.DeleteFunc(want, func(s string) bool { return s == "OFFICES" }) // the size of the model
	for _, m := range mutations(t) {
		got = append(got, m.macro)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := gocmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("in the model (-) and on the page (+):\n%s", diff)
	}
}

// mutation is a row of the page's table.
type mutation struct {
	macro  string
	breaks string // the first thing that is found: an invariant's number, deadlock or answered
}

func mutations(t *testing.T) (list []mutation) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\|.*\\| (\\S+) \\|$")
	for _, m := range row.FindAllStringSubmatch(string(b), -1) {
		list = append(list, mutation{m[1], m[2]})
	}
	return list
}

// result is what a search of all states found.
type result struct {
	t         *testing.T
	dir       string
	flags     []string
	states    string
	broken    string // "" for nothing
	unreached []string
}

var (
	stored    = regexp.MustCompile(`(?m)^ *(\d+) states, stored$`)
	assertion = regexp.MustCompile(`assertion violated \((\d+)&&`)
	never     = regexp.MustCompile(`(?m)^\t(\w+\.pml:\d+, state \d+, .*)$`)
)

// answered is the number that edigw.pml gives to "a partner who sends again is
// answered", which is no invariant of the outcomes.
const answered = "10"

// search builds the model with spin's flags and searches its states until
// something is wrong.
func search(t *testing.T, optimize string, flags ...string) *result {
	t.Helper()
	r := &result{t: t, dir: t.TempDir(), flags: flags}
	if err := os.CopyFS(r.dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	r.run("spin", append(slices.Clone(flags), "-a", "edigw.pml")...)
	// Safety alone, 4 GB at most. Warnings are spin's.
	r.run(cmp.Or(os.Getenv("CC"), "gcc"), "-w", optimize, "-DSAFETY", "-DNOFAIR", "-DMEMLIM=4000", "-o", "pan", "pan.c")
	out := r.run("./pan", "-m10000", "-w22") // steps deep, 2^22 slots to begin with

	switch found := assertion.FindStringSubmatch(out); {
	case found != nil && found[1] == answered:
		r.broken = "answered"
	case found != nil:
		r.broken = found[1]
	case strings.Contains(out, "pan:1: invalid end state"):
		r.broken = "deadlock"
	case !strings.Contains(out, "errors: 0") || strings.Contains(out, "Search not completed") || strings.Contains(out, "too small"):
		t.Fatalf("the search did not end as it should:\n%s", out)
	}
	if m := stored.FindStringSubmatch(out); m != nil {
		r.states = m[1]
	}
	for _, m := range never.FindAllStringSubmatch(out, -1) {
		r.unreached = append(r.unreached, m[1])
	}
	return r
}

// story tells what happened up to what is broken.
func (r *result) story() string {
	return r.run("spin", append(slices.Clone(r.flags), "-t", "edigw.pml")...)
}

// run runs a command in the search's folder and gives what it prints.
func (r *result) run(name string, args ...string) string {
	r.t.Helper()
	path := name
	if !strings.HasPrefix(name, "./") {
		var err error
		if path, err = exec.LookPath(name); err != nil {
			r.t.Fatalf("%v: the model needs spin and a C compiler, on Debian and Ubuntu `apt-get install spin gcc libc6-dev`", err)
		}
	}
	c := exec.CommandContext(r.t.Context(), path, args...)
	c.Dir = r.dir
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
