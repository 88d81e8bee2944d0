//go:build unix

package embeddedpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the operating system's user the server runs as. PostgreSQL
// refuses to run as root, so root drops to postgres, or to nobody where no
// package made that user. The zero account is our own user.
type account struct {
	name     string
	uid, gid int
	drop     bool
}

func accountFor(euid int) (account, error) {
	if euid != 0 {
		return account{uid: euid, gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return account{}, fmt.Errorf("user %s: %w", name, err)
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return account{}, fmt.Errorf("user %s: %w", name, err)
		}
		return account{name: name, uid: uid, gid: gid, drop: true}, nil
	}
	return account{}, errors.New("PostgreSQL cannot run as root, and there is neither a user postgres nor a user nobody: run the gateway as another user")
}

// attributes make a child of that account, in a process group of its own: an
// interrupt typed at the terminal goes to the gateway, which stops the server
// when the last delivery is answered.
func (a account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a.drop {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}

// makeHome makes the server's folder. Only what is below it belongs to the
// account; the account must be able to walk through what is above.
func (a account) makeHome(dir string) error {
	mode := os.FileMode(0o700)
	if a.drop {
		mode = 0o711
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	if !a.drop {
		return nil
	}
	for d := dir; ; d = filepath.Dir(d) {
		st, err := os.Stat(d)
		if err != nil {
			return err
		}
		if !a.enters(st) {
			return fmt.Errorf("PostgreSQL runs as user %s here, which cannot enter %s (mode %04o): choose a data directory elsewhere, such as /var/lib/edigw, or chmod o+x that folder", a.name, d, st.Mode().Perm())
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
}

func (a account) enters(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	switch {
	case int(sys.Uid) == a.uid:
		return st.Mode()&0o100 != 0
	case int(sys.Gid) == a.gid:
		return st.Mode()&0o010 != 0
	}
	return st.Mode()&0o001 != 0
}

func (a account) mkdir(path string, mode os.FileMode) error {
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return a.own(path)
}

func (a account) write(path string, b []byte) error {
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return err
	}
	return a.own(path)
}

func (a account) own(path string) error {
	if !a.drop {
		return nil
	}
	return os.Lchown(path, a.uid, a.gid)
}
