package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/migrations"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// server is where this process makes its databases.
type server struct {
	url      string // of a database that is not the template
	template string // a migrated database that nobody connects to
	strategy string // of create database: file_copy is twice as fast where nothing is flushed
}

// shared is the server of this process.
var shared = sync.OnceValues(func() (server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if given := os.Getenv("EDIGW_TEST_DATABASE_URL"); given != "" {
		return onExisting(ctx, given)
	}
	dir, err := copyOfCluster(ctx, memory())
	if err != nil {
		return server{}, fmt.Errorf("pgtest: %w", err)
	}
	pg, err := embeddedpg.Start(ctx, embeddedpg.Options{DataDir: dir, Unsafe: true})
	if err != nil {
		return server{}, fmt.Errorf("pgtest: %w", err)
	}
	if err := removeAfterUs(dir); err != nil {
		return server{}, fmt.Errorf("pgtest: %w", err)
	}
	url, err := withDatabase(pg.URL(), "postgres")
	return server{url: url, template: embeddedpg.Database, strategy: "file_copy"}, err
})

// Server gives t a server of its own, with every setting of production, that t
// may stop, kill and start again in dir. Its database is migrated.
func Server(t testing.TB) (pg *embeddedpg.Server, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	dir, err := copyOfCluster(ctx, os.TempDir())
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	pg, err = embeddedpg.Start(ctx, embeddedpg.Options{DataDir: dir})
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() { Stop(t, pg) })
	return pg, dir
}

// Stop ends a server within ten seconds.
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
	root, err := base(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := freshDir(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return dir
}

// base is the folder of all test servers of this user, in parent.
func base(parent string) (string, error) {
	dir := filepath.Join(parent, "edigw-pgtest-"+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
}

// memory is a folder for what need not outlive the tests. A database is 300
// files, which a disk's file system makes ten times slower than tmpfs.
func memory() string {
	const dir, needed = "/dev/shm", 2 << 30
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil || uint64(st.Bavail)*uint64(st.Bsize) < needed {
		return os.TempDir() // none, or the 64 MB of a container
	}
	return dir
}

func freshDir(root string) (string, error) {
	dir, err := os.MkdirTemp(root, "run-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// copyOfCluster gives a folder in parent with a stopped, migrated cluster.
func copyOfCluster(ctx context.Context, parent string) (string, error) {
	store, err := base(memory())
	if err != nil {
		return "", err
	}
	kept, err := keptCluster(ctx, store)
	if err != nil {
		return "", err
	}
	root, err := base(parent)
	if err != nil {
		return "", err
	}
	dir, err := freshDir(root)
	if err != nil {
		return "", err
	}
	// cp keeps owners and modes, which os.CopyFS does not.
	for _, name := range []string{"data", "password"} {
		out, err := exec.CommandContext(ctx, "cp", "-a", filepath.Join(kept, name), dir).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("copy the cluster: %w: %s", err, out)
		}
	}
	return dir, nil
}

// keptCluster makes the migrated cluster that all copies are made from, once
// for each set of migrations and installation of PostgreSQL.
func keptCluster(ctx context.Context, root string) (dir string, err error) {
	digest, err := migrations.Digest()
	if err != nil {
		return "", err
	}
	bin, err := embeddedpg.Bin()
	if err != nil {
		return "", err
	}
	// The digest of the schema, and where the binaries are: a new version of
	// PostgreSQL stands in a folder of its own.
	dir = filepath.Join(root, "kept-"+digest+"-"+filepath.Base(filepath.Dir(bin)))
	unlock, err := lockFile(filepath.Join(root, "lock"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil { // made by a process that was killed
		return "", err
	}
	pg, err := embeddedpg.Start(ctx, embeddedpg.Options{
		DataDir:  dir,
		Settings: map[string]string{"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"},
	})
	if err != nil {
		return "", err
	}
	err = errors.Join(migrate(ctx, pg.URL()), pg.Stop(ctx))
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o600)
}

func migrate(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	return migrations.Up(ctx, pool, slog.New(slog.DiscardHandler))
}

func lockFile(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// removeAfterUs starts a shell that outlives this process: it reads a pipe
// that closes when we end, however we end, waits for postgres to stop, which
// the kernel tells, and removes the folder. Package testing has no hook for
// the end of the process, and every test file would need a TestMain.
func removeAfterUs(dir string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c",
		`read -r _; n=0; while [ -e "$1/data/postmaster.pid" ] && [ $n -lt 50 ]; do sleep 0.1; n=$((n+1)); done; rm -rf "$1"`,
		"sh", dir)
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := errors.Join(cmd.Start(), r.Close()); err != nil {
		return errors.Join(err, w.Close())
	}
	ours = w
	return nil
}

// ours is the end of removeAfterUs's pipe that this process holds until it
// ends; a variable, so that the garbage collector does not close it.
var ours *os.File

// onExisting prepares a migrated template on a server that somebody runs.
func onExisting(ctx context.Context, given string) (server, error) {
	digest, err := migrations.Digest()
	if err != nil {
		return server{}, err
	}
	name := "edigw_template_" + digest
	conn, err := pgx.Connect(ctx, given)
	if err != nil {
		return server{}, fmt.Errorf("pgtest: EDIGW_TEST_DATABASE_URL: %w", err)
	}
	err = makeTemplate(ctx, conn, given, name)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return server{}, fmt.Errorf("pgtest: template on EDIGW_TEST_DATABASE_URL: %w", err)
	}
	return server{url: given, template: name, strategy: "wal_log"}, nil
}

func makeTemplate(ctx context.Context, conn *pgx.Conn, given, name string) error {
	// Packages are tested in several processes at once: one of them makes it.
	if _, err := conn.Exec(ctx, `select pg_advisory_lock(hashtext('edigw pgtest'))`); err != nil {
		return err
	}
	var exists bool
	err := conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	if _, err := conn.Exec(ctx, `create database `+quote(name+"_new")+` template template0`); err != nil {
		return err
	}
	url, err := withDatabase(given, name+"_new")
	if err != nil {
		return err
	}
	if err := migrate(ctx, url); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `alter database `+quote(name+"_new")+` rename to `+quote(name))
	return err
}

func withDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}
