package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// dropFolder is a partner's folder. What is taken is moved into a folder of this
// run's own below .edigw, which is locked as long as the run lives: a move is
// atomic, also over NFS, so that of two watchers one takes a file; and what a
// watcher that died has left is known by its lock, which died with it.
//
//	NAME                                dropped
//	.edigw/processing/RUN/.lock
//	.edigw/processing/RUN/7/NAME        taken
//	archive/2026/11/30/NAME             sent, NAME.receipt.json beside it
//	error/NAME                          refused, NAME.reason.txt beside it
//
// The partner may write there, and so put a link where one of these is looked for.
// Everything goes through root, out of which no link leads; paths are below it.
type dropFolder struct {
	path, partner, id string
	root              *os.Root
	ready             bool
	settle            time.Duration

	seen      map[string]observed  // dropped files, as they were when first seen so
	putOff    map[string]time.Time // files that could not be taken, until when they are left
	adopted   time.Time            // when files of others were last looked for
	notBefore time.Time            // it could not be looked into, or the partner not send

	held    map[*dropped]time.Time // taken and not done with, since when they were seen
	waiting []*dropped             // taken, and to be sent at their time
	sending int                    // files on their way, each of which comes out of done
	done    chan sentDrop

	lock *os.File // of our folder of taken files; nil: there is none yet
	next int

	mu       sync.Mutex
	to       ingress
	made     time.Time    // of the token
	giveBack func() error // the token
}

// observed is a file as it was seen.
type observed struct {
	size  int64
	mtime time.Time
	since time.Time
}

// unfinished are the ends of names under which programs write what is not whole.
var unfinished = []string{".tmp", ".part", ".partial", ".filepart", readyMark}

// readyMark is the end of the name of a mark that says that a file is whole.
const readyMark = ".ready"

// isDrop reports whether a name may be that of a whole file.
func isDrop(name string) bool {
	return !strings.HasPrefix(name, ".") && !slices.ContainsFunc(unfinished, func(end string) bool {
		return strings.HasSuffix(strings.ToLower(name), end)
	})
}

// still gives the names of files that may be taken: beside which NAME.ready stands,
// or that were as they are for the time of settling. That is counted here, and not
// from the file's own time: the clock of a file server is another.
func (f *dropFolder) still(now time.Time) (names []string, err error) {
	entries, err := f.list(".")
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Name()] = true
	}
	for name := range f.seen {
		if !there[name] {
			delete(f.seen, name)
		}
	}
	for name, until := range f.putOff {
		if !there[name] || !now.Before(until) {
			delete(f.putOff, name)
		}
	}
	for _, e := range entries {
		if _, later := f.putOff[e.Name()]; later || !e.Type().IsRegular() || !isDrop(e.Name()) {
			continue
		}
		if there[e.Name()+readyMark] {
			names = append(names, e.Name())
			continue
		}
		st, err := f.root.Lstat(e.Name())
		if errors.Is(err, fs.ErrNotExist) { // taken by another
			continue
		}
		if err != nil {
			return nil, err
		}
		was, known := f.seen[e.Name()]
		if !known || was.size != st.Size() || !was.mtime.Equal(st.ModTime()) {
			was = observed{st.Size(), st.ModTime(), now}
			f.seen[e.Name()] = was
		}
		if !f.ready && known && now.Sub(was.since) >= f.settle {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// processing is where the folders of taken files are.
const processing = ".edigw/processing"

func (f *dropFolder) own() string { return filepath.Join(processing, f.id) }

// open makes our folder of taken files. It gets its name when it is locked, so
// that nobody takes it for one that was left. Who clears up behind watchers that died
// while they made theirs may take it for one of those: then it is made again.
func (f *dropFolder) open() (err error) {
	for range 5 {
		if err = f.makeOwn(); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

func (f *dropFolder) makeOwn() error {
	if f.lock != nil {
		return nil
	}
	if err := f.mkdirs(processing, 0o700); err != nil {
		return err
	}
	hidden := filepath.Join(processing, "."+f.id)
	if err := f.mkdirs(hidden, 0o700); err != nil {
		return err
	}
	lock, err := f.root.OpenFile(filepath.Join(hidden, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := flock(lock); err != nil {
		return errors.Join(fmt.Errorf("lock %s: %w; the folder has to be on a file system with locks", lock.Name(), err), lock.Close())
	}
	if err := f.root.Rename(hidden, f.own()); err != nil {
		return errors.Join(err, lock.Close())
	}
	f.lock = lock
	return nil
}

// makingTakes is longer than it takes to make a folder of taken files, and than file
// servers' clocks differ.
const makingTakes = time.Hour

// beingMade reports whether a folder may be one that its watcher is making: nothing is
// in it yet.
func beingMade(e fs.DirEntry) bool {
	if !strings.HasPrefix(e.Name(), ".") {
		return false
	}
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) < makingTakes
}

// flock takes the lock of a watcher's folder, if nobody has it.
func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// place names a folder that is not there yet, for one taken file: names may come
// twice.
func (f *dropFolder) place() (string, error) {
	f.next++
	return filepath.Join(f.own(), strconv.Itoa(f.next)), f.open()
}

// take moves a file to where it is this run's alone; nil if another has it. A mark
// that says it is ready goes first, and goes back if we die before the file has
// followed: one that stayed would say so of the next file of the name.
func (f *dropFolder) take(name string) (*dropped, error) {
	dir, err := f.place()
	if err == nil {
		err = f.root.Mkdir(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	d := &dropped{folder: f, name: name, path: filepath.Join(dir, name), written: f.seen[name].mtime}
	mark := name + readyMark
	marked, err := f.move(mark, filepath.Join(dir, mark))
	if errors.Is(err, syscall.ENAMETOOLONG) { // no mark can stand beside a name so long
		marked, err = false, nil
	}
	if err == nil && f.ready && !marked {
		return nil, f.root.Remove(dir)
	}
	taken := false
	if err == nil {
		taken, err = f.move(name, d.path)
	}
	if err == nil && marked {
		err = f.root.Remove(filepath.Join(dir, mark))
	}
	delete(f.seen, name)
	switch {
	case taken && err != nil:
		return nil, fmt.Errorf("%w; %s is taken, and sent by the next watcher", err, name)
	case taken:
		return d, nil
	}
	return nil, errors.Join(err, f.root.Remove(dir))
}

// hold has a file be sent that was taken, and was first seen at a time.
func (f *dropFolder) hold(d *dropped, since time.Time) {
	f.held[d] = since
	f.waiting = append(f.waiting, d)
}

// move renames a file; false if it is not there.
//
// QUIRK: over NFS the answer to a rename may be lost, and the second try finds it
// done.
func (f *dropFolder) move(from, to string) (bool, error) {
	err := f.root.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		_, moved := f.root.Lstat(to)
		return moved == nil, nil
	}
	return err == nil, err
}

// left reports whether there are taken files of others.
func (f *dropFolder) left() bool {
	entries, err := f.list(processing)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != f.id && !beingMade(e) })
}

// adopt takes over what watchers that died have left.
func (f *dropFolder) adopt() (found []*dropped, err error) {
	entries, err := f.list(processing)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var troubles []error // of one watcher's files, which do not keep the others'
	for _, e := range entries {
		if e.Name() == f.id || !e.IsDir() || beingMade(e) {
			continue
		}
		of, err := f.adoptFrom(filepath.Join(processing, e.Name()))
		found = append(found, of...)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another adopts it
			troubles = append(troubles, fmt.Errorf("take over %s: %w", e.Name(), err))
		}
	}
	return found, errors.Join(troubles...)
}

// adoptFrom takes over the files of one watcher, if it has died: nobody holds its
// lock then, which we hold until its folder is gone.
func (f *dropFolder) adoptFrom(dir string) (found []*dropped, err error) {
	lock, err := f.root.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		_ = f.root.Remove(dir) // empty, if its end was interrupted; else somebody is making it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if flock(lock) != nil {
		return nil, nil // it lives
	}
	places, err := f.list(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		if !p.IsDir() {
			continue
		}
		files, err := f.list(filepath.Join(dir, p.Name()))
		if err != nil {
			return found, err
		}
		if len(files) == 0 { // it died before it moved the file there, or after it moved it on
			if err := f.root.Remove(filepath.Join(dir, p.Name())); err != nil {
				return found, err
			}
			continue
		}
		to, err := f.place()
		if err != nil {
			return found, err
		}
		if err := f.root.Rename(filepath.Join(dir, p.Name()), to); err != nil {
			return found, err
		}
		d, err := f.unpack(to, files)
		if err != nil {
			return found, err
		}
		if d != nil {
			found = append(found, d)
		}
	}
	return found, errors.Join(f.root.Remove(filepath.Join(dir, ".lock")), f.root.Remove(dir))
}

// unpack finds the file among what a watcher has left in a place: it may have died
// between moving the mark and the file.
func (f *dropFolder) unpack(dir string, files []os.DirEntry) (d *dropped, err error) {
	var mark string
	for _, file := range files {
		if strings.HasSuffix(file.Name(), readyMark) {
			mark = file.Name()
		} else {
			d = &dropped{folder: f, name: file.Name(), path: filepath.Join(dir, file.Name())}
		}
	}
	switch {
	case mark == "":
		return d, nil
	case d != nil:
		return d, f.root.Remove(filepath.Join(dir, mark))
	}
	return nil, errors.Join(f.root.Rename(filepath.Join(dir, mark), mark), f.root.Remove(dir))
}

// close gives our folder back, if nothing is in it, and the token.
func (f *dropFolder) close() (err error) {
	if f.giveBack != nil {
		err = f.giveBack()
	}
	if f.lock == nil {
		return errors.Join(err, f.root.Close())
	}
	if left, e := f.list(f.own()); e == nil && len(left) == 1 { // the lock
		err = errors.Join(err, f.root.Remove(filepath.Join(f.own(), ".lock")), f.root.Remove(f.own()))
	}
	return errors.Join(err, f.lock.Close(), f.root.Close())
}
