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

// closedByPeer reports whether the other side has closed the connection and
// everything that it sent was read. It does not wait and takes nothing from the
// connection.
func closedByPeer(c syscall.RawConn) bool {
	closed := false
	err := c.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		closed = n <= 0 && err != syscall.EAGAIN && err != syscall.EINTR
	})
	return err != nil || closed
}
