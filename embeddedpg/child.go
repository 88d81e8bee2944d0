//go:build unix

package embeddedpg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// child is the postmaster process.
type child struct {
	cmd     *exec.Cmd
	exited  chan struct{}
	err     error         // of Wait; read after exited is closed
	tail    tail          // its last lines, for the error of a failed start
	drained chan struct{} // its output is read to the end

	mu    sync.Mutex
	asked bool // we stopped it
}

// startChild starts postgres from a thread of its own that lives as long as
// the child: Linux sends Pdeathsig when the thread that forked ends, not the
// process, and Go ends threads at will.
func startChild(path string, args []string, dir string, acct account, log *slog.Logger) (*child, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(path, args...), exited: make(chan struct{}), drained: make(chan struct{})}
	c.cmd.Dir = dir
	c.cmd.Env = childEnv()
	c.cmd.Stderr = w
	c.cmd.SysProcAttr = acct.attributes()
	dieWithUs(c.cmd.SysProcAttr)

	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with us
		err := c.cmd.Start()
		started <- errors.Join(err, w.Close())
		if err != nil {
			return
		}
		c.err = c.cmd.Wait()
		close(c.exited)
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(err, r.Close())
	}
	go c.read(r, log)
	return c, nil
}

// read passes postgres's lines on. Its details and statements are switched off
// in settings.go, since they would carry payloads into the log.
func (c *child) read(r io.ReadCloser, log *slog.Logger) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		c.tail.add(line)
		log.Log(context.Background(), level(line), "postgres: "+line)
	}
	if err := errors.Join(lines.Err(), r.Close()); err != nil {
		log.Warn("postgres: its log cannot be read any more", "error", err)
	}
	close(c.drained)
}

// settle waits a moment for the last lines of a child that has ended. Not for
// ever: orphaned backends hold the pipe open until they notice.
func (c *child) settle() {
	select {
	case <-c.drained:
	case <-time.After(time.Second):
	}
}

func level(line string) slog.Level {
	severity, _, _ := strings.Cut(line, ":")
	switch severity {
	case "PANIC":
		return slog.LevelError
	case "FATAL", "WARNING":
		return slog.LevelWarn
	}
	return slog.LevelDebug // an ERROR went to the client, which tells it
}

// stop asks for a fast shutdown, and forces it when ctx ends.
func (c *child) stop(ctx context.Context) error {
	c.mu.Lock()
	c.asked = true
	c.mu.Unlock()
	for _, step := range []struct {
		signal syscall.Signal
		wait   func() <-chan time.Time
	}{
		{syscall.SIGINT, func() <-chan time.Time { return nil }},                          // fast: roll back, checkpoint, exit
		{syscall.SIGQUIT, func() <-chan time.Time { return time.After(5 * time.Second) }}, // immediate: the next start recovers
		{syscall.SIGKILL, func() <-chan time.Time { return time.After(10 * time.Second) }},
	} {
		if err := c.cmd.Process.Signal(step.signal); err != nil && !signalled(err) {
			return fmt.Errorf("stop postgres: %w", err)
		}
		done := ctx.Done()
		if step.signal != syscall.SIGINT {
			done = nil
		}
		select {
		case <-c.exited:
			return nil
		case <-done:
		case <-step.wait():
		}
	}
	return fmt.Errorf("postgres (process %d) does not end", c.cmd.Process.Pid)
}

// kill ends a start that failed.
func (c *child) kill() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = c.stop(ctx) // the start's own error is the one to tell
}

// failure says how the child ended and what it said last.
func (c *child) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked && c.err == nil {
		return nil
	}
	how := "exit status 0"
	if c.err != nil {
		how = c.err.Error()
	}
	return fmt.Errorf("postgres ended (%s): %s", how, c.tail.String())
}

// tail keeps the last lines.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines = append(t.lines, line); len(t.lines) > 20 {
		t.lines = t.lines[1:]
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
