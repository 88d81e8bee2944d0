package peers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
)

// Process is a program of ours around a peer that runs beside us: it is told lines
// and tells lines, and ends when its input does, so that it never outlives us.
type Process struct {
	name   string
	cmd    *exec.Cmd
	input  io.WriteCloser
	output *bufio.Reader
	stderr tail
}

// Start starts it. It is killed when ctx ends.
func Start(ctx context.Context, name string, argv ...string) (*Process, error) {
	p := &Process{name: name, cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	var err error
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.output, p.cmd.Stderr = bufio.NewReader(output), &p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// Pid is its process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Line is the next line that it tells, without its end.
func (p *Process) Line() (string, error) {
	line, err := p.output.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s has ended: %w: %s", p.name, err, p.stderr.String())
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// Ask tells it a line and gives the line that it answers.
func (p *Process) Ask(line string) (string, error) {
	if _, err := io.WriteString(p.input, line+"\n"); err != nil {
		return "", fmt.Errorf("%s takes no line: %w: %s", p.name, err, p.stderr.String())
	}
	return p.Line()
}

// Said is the end of what it has written to its standard error.
func (p *Process) Said() string { return p.stderr.String() }

// Stop ends its input and waits until it has ended.
func (p *Process) Stop() error {
	err := p.input.Close()
	if wait := p.cmd.Wait(); wait != nil {
		err = errors.Join(err, fmt.Errorf("%s: %w: %s", p.name, wait, p.stderr.String()))
	}
	return err
}

// tail keeps the last that was written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 8 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailSize):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
