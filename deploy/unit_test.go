package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const unitFile = "deploy/systemd/edigw.service"

// exposure is the most that systemd may say of the unit, in tenths: 0 is shut, 100 open.
const exposure = "15"

func TestUnit(t *testing.T) {
	text := readFile(t, unitFile)
	path := filepath.Join(t.TempDir(), "edigw.service")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "/usr/local/bin/edigw", program(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("systemd understands it", func(t *testing.T) {
		out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", path).CombinedOutput()
		if err != nil || strings.Contains(string(out), "edigw.service") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("systemd finds it shut", func(t *testing.T) {
		if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--threshold="+exposure, path).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("an open one is told apart", func(t *testing.T) {
		open := filepath.Join(t.TempDir(), "edigw.service")
		if err := os.WriteFile(open, []byte("[Service]\nExecStart=/bin/true\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--threshold="+exposure, open).CombinedOutput(); err == nil {
			t.Errorf("a unit with no protection at all passes:\n%s", out)
		}
	})
	t.Run("the heap fits into the memory", func(t *testing.T) {
		heap, most := sizeIn(t, text, `GOMEMLIMIT=(\d+)([KMG])`), sizeIn(t, text, `MemoryMax=(\d+)([KMG])`)
		if heap*2 > most {
			t.Errorf("GOMEMLIMIT is %d MiB of MemoryMax %d MiB: payloads and the embedded PostgreSQL need more than what is left", heap>>20, most>>20)
		}
	})
}

// sizeIn reads a size, in bytes.
func sizeIn(t *testing.T, text, pattern string) int64 {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("there is no %s", pattern)
	}
	size := int64(0)
	for _, d := range m[1] {
		size = size*10 + int64(d-'0')
	}
	return size << map[string]int{"K": 10, "M": 20, "G": 30}[m[2]]
}
