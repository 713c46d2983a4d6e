package client

import (
	"cmp"
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
	farOff    = 100 * 365 * 24 * time.Hour // longer than anybody waits; keeps times in range
)

// gates hold back requests of throttled keys: one 429 applies to all requests of
// its key. A key has a gate from its first 429 until its next other response. They
// also count for how long nothing but 429 came back, for each pair and for the
// target as a whole. A key spends its patience once, however many operations refuse it,
// and an operation once, however many keys it refuses.
type gates struct {
	mu       sync.Mutex
	byKey    map[string]*gate
	byPair   map[pair]*streak
	answered map[pair]bool            // with another response than 429: such a pair has a patience of its own
	spent    map[string]time.Duration // on pairs that were given up, by key and by operation
	all      streak                   // of the target
	perPair  time.Duration            // maximum of a pair
	patience time.Duration            // maximum of the target
}

func newGates(perPair, patience time.Duration) gates {
	return gates{byKey: map[string]*gate{}, byPair: map[pair]*streak{}, answered: map[pair]bool{}, spent: map[string]time.Duration{},
		perPair: perPair, patience: patience}
}

// pair is an operation and the credentials with which it is requested.
type pair struct{ key, operation string }

func (r Request) pair() pair {
	key, _ := r.authorization()
	return pair{key, r.Operation}
}

// streak is a series of 429 responses without another one.
type streak struct {
	since, last time.Time // of its first and its last response
	responses   int
	over        error // why nothing is sent any more; nil before that
}

func (s *streak) add(now time.Time) {
	if s.responses == 0 {
		s.since = now
	}
	s.responses++
	s.last = now
}

// AllThrottled is the cause of an ErrThrottled after which the client sends nothing
// more: the target answered nothing but 429 for Options.Patience.
type AllThrottled struct {
	Responses int
	For       time.Duration
}

func (e *AllThrottled) Error() string {
	return fmt.Sprintf("the target answered nothing but 429 for %s (%d responses)", brief(e.For), e.Responses)
}

// brief rounds a time to what is worth saying.
func brief(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// ErrTooLate is the cause of an ErrThrottled if the Retry-After of a 429 exceeds
// Options.MaxThrottle.
var ErrTooLate = errors.New("Retry-After exceeds the maximum wait")

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
		key = fmt.Sprintf("the key %q", w.Key)
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

// shortWait is the shortest pause that is reported.
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
	waitedOut   time.Time // when the first 429 came that is waited out; zero before
	lastRefused time.Time
}

// wait returns how long a request of the pair has to wait, or why it is not sent.
func (g *gates) wait(p pair, now time.Time) (time.Duration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all.over != nil {
		return 0, g.all.over
	}
	if s := g.byPair[p]; s != nil && s.over != nil {
		return 0, s.over
	}
	at := g.byKey[p.key]
	if at == nil || !now.Before(at.notBefore) {
		return 0, nil
	}
	return at.notBefore.Sub(now), nil
}

// close records a 429 after which the key pauses for d. A gate only moves to a
// later time.
func (g *gates) close(key string, now time.Time, d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.refused(key, now)
	if until := now.Add(min(d, maxWait)); until.After(at.notBefore) {
		at.notBefore = until
	}
}

// refused returns the gate of a key that gets a 429.
func (g *gates) refused(key string, now time.Time) *gate {
	if g.byKey[key] == nil {
		g.byKey[key] = &gate{}
	}
	g.byKey[key].lastRefused = now
	return g.byKey[key]
}

// refuse records a 429 to a request of the pair that would wait for d. It returns why
// the pair, or the target, is given up; nil if it is not. A provoked 429 says nothing
// about the target.
func (g *gates) refuse(p pair, now time.Time, d time.Duration, provoked bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !provoked {
		g.all.add(now)
		if lasted := now.Sub(g.all.since); lasted >= g.patience && g.all.over == nil {
			g.all.over = &AllThrottled{g.all.responses, lasted}
		}
	}
	s := g.byPair[p]
	if s == nil {
		s = &streak{}
		g.byPair[p] = s
	}
	s.add(now)
	at, left := g.refused(p.key, now), g.perPair
	if at.waitedOut.IsZero() {
		at.waitedOut = now
	}
	if !g.answered[p] {
		left -= max(g.spent[p.key], g.spent[p.operation])
	}
	switch lasted := now.Sub(s.since); {
	case s.over != nil:
	case d > g.perPair:
		s.over = fmt.Errorf("%w of %s", ErrTooLate, g.perPair)
	case lasted+d > left, now.Sub(at.waitedOut)+d > g.perPair:
		s.over = fmt.Errorf("%d responses to this operation and key in %s, all of them 429 (at most %s in all for a key, and for an operation)",
			s.responses, brief(lasted), g.perPair)
		g.spent[p.key] += lasted
		g.spent[p.operation] += lasted
	}
	return cmp.Or(g.all.over, s.over)
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

// open records a response other than 429 to a request of the pair sent at the given
// time. For the key and the pair, requests that were in flight when the 429 came are
// ignored. What was given up stays so.
func (g *gates) open(p pair, sent time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all, g.answered[p] = streak{over: g.all.over}, true
	if at := g.byKey[p.key]; at != nil && sent.After(at.lastRefused) {
		delete(g.byKey, p.key)
	}
	if s := g.byPair[p]; s != nil && s.over == nil && sent.After(s.last) {
		delete(g.byPair, p) // it paid to wait
		delete(g.spent, p.key)
		delete(g.spent, p.operation)
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
// absent, malformed or not in the future. The wait is at most farOff.
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
	return min(at.Sub(now), farOff), true
}

// afterSeconds parses any number of digits and caps the wait at farOff.
func afterSeconds(digits string) (time.Duration, bool) {
	seconds := 0
	for _, digit := range digits {
		seconds = min(seconds*10+int(digit-'0'), int(farOff/time.Second))
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

// throttled decides what follows from a 429. It returns the exchange, with an error if
// the request is given up, or else after how long to retry.
func (c *Client) throttled(req Request, e Exchange, waitedOut int) (_ Exchange, wait time.Duration, again bool) {
	now, p := c.opts.Now(), req.pair()
	wait, named := retryAfter(e.Header, now)
	if !named {
		wait = backoff(waitedOut, c.jitter)
	}
	if req.NoRetry {
		c.gates.close(p.key, now, wait)
		return e, 0, false
	}
	if over := c.gates.refuse(p, now, wait, req.Provoked); over != nil {
		e.Err = c.fail(req, ErrThrottled, over)
		return e, 0, false
	}
	wait = min(wait, maxWait)
	c.gates.close(p.key, now, wait)
	if waitedOut >= c.opts.MaxThrottled {
		e.Err = c.fail(req, ErrThrottled, fmt.Errorf("%d responses of 429 to one request (at most %d are waited out)", waitedOut+1, c.opts.MaxThrottled))
		return e, 0, false
	}
	if wait >= shortWait && c.gates.announce(p.key, now.Add(wait)) {
		c.opts.Waits(Wait{Key: req.Key.Name, For: wait, RetryAfter: e.Header.Get("Retry-After")})
	}
	return e, wait, true
}

// admit waits until the request may be sent: its key's gate is open, a slot is
// free, and the pace allows it. On success the caller holds a slot. Otherwise it
// returns the kind and cause of the failure.
func (c *Client) admit(ctx context.Context, req Request) (kind, cause error) {
	for {
		if !req.NoRetry {
			if kind, cause = c.waitAtGate(ctx, req); kind != nil {
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
		if wait, over := c.gates.wait(req.pair(), c.opts.Now()); wait <= 0 && over == nil {
			return nil, nil
		}
		<-c.slots // the gate has closed in the meantime
	}
}

func (c *Client) waitAtGate(ctx context.Context, req Request) (kind, cause error) {
	for {
		wait, over := c.gates.wait(req.pair(), c.opts.Now())
		switch {
		case over != nil:
			return ErrThrottled, fmt.Errorf("not sent: %w", over)
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
	if f, ok := ctx.Value(waiting{}).(func(begins bool)); ok && as == Throttled {
		f(true)
		defer f(false)
	}
	return c.opts.Sleep(ctx, d)
}

// waiting is the key of a context's function for OnWaiting.
type waiting struct{}

// OnWaiting returns a context whose requests call the function with true when they
// begin to wait because of a 429, and with false when that wait ends. Many goroutines
// may call it.
func OnWaiting(ctx context.Context, f func(begins bool)) context.Context {
	return context.WithValue(ctx, waiting{}, f)
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
