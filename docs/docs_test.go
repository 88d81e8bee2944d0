// Package docs_test runs the documentation: every command in README.md and in
// these pages, in order, in a fresh folder that looks like a clone, and
// compares what it prints with what the page shows.
//
// Three backquotes and sh begin a block of commands. What may follow sh on that
// line is not shown to readers:
//
//	background       it keeps running until the page ends; wait until it is ready
//	stopped          end what runs in the background first, as the page tells
//	eventually       run it again until its output is as shown, for ten seconds
//	exit=3           the status of its last command
//	no-run="reason"  it is not run
//
// A block of text or json behind it is what it prints: … stands for anything
// within a line, and alone on a line for any lines. A block of another language
// may have file=NAME, and is then written to that file, or same=PATH, and is
// then what stands in that file of the repository. Two comments configure a
// page: after: PATH runs the commands of that page first; database: none
// gives it no database URL.
package docs_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/edigw/edigw/pgtest"
	"github.com/jackc/pgx/v5"
)

const root = ".."

func TestMain(m *testing.M) {
	code := m.Run()
	if builtIn != "" {
		if err := os.RemoveAll(builtIn); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	os.Exit(code)
}

var builtIn string // folder of the program

// built is the program, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "edigw-docs-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	path := filepath.Join(dir, "edigw")
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/edigw").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

func TestCommands(t *testing.T) {
	server, _ := pgtest.Server(t) // one that flushes: the gateway is not ready on another
	for _, path := range paths(t) {
		p := readPage(t, path)
		if !p.runs() {
			continue
		}
		t.Run(strings.TrimSuffix(path, ".md"), func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, newDatabase(t, server.URL()), p.database != "none")
			if p.after != "" {
				s.run(readPage(t, p.after))
			}
			s.run(p)
			s.end()
		})
	}
}

// newDatabase makes a migrated database on a server and gives its URL.
func newDatabase(t *testing.T, server string) string {
	t.Helper()
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	template := strings.TrimPrefix(at.Path, "/")
	at.Path = "/template1" // nobody may be connected to the template
	conn, err := pgx.Connect(t.Context(), at.String())
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("page_%d", databases.Add(1))
	_, err = conn.Exec(t.Context(), fmt.Sprintf(`create database %s template %s strategy file_copy`, name, template))
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	return at.String()
}

var databases atomic.Int64
