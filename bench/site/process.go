package site

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Build builds the program into the site's folder and gives its path.
func (s *Site) Build(ctx context.Context) (string, error) {
	path := filepath.Join(s.Dir, "edigw")
	return path, Build(ctx, path)
}

// Build builds the program at path. flags are go build's, such as -tags.
func Build(ctx context.Context, path string, flags ...string) error {
	args := append(append([]string{"build", "-trimpath", "-o", path}, flags...), "github.com/edigw/edigw/cmd/edigw")
	cmd := exec.CommandContext(ctx, "go", args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// Gateway is the running program.
type Gateway struct {
	Address    string // host:port of the ingress
	Operations string // host:port of the operators' listener
	Pid        int

	cmd    *exec.Cmd
	exited chan struct{}
	err    error // of Wait, once exited is closed
	log    string
}

// Start runs the program at path on the site's database and waits until it is
// ready. Spool is the folder of its spool files.
func (s *Site) Start(ctx context.Context, path string, env ...string) (*Gateway, error) {
	data, err := os.MkdirTemp(s.Dir, "gateway-")
	if err != nil {
		return nil, err
	}
	g := &Gateway{log: filepath.Join(data, "log"), exited: make(chan struct{})}
	out, err := os.Create(g.log)
	if err != nil {
		return nil, err
	}
	g.cmd = exec.Command(path, "serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
		"--data-dir", data, "--spool-dir", s.Spool(), "--log-format", "json")
	g.cmd.Env = append(append(os.Environ(), "EDIGW_DATABASE_URL="+s.URL()), env...)
	g.cmd.Stderr = out
	g.cmd.SysProcAttr = diesWithUs()
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Linux sends Pdeathsig when the thread ends that forked
		err := g.cmd.Start()
		started <- err
		if err == nil {
			g.err = g.cmd.Wait()
			close(g.exited)
		}
	}()
	if err := errors.Join(os.MkdirAll(s.Spool(), 0o700), <-started, out.Close()); err != nil {
		return nil, fmt.Errorf("start the program: %w", err)
	}
	g.Pid = g.cmd.Process.Pid
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = g.ready(); err != nil || g.Address != "" {
			return g, err
		}
		select {
		case <-ctx.Done():
			return g, errors.Join(ctx.Err(), g.Kill())
		case <-g.exited:
			return g, fmt.Errorf("the gateway ended at its start (%w): %s", g.err, g.Log())
		default:
		}
	}
	return g, fmt.Errorf("the gateway is not ready after a minute: %s", g.Log())
}

// Spool is the folder of spool files.
func (s *Site) Spool() string { return filepath.Join(s.Dir, "spool") }

// ready looks for the line that tells the addresses.
func (g *Gateway) ready() error {
	lines := bufio.NewScanner(strings.NewReader(g.Log()))
	for lines.Scan() {
		var said struct{ Msg, Ingress, Operations string }
		if json.Unmarshal(lines.Bytes(), &said) == nil && said.Msg == "ready" {
			g.Address = strings.TrimPrefix(said.Ingress, "http://")
			g.Operations = strings.TrimPrefix(said.Operations, "http://")
			return nil
		}
	}
	return lines.Err()
}

// Exited is closed when it has ended, asked or not.
func (g *Gateway) Exited() <-chan struct{} { return g.exited }

// Log is what it has written so far.
func (g *Gateway) Log() string {
	text, err := os.ReadFile(g.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Stop ends it in order.
func (g *Gateway) Stop() error {
	if err := g.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	<-g.exited
	return g.err
}

// Kill ends it with SIGKILL.
func (g *Gateway) Kill() error {
	if err := g.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-g.exited
	var exit *exec.ExitError
	if !errors.As(g.err, &exit) {
		return fmt.Errorf("killed, and ended with %v", g.err)
	}
	return nil
}

// tick is the unit of times in /proc/<pid>/stat: USER_HZ, 100 on every Linux
// that Go runs on.
const tick = 10 * time.Millisecond

// CPU is how much processor time a process has taken, in user and system mode.
func CPU(pid int) (time.Duration, error) {
	f, err := stat(pid)
	if err != nil {
		return 0, err
	}
	return ticks(f[11], f[12])
}

// TreeCPU is CPU of a process, of its children that run and of those that have
// ended.
func TreeCPU(parent int) (time.Duration, error) {
	for {
		before, err := stat(parent)
		if err != nil {
			return 0, err
		}
		running, err := childrenCPU(parent)
		if err != nil {
			return 0, err
		}
		after, err := stat(parent)
		if err != nil {
			return 0, err
		}
		// A child that ended meanwhile is in neither.
		if before[13] == after[13] && before[14] == after[14] {
			own, err := ticks(after[11], after[12], after[13], after[14])
			return own + running, err
		}
	}
}

// childrenCPU is CPU of the children that run, with theirs.
func childrenCPU(parent int) (sum time.Duration, err error) {
	children, err := Children(parent)
	if err != nil {
		return 0, err
	}
	for _, pid := range children {
		f, err := stat(pid)
		if err != nil {
			continue // ended meanwhile
		}
		t, err := ticks(f[11], f[12], f[13], f[14])
		if err != nil {
			return 0, err
		}
		sum += t
	}
	return sum, nil
}

// Children are the processes that a process has started and that run.
func Children(parent int) (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		f, err := stat(pid)
		if err != nil || f[1] != strconv.Itoa(parent) {
			continue // ended meanwhile, or another's
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// Runs tells whether a program of that name runs in a process group.
func Runs(group int, name string) (bool, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		f, err := stat(pid)
		if err != nil || f[2] != strconv.Itoa(group) {
			continue // ended meanwhile, or another's
		}
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && strings.TrimSpace(string(comm)) == name {
			return true, nil
		}
	}
	return false, nil
}

// OwnCPU is CPU of this process, finer than ticks.
func OwnCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// stat gives the fields of /proc/<pid>/stat behind the name, the state first
// (proc(5)).
func stat(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 15 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(f))
	}
	return f, nil
}

func ticks(fields ...string) (sum time.Duration, err error) {
	for _, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}

// PeakMemory is VmHWM of a process, the most it ever had in memory, in bytes.
func PeakMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(v)[0], 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("no VmHWM in /proc/<pid>/status")
}
