package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPartnersFromFolders(t *testing.T) {
	dir := t.TempDir()
	mount := filepath.Join(dir, "mount")
	data := filepath.Join(mount, "..2026_11_30_09_00")
	for _, folder := range []string{filepath.Join(mount, "more"), data} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeText(t, filepath.Join(data, "acme.yaml"), []byte("kind: Partner\n"))
	writeText(t, filepath.Join(mount, "more", "globex.yml"), []byte("kind: Partner\n"))
	writeText(t, filepath.Join(mount, "notes.txt"), []byte("x"))
	for link, to := range map[string]string{
		filepath.Join(mount, "..data"):    filepath.Base(data),
		filepath.Join(mount, "acme.yaml"): filepath.Join("..data", "acme.yaml"),
		filepath.Join(dir, "current"):     "mount",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for name, folder := range map[string]string{"a folder that Kubernetes mounts": mount, "a link to one": filepath.Join(dir, "current")} {
		t.Run(name+" has each file once", func(t *testing.T) {
			got, err := yamlFiles([]string{folder})
			if err != nil {
				t.Fatal(err)
			}
			root, err := filepath.EvalSymlinks(mount)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{filepath.Join(root, "acme.yaml"), filepath.Join(root, "more", "globex.yml")}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
