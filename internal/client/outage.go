package client

// This file detects a target that has stopped responding. A Detector serves
// requests that are sent one by one. A Monitor serves load, and also records outages
// after which the target came back.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrStopped is what an Error is, and the cause with which a detector ends a context.
var ErrStopped = errors.New("the target stopped responding")

// Ended reports whether the context ended because the target stopped responding, or
// answered nothing but 429.
func Ended(ctx context.Context) bool {
	var throttled *AllThrottled
	return errors.Is(context.Cause(ctx), ErrStopped) || errors.As(context.Cause(ctx), &throttled)
}

// Error says why a target counts as stopped.
type Error struct {
	Requests int           // in a row without a response
	For      time.Duration // how long nothing was answered; 0 if only the number counts
	detail   string
}

// Unwrap returns ErrStopped.
func (e *Error) Unwrap() error { return ErrStopped }

func (e *Error) Error() string {
	lasted := ""
	if e.For > 0 {
		precision := time.Millisecond
		if e.For > 10*time.Second {
			precision = time.Second
		}
		lasted = fmt.Sprintf(" for %s", e.For.Round(precision))
	}
	return fmt.Sprintf("%s: %d requests in a row had no response%s%s", ErrStopped, e.Requests, lasted, e.detail)
}

// Detector counts the requests in a row that got no response. It is safe for
// concurrent use.
type Detector struct {
	Limit int // requests in a row without a response after which the target counts as stopped
	// Lasting is for how long the target must have answered nothing besides. It needs
	// the times of the requests, which a Monitor gets. 0 means that the number decides.
	Lasting time.Duration
	// Counts reports whether an error means that there was no response; nil means
	// that every error does. Cancellations never count.
	Counts func(error) bool
	Detail string                  // follows the number of requests in the error
	GiveUp context.CancelCauseFunc // called once with the error; may be nil

	mu     sync.Mutex
	inARow int
	alive  time.Duration // when the last response came
	since  time.Duration // when the requests without a response began
	err    error
}

// Observe notes the error of an exchange; nil stands for a response.
func (d *Detector) Observe(err error) {
	switch {
	case errors.Is(err, ErrCanceled):
	case err == nil || errors.Is(err, ErrEncoding) || d.Counts != nil && !d.Counts(err):
		d.responded(0)
	default:
		d.missed(0, 0)
	}
}

// responded notes a response.
func (d *Detector) responded(at time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.alive, d.inARow = max(d.alive, at), 0
}

// missed notes a request that was sent and given up at these times.
func (d *Detector) missed(sent, done time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inARow == 0 {
		d.since = max(sent, d.alive)
	}
	d.inARow++
	lasted := done - d.since
	if d.err != nil || d.inARow < d.Limit || lasted < d.Lasting {
		return
	}
	d.err = &Error{Requests: d.inARow, For: lasted, detail: d.Detail}
	if d.GiveUp != nil {
		d.GiveUp(d.err)
	}
}

// Err returns the Error once the limit was reached, even if the target responds
// again later; nil before.
func (d *Detector) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
