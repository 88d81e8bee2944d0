package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// room is the size of a volume that PostgreSQL lives on, in megabytes.
const room = 900

// mount gives PostgreSQL a volume of its own, if this user may mount one. It is
// memory: what is killed loses nothing that was written, only a power cut would.
func (m *machine) mount(dir string) (release func() error, err error) {
	at := filepath.Join(dir, "postgres")
	if err := os.Mkdir(at, 0o711); err != nil {
		return nil, err
	}
	err = syscall.Mount("tmpfs", at, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0711", room))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		return nil, nil // on the disk, then, which is not filled
	}
	if err != nil {
		return nil, fmt.Errorf("mount a volume of %d MB: %w", room, err)
	}
	m.volume = at
	return func() error { return syscall.Unmount(at, syscall.MNT_DETACH) }, nil
}

// fill leaves no room on the volume for a while.
func (m *machine) fill(length time.Duration) error {
	m.filling.Lock()
	defer m.filling.Unlock()
	name := filepath.Join(m.volume, "balloon")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	for block := 1 << 20; block >= 1<<12; {
		if _, err = f.Write(make([]byte, block)); err != nil {
			block /= 2
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return errors.Join(fmt.Errorf("fill %s: %w", m.volume, err), f.Close(), os.Remove(name))
	}
	time.Sleep(length)
	return errors.Join(f.Close(), os.Remove(name))
}
