//go:build !linux

package site

import "syscall"

// diesWithUs does nothing here: only Linux has Pdeathsig.
func diesWithUs() *syscall.SysProcAttr { return nil }
