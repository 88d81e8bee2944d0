package main

import "syscall"

// diesWithUs has the kernel kill the child when we end, however we end.
func diesWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
