// Package embeddedpg runs the PostgreSQL binaries of this machine as a child
// of the gateway, for the case that no database URL is given.
//
// It runs postgres itself, not pg_ctl, and it listens on a Unix socket in a
// private folder only. It never deletes or upgrades a data directory: one of
// another major version is an error that says what to do. It downloads
// nothing: missing binaries are an error that names the package to install.
// fergusstrange/embedded-postgres does the opposite of both, and cannot run as
// root, which is why these few files exist.
package embeddedpg

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// User and Database are the role and the database that Start makes.
const (
	User     = "edigw"
	Database = "edigw"
)

// Options say where the server lives and how it runs.
type Options struct {
	// DataDir holds everything of the server: data/ (the cluster), run/ (the
	// socket), password and lock. It is made when absent.
	DataDir string

	// Bin is the folder with postgres and initdb. Empty: EDIGW_PG_BIN, then
	// PATH and the usual places.
	Bin string

	// Log gets the server's own lines. Nil: nothing is logged.
	Log *slog.Logger

	// Unsafe turns off everything that makes a COMMIT survive a power cut, and
	// the password. For tests only.
	Unsafe bool

	// Settings are added to the server's configuration and win over ours.
	Settings map[string]string
}

// Server is a running child.
type Server struct {
	dir    string
	url    string
	child  *child
	lock   *os.File
	socket socketDir
	log    *slog.Logger

	stopping sync.Once
	stopped  error
}

// silence bounds how long a started server may say nothing at all. A server
// that answers "starting up" is recovering, and is waited for as long as ctx
// allows: killing a recovery only makes the next one longer.
const silence = time.Minute

// Start makes the cluster if there is none, starts it and waits until it
// answers. It fails with *InUseError when another process holds the folder,
// with *VersionError when the cluster is of another major version, and with
// *NotFoundError when there are no binaries; in none of these cases is
// anything changed.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if opts.DataDir == "" {
		return nil, errors.New("embedded PostgreSQL: no data directory given")
	}
	dir, err := filepath.Abs(opts.DataDir)
	if err != nil {
		return nil, fmt.Errorf("embedded PostgreSQL: %w", err)
	}
	s := &Server{dir: dir, log: opts.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.start(ctx, opts); err != nil {
		return nil, fmt.Errorf("embedded PostgreSQL in %s: %w", dir, err)
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, opts Options) (err error) {
	acct, err := accountFor(os.Geteuid())
	if err != nil {
		return err
	}
	version, err := clusterVersion(s.data())
	if err != nil {
		return err
	}
	bin, err := find(opts.Bin, version)
	if mismatch, ok := errors.AsType[*VersionError](err); ok {
		mismatch.DataDir = s.data()
	}
	if err != nil {
		return err
	}
	if err := acct.makeHome(s.dir); err != nil {
		return err
	}
	if s.lock, err = lockDir(s.dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.lock.Close())
		}
	}()
	if err := initCluster(ctx, s.dir, bin, acct, opts.Unsafe); err != nil {
		return err
	}
	if s.socket, err = makeSocketDir(s.dir, acct); err != nil {
		return err
	}
	if s.url, err = connection(s.dir, s.socket.path); err != nil {
		return err
	}
	if err := clearStalePid(ctx, s.data(), s.log); err != nil {
		return err
	}
	if err := s.socket.clear(); err != nil {
		return err
	}
	return s.launch(ctx, bin, acct, opts)
}

// launch starts postgres, again if need be: backends of a postmaster that was
// killed take a moment to notice, and until then the new one refuses.
func (s *Server) launch(ctx context.Context, bin binaries, acct account, opts Options) error {
	args := append([]string{"-D", s.data(), "-k", s.socket.path}, settings(opts)...)
	for begun := time.Now(); ; {
		var err error
		s.child, err = startChild(bin.postgres(), args, s.data(), acct, s.log)
		if err != nil {
			return err
		}
		err = s.ready(ctx)
		if err == nil {
			return nil
		}
		s.child.kill()
		orphans := strings.Contains(s.child.tail.String(), "shared memory block")
		if !orphans || time.Since(begun) > stopping || ctx.Err() != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// URL is the connection URL of the database, for pgx and libpq.
func (s *Server) URL() string { return s.url }

// Pid is the process id of the postmaster.
func (s *Server) Pid() int { return s.child.cmd.Process.Pid }

// Exited is closed when postgres has ended, asked or not.
func (s *Server) Exited() <-chan struct{} { return s.child.exited }

// Err says why postgres ended. It is nil while it runs and after a clean stop.
func (s *Server) Err() error {
	select {
	case <-s.child.exited:
		return s.child.failure()
	default:
		return nil
	}
}

// Stop ends the server: transactions are rolled back, everything committed is
// flushed. When ctx ends first, postgres is stopped hard, and the next start
// recovers from the write-ahead log. Stop of a server that has ended or was stopped
// is fine.
func (s *Server) Stop(ctx context.Context) error {
	s.stopping.Do(func() {
		err := s.child.stop(ctx)
		s.child.settle()
		s.stopped = errors.Join(err, s.socket.remove(), s.lock.Close())
	})
	return s.stopped
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// URL gives the connection URL of the server that another process runs in
// dataDir, or fs.ErrNotExist when none was ever made there. It does not
// connect.
func URL(dataDir string) (string, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return "", fmt.Errorf("embedded PostgreSQL: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "PG_VERSION")); err != nil {
		return "", fmt.Errorf("embedded PostgreSQL: %w", err)
	}
	return connection(dir, socketPath(dir))
}

func connection(dir, socket string) (string, error) {
	u := url.URL{Scheme: "postgres", User: url.User(User), Path: "/" + Database}
	password, err := os.ReadFile(passwordFile(dir))
	switch {
	case err == nil:
		u.User = url.UserPassword(User, strings.TrimSpace(string(password)))
	case !errors.Is(err, fs.ErrNotExist): // an unsafe server has none
		return "", fmt.Errorf("password: %w", err)
	}
	u.RawQuery = url.Values{"host": {socket}, "port": {port}, "sslmode": {"disable"}}.Encode()
	return u.String(), nil
}

func passwordFile(dir string) string { return filepath.Join(dir, "password") }

// newPassword keeps a random password of 192 bits where only the gateway's own
// user can read it, and returns it. A password that is there stays.
func newPassword(dir string) (string, error) {
	if old, err := os.ReadFile(passwordFile(dir)); err == nil && len(old) > 0 {
		return strings.TrimSpace(string(old)), nil
	}
	b := make([]byte, 24)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	password := hex.EncodeToString(b)
	return password, os.WriteFile(passwordFile(dir), []byte(password+"\n"), 0o600)
}

func signalled(err error) bool {
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
