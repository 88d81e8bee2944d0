package deploy_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var compile = flag.Bool("dist", false, "compile what is handed out twice, the second time without what the first has left: minutes")

// TestDist packs what is handed out twice; with -dist it compiles it, too.
func TestDist(t *testing.T) {
	// An archive carries its version in its name, and this one goes when the test ends.
	const version = "test"
	build := func(cache string) (archive, sum string) {
		args := []string{version}
		if !*compile {
			args = append(args, program(t))
		}
		c := exec.CommandContext(t.Context(), "./dist", args...)
		c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
		if *compile && cache != "" {
			c.Env = append(c.Env, "GOCACHE="+cache)
		}
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		archive = filepath.Join(root, strings.TrimSpace(string(out)))
		text, err := os.ReadFile(archive + ".sha256")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			for _, f := range []string{archive, archive + ".sha256"} {
				if err := os.Remove(f); err != nil && !os.IsNotExist(err) {
					t.Error(err)
				}
			}
		})
		return archive, string(text)
	}
	archive, first := build("")
	t.Run("the same source gives the same bytes", func(t *testing.T) {
		if _, second := build(t.TempDir()); second != first {
			t.Errorf("built twice:\n%s%s", first, second)
		}
	})
	t.Run("its checksum holds", func(t *testing.T) {
		c := exec.CommandContext(t.Context(), "sha256sum", "--check", filepath.Base(archive)+".sha256")
		c.Dir = filepath.Dir(archive)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("what is in it runs, and nothing is missing", func(t *testing.T) {
		dir := t.TempDir()
		if out, err := exec.CommandContext(t.Context(), "tar", "--extract", "--strip-components=1", "--directory", dir, "--file", archive).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "edigw"), "version").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "edigw ") {
			t.Errorf("%v: %s", err, out)
		}
		for _, name := range []string{"LICENSE", "edigw.service", "edigw.sysusers", "edigw.rules.yaml", "edigw.dashboard.json", "Containerfile"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		if !*compile {
			return
		}
		if !strings.HasPrefix(string(out), "edigw "+version+" ") {
			t.Errorf("it says its version as %s", out)
		}
		text, err := os.ReadFile(filepath.Join(dir, "edigw"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "/lib64/ld-linux") {
			t.Error("the program is not static")
		}
		if here, err := filepath.Abs(root); err != nil || strings.Contains(string(text), here) {
			t.Errorf("the program names the folder it was built in, %s: %v", here, err)
		}
	})
}
