//go:build !linux

package main

import "syscall"

// diesWithUs does nothing here: only Linux has Pdeathsig.
func diesWithUs() *syscall.SysProcAttr { return nil }
