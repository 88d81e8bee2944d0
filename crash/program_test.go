//go:build linux

package crash_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything may take that has no bound of its own.
const patience = 30 * time.Second

// program is one running gateway.
type program struct {
	ingress, operations string // URLs

	process *os.Process
	exited  chan struct{}
	state   *os.ProcessState // once exited is closed

	mu  sync.Mutex
	log bytes.Buffer
}

// start starts a gateway on a database and waits until it is ready. env are
// settings, like EDIGW_FAULT=claim=kill.
func start(t testing.TB, database string, env ...string) *program {
	t.Helper()
	return startIn(t, t.TempDir(), append(env, "EDIGW_DATABASE_URL="+database)...)
}

// startIn starts a gateway with a data folder of its own.
func startIn(t testing.TB, dataDir string, env ...string) *program {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return startProgram(t, path, dataDir, env...)
}

// startProgram starts the gateway at a path.
func startProgram(t testing.TB, path, dataDir string, env ...string) *program {
	t.Helper()
	cmd := exec.Command(path, "serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
		"--data-dir", dataDir, "--log-format", "json", "--database-connections", "8")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, env...)
	if bin, ok := os.LookupEnv("EDIGW_PG_BIN"); ok {
		cmd.Env = append(cmd.Env, "EDIGW_PG_BIN="+bin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{exited: make(chan struct{})}
	ready, started := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread() // Linux sends Pdeathsig when the thread ends that forked
		err := cmd.Start()
		p.process = cmd.Process
		started <- err
		if err != nil {
			return
		}
		p.read(stderr, ready)
		_ = cmd.Wait() // its end is in ProcessState
		p.state = cmd.ProcessState
		close(p.exited)
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill(t)
		if t.Failed() {
			t.Logf("log of the gateway, process %d:\n%s", p.process.Pid, p.said())
		}
	})
	select {
	case <-ready:
	case <-p.exited:
		t.Fatalf("the gateway ended at its start (%v):\n%s", p.state, p.said())
	case <-time.After(patience):
		t.Fatalf("the gateway is not ready after %v:\n%s", patience, p.said())
	}
	return p
}

// read keeps the log and finds the addresses in it.
func (p *program) read(r io.Reader, ready chan<- struct{}) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		p.mu.Lock()
		p.log.Write(line)
		p.mu.Unlock()
		var said struct{ Msg, Ingress, Operations string }
		if json.Unmarshal(line, &said) == nil && said.Msg == "ready" {
			p.ingress, p.operations = said.Ingress, said.Operations
			close(ready)
		}
		if err != nil {
			return
		}
	}
}

func (p *program) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// kill ends it with SIGKILL, if it has not ended.
func (p *program) kill(t testing.TB) {
	t.Helper()
	if err := p.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	p.ended(t)
}

// ended waits for its end.
func (p *program) ended(t testing.TB) {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Fatalf("the gateway does not end:\n%s", p.said())
	}
}

// killed waits for its end and checks that it was SIGKILL.
func (p *program) killed(t testing.TB) {
	t.Helper()
	p.ended(t)
	if s := p.state.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGKILL {
		t.Fatalf("the gateway ended with %v, not by SIGKILL: the point was not reached\n%s", p.state, p.said())
	}
}

// ready asks /readyz.
func (p *program) ready(t testing.TB) int {
	t.Helper()
	client := http.Client{Timeout: patience}
	response, err := client.Get(p.operations + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}

// reached waits until deliveries have come so many times to a point that
// EDIGW_FAULT names.
func (p *program) reached(t testing.TB, point string, times int) {
	t.Helper()
	eventually(t, "a delivery reaches "+point, func() bool { return p.faults(point) >= times })
}

// faults counts how often a point was reached.
func (p *program) faults(point string) int {
	return strings.Count(p.said(), "edigw: fault at "+point+"\n")
}

// noPanic fails if the log holds a panic that nobody asked for.
func (p *program) noPanic(t testing.TB) {
	t.Helper()
	if s := p.said(); strings.Contains(s, "panic") {
		t.Errorf("the gateway panicked:\n%s", s)
	}
}

// eventually asks until it holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not after %v: %s", patience, what)
		}
	}
}
