//go:build linux

package crash_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/pgtest"
)

// TestKillWithItsDatabase kills a gateway that runs PostgreSQL itself, and that
// with it: all of a sudden everything is gone that was not flushed, and both
// come back.
func TestKillWithItsDatabase(t *testing.T) {
	t.Parallel()
	const invoices = 3
	points := []string{"last document", "commit sent", "commit answered"}
	dir := pgtest.Dir(t)
	first := startIn(t, dir)
	url, err := embeddedpg.URL(filepath.Join(dir, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{url: url, pool: pgtest.Pool(t, url)}
	s.connect(t, len(points)**runs)
	first.kill(t)
	for n := range *runs {
		for _, point := range points {
			run(t, fmt.Sprintf("at %s/%d", point, n+1), func(t *testing.T) {
				p := s.partner(t)
				payload := p.interchange("REF1", numbers(invoices)...)
				killed := startIn(t, dir, "EDIGW_FAULT="+point+"=stop:1m")
				postmaster := postmaster(t, dir)
				answered := make(chan error, 1)
				go func() {
					_, err := p.send(killed, payload, "key")
					answered <- err
				}()
				killed.reached(t, point, 1)
				signalAll(t, postmaster, syscall.SIGKILL)
				killed.kill(t)
				if err := <-answered; err == nil {
					t.Fatal("a whole answer came out of a killed process")
				}

				again := startIn(t, dir)
				s.reconnect(t)
				stored := p.receipt(t, s.pool, "key")
				switch point {
				case "last document":
					p.nothing(t, s.pool)
				case "commit answered":
					p.once(t, s.pool, invoices, "key")
				}
				a := p.retry(t, again, payload, "key")
				if stored == "" {
					a.is(t, http.StatusCreated, "first")
				} else {
					a.is(t, http.StatusOK, "duplicate")
					a.gives(t, stored, "key")
				}
				p.once(t, s.pool, invoices, "key")
				again.noPanic(t)
			})
		}
	}
}

// TestTwoOnOneFolder starts a gateway in the data folder of one that runs, and again
// after that one was killed.
func TestTwoOnOneFolder(t *testing.T) {
	t.Parallel()
	dir := pgtest.Dir(t)
	first := startIn(t, dir)
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	second := exec.CommandContext(t.Context(), path, "serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--data-dir", dir)
	said, err := second.CombinedOutput()
	if ended, ok := errors.AsType[*exec.ExitError](err); !ok || ended.ExitCode() != 1 {
		t.Errorf("the second one: %v", err)
	}
	if want := fmt.Sprintf("in use by process %d: stop that gateway, or give this one a data directory of its own", first.process.Pid); !strings.Contains(string(said), want) {
		t.Errorf("it does not say %q:\n%s", want, said)
	}
	if status := first.ready(t); status != http.StatusOK {
		t.Errorf("the first one: %d", status)
	}
	first.kill(t)
	if status := startIn(t, dir).ready(t); status != http.StatusOK {
		t.Errorf("the one after it: %d", status)
	}
}

// postmaster is the process id of the PostgreSQL in a gateway's data folder.
func postmaster(t *testing.T, dataDir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dataDir, "postgres", "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
