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

	"outreach.example/conformance/internal/redact"
)

const (
	maxWait   = 30 * time.Second // the longest single wait, whatever Retry-After says
	firstWait = 250 * time.Millisecond
	farOff    = 100 * 365 * 24 * time.Hour // longer than anybody waits; keeps times in range
)

// pauses hold back requests of throttled keys: one 429 applies to all requests of
// its key, until its next other response. They also count for how long nothing but 429 came
// back, for each pair and for the target as a whole. A key spends its patience once, however
// many operations refuse it, and an operation once, however many keys it refuses.
type pauses struct {
	mu       sync.Mutex
	byKey    map[string]*pause
	byPair   map[pair]*streak
	spent    map[string]time.Duration // on pairs that were given up, by key and by operation
	all      streak                   // of the target
	perPair  time.Duration            // maximum of a pair
	patience time.Duration            // maximum of the target
}

func newPauses(perPair, patience time.Duration) pauses {
	return pauses{byKey: map[string]*pause{}, byPair: map[pair]*streak{}, spent: map[string]time.Duration{}, perPair: perPair, patience: patience}
}

// pause is that of one key.
type pause struct {
	until     time.Time // no request is sent before it
	announced time.Time // the until that Waits was told of last
	waited    time.Time // when the first 429 came that is waited out; zero before
	refused   time.Time // when the last 429 came
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
	answered    bool  // there was another response before: such a pair has a patience of its own
	over        error // why nothing is sent any more; nil before that
}

// add counts a response, and returns for how long the streak has lasted.
func (s *streak) add(now time.Time) time.Duration {
	if s.responses == 0 {
		s.since = now
	}
	s.responses++
	s.last = now
	return now.Sub(s.since)
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
		value := []rune(redact.Process.Text(w.RetryAfter))
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

// wait returns how long a request of the pair has to wait, or why it is not sent.
func (p *pauses) wait(of pair, now time.Time) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all.over != nil {
		return 0, p.all.over
	}
	if s := p.byPair[of]; s != nil && s.over != nil {
		return 0, s.over
	}
	if at := p.byKey[of.key]; at != nil {
		return max(0, at.until.Sub(now)), nil
	}
	return 0, nil
}

// refuse notes a 429 to a request, whose key then pauses for d. It returns why the pair, or the
// target, is given up; nil if it is not. A provoked 429 says nothing about the target, and one
// that nobody waits out says nothing but that the key pauses. A pause is news if it ends clearly
// later than the last one that was news.
func (p *pauses) refuse(req Request, now time.Time, d time.Duration) (news bool, over error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := req.pair()
	at := p.byKey[of.key]
	if at == nil {
		at = &pause{}
		p.byKey[of.key] = at
	}
	at.refused = now
	if !req.NoRetry {
		if over := p.count(of, at, now, d, req.Provoked); over != nil {
			return false, over
		}
	}
	d = min(d, maxWait)
	until := now.Add(d)
	if until.After(at.until) { // a pause only moves to a later time
		at.until = until
	}
	if news = !req.NoRetry && d >= shortWait && until.Sub(at.announced) >= shortWait; news {
		at.announced = until
	}
	return news, nil
}

// count counts a 429 that would be waited out for d.
func (p *pauses) count(of pair, at *pause, now time.Time, d time.Duration, provoked bool) error {
	if !provoked {
		if lasted := p.all.add(now); lasted >= p.patience && p.all.over == nil {
			p.all.over = &AllThrottled{p.all.responses, lasted}
		}
	}
	s := p.byPair[of]
	if s == nil {
		s = &streak{}
		p.byPair[of] = s
	}
	if at.waited.IsZero() {
		at.waited = now
	}
	left := p.perPair
	if !s.answered {
		left -= max(p.spent[of.key], p.spent[of.operation])
	}
	switch lasted := s.add(now); {
	case s.over != nil:
	case d > p.perPair:
		s.over = fmt.Errorf("%w of %s", ErrTooLate, p.perPair)
	case lasted+d > left, now.Sub(at.waited)+d > p.perPair:
		s.over = fmt.Errorf("%d responses to this operation and key in %s, all of them 429 (at most %s in all for a key, and for an operation)",
			s.responses, brief(lasted), p.perPair)
		p.spent[of.key] += lasted
		p.spent[of.operation] += lasted
	}
	return cmp.Or(p.all.over, s.over)
}

// answered notes a response other than 429 to a request of the pair sent at the given
// time. For the key and the pair, requests that were in flight when the 429 came are
// ignored. What was given up stays so.
func (p *pauses) answered(of pair, sent time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = streak{over: p.all.over}
	if at := p.byKey[of.key]; at != nil && sent.After(at.refused) {
		delete(p.byKey, of.key)
	}
	s := p.byPair[of]
	if s == nil {
		s = &streak{}
		p.byPair[of] = s
	}
	s.answered = true
	if s.over == nil && s.responses > 0 && sent.After(s.last) {
		s.responses = 0 // it paid to wait
		delete(p.spent, of.key)
		delete(p.spent, of.operation)
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
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(farOff/time.Second))) * time.Second, seconds > 0
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
	now := c.opts.Now()
	wait, named := retryAfter(e.Header, now)
	if !named {
		wait = backoff(waitedOut, c.jitter)
	}
	news, over := c.pauses.refuse(req, now, wait)
	switch wait = min(wait, maxWait); {
	case req.NoRetry:
		return e, 0, false
	case over == nil && waitedOut >= c.opts.MaxThrottled:
		over = fmt.Errorf("%d responses of 429 to one request (at most %d are waited out)", waitedOut+1, c.opts.MaxThrottled)
	}
	if over != nil {
		e.Err = c.fail(req, ErrThrottled, over)
		return e, 0, false
	}
	if news {
		c.opts.Waits(Wait{Key: req.Key.Name, For: wait, RetryAfter: e.Header.Get("Retry-After")})
	}
	return e, wait, true
}

// admit waits until the request may be sent: its key does not pause, a slot is
// free, and the pace allows it. On success the caller holds a slot. Otherwise it
// returns the kind and cause of the failure.
func (c *Client) admit(ctx context.Context, req Request) (kind, cause error) {
	for {
		// A request whose key pauses holds no slot, or one throttled key would block all others.
		if kind, cause = c.waitForKey(ctx, req); kind != nil {
			return kind, cause
		}
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
		if wait, over := c.pauses.wait(req.pair(), c.opts.Now()); req.NoRetry || wait == 0 && over == nil {
			return nil, nil
		}
		<-c.slots // the key pauses again
	}
}

func (c *Client) waitForKey(ctx context.Context, req Request) (kind, cause error) {
	for !req.NoRetry {
		wait, over := c.pauses.wait(req.pair(), c.opts.Now())
		switch {
		case over != nil:
			return ErrThrottled, fmt.Errorf("not sent: %w", over)
		case wait == 0:
			return nil, nil
		}
		if err := c.sleep(ctx, Throttled, req, wait); err != nil {
			return ErrCanceled, context.Cause(ctx)
		}
	}
	return nil, nil
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
