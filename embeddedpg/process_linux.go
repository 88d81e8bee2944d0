package embeddedpg

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// commandLine gives the arguments of a live process, nothing for a zombie or
// none.
func commandLine(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	return strings.Split(string(b), "\x00")
}

// dieWithUs has the kernel send SIGINT, postgres's fast stop, when the thread
// that starts the child ends. The caller keeps that thread locked.
func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
