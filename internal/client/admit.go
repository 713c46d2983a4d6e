package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var errKeyRefused = errors.New("the target has answered this key with nothing but 429 for too long; not sent")

// admit waits until the request may be sent: the key's gate is open, a slot is
// free, the pace allows it. On success the caller holds a slot; otherwise the
// kind and cause of the failure are returned.
func (c *Client) admit(ctx context.Context, req Request, key string) (kind, cause error) {
	for {
		if !req.NoRetry {
			if kind, cause = c.waitAtGate(ctx, key); kind != nil {
				return kind, cause
			}
		}
		// A request that waits at its gate holds no slot, or a throttled key
		// would hold up all others.
		if ctx.Err() != nil {
			return ErrCanceled, context.Cause(ctx)
		}
		select {
		case c.slots <- struct{}{}:
		case <-ctx.Done():
			return ErrCanceled, context.Cause(ctx)
		}
		if err := c.waitForPace(ctx); err != nil {
			<-c.slots
			return ErrCanceled, context.Cause(ctx)
		}
		if req.NoRetry {
			return nil, nil
		}
		if wait, _ := c.gates.wait(key, c.opts.Now()); wait <= 0 {
			return nil, nil
		}
		<-c.slots // the gate has shut meanwhile
	}
}

func (c *Client) waitAtGate(ctx context.Context, key string) (kind, cause error) {
	for {
		wait, hopeless := c.gates.wait(key, c.opts.Now())
		switch {
		case hopeless:
			return ErrThrottled, errKeyRefused
		case wait <= 0:
			return nil, nil
		}
		if err := c.opts.Sleep(ctx, wait); err != nil {
			return ErrCanceled, context.Cause(ctx)
		}
	}
}

func (c *Client) waitForPace(ctx context.Context) error {
	now := c.opts.Now()
	turn := c.pace.ReserveN(now, 1)
	delay := turn.DelayFrom(now)
	if delay <= 0 {
		return nil
	}
	if err := c.opts.Sleep(ctx, delay); err != nil {
		turn.CancelAt(c.opts.Now()) // hand the turn on
		return err
	}
	return nil
}

func (c *Client) throttled(answers int) error {
	return fmt.Errorf("%d answers of 429 (the limits are %d, and %s of nothing else for the key); lower the pace or raise the target's limit",
		answers, c.opts.MaxThrottled, c.opts.MaxThrottle.Round(time.Second))
}
