// Package deploy_test holds what is shipped beside the program: the rules against promtool
// and against the metrics there are, the dashboard and the runbook against a gateway that
// runs, the unit against systemd, the container file and the chart against their own tools.
package deploy_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

const root = ".."

func TestMain(m *testing.M) {
	code := m.Run()
	if builtIn != "" {
		if err := os.RemoveAll(builtIn); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}

var builtIn string // folder of the program

// built is the program, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "edigw-deploy-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	path := filepath.Join(dir, "edigw")
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/edigw").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

func program(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// tool gives the path of a program that a script of this folder fetches into bin.
func tool(t *testing.T, script, path string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "bin", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: deploy/%s fetches it", err, script)
	}
	return path
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// exitOf is the exit code of a program that has ended.
func exitOf(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	return ended.ExitCode()
}
