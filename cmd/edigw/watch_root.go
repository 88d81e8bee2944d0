package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// archiveOf is the folder of the day.
func archiveOf(now time.Time) string {
	return filepath.Join("archive", now.UTC().Format("2006/01/02"))
}

// refusedIn is the folder of what was refused.
const refusedIn = "error"

// unlinked reports a link on one of the paths by which a file goes. One that leads
// out of the folder, root refuses; one that leads elsewhere in it would have what was
// sent lie where the partner drops, and be sent again.
func (f *dropFolder) unlinked(now time.Time) error {
	for _, path := range []string{processing, archiveOf(now), refusedIn} {
		if err := f.isFolder(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// isFolder reports why a path is not one of folders all the way.
func (f *dropFolder) isFolder(path string) error {
	at := ""
	for part := range strings.SplitSeq(path, "/") {
		at = filepath.Join(at, part)
		st, err := f.root.Lstat(at)
		switch {
		case err != nil:
			return err
		case st.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is a link, which would lead the files of %s elsewhere; remove it, and a folder is made in its place", filepath.Join(f.path, at), f.partner)
		case !st.IsDir():
			return fmt.Errorf("%s is no folder; move it away, and one is made in its place", filepath.Join(f.path, at))
		}
	}
	return nil
}

// mkdirs makes the folders of a path that are not there.
func (f *dropFolder) mkdirs(path string, perm os.FileMode) error {
	err := f.isFolder(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.root.MkdirAll(path, perm); err != nil {
		return err
	}
	return f.isFolder(path)
}

// list gives what is in a folder, by name.
func (f *dropFolder) list(path string) (entries []fs.DirEntry, err error) {
	dir, err := f.root.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	entries, err = dir.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// openFile opens a taken file: a link would have us send another.
func (f *dropFolder) openFile(path string) (*os.File, fs.FileInfo, error) {
	there, err := f.root.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !there.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no file", filepath.Join(f.path, path))
	}
	file, err := f.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	st, err := file.Stat()
	if err == nil && !os.SameFile(there, st) {
		err = fmt.Errorf("%s was exchanged while it was opened", filepath.Join(f.path, path))
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, st, nil
}

// writeNew writes a file, flushed; false if there is one with other bytes, or what is
// no file.
func (f *dropFolder) writeNew(path string, text []byte) (made bool, err error) {
	file, err := f.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		if st, err := f.root.Lstat(path); err != nil || !st.Mode().IsRegular() || st.Size() > int64(len(text)) {
			return false, err
		}
		have, err := f.root.ReadFile(path)
		if err == nil && len(have) < len(text) && strings.HasPrefix(string(text), string(have)) { // cut short by a crash
			return true, f.root.WriteFile(path, text, 0o644)
		}
		return err == nil && string(have) == string(text), err
	}
	if err != nil {
		return false, err
	}
	_, err = file.Write(text)
	return true, errors.Join(err, file.Sync(), file.Close())
}
