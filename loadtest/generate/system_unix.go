//go:build unix

package generate

import (
	"os/exec"
	"syscall"
	"time"
)

// processorTime returns the processor time that this process has used so far,
// and whether the system reports it.
func processorTime() (time.Duration, bool) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, false
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), true
}

// ownGroup puts the child into a process group of its own: signals of the
// terminal are for the parent, which ends the child.
func ownGroup(child *exec.Cmd) { child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
