package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxWait   = 30 * time.Second // the longest single wait, whatever Retry-After says
	firstWait = 250 * time.Millisecond
)

// gates hold back requests of throttled keys: one 429 applies to all requests of
// its key. A key has a gate from its first 429 until its next other response.
type gates struct {
	mu          sync.Mutex
	byKey       map[string]*gate
	maxThrottle time.Duration
}

// Wait is a pause of a key after a 429.
type Wait struct {
	Key        string // its name; empty for requests without a key
	For        time.Duration
	RetryAfter string // the header of the response; empty without one
}

// String says in one line what waits for how long, and why.
func (w Wait) String() string {
	key := "requests without a key"
	if w.Key != "" {
		key = "the key " + w.Key
	}
	after := "without Retry-After"
	if w.RetryAfter != "" {
		const most = 40 // characters: the target chooses them
		value := []rune(w.RetryAfter)
		after = "with Retry-After " + string(value[:min(len(value), most)])
	}
	seconds := strconv.FormatFloat(math.Round(w.For.Seconds()*10)/10, 'f', -1, 64)
	return fmt.Sprintf("waiting %s s: the target answered 429 %s to %s", seconds, after, key)
}

// shortWait is the pause below which nobody is told of it.
const shortWait = time.Second

// Activity is what a request does at the moment.
type Activity int

// The activities. A request between two of them does nothing that takes time.
const (
	Sending   Activity = iota // it is in flight
	Throttled                 // it waits because of a 429
	Paced                     // it waits for its turn in the pace
)

type gate struct {
	notBefore   time.Time // no request is sent before it
	announced   time.Time // the notBefore that Waits was told of last
	refused     time.Time // the first 429 since the last other response
	lastRefused time.Time
	hopeless    bool // throttled for longer than maxThrottle
}

// wait returns how long a request of the key has to wait, and whether waiting is
// pointless.
func (g *gates) wait(key string, now time.Time) (d time.Duration, hopeless bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.byKey[key]
	if at == nil || !now.Before(at.notBefore) {
		return 0, false
	}
	return at.notBefore.Sub(now), at.hopeless
}

// close records a 429 with a wait of d and reports whether that exceeds the
// maxThrottle. A gate only moves to a later time.
func (g *gates) close(key string, now time.Time, d time.Duration) (hopeless bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.byKey[key]
	if at == nil {
		at = &gate{refused: now}
		g.byKey[key] = at
	}
	at.lastRefused = now
	if until := now.Add(d); until.After(at.notBefore) {
		at.notBefore = until
	}
	at.hopeless = at.notBefore.Sub(at.refused) > g.maxThrottle
	return at.hopeless
}

// announce reports whether a pause of the key that lasts until then is news: it ends
// clearly later than the last one that was announced.
func (g *gates) announce(key string, until time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.byKey[key]
	if at == nil || until.Sub(at.announced) < shortWait {
		return false
	}
	at.announced = until
	return true
}

// open records a response other than 429 to a request sent at the given time.
// Requests that were in flight when the 429 came are ignored.
func (g *gates) open(key string, sent time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := g.byKey[key]; at != nil && sent.After(at.lastRefused) {
		delete(g.byKey, key)
	}
}

// backoff returns the wait after the nth 429 (from 0) without Retry-After. It is
// exponential, with a jitter of one half so that retries spread.
func backoff(n int, jitter func(time.Duration) time.Duration) time.Duration {
	d := maxWait
	if n < 16 { // 250 ms × 2^16 far exceeds maxWait
		d = min(maxWait, firstWait<<n)
	}
	return d/2 + jitter(d/2)
}

// retryAfter parses the Retry-After header: seconds, or an HTTP date relative to
// the response's Date, since clocks differ. It reports false if the value is
// absent, malformed or not in the future. The wait is at most maxWait.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.Trim(h.Get("Retry-After"), " \t")
	if value == "" {
		return 0, false
	}
	if strings.Trim(value, "0123456789") == "" {
		return afterSeconds(value)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if !at.After(now) {
		return 0, false
	}
	return min(at.Sub(now), maxWait), true
}

// afterSeconds parses any number of digits and caps the wait at maxWait.
func afterSeconds(digits string) (time.Duration, bool) {
	seconds := 0
	for _, digit := range digits {
		seconds = min(seconds*10+int(digit-'0'), int(maxWait/time.Second))
	}
	return time.Duration(seconds) * time.Second, seconds > 0
}

// seededJitter returns a function that draws a duration in [0, d).
func seededJitter(seed uint64) func(d time.Duration) time.Duration {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, 0x6f757472656163)) // the second word only has to be constant
	return func(d time.Duration) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(source.Int64N(max(int64(d), 1)))
	}
}

var errKeyRefused = errors.New("not sent, because the key has got only 429 for too long")

// admit waits until the request may be sent: its key's gate is open, a slot is
// free, and the pace allows it. On success the caller holds a slot. Otherwise it
// returns the kind and cause of the failure.
func (c *Client) admit(ctx context.Context, req Request, key string) (kind, cause error) {
	for {
		if !req.NoRetry {
			if kind, cause = c.waitAtGate(ctx, req, key); kind != nil {
				return kind, cause
			}
		}
		// A request that waits at its gate holds no slot, or one throttled key
		// would block all others.
		if ctx.Err() != nil {
			return ErrCanceled, context.Cause(ctx)
		}
		select {
		case c.slots <- struct{}{}:
		case <-ctx.Done():
			return ErrCanceled, context.Cause(ctx)
		}
		if err := c.waitForPace(ctx, req); err != nil {
			<-c.slots
			return ErrCanceled, context.Cause(ctx)
		}
		if req.NoRetry {
			return nil, nil
		}
		if wait, _ := c.gates.wait(key, c.opts.Now()); wait <= 0 {
			return nil, nil
		}
		<-c.slots // the gate has closed in the meantime
	}
}

func (c *Client) waitAtGate(ctx context.Context, req Request, key string) (kind, cause error) {
	for {
		wait, hopeless := c.gates.wait(key, c.opts.Now())
		switch {
		case hopeless:
			return ErrThrottled, errKeyRefused
		case wait <= 0:
			return nil, nil
		}
		if err := c.sleep(ctx, Throttled, req, wait); err != nil {
			return ErrCanceled, context.Cause(ctx)
		}
	}
}

// sleep waits for d and reports that as the activity of the request.
func (c *Client) sleep(ctx context.Context, as Activity, req Request, d time.Duration) error {
	c.opts.Doing(as, req.Key.Name, +1)
	defer c.opts.Doing(as, req.Key.Name, -1)
	return c.opts.Sleep(ctx, d)
}

func (c *Client) waitForPace(ctx context.Context, req Request) error {
	now := c.opts.Now()
	turn := c.pace.ReserveN(now, 1)
	delay := turn.DelayFrom(now)
	if delay <= 0 {
		return nil
	}
	if err := c.sleep(ctx, Paced, req, delay); err != nil {
		turn.CancelAt(c.opts.Now()) // give the turn to another request
		return err
	}
	return nil
}

func (c *Client) throttled(answers int) error {
	return fmt.Errorf("%d responses of 429 (limits: %d per request, %s of only 429 per key); lower the pace or raise the target's limit",
		answers, c.opts.MaxThrottled, c.opts.MaxThrottle.Round(time.Second))
}
