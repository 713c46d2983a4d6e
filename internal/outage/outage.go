// Package outage detects a target that has stopped responding.
package outage

import (
	"context"
	"errors"
)

// ErrStopped is the cause with which a context ends if the target stopped responding.
var ErrStopped = errors.New("the target stopped answering")

// Ended reports whether the context ended because the target stopped responding.
func Ended(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrStopped) }
