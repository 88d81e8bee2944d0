package targets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/edigw/edigw/lease"
	"github.com/edigw/edigw/outbox"
)

func folder(t *testing.T) *Folder {
	return &Folder{Dir: t.TempDir(), Content: func(context.Context, *outbox.Step) ([]byte, error) { return []byte("{}\n"), nil }}
}

func step(event uuid.UUID, still func(context.Context) error) *outbox.Step {
	return outbox.NewStep(outbox.Effect{Partner: "acme", Event: event, Lease: uuid.New()}, outbox.Caused{}, still)
}

// files lists what stands below dir, hidden files too.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func TestFoldersAreToldApart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "for [the] ERP")
	place := func(dir string) string {
		f := &Folder{Dir: dir}
		if err := f.Open(); err != nil {
			t.Fatal(err)
		}
		return f.Target().Place
	}
	first, again, other := place(dir), place(dir), place(t.TempDir())
	if first == "" || first != again || first == other {
		t.Errorf("opened twice %q and %q, another %q", first, again, other)
	}
	if diff := cmp.Diff([]string{identity}, files(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(filepath.Join(dir, identity), []byte("no id\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&Folder{Dir: dir}).Open(); err == nil {
		t.Error("a folder with a broken id was opened")
	}
	t.Run("what is on its way is found in a folder of any name", func(t *testing.T) {
		f := &Folder{Dir: dir}
		s := step(uuid.New(), nil)
		part := filepath.Join(dir, "acme", hidden(s)+"x.part")
		if err := errors.Join(os.MkdirAll(filepath.Dir(part), 0o700), os.WriteFile(part, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if got, err := f.ask(t.Context(), s); got != outbox.NotDone || err != nil {
			t.Errorf("%v, %v", got, err)
		}
		if _, err := os.Stat(part); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", part, err)
		}
	})
}

func TestFolder(t *testing.T) {
	event := uuid.MustParse("019ad0e2-7c00-7000-8000-000000000001")
	final := "acme/" + event.String() + ".json"
	ask := func(t *testing.T, f *Folder, want outbox.Outcome) {
		t.Helper()
		if got, err := f.ask(t.Context(), step(event, nil)); got != want || err != nil {
			t.Errorf("asked, it says %v, %v, want %v", got, err, want)
		}
	}
	send := func(t *testing.T, f *Folder) {
		t.Helper()
		if err := f.send(t.Context(), step(event, nil)); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("a file of the event's name is there, whole, and nothing else", func(t *testing.T) {
		f := folder(t)
		ask(t, f, outbox.NotDone)
		send(t, f)
		if diff := cmp.Diff([]string{final}, files(t, f.Dir)); diff != "" {
			t.Error(diff)
		}
		if b, err := os.ReadFile(filepath.Join(f.Dir, final)); err != nil || string(b) != "{}\n" {
			t.Errorf("%q, %v", b, err)
		}
		ask(t, f, outbox.WasDone)
	})
	t.Run("sent twice it is there once, as it was", func(t *testing.T) {
		f := folder(t)
		send(t, f)
		f.Content = func(context.Context, *outbox.Step) ([]byte, error) { return []byte("other"), nil }
		send(t, f)
		if b, err := os.ReadFile(filepath.Join(f.Dir, final)); err != nil || string(b) != "{}\n" || len(files(t, f.Dir)) != 1 {
			t.Errorf("%q, %v, %v", b, err, files(t, f.Dir))
		}
	})
	t.Run("what was taken was handed over, and does not come again", func(t *testing.T) {
		f := folder(t)
		send(t, f)
		if err := os.Rename(filepath.Join(f.Dir, final), filepath.Join(f.Dir, "acme", "taken", event.String()+".json")); err != nil {
			t.Fatal(err)
		}
		ask(t, f, outbox.WasDone)
		send(t, f)
		if diff := cmp.Diff([]string{"acme/taken/" + event.String() + ".json"}, files(t, f.Dir)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("one that slept before it asked whether the lease is its own puts nothing there", func(t *testing.T) {
		f := folder(t)
		err := f.send(t.Context(), step(event, func(context.Context) error { return lease.ErrLost }))
		if !errors.Is(err, lease.ErrLost) || len(files(t, f.Dir)) != 0 {
			t.Errorf("%v, %v", err, files(t, f.Dir))
		}
	})
	t.Run("one that slept after that has nothing left to link once somebody has asked", func(t *testing.T) {
		f := folder(t)
		f.Hook = func(point string) {
			if point == "before link" {
				f.Hook = nil
				ask(t, f, outbox.NotDone)
				send(t, f) // by whoever took the lease; the reader takes it
				if err := os.Rename(filepath.Join(f.Dir, final), filepath.Join(f.Dir, "acme", "taken", event.String()+".json")); err != nil {
					t.Fatal(err)
				}
			}
		}
		err := f.send(t.Context(), step(event, nil))
		if !errors.Is(err, lease.ErrLost) {
			t.Errorf("it ended with %v", err)
		}
		if diff := cmp.Diff([]string{"acme/taken/" + event.String() + ".json"}, files(t, f.Dir)); diff != "" {
			t.Errorf("handed over twice:\n%s", diff)
		}
	})
	t.Run("nothing is put where its volume is no longer mounted, and nothing taken for not done", func(t *testing.T) {
		f := folder(t)
		if err := f.Open(); err != nil {
			t.Fatal(err)
		}
		send(t, f)
		mounted := f.Dir
		for name, dir := range map[string]string{"nothing": t.TempDir(), "another": t.TempDir()} {
			if name == "another" {
				if err := (&Folder{Dir: dir}).Open(); err != nil {
					t.Fatal(err)
				}
			}
			before := files(t, dir)
			f.Dir = dir
			if err := f.send(t.Context(), step(event, nil)); !errors.Is(err, outbox.ErrNotDone) || !strings.Contains(err.Error(), "mount") {
				t.Errorf("%s in its place: %v", name, err)
			}
			if got, err := f.ask(t.Context(), step(event, nil)); got != outbox.CannotKnow || err == nil {
				t.Errorf("%s in its place: asked, it says %v, %v", name, got, err)
			}
			if diff := cmp.Diff(before, files(t, dir)); diff != "" {
				t.Errorf("%s in its place:\n%s", name, diff)
			}
		}
		f.Dir = mounted
		ask(t, f, outbox.WasDone)
	})
	t.Run("what fails before the file is in its place is certainly not done", func(t *testing.T) {
		f := folder(t)
		f.Content = func(context.Context, *outbox.Step) ([]byte, error) { return nil, errors.New("no such document") }
		if err := f.send(t.Context(), step(event, nil)); !errors.Is(err, outbox.ErrNotDone) {
			t.Error(err)
		}
		f = folder(t)
		if err := os.WriteFile(filepath.Join(f.Dir, "acme"), nil, 0o600); err != nil { // where a folder is to be
			t.Fatal(err)
		}
		if err := f.send(t.Context(), step(event, nil)); !errors.Is(err, outbox.ErrNotDone) {
			t.Error(err)
		}
	})
}
