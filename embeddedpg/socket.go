//go:build unix

package embeddedpg

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// port only names the socket file; nothing listens on TCP.
const port = "5432"

// socketLimit is the longest path a Unix socket can have: sun_path is 108
// bytes on Linux, 104 on macOS and the BSDs, with a NUL at the end.
const socketLimit = len(syscall.RawSockaddrUnix{}.Path) - 1

// socketDir is the private folder of the server's socket.
type socketDir struct {
	path  string
	short bool // stands outside the data directory and goes with the server
}

// socketPath is dir/run, or a short folder in /tmp named after dir where the
// socket's path would be too long for the operating system.
func socketPath(dir string) string {
	run := filepath.Join(dir, "run")
	if len(run)+len("/.s.PGSQL.")+len(port) <= socketLimit {
		return run
	}
	sum := sha256.Sum256([]byte(dir + "\x00" + strconv.Itoa(os.Geteuid())))
	return fmt.Sprintf("/tmp/edigw-%x", sum[:8])
}

func makeSocketDir(dir string, acct account) (socketDir, error) {
	s := socketDir{path: socketPath(dir)}
	s.short = filepath.Dir(s.path) != dir
	if err := acct.mkdir(s.path, 0o700); err != nil {
		return s, err
	}
	// /tmp is everybody's: a folder that somebody else prepared is not used.
	st, err := os.Lstat(s.path)
	if err != nil {
		return s, err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !st.IsDir() || st.Mode().Perm() != 0o700 || !ok || int(sys.Uid) != acct.uid {
		return s, fmt.Errorf("socket folder %s is not a private folder of ours: remove it", s.path)
	}
	return s, nil
}

// clear takes away what a server that was killed has left. Its lock names a
// process as postmaster.pid does, whose number another one may have by now; the
// caller holds the folder and has seen that no server runs in it.
func (s socketDir) clear() error {
	for _, name := range []string{".s.PGSQL." + port + ".lock", ".s.PGSQL." + port} {
		if err := os.Remove(filepath.Join(s.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (s socketDir) remove() error {
	if !s.short {
		return nil
	}
	if err := os.RemoveAll(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
