package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

// child is a process that we started.
type child struct {
	cmd    *exec.Cmd
	log    string
	exited chan struct{}
}

func startChild(log, name string, args ...string) (*child, error) {
	c := &child{cmd: exec.Command(name, args...), log: log, exited: make(chan struct{})}
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.SysProcAttr = out, out, diesWithUs()
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Linux sends Pdeathsig when the thread ends that forked
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // it is killed
			close(c.exited)
		}
	}()
	return c, errors.Join(<-started, out.Close())
}

func (c *child) ended() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// kill ends it with SIGKILL.
func (c *child) kill() error {
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-c.exited
	return nil
}

func (c *child) output() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}
