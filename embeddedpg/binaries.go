package embeddedpg

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Oldest is the first major version of PostgreSQL the gateway's SQL runs on.
const Oldest = 15

// binaries is one installation of PostgreSQL.
type binaries struct {
	dir   string
	major int
}

func (b binaries) postgres() string { return filepath.Join(b.dir, "postgres") }
func (b binaries) initdb() string   { return filepath.Join(b.dir, "initdb") }

// NotFoundError says that no usable PostgreSQL is installed.
type NotFoundError struct {
	// Looked are the folders that were looked into, in order.
	Looked []string
	// TooOld are installations found there that are older than Oldest.
	TooOld []string
}

func (e *NotFoundError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no PostgreSQL %d or newer on this machine", Oldest)
	if len(e.TooOld) > 0 {
		fmt.Fprintf(&b, " (too old: %s)", strings.Join(e.TooOld, ", "))
	}
	fmt.Fprintf(&b, ": install it with `%s`, or name its folder in EDIGW_PG_BIN, or give --database-url to use a server that runs elsewhere", InstallCommand)
	return b.String()
}

// InstallCommand installs the binaries on Debian and Ubuntu.
const InstallCommand = "apt-get install postgresql"

// VersionError says that the cluster needs another major version of the
// binaries. Nothing was changed.
type VersionError struct {
	DataDir string
	Cluster int   // major version that made the data directory
	Found   []int // major versions that are installed
}

func (e *VersionError) Error() string {
	found := make([]string, len(e.Found))
	for i, m := range e.Found {
		found[i] = strconv.Itoa(m)
	}
	return fmt.Sprintf("%s was made by PostgreSQL %d, but here is %s; nothing was changed: install postgresql-%d, or move the data over with pg_upgrade or pg_dump",
		e.DataDir, e.Cluster, strings.Join(found, ", "), e.Cluster)
}

// clusterVersion reads the major version that made the cluster in data, 0 when
// there is none.
func clusterVersion(data string) (int, error) {
	b, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	major, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		return 0, fmt.Errorf("%s/PG_VERSION holds %q, which is no version that is supported; nothing was changed", data, bytes.TrimSpace(b))
	}
	return major, nil
}

// find gives the newest installation, or the one that fits a cluster of the
// major version want (0: no cluster yet).
func find(bin string, want int) (binaries, error) {
	if bin == "" {
		bin = os.Getenv("EDIGW_PG_BIN")
	}
	dirs := []string{bin}
	if bin == "" {
		dirs = usualPlaces()
	}
	var all []binaries
	missing := &NotFoundError{Looked: dirs}
	for _, dir := range dirs {
		major, err := majorOf(dir)
		if err != nil {
			if bin != "" {
				return binaries{}, fmt.Errorf("PostgreSQL binaries in %s: %w", bin, err)
			}
			continue
		}
		if major < Oldest {
			missing.TooOld = append(missing.TooOld, fmt.Sprintf("%d in %s", major, dir))
			continue
		}
		all = append(all, binaries{dir, major})
	}
	if len(all) == 0 {
		return binaries{}, missing
	}
	slices.SortStableFunc(all, func(a, b binaries) int { return b.major - a.major })
	if want == 0 {
		return all[0], nil
	}
	mismatch := &VersionError{DataDir: "the data directory", Cluster: want}
	for _, b := range all {
		if b.major == want {
			return b, nil
		}
		if !slices.Contains(mismatch.Found, b.major) {
			mismatch.Found = append(mismatch.Found, b.major)
		}
	}
	return binaries{}, mismatch
}

// Bin gives the folder of the newest PostgreSQL on this machine, for programs
// that need pg_dump or psql of the same version.
func Bin() (string, error) {
	b, err := find("", 0)
	return b.dir, err
}

// usualPlaces are the folders where packages put postgres and initdb: Debian
// keeps them off PATH on purpose.
func usualPlaces() []string {
	var dirs []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",          // Debian, Ubuntu
		"/usr/pgsql-*/bin",                   // PGDG on Red Hat
		"/usr/libexec/postgresql*",           // Alpine
		"/usr/local/pgsql/bin",               // from source
		"/opt/homebrew/opt/postgresql@*/bin", // macOS
		"/usr/local/opt/postgresql@*/bin",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue // only a malformed pattern, and these are literals
		}
		dirs = append(dirs, found...)
	}
	var real []string
	for _, dir := range dirs {
		// A link in /usr/local/bin leads to the folder that has pg_dump too.
		server, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err != nil {
			continue // no PostgreSQL here
		}
		dir = filepath.Dir(server)
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil && !slices.Contains(real, dir) {
			real = append(real, dir)
		}
	}
	return real
}

// majorOf asks the binary itself: `postgres (PostgreSQL) 15.18 (Debian …)`.
func majorOf(dir string) (int, error) {
	out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(out), "(PostgreSQL) ")
	digits := rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = rest[:i] // 15.18, 19beta1, 19devel
	}
	major, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return 0, fmt.Errorf("%s/postgres --version says %q", dir, strings.TrimSpace(string(out)))
	}
	return major, nil
}
