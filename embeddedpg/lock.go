//go:build unix

package embeddedpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// InUseError says that another process runs a server in the folder.
type InUseError struct {
	Pid string // of that process, if it is known
}

func (e *InUseError) Error() string {
	if e.Pid == "" {
		return "in use by another process"
	}
	return fmt.Sprintf("in use by process %s: stop that gateway, or give this one a data directory of its own", e.Pid)
}

// lockDir takes the folder for this process. The operating system gives it
// back when we end, however we end.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		pid, readErr := io.ReadAll(f)
		return nil, errors.Join(&InUseError{Pid: string(bytes.TrimSpace(pid))}, readErr, f.Close())
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock: %w", err), f.Close())
	}
	return f, nil
}

// stopping bounds the wait for the postgres of a gateway that was killed: it
// is told by the kernel and stops by itself, after a checkpoint.
const stopping = time.Minute

// clearStalePid deals with the postmaster.pid of an earlier run. A postgres of
// this cluster that is still stopping is waited for. A process that got the
// same number by chance, or a zombie, would make the new postgres refuse to
// start: then the file goes. A number that is free is left to postgres, which
// looks at the shared memory too. The caller holds the lock.
func clearStalePid(ctx context.Context, data string, log *slog.Logger) error {
	file := filepath.Join(data, "postmaster.pid")
	for begun := time.Now(); ; {
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(b), "\n")
		pid, err := strconv.Atoi(strings.TrimSpace(first))
		if err != nil || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return nil
		}
		if !slices.Contains(commandLine(pid), data) {
			log.Warn("removing the postmaster.pid of an earlier run", "pid", pid)
			if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) { // a postgres that ended meanwhile took it away
				return err
			}
			return nil
		}
		if time.Since(begun) > stopping {
			return fmt.Errorf("a postgres (process %d) still runs in %s after %s: stop it", pid, data, stopping)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for process %d, the postgres of an earlier run, to stop: %w", pid, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
