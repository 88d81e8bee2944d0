package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/edigw/edigw/embeddedpg"
)

// server is where this process makes its databases.
type server struct {
	url      string // of a database that is not the template
	template string // a migrated database that nobody connects to
	strategy string // of create database: file_copy is twice as fast where nothing is flushed
}

// shared is the server of this process. It ends with the process: the kernel
// tells postgres, and removeAfterUs clears its folder.
var shared = sync.OnceValues(func() (server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if given := os.Getenv("EDIGW_TEST_DATABASE_URL"); given != "" {
		return onExisting(ctx, given)
	}
	dir, err := copyOfCluster(ctx)
	if err != nil {
		return server{}, fmt.Errorf("pgtest: %w", err)
	}
	pg, err := embeddedpg.Start(ctx, embeddedpg.Options{DataDir: dir, Unsafe: true})
	if err != nil {
		return server{}, fmt.Errorf("pgtest: %w", err)
	}
	url, err := withDatabase(pg.URL(), "template1")
	return server{url: url, template: embeddedpg.Database, strategy: "file_copy"}, err
})

// Server gives t a server of its own with every setting of production, which t
// may stop, kill and start again in dir. Its database is migrated. Its folder
// is in memory, so a rate measured on it says nothing about disks.
func Server(t testing.TB) (pg *embeddedpg.Server, dir string) {
	t.Helper()
	dir = Cluster(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pg, err := embeddedpg.Start(ctx, embeddedpg.Options{DataDir: dir})
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() { Stop(t, pg) })
	return pg, dir
}

// Cluster gives t a folder with a migrated cluster that is stopped, for t to
// start as it likes; quicker than a cold start.
func Cluster(t testing.TB) (dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	dir, err := copyOfCluster(ctx)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() { remove(t, dir) })
	return dir
}

// Stop ends a server within ten seconds. A server that has ended is fine.
func Stop(t testing.TB, pg *embeddedpg.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := pg.Stop(ctx); err != nil {
		t.Errorf("stop PostgreSQL: %v", err)
	}
}

// Dir makes a folder for t that the user PostgreSQL runs as can walk through,
// also when we are root: t.TempDir is closed to others.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := freshDir()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() { remove(t, dir) })
	return dir
}

func remove(t testing.TB, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Errorf("pgtest: %v", err)
	}
}

func withDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}
