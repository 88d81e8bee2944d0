// Package limit measures the database's own limit: how often PostgreSQL alone can do
// the least that any receiver of a message has to write. A program beside the
// repository, pg-limit, has pgbench do that.
package limit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/edigw/edigw/bench/site"
)

// Single is the workload of one message a transaction.
const Single = "single"

// Program is pg-limit with what it is to do.
type Program struct {
	Path    string
	URL     string // of the database that it fills
	Clients int
	Seconds int  // of each workload; at least 1
	Lines   int  // of the invoice in a message, of about 200 bytes each; 0 is 20
	Server  int  // process id of the server, whose processor time is told
	Alone   bool // Single is the only workload: the others are left out
}

// Measured is what came of it.
type Measured struct {
	Rates map[string]float64 // messages a second, by workload
	CPU   time.Duration      // of the server's processes for a message of Single; pgbench's is not in it
}

// line is one of pg-limit's: workload, messages a second.
var line = regexp.MustCompile(`^(\w+)\s+(\d+) msg/s`)

// Measure runs it once.
func (p Program) Measure(ctx context.Context) (m Measured, err error) {
	seconds, lines := max(p.Seconds, 1), p.Lines
	if lines == 0 {
		lines = 20
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, p.Path, "-c", strconv.Itoa(p.Clients), "-T", strconv.Itoa(seconds), "-n", "1", "-l", strconv.Itoa(lines), p.URL)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // with pgbench
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return m, err
	}
	if err := cmd.Start(); err != nil {
		return m, err
	}
	begun := make(chan started, 1)
	go func() { begun <- p.begin(ctx, cmd.Process.Pid) }()
	m.Rates = map[string]float64{}
	text := bufio.NewScanner(out)
	ended := false
	for text.Scan() {
		told := line.FindStringSubmatch(text.Text())
		if told == nil {
			continue
		}
		if m.Rates[told[1]], err = strconv.ParseFloat(told[2], 64); err != nil {
			break
		}
		if told[1] != Single {
			continue
		}
		if m.CPU, err = p.cpu(<-begun, m.Rates[Single]*float64(seconds)); err != nil {
			break
		}
		if ended = p.Alone; ended {
			break
		}
	}
	if ended || err != nil {
		stop()
	}
	wait := cmd.Wait()
	if ended {
		wait = nil // it was we who ended it
	}
	if err := errors.Join(err, text.Err(), wait); err != nil {
		return m, fmt.Errorf("%s: %w\n%s", p.Path, err, said.Bytes())
	}
	if m.Rates[Single] <= 0 {
		return m, fmt.Errorf("%s told no rate of %q:\n%s", p.Path, Single, said.Bytes())
	}
	return m, nil
}

// started is the server's processor time when pgbench began.
type started struct {
	cpu time.Duration
	err error
}

// begin waits for pgbench in the process group: what the server did before was to make
// the tables.
func (p Program) begin(ctx context.Context, group int) (s started) {
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		runs, err := site.Runs(group, "pgbench")
		if err != nil {
			return started{err: err}
		}
		if runs {
			s.cpu, s.err = site.TreeCPU(p.Server)
			return s
		}
	}
	return started{err: ctx.Err()}
}

func (p Program) cpu(s started, messages float64) (time.Duration, error) {
	now, err := site.TreeCPU(p.Server)
	if err := errors.Join(err, s.err); err != nil {
		return 0, err
	}
	return time.Duration(float64(now-s.cpu) / max(messages, 1)), nil
}
