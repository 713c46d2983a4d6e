//go:build !unix

package generate

import (
	"os/exec"
	"syscall"
	"time"
)

// processorTime is not known on this platform.
func processorTime() (time.Duration, bool) { return 0, false }

// ownGroup does nothing: signals of the terminal cannot be kept from a child here.
func ownGroup(*exec.Cmd) {}

// closedByPeer cannot tell here: the request finds out.
func closedByPeer(syscall.RawConn) bool { return false }
