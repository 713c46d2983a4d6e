package client

import (
	"errors"
	"syscall"
)

// exhausted are the errors of a system that has no more of a resource.
var exhausted = []struct {
	err  error
	what string
}{
	{syscall.EMFILE, "file descriptors of this process (raise their limit with ulimit -n, or lower --concurrency)"},
	{syscall.ENFILE, "file descriptors of this machine (close other programs)"},
	{syscall.EADDRNOTAVAIL, "local ports (lower the rate, or wait a minute)"},
	{syscall.ENOBUFS, "memory for connections (lower --concurrency)"},
	{syscall.ENOMEM, "memory (close other programs)"},
	{syscall.ENOSPC, "space on the disk (free some)"},
	{syscall.EDQUOT, "space in the disk quota (free some)"},
}

// Exhausted returns which resource of this machine an error says is used up, with a hint;
// "" for another error. The target is not to blame for it.
func Exhausted(err error) string {
	for _, e := range exhausted {
		if errors.Is(err, e.err) {
			return e.what
		}
	}
	return ""
}
