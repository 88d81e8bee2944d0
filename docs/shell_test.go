package docs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell is one bash that runs the blocks of a page one after the other, so that
// variables set in one hold in the next.
type shell struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	says *bufio.Reader // its descriptor 3
}

func newShell(t *testing.T, dir string, env map[string]string) *shell {
	t.Helper()
	s := &shell{t: t, cmd: exec.Command("bash", "--noprofile", "--norc")}
	s.cmd.Dir = dir
	for name, value := range env {
		s.cmd.Env = append(s.cmd.Env, name+"="+value)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.says = bufio.NewReader(r)
	s.cmd.ExtraFiles = []*os.File{w}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.cmd.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	// With -m a job is a process group of its own and hears SIGINT. When our
	// end of its input closes, also because we were killed, the jobs end.
	s.say("set -um -o pipefail; jobs=(); trap 'for j in \"${jobs[@]}\"; do kill -INT -- -$j; done 2>/dev/null' EXIT")
	return s
}

// say has it run a line. A shell that has ended answers nothing.
func (s *shell) say(line string) {
	if _, err := io.WriteString(s.in, line+"\n"); err != nil && !errors.Is(err, syscall.EPIPE) {
		s.t.Error(err)
	}
}

// answer is the next line on descriptor 3, "" if the shell has ended.
func (s *shell) answer() string {
	line, err := s.says.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		s.t.Error(err)
	}
	return strings.TrimSpace(line)
}

// source runs a file. If strict, the first command that fails ends the shell,
// and ok is false.
func (s *shell) source(script, out string, strict bool) (status string, ok bool) {
	mode := "set +e"
	if strict {
		mode = "set -e"
	}
	late := time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() }) // it may have ended by itself
	defer late.Stop()
	s.say(fmt.Sprintf("%s; . %s >%s 2>&1 </dev/null 3>&-; echo $? >&3", mode, script, out))
	status = s.answer()
	return status, status != ""
}

// background starts a file as a job.
func (s *shell) background(script, out string) (pid int, err error) {
	s.say(fmt.Sprintf(": >%s; . %s >>%s 2>&1 </dev/null 3>&- & jobs+=($!); echo $! >&3", out, script, out))
	return strconv.Atoi(s.answer())
}

func (s *shell) alive(pid int) bool { return syscall.Kill(-pid, 0) == nil }

// interrupt does to a job what Ctrl-C does, and waits for its end.
func (s *shell) interrupt(pid int) (status string) {
	s.say(fmt.Sprintf("set +e; kill -INT -- -%d; wait %d; echo $? >&3", pid, pid))
	return s.answer()
}

// kill ends a job whose shell may be gone.
func (s *shell) kill(pid int) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		if err := syscall.Kill(-pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			s.t.Error(err)
		}
		for end := time.Now().Add(15 * time.Second); s.alive(pid) && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func (s *shell) close() {
	_ = s.in.Close() // it may have ended by itself
	_ = s.cmd.Wait() // its status is that of the last command
}
