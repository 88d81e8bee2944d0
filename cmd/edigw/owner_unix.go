//go:build linux || darwin

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and the group of the one whose place it takes, as far
// as this user may, and gives the mode that it may have then: where the group is another
// one, it gets nothing that was not meant for it.
func keepOwner(f *os.File, was fs.FileInfo) fs.FileMode {
	mode := was.Mode().Perm()
	st, ok := was.Sys().(*syscall.Stat_t)
	if !ok || f.Chown(int(st.Uid), int(st.Gid)) == nil || f.Chown(-1, int(st.Gid)) == nil {
		return mode
	}
	return mode &^ 0o070
}
