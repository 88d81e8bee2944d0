package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// place is where a command was told to write.
type place struct {
	path string      // links are resolved, where there is a file
	was  fs.FileInfo // what is there; nil: nothing
}

// file reports whether what is written there may take the place of what is there.
func (p place) file() bool { return p.was == nil || p.was.Mode().IsRegular() }

// formatNames are what -o takes in most commands.
var formatNames = []string{"table", "json", "yaml", "markdown", "jsonl", "csv", "ubl"}

// placeOf looks what stands at a path before anything is written: a name that is given to
// a new file takes it from a device, a pipe or a link as well as from a file.
func placeOf(path string) (p place, err error) {
	if slices.Contains(formatNames, path) {
		return p, usage("%s is the name of a format, and a file to write is asked for here: ./%s for a file of that name", path, path)
	}
	p.path = path
	p.was, err = os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return p, usage("%s is a link to what is not there", path)
		}
		return place{path: path}, nil
	case err != nil:
		return p, err
	case p.was.IsDir():
		return p, usage("%s is a folder: name a file in it", path)
	case p.file():
		p.path, err = filepath.EvalSymlinks(path)
	}
	return p, err
}

// isFile reports whether w is the file of that name, whatever the name is: the shell
// opened it, and may have it written behind what it holds.
func isFile(w io.Writer, path string) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}

// openStream opens what is no file to write into it as it is. A pipe that nobody reads
// waits for its reader until the context ends.
func (p place) openStream(ctx context.Context) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(p.path, os.O_WRONLY, 0)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// replacement is a file that is written beside its place, and takes it when all is there.
type replacement struct {
	*os.File
	place place
}

// replace begins one. Who may not write the file that is there may not replace it either.
func (p place) replace() (*replacement, error) {
	mode := fs.FileMode(0o666) // less what the umask takes
	if p.was != nil {
		mode = 0o600 // until it has the owner and the mode of what was there
		old, err := os.OpenFile(p.path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		if err := old.Close(); err != nil {
			return nil, err
		}
	}
	name := filepath.Join(filepath.Dir(p.path), "."+filepath.Base(p.path)+"-"+rand.Text())
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return &replacement{f, p}, nil
}

// take gives it its place.
func (r *replacement) take() error {
	var err error
	if r.place.was != nil {
		err = r.Chmod(keepOwner(r.File, r.place.was))
	}
	if err == nil {
		err = r.Sync()
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	return os.Rename(r.Name(), r.place.path)
}

// drop removes it, unless it has its place.
func (r *replacement) drop() error {
	err := r.Close()
	if errors.Is(err, fs.ErrClosed) {
		err = nil
	}
	if gone := os.Remove(r.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
