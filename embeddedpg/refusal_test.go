package embeddedpg_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/pgtest"
	"github.com/google/go-cmp/cmp"
)

func TestOtherMajorVersion(t *testing.T) {
	dir := pgtest.Dir(t)
	files := map[string]string{
		"data/PG_VERSION":      "9\n",
		"data/base/1/112":      "rows of an older gateway",
		"data/global/1262":     "more rows",
		"data/postgresql.conf": "",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o711); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := listing(t, dir)
	_, err := embeddedpg.Start(t.Context(), embeddedpg.Options{DataDir: dir})
	mismatch, ok := errors.AsType[*embeddedpg.VersionError](err)
	if !ok {
		t.Fatalf("got %v, want a VersionError", err)
	}
	if mismatch.Cluster != 9 || len(mismatch.Found) == 0 {
		t.Errorf("got %+v", mismatch)
	}
	for _, word := range []string{dir, "PostgreSQL 9", "postgresql-9", "nothing was changed"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the folder was touched (-before +after):\n%s", diff)
	}
}

func TestFolderThatIsNoCluster(t *testing.T) {
	dir := pgtest.Dir(t)
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "thesis.txt"), []byte("only copy"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := embeddedpg.Start(t.Context(), embeddedpg.Options{DataDir: dir})
	if err == nil || !strings.Contains(err.Error(), "holds no PostgreSQL cluster") {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "data", "thesis.txt")); string(b) != "only copy" {
		t.Errorf("the file that was there holds %q, %v", b, err)
	}
}

func TestInitdbThatWasKilledLeavesNothingInTheWay(t *testing.T) {
	dir := pgtest.Dir(t)
	half := filepath.Join(dir, "data.new")
	if err := os.MkdirAll(filepath.Join(half, "base"), 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, "PG_VERSION"), []byte("15\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pg := start(t, embeddedpg.Options{DataDir: dir, Unsafe: true})
	if got := ask(t, pg, `select 'alive'`); got != "alive" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", half, err)
	}
}

func TestMissingBinaries(t *testing.T) {
	t.Run("the folder named by EDIGW_PG_BIN has none", func(t *testing.T) {
		empty := pgtest.Dir(t)
		t.Setenv("EDIGW_PG_BIN", empty)
		dir := filepath.Join(pgtest.Dir(t), "pg")
		_, err := embeddedpg.Start(t.Context(), embeddedpg.Options{DataDir: dir})
		if err == nil || !strings.Contains(err.Error(), empty) || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("got %v, want it to name %s", err, empty)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("the data directory was made nevertheless: %v", err)
		}
	})

	t.Run("an option wins over the environment", func(t *testing.T) {
		t.Setenv("EDIGW_PG_BIN", "")
		bin, err := embeddedpg.Bin()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("EDIGW_PG_BIN", pgtest.Dir(t))
		start(t, embeddedpg.Options{DataDir: pgtest.Dir(t), Bin: bin, Unsafe: true})
	})

	t.Run("the message names the command, the variable and the flag", func(t *testing.T) {
		message := (&embeddedpg.NotFoundError{TooOld: []string{"13 in /usr/lib/postgresql/13/bin"}}).Error()
		for _, words := range []string{"apt-get install postgresql", "EDIGW_PG_BIN", "--database-url", "13 in /usr/lib"} {
			if !strings.Contains(message, words) {
				t.Errorf("%q does not say %q", message, words)
			}
		}
	})

	t.Run("binaries that are too old are none", func(t *testing.T) {
		old := pgtest.Dir(t)
		for _, name := range []string{"postgres", "initdb"} {
			if err := os.WriteFile(filepath.Join(old, name), []byte("#!/bin/sh\necho 'postgres (PostgreSQL) 14.2'\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		_, err := embeddedpg.Start(t.Context(), embeddedpg.Options{DataDir: pgtest.Dir(t), Bin: old})
		missing, ok := errors.AsType[*embeddedpg.NotFoundError](err)
		if !ok {
			t.Fatalf("got %v, want a NotFoundError", err)
		}
		if diff := cmp.Diff([]string{"14 in " + old}, missing.TooOld); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFolderThatThePostgresUserCannotEnter(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	opts := embeddedpg.Options{DataDir: filepath.Join(dir, "pg"), Unsafe: true}
	if os.Geteuid() != 0 {
		start(t, opts) // PostgreSQL runs as our own user, who may
		return
	}
	_, err := embeddedpg.Start(t.Context(), opts)
	if err == nil || !strings.Contains(err.Error(), "cannot enter") || !strings.Contains(err.Error(), "/var/lib/edigw") {
		t.Errorf("got %v, want the folder and what to do", err)
	}
}

// listing is every file below dir with its content.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			files[path] = "folder"
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
