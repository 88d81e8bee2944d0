package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/web"
)

var apiFuzz = flag.Int("api-fuzz", 5, "requests that TestTheDocumentAgainstSchemathesis makes up for each operation")

// schemathesisIn is where deploy/schemathesis installs it.
const schemathesisIn = "../../bin/schemathesis/bin"

// The document is held against the running gateway by somebody else's reading of
// it: every request that it allows is taken, every other one refused, every answer
// as described, with all checks that schemathesis has.
func TestTheDocumentAgainstSchemathesis(t *testing.T) {
	program, err := filepath.Abs(filepath.Join(schemathesisIn, "schemathesis"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		t.Skip("no schemathesis here: deploy/schemathesis installs it")
	}
	d := newDoors(t)
	t.Run("openapi-spec-validator finds it sound", func(t *testing.T) {
		out, err := exec.CommandContext(t.Context(), filepath.Join(schemathesisIn, "openapi-spec-validator"), "../../web/openapi.yaml").CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	args := []string{"--config-file", "testdata/schemathesis/schemathesis.toml", "run", d.at.URL + web.Prefix + "/openapi.json",
		"--checks", "all", "--max-examples", strconv.Itoa(*apiFuzz), "--max-failures", "20"}
	if *apiFuzz <= 5 {
		args = append(args, "--seed", "1") // the same requests each time; the long form looks further
	}
	run := exec.CommandContext(t.Context(), program, args...)
	run.Env = append(os.Environ(), "EDIGW_FUZZ_TOKEN="+d.roles[accounts.Admin], "EDIGW_FUZZ_SPARE="+d.there["token_id"], "NO_COLOR=1", "COLUMNS=160")
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "No issues found") {
		t.Errorf("%v\n%s", err, out)
	}
	if m := strings.LastIndex(string(out), "Test cases:"); m >= 0 {
		t.Log(strings.TrimSpace(string(out[m:])))
	}
	if strings.Contains(d.log.String(), "request failed") {
		t.Errorf("the gateway says that something was its own fault:\n%s", d.log)
	}
}
