//go:build !linux

package generate

import "time"

// fineSleep waits for a short time, as finely as the platform's timers are.
func fineSleep(d time.Duration) { time.Sleep(d) }
