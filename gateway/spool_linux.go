package gateway

import (
	"errors"
	"os"
	"syscall"
)

// tmpfile is O_TMPFILE of open(2): the file never has a name, so that there is
// no moment at which a killed process leaves one.
const tmpfile = 0o20000000 | syscall.O_DIRECTORY

func unnamed(dir string) (*os.File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := os.OpenFile(dir, tmpfile|os.O_RDWR, 0o600)
	// Not every file system can; old kernels see a folder opened for writing.
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.EINVAL) {
		return createAndUnlink(dir)
	}
	return f, err
}
