package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Client sends requests to one target. It is safe for concurrent use. It follows
// no redirects and keeps no cookies.
type Client struct {
	opts     Options
	fresh    http.RoundTripper // opens a connection for each request; nil if there is none
	base     *url.URL
	slots    chan struct{} // one element per request in flight
	pace     *rate.Limiter
	gates    gates
	jitter   func(time.Duration) time.Duration
	redactor *redactor
	traffic  counters
}

// New returns a client for the target in opts. It does not contact the target.
// Its errors are mistakes in opts.
func New(opts Options) (*Client, error) {
	base, baseErr := parseBase(opts.BaseURL)
	opts, optsErr := opts.withDefaults()
	if err := errors.Join(baseErr, optsErr); err != nil {
		return nil, err
	}
	return &Client{
		opts:     opts,
		fresh:    freshTransport(opts.Transport),
		base:     base,
		slots:    make(chan struct{}, opts.Concurrency),
		pace:     newPace(opts.RequestsPerSecond),
		gates:    gates{byKey: map[string]*gate{}, maxThrottle: opts.MaxThrottle},
		jitter:   seededJitter(opts.Seed),
		redactor: newRedactor(opts.Keys, opts.Secrets),
	}, nil
}

// newPace spaces requests evenly. The burst covers 20 ms, so that late timers do
// not lower a high rate.
func newPace(requestsPerSecond float64) *rate.Limiter {
	if requestsPerSecond == 0 || requestsPerSecond == Unpaced {
		return rate.NewLimiter(rate.Inf, 1)
	}
	return rate.NewLimiter(rate.Limit(requestsPerSecond), max(1, int(requestsPerSecond/50)))
}

// Do sends the request and returns the exchange. It waits out a 429 and retries,
// unless the request sets NoRetry. It never retries a 5xx.
func (c *Client) Do(ctx context.Context, req Request) Exchange {
	c.redactor.learn(req.Key)
	if _, err := c.build(ctx, req); err != nil {
		return c.finish(c.unsent(req, ErrRequest, err))
	}
	for waitedOut := 0; ; waitedOut++ {
		e, wait, again := c.once(ctx, req, waitedOut)
		e.Throttled = waitedOut
		if !again {
			return c.finish(e)
		}
		c.traffic.waitedOut()
		c.opts.Observe(e)
		if err := c.sleep(ctx, Throttled, req, wait); err != nil {
			e = c.unsent(req, ErrCanceled, context.Cause(ctx))
			e.Throttled = waitedOut + 1
			return c.finish(e)
		}
	}
}

// All sends the requests concurrently and returns their exchanges in the same order.
func (c *Client) All(ctx context.Context, reqs []Request) []Exchange {
	exchanges := make([]Exchange, len(reqs))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(len(reqs), c.opts.Concurrency) {
		workers.Go(func() {
			for i := range next {
				exchanges[i] = c.Do(ctx, reqs[i])
			}
		})
	}
	for i := range reqs {
		next <- i
	}
	close(next)
	workers.Wait()
	return exchanges
}

// ThrottleLimits returns how long a key may get only 429, and how many 429 responses
// one request waits out.
func (c *Client) ThrottleLimits() (d time.Duration, answers int) {
	return c.opts.MaxThrottle, c.opts.MaxThrottled
}

// Traffic returns the totals so far.
func (c *Client) Traffic() Traffic { return c.traffic.snapshot() }

// Redact returns s with every known secret replaced: a key's token by
// $OUTREACH_KEY_<NAME>, any other secret by [redacted]. It finds secrets that are
// plain, percent-encoded, JSON-escaped or inside base64. It finds a secret of
// fewer than 8 bytes only as a separate word, because a key such as "test" would
// match in ordinary text.
func (c *Client) Redact(s string) string { return c.redactor.redact(s) }

// Close closes idle connections. The client stays usable.
func (c *Client) Close() {
	if t, ok := c.opts.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// once sends the request once, when it is admitted. It reports whether to retry
// after a 429, and after how long.
func (c *Client) once(ctx context.Context, req Request, waitedOut int) (e Exchange, wait time.Duration, again bool) {
	key, _ := req.authorization()
	if kind, cause := c.admit(ctx, req, key); kind != nil {
		return c.unsent(req, kind, cause), 0, false
	}
	defer func() { <-c.slots }()
	c.opts.Doing(Sending, req.Key.Name, +1)
	defer c.opts.Doing(Sending, req.Key.Name, -1)

	sending, sent := ctx, func() {}
	if req.Settle {
		sending, sent = settling(ctx)
	}
	e = c.send(sending, req)
	sent()
	switch {
	case e.Status == 0:
		return e, 0, false
	case e.Status != http.StatusTooManyRequests:
		c.gates.open(key, e.Sent)
		return e, 0, false
	}
	now := c.opts.Now()
	wait, named := retryAfter(e.Header, now)
	if !named {
		wait = backoff(waitedOut, c.jitter)
	}
	hopeless := c.gates.close(key, now, wait)
	if req.NoRetry {
		return e, 0, false
	}
	if hopeless || waitedOut >= c.opts.MaxThrottled {
		e.Err = c.fail(req, ErrThrottled, c.throttled(waitedOut+1))
		return e, 0, false
	}
	if wait >= shortWait && c.gates.announce(key, now.Add(wait)) {
		c.opts.Waits(Wait{Key: req.Key.Name, For: wait, RetryAfter: e.Header.Get("Retry-After")})
	}
	return e, wait, true
}

// settleTime is how long a request with Settle may outlast its context.
const settleTime = 5 * time.Second

// settling returns a context that ends settleTime later than ctx. The caller calls done
// when it no longer needs it.
func settling(ctx context.Context) (later context.Context, done func()) {
	later, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(settleTime, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(later, func() { timer.Stop() })
	})
	return later, func() {
		stop()
		cancel(nil)
	}
}

func (c *Client) finish(e Exchange) Exchange {
	c.opts.Observe(e)
	return e
}

// unsent returns the exchange of a request that was not sent.
func (c *Client) unsent(req Request, kind, cause error) Exchange {
	return Exchange{Request: req, Err: c.fail(req, kind, cause), redactor: c.redactor}
}
