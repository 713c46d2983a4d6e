package client

// This file waits until a change shows. The specification does not say how soon a
// change shows in another view, so the target profile does (visible_within).

import (
	"context"
	"time"
)

// Pauses between two looks for a change.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 400 * time.Millisecond
)

// Within looks until look is done, at growing intervals. The last look begins when the time
// has passed, however long the looks before took: what it does not see does not show in
// time. Within returns the last error of look, or [client.ErrCanceled] if the context ends
// in a pause.
func Within(ctx context.Context, limit time.Duration, look func(last bool) (done bool, err error)) error {
	ctx = Apart(ctx)
	began := Now(ctx)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		last := Now(ctx).Sub(began) >= limit
		if done, err := look(last); done || last {
			return err
		}
		if Sleep(ctx, min(pause, limit-Now(ctx).Sub(began))) != nil {
			return ErrCanceled
		}
	}
}
