//go:build !linux

package generate

import "time"

// fineSleep waits for d, as exactly as the platform's timers allow.
func fineSleep(d time.Duration) { time.Sleep(d) }
