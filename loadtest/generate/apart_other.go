//go:build !unix

package generate

import "os/exec"

// apart does nothing where a terminal's signals cannot be kept from a child.
func apart(*exec.Cmd) {}
