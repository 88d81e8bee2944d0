package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/migrations"
	"github.com/jackc/pgx/v5/pgxpool"
)

// copyOfCluster gives a folder with a stopped, migrated cluster.
func copyOfCluster(ctx context.Context) (string, error) {
	kept, err := keptCluster(ctx)
	if err != nil {
		return "", err
	}
	dir, err := freshDir()
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
// for each set of migrations and each installation of PostgreSQL.
func keptCluster(ctx context.Context) (dir string, err error) {
	digest, err := migrations.Digest()
	if err != nil {
		return "", err
	}
	bin, err := embeddedpg.Bin()
	if err != nil {
		return "", err
	}
	root, err := base()
	if err != nil {
		return "", err
	}
	unlock, err := lockFile(filepath.Join(root, "lock"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	dir = filepath.Join(root, "kept-"+digest+"-"+filepath.Base(filepath.Dir(bin)))
	complete := filepath.Join(dir, "complete")
	if _, err := os.Stat(complete); err == nil {
		now := time.Now()
		return dir, os.Chtimes(dir, now, now)
	}
	if err := removeOld(root); err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil { // half made by a process that was killed
		return "", err
	}
	pg, err := embeddedpg.Start(ctx, embeddedpg.Options{
		DataDir:  dir,
		Settings: map[string]string{"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"},
	})
	if err != nil {
		return "", err
	}
	if err := errors.Join(migrate(ctx, pg.URL()), pg.Stop(ctx)); err != nil {
		return "", err
	}
	return dir, os.WriteFile(complete, nil, 0o600)
}

// removeOld clears what other sets of migrations have left. Two hours are longer
// than any test that may still copy from one.
func removeOld(root string) error {
	kept, err := filepath.Glob(filepath.Join(root, "kept-*"))
	if err != nil {
		return err
	}
	for _, dir := range kept {
		st, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if time.Since(st.ModTime()) < 2*time.Hour {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
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

// base is the folder of all test servers of this user.
func base() (string, error) {
	dir := filepath.Join(memory(), "edigw-pgtest-"+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
}

// freshDir makes a folder below that of this process.
func freshDir() (string, error) {
	parent, err := ours()
	if err != nil {
		return "", err
	}
	return open(parent, "pg-")
}

// ours is the folder of this process, which goes when the process has ended.
var ours = sync.OnceValues(func() (string, error) {
	root, err := base()
	if err != nil {
		return "", err
	}
	dir, err := open(root, "run-")
	if err != nil {
		return "", err
	}
	return dir, removeAfterUs(dir)
})

// open makes a new folder that others can walk through but not list.
func open(parent, prefix string) (string, error) {
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// removeAfterUs starts a shell that outlives this process: it reads a pipe
// that closes when we end, however we end, gives postgres, which the kernel
// tells, five seconds to stop, and removes the folder. Package testing has no
// hook for the end of the process, and a TestMain in every package would not
// run after a kill.
func removeAfterUs(dir string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	const script = `read -r _
n=0
while ls "$1"/*/data/postmaster.pid >/dev/null 2>&1 && [ $n -lt 50 ]; do sleep 0.1; n=$((n+1)); done
rm -rf "$1"`
	cmd := exec.Command("sh", "-c", script, "sh", dir)
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := errors.Join(cmd.Start(), r.Close()); err != nil {
		return errors.Join(err, w.Close())
	}
	alive = append(alive, w)
	return nil
}

// alive holds our end of removeAfterUs's pipe, which the garbage collector
// would close.
var alive []*os.File
