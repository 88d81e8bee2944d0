package embeddedpg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// initCluster makes the cluster in dir/data if there is none. It is made beside
// and renamed when complete, so that an initdb that was killed leaves nothing
// that looks like a cluster; such a leftover is the only thing ever removed.
func initCluster(ctx context.Context, dir string, bin binaries, acct account, unsafe bool) error {
	data := filepath.Join(dir, "data")
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err == nil {
		return nil
	}
	if left, err := os.ReadDir(data); err == nil && len(left) > 0 {
		return fmt.Errorf("%s is not empty and holds no PostgreSQL cluster; nothing was changed", data)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh := filepath.Join(dir, "data.new")
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := acct.mkdir(fresh, 0o700); err != nil {
		return err
	}
	if err := initdb(ctx, dir, fresh, bin, acct, unsafe); err != nil {
		return err
	}
	if err := os.Rename(fresh, data); err != nil {
		return err
	}
	return syncDir(dir)
}

func initdb(ctx context.Context, dir, data string, bin binaries, acct account, unsafe bool) (err error) {
	locale := "C.UTF-8"
	if runtime.GOOS != "linux" {
		locale = "C" // macOS has no C.UTF-8
	}
	args := []string{
		"-D", data, "-U", User, "-E", "UTF8", "--locale=" + locale,
		"-k", // page checksums: a rotten block is told, not read
		"--auth-host=reject",
	}
	if unsafe {
		args = append(args, "--auth-local=trust", "--no-sync")
	} else {
		// initdb runs as another user when we are root: it gets a copy of the
		// password in the cluster's own folder, for as long as it runs.
		password, err := newPassword(dir)
		if err != nil {
			return err
		}
		pwfile := data + ".password"
		if err := acct.write(pwfile, []byte(password+"\n")); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.Remove(pwfile)) }()
		args = append(args, "--auth-local=scram-sha-256", "--pwfile="+pwfile)
	}
	cmd := exec.CommandContext(ctx, bin.initdb(), args...)
	cmd.Dir = data // a folder the account can read, else initdb warns
	cmd.SysProcAttr = acct.attributes()
	cmd.Env = childEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// childEnv is our environment without the variables by which libpq, postgres
// and our own configuration would leak into the child.
func childEnv() []string {
	env := []string{"LC_MESSAGES=C", "LANG=C"}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "PG") || strings.HasPrefix(name, "EDIGW_") ||
			strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LANGUAGE" ||
			name == "NOTIFY_SOCKET" || strings.HasPrefix(name, "WATCHDOG_") { // systemd hears of the gateway, not of its postgres
			continue
		}
		env = append(env, kv)
	}
	return env
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
