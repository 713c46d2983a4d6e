package generate

import (
	"syscall"
	"time"
)

// fineSleep waits for a short time, or less when a signal comes.
func fineSleep(d time.Duration) {
	left := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&left, &left)
}
