package generate

import (
	"syscall"
	"time"
)

// fineSleep waits for d, or less if a signal arrives.
func fineSleep(d time.Duration) {
	left := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&left, &left)
}
