// Package outage detects a target that has stopped responding. It sends nothing.
package outage

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"outreach.example/conformance/internal/client"
)

// ErrStopped is the error of a detector, and the cause with which it ends a context.
var ErrStopped = errors.New("the target stopped responding")

// Ended reports whether the context ended because the target stopped responding.
func Ended(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrStopped) }

// Detector counts the requests in a row that got no response. It is safe for
// concurrent use.
type Detector struct {
	Limit int // requests in a row without a response after which the target counts as stopped
	// Counts reports whether an error means that there was no response; nil means
	// that every error does. Cancellations never count.
	Counts func(error) bool
	Detail string                  // follows the number of requests in the error
	GiveUp context.CancelCauseFunc // called once with the error; nil for nobody

	mu     sync.Mutex
	inARow int
	err    error
}

// Observe notes the error of an exchange; nil stands for a response.
func (d *Detector) Observe(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case errors.Is(err, client.ErrCanceled):
		return
	case err == nil || d.Counts != nil && !d.Counts(err):
		d.inARow = 0
		return
	}
	if d.inARow++; d.inARow < d.Limit || d.err != nil {
		return
	}
	d.err = fmt.Errorf("%w: %d requests in a row had no response%s", ErrStopped, d.Limit, d.Detail)
	if d.GiveUp != nil {
		d.GiveUp(d.err)
	}
}

// Err returns ErrStopped with the details once the limit was reached, even if
// the target responds again later; nil before.
func (d *Detector) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
