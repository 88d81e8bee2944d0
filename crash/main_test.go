//go:build linux

// Package crash_test kills the program, cuts its connections and takes its
// database away, on real processes and a PostgreSQL that flushes as in
// production, and then does what a partner does: it sends again. What it holds
// the program to are the invariants of docs/reference/outcomes.md: one effect,
// the receipt that was committed, and nothing at all of what was not.
//
// Where to fail is told to a build with the tag faults (cmd/edigw/faults.go).
// The tests run each case once; `make crash` runs each 20 times.
package crash_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// runs is how often each case is run.
var runs = flag.Int("runs", 1, "how often each case is run")

var ran, failed atomic.Int64

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait more than they work.
	if err := flag.Set("test.parallel", "4"); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	code := m.Run()
	fmt.Printf("%d runs, %d ok, %d failed\n", ran.Load(), ran.Load()-failed.Load(), failed.Load())
	if dir := builtIn.Load(); dir != nil {
		if err := os.RemoveAll(*dir); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}

// run is one case, run once: it counts.
func run(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Cleanup(func() {
			ran.Add(1)
			if t.Failed() {
				failed.Add(1)
			}
		})
		f(t)
	})
}

// builtIn is the folder of the program, if it was built.
var builtIn atomic.Pointer[string]

// built is the program that can be told to fail, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "edigw-crash-")
	if err != nil {
		return "", err
	}
	builtIn.Store(&dir)
	path := filepath.Join(dir, "edigw")
	out, err := exec.Command("go", "build", "-tags", "faults", "-o", path, "../cmd/edigw").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program with faults: %w\n%s", err, out)
	}
	return path, nil
})
