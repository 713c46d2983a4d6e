//go:build unix

package testbed

import "syscall"

func setUmask(mask int) { syscall.Umask(mask) }
