package targets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/outbox"
)

// Folder hands each effect over as a file: <dir>/<partner>/<event id>.json. The name
// is the idempotency key. A file is there whole or not at all, and whoever reads
// moves it into the folder taken beside it, so that it is known to have been handed
// over; what is deleted instead may come again after a crash.
//
// Each folder has an id of its own, in a hidden file, with which an effect is noted
// when it is started: processes with a folder each of their own do not take another's
// for empty.
//
// The file is linked into its place from one with a hidden name, which holds the
// lease. Ask deletes those before it looks: a process that slept on its way then has
// nothing left to link.
type Folder struct {
	Dir string
	// Content gives the file's bytes. An error that is outbox.ErrNotDone is counted
	// as a failed attempt.
	Content func(ctx context.Context, s *outbox.Step) ([]byte, error)
	Hook    func(point string) // of fault tests; nil otherwise
	Name    string             // of the target; "" is FolderName
	Ending  string             // of the files' names; "" is .json

	id string
}

// identity is the file that holds the folder's id.
const identity = ".edigw-folder"

// Open makes the folder where it is not there, and gives it its id if it has none.
func (f *Folder) Open() error {
	if err := os.MkdirAll(f.Dir, 0o770); err != nil {
		return err
	}
	name := filepath.Join(f.Dir, identity)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.identify(name); err != nil {
			return err
		}
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return err
	}
	id, err := uuid.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("%s does not hold the folder's id: %w", name, err)
	}
	f.id = id.String()
	return nil
}

// same reports whether the folder is still the one that was opened. Where its volume is no
// longer mounted the path leads to an empty folder: what is put there nobody reads, and
// nothing that was handed over stands in it.
func (f *Folder) same() error {
	if f.id == "" {
		return nil // nobody asked which it is
	}
	text, err := os.ReadFile(filepath.Join(f.Dir, identity))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not the folder that was opened: %s is missing in it; is its volume mounted?", f.Dir, identity)
	}
	if err != nil {
		return err
	}
	if id := strings.TrimSpace(string(text)); id != f.id {
		return fmt.Errorf("%s is not the folder that was opened: its id was %s and is %s; mount that one, or start the gateway anew", f.Dir, f.id, id)
	}
	return nil
}

// identify writes a new id, unless another process has just done so.
func (f *Folder) identify(name string) error {
	id := uuid.New()
	part := name + "." + id.String() + ".part"
	if err := writeSynced(part, []byte(id.String()+"\n")); err != nil {
		return errors.Join(err, removed(part))
	}
	err := os.Link(part, name)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, removed(part), syncFolder(f.Dir))
}

// FolderName is the target's name, as hand_over names it.
const FolderName = "folder"

// Target makes the target of a folder that was opened.
func (f *Folder) Target() outbox.Target {
	name := f.Name
	if name == "" {
		name = FolderName
	}
	return outbox.Target{Name: name, Place: f.id, Send: f.send, Ask: f.ask, Most: 15 * time.Minute, Attempts: folderAttempts}
}

// folderAttempts at 15 minutes apart are about two days: a disk that is full on a Saturday
// is empty again on Monday.
const folderAttempts = 200

const taken = "taken"

func (f *Folder) dir(s *outbox.Step) string { return filepath.Join(f.Dir, s.Partner) }

func (f *Folder) final(s *outbox.Step) string {
	ending := f.Ending
	if ending == "" {
		ending = ".json"
	}
	return filepath.Join(f.dir(s), s.Event.String()+ending)
}

// toward notes the path, from the root where the system tells it.
func (f *Folder) toward(s *outbox.Step) {
	path, err := filepath.Abs(f.final(s))
	if err != nil {
		path = f.final(s)
	}
	s.Toward(path)
}

// hidden is what the names of files begin with that are on their way.
func hidden(s *outbox.Step) string { return "." + s.Event.String() + "." }

// send puts the file into its place. Before it is linked nothing has happened.
func (f *Folder) send(ctx context.Context, s *outbox.Step) error {
	f.toward(s)
	if err := f.same(); err != nil {
		return fmt.Errorf("%w: %w", outbox.ErrNotDone, err)
	}
	body, err := f.Content(ctx, s)
	if err != nil {
		return fmt.Errorf("%w: %w", outbox.ErrNotDone, err)
	}
	if err := os.MkdirAll(filepath.Join(f.dir(s), taken), 0o770); err != nil {
		return fmt.Errorf("%w: %w", outbox.ErrNotDone, err)
	}
	there, err := f.there(s)
	if there {
		return syncFolder(f.dir(s))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", outbox.ErrNotDone, err)
	}
	part := filepath.Join(f.dir(s), hidden(s)+s.Lease.String()+".part")
	if err := writeSynced(part, body); err != nil {
		return fmt.Errorf("%w: %w", outbox.ErrNotDone, errors.Join(err, removed(part)))
	}
	f.reached("file written")
	if err := s.Still(ctx); err != nil {
		return errors.Join(err, removed(part))
	}
	f.reached("before link")
	err = os.Link(part, f.final(s))
	switch {
	case errors.Is(err, fs.ErrNotExist): // whoever took the lease has deleted it
		return lease.ErrLost
	case errors.Is(err, fs.ErrExist):
	case err != nil:
		return fmt.Errorf("%w: %w", outbox.ErrNotDone, errors.Join(err, removed(part)))
	}
	return errors.Join(removed(part), syncFolder(f.dir(s)))
}

// ask tells whether the file is there or was taken, once nobody can put it there
// any more but the one who asks.
func (f *Folder) ask(_ context.Context, s *outbox.Step) (outbox.Outcome, error) {
	f.toward(s)
	if err := f.same(); err != nil {
		return outbox.CannotKnow, err
	}
	entries, err := os.ReadDir(f.dir(s))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outbox.CannotKnow, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), hidden(s)) {
			if err := removed(filepath.Join(f.dir(s), e.Name())); err != nil {
				return outbox.CannotKnow, err
			}
		}
	}
	there, err := f.there(s)
	switch {
	case err != nil:
		return outbox.CannotKnow, err
	case !there:
		return outbox.NotDone, nil
	}
	return outbox.WasDone, syncFolder(f.dir(s))
}

// there reports whether the file stands in its place, or was taken.
func (f *Folder) there(s *outbox.Step) (bool, error) {
	final := f.final(s)
	for _, path := range []string{final, filepath.Join(f.dir(s), taken, filepath.Base(final))} { // in the order in which it goes
		if _, err := os.Lstat(path); err == nil {
			return true, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return false, nil
}

func (f *Folder) reached(point string) {
	if f.Hook != nil {
		f.Hook(point)
	}
}

// writeSynced writes a new file and waits until it is on the disk.
func writeSynced(path string, body []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o660)
	if err != nil {
		return err
	}
	_, err = file.Write(body)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// removed deletes a file, which may be gone.
func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncFolder waits until the names in a folder are on the disk.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
