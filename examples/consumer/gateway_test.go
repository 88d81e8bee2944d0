package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/pgtest"
)

// TestAgainstAGateway runs the service beside a whole gateway: an invoice that is
// sent twice is payable once, and its replacement takes its place.
func TestAgainstAGateway(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "edigw")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/edigw").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	serve := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--data-dir", dir, "--log-format", "json")
	serve.Env = []string{"EDIGW_DATABASE_URL=" + pgtest.URL(t)}
	log, err := serve.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill() // it has no work left
		_ = serve.Wait()         // it was killed
	})
	var ready struct{ Msg, Operations string }
	said := bufio.NewScanner(log)
	for ready.Msg != "ready" {
		if !said.Scan() {
			t.Fatal("the gateway did not start")
		}
		_ = json.Unmarshal(said.Bytes(), &ready) // a line that is no JSON is none we look for
	}
	go func() {
		for said.Scan() { // or it waits for us
		}
	}()
	edigw := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(program, append(args, "--data-dir", dir)...).CombinedOutput()
		if err != nil {
			t.Fatalf("edigw %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	edigw("partners", "apply", "-f", "../../docs/examples/partners.yaml")
	edigw("users", "add", "ledger", "--role", "viewer")
	env := map[string]string{"DATABASE_URL": pgtest.EmptyURL(t), "EDIGW_API": ready.Operations, "EDIGW_TOKEN": edigw("tokens", "create", "--role", "viewer", "--person", "ledger")}
	for range 2 {
		edigw("ingest", "../../docs/examples/invoice.edi", "--partner", "muster-kaffee")
	}

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, func(name string) string { return env[name] }) }()
	pool := pgtest.Pool(t, env["DATABASE_URL"])
	eventually := func(want ...string) {
		t.Helper()
		var got []string
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			var there bool
			if err := pool.QueryRow(t.Context(), `select to_regclass('payable') is not null`).Scan(&there); err != nil {
				t.Fatal(err)
			}
			if !there {
				continue
			}
			got = lines(t, pool, `select number || ' ' || state from payable order by 1`)
			if cmp.Equal(want, got) {
				return
			}
		}
		t.Fatal(cmp.Diff(want, got))
	}
	eventually("RE-1001 due")
	edigw("ingest", "../../docs/examples/invoice-replacement.edi", "--partner", "muster-kaffee")
	eventually("RE-1001 due", "RE-1001 replaced")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
