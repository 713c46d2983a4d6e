package sandbox

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"outreach.example/conformance/internal/client"
)

// Bounds of one rollback.
const (
	rollbackTimeout     = 30 * time.Second
	rollbackAfterOutage = 5 * time.Second
)

// ForRollback returns the context in which the effects of the given context's work
// are rolled back. It outlives the given one for up to 30 s, or 5 s if the target has
// stopped responding. The time in which requests wait for a rate limit does not count,
// unless the work was interrupted: the client bounds it.
func ForRollback(after context.Context) (context.Context, context.CancelFunc) {
	return within(after, rollbackTimeout, func() (left time.Duration, pauses bool) {
		if client.Ended(after) {
			return rollbackAfterOutage, false
		}
		// Nobody waits for a spec that took too long.
		return rollbackTimeout, after.Err() == nil || errors.Is(after.Err(), context.DeadlineExceeded)
	})
}

// step is how often within looks at the clock.
const step = 100 * time.Millisecond

// within returns a context that outlives the given one for so long. bounds returns how much of
// that may be left now, and whether the time stands still while a request waits for a rate limit.
func within(after context.Context, left time.Duration, bounds func() (most time.Duration, pauses bool)) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(after))
	var waiting atomic.Int32
	go func() {
		defer cancel()
		for tick := time.NewTicker(step); left > 0; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			most, pauses := bounds()
			if left = min(left, most); waiting.Load() == 0 || !pauses {
				left -= step
			}
		}
	}()
	return client.OnWaiting(ctx, func(begins bool) {
		if begins {
			waiting.Add(1)
		} else {
			waiting.Add(-1)
		}
	}), cancel
}
