package sandbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/outage"
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
	ctx, cancel := context.WithCancel(context.WithoutCancel(after))
	b := newBudget(rollbackTimeout, cancel)
	stop := context.AfterFunc(after, func() {
		if !errors.Is(after.Err(), context.DeadlineExceeded) { // nobody waits for a spec that took too long
			b.resume()
		}
		if outage.Ended(after) {
			b.shorten(rollbackAfterOutage)
		}
	})
	return client.OnWaiting(ctx, b.pause), func() { stop(); b.end(); cancel() }
}

// budget is a time that passes only while no request waits for a rate limit. It is
// safe for concurrent use.
type budget struct {
	mu      sync.Mutex
	left    time.Duration
	since   time.Time // when the time began to pass
	waiting int       // requests that wait
	never   bool      // it pauses no more
	timer   *time.Timer
}

// newBudget returns a budget that calls spent when its time is over.
func newBudget(d time.Duration, spent func()) *budget {
	return &budget{left: d, since: time.Now(), timer: time.AfterFunc(d, spent)}
}

// pause notes that a request begins or ends to wait.
func (b *budget) pause(waiting bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.paused()
	if waiting {
		b.waiting++
	} else {
		b.waiting--
	}
	b.change(before)
}

// resume lets the time pass from now on, also while requests wait.
func (b *budget) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.paused()
	b.never = true
	b.change(before)
}

// shorten leaves at most d.
func (b *budget) shorten(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer.Stop() {
		b.left = min(b.left-time.Since(b.since), d)
		b.since = time.Now()
		b.timer.Reset(b.left)
	}
}

func (b *budget) paused() bool { return b.waiting > 0 && !b.never }

// change stops or starts the timer if the pause has begun or ended.
func (b *budget) change(before bool) {
	switch now := b.paused(); {
	case now && !before && b.timer.Stop():
		b.left -= time.Since(b.since)
	case !now && before:
		b.since = time.Now()
		b.timer.Reset(b.left)
	}
}

func (b *budget) end() { b.timer.Stop() }
