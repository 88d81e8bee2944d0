//go:build linux

package crash_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWatch kills a watcher at every step of a file's way. The next one finishes
// it: the invoice is posted once, the refused file stands in error once, and no
// file is sent under a second id.
func TestWatch(t *testing.T) {
	t.Parallel()
	points := []string{"watch taken", "watch hashed", "watch answered", "watch told", "watch moved"}
	site := newSite(t, len(points)**runs)
	gateway := start(t, site.url)
	for _, point := range points {
		for range *runs {
			run(t, "at "+point, func(t *testing.T) {
				p := site.partner(t)
				dir := t.TempDir()
				for name, text := range map[string]string{"good.edi": p.interchange("REF1", "RG-1"), "bad.edi": p.wrong("REF2", 1), "good.edi.ready": ""} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				first := p.watch(t, gateway, dir, "EDIGW_FAULT="+point+"=kill")
				if s := first.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGKILL {
					t.Fatalf("the watcher ended with %v, not by SIGKILL: the point was not reached", first.ProcessState)
				}
				second := p.watch(t, gateway, dir)
				if code := second.ProcessState.ExitCode(); code != 5 && code != 0 && code != 1 {
					t.Errorf("exit %d\n%s", code, second.Stderr)
				}
				found := map[string]int{}
				err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
					if err != nil || d.IsDir() {
						return err
					}
					found[d.Name()]++
					if at := filepath.Dir(path); strings.HasPrefix(d.Name(), "good") && !strings.HasPrefix(at, filepath.Join(dir, "archive")) ||
						strings.HasPrefix(d.Name(), "bad") && at != filepath.Join(dir, "error") {
						t.Errorf("%s is left\n%s", path, second.Stderr)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"good.edi", "good.edi.receipt.json", "bad.edi", "bad.edi.reason.txt"} {
					if found[name] != 1 {
						t.Errorf("%s is there %d times: %v\n%s", name, found[name], found, second.Stderr)
					}
				}
				if len(found) != 4 {
					t.Errorf("there is more: %v", found)
				}
				rows := p.rows(t, site.pool)
				if rows["document"] != 1 || rows["inbox"] != 4 { // two interchanges, two transport ids
					t.Errorf("%v", rows)
				}
			})
		}
	}
	gateway.noPanic(t)
}

// watch runs `edigw watch --once` to its end.
func (p partner) watch(t *testing.T, to *program, dir string, env ...string) *exec.Cmd {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "watch", dir, "--partner", p.id(), "--ingress", to.ingress, "--once", "--settle", "50ms", "--data-dir", t.TempDir())
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "EDIGW_PARTNER_TOKEN=" + p.token()}, env...)
	cmd.Stderr = &strings.Builder{}
	_ = cmd.Run() // its end is in ProcessState
	if cmd.ProcessState == nil {
		t.Fatal("the watcher did not start")
	}
	return cmd
}
