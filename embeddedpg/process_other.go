//go:build unix && !linux

package embeddedpg

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// commandLine gives the arguments of a live process, nothing for none.
func commandLine(pid int) []string {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}

// dieWithUs does nothing where the kernel has no such signal: a postgres whose
// gateway was killed then runs on, and the next start says so.
func dieWithUs(*syscall.SysProcAttr) {}
