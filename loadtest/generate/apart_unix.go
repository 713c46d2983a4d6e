//go:build unix

package generate

import (
	"os/exec"
	"syscall"
)

// apart keeps the signals of the terminal from the child: they are for the
// parent, which ends it.
func apart(child *exec.Cmd) { child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
