package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"outreach.example/conformance/internal/redact"
)

// Client sends requests to one target. It is safe for concurrent use. It follows
// no redirects and keeps no cookies.
type Client struct {
	opts    Options
	fresh   http.RoundTripper // opens a connection for each request; nil if there is none
	base    *url.URL
	slots   chan struct{}       // one element per request in flight
	long    *semaphore.Weighted // bytes of long bodies in flight
	pace    *rate.Limiter
	pauses  pauses
	jitter  func(time.Duration) time.Duration
	traffic counters

	exchanges atomic.Int64
}

// New returns a client for the target in opts. It does not contact the target.
// Its errors are mistakes in opts.
func New(opts Options) (*Client, error) {
	base, baseErr := ParseBase(opts.BaseURL)
	if baseErr != nil {
		baseErr = fmt.Errorf("client: %w", baseErr)
	}
	opts, optsErr := opts.withDefaults()
	if err := errors.Join(baseErr, optsErr); err != nil {
		return nil, err
	}
	for _, k := range opts.Keys {
		redact.Process.Learn(k.Token, k.Env())
	}
	return &Client{
		opts:   opts,
		fresh:  freshTransport(opts.Transport),
		base:   base,
		slots:  make(chan struct{}, opts.Concurrency),
		long:   semaphore.NewWeighted(longBodies),
		pace:   newPace(opts.RequestsPerSecond),
		pauses: newPauses(opts.MaxThrottle, opts.Patience),
		jitter: seededJitter(opts.Seed),
	}, nil
}

// BaseURL returns the address of the target.
func (c *Client) BaseURL() string { return c.opts.BaseURL }

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
	return c.DoWith(ctx, req, func(Exchange) {})
}

// DoWith is Do for a caller that needs the whole body only for a moment: use is called
// with the exchange while its body counts among the long bodies in flight. It must
// not send a request.
func (c *Client) DoWith(ctx context.Context, req Request, use func(Exchange)) Exchange {
	e := c.do(ctx, req)
	defer e.release()
	c.observe(&e)
	use(e)
	return e
}

// observe numbers the exchange and tells the observer.
func (c *Client) observe(e *Exchange) {
	e.ID, e.agent = int(c.exchanges.Add(1)), c.opts.UserAgent
	c.opts.Observe(*e)
}

// do is Do without telling the observer of the last exchange.
func (c *Client) do(ctx context.Context, req Request) Exchange {
	redact.Process.Learn(req.Key.Token, req.Key.Env())
	if req.Place == 0 {
		req.Place = NextPlace(ctx)
	}
	wire, err := c.build(context.Background(), req)
	if err != nil {
		return c.unsent(req, ErrRequest, err)
	}
	if c.opts.Replay != nil {
		return c.replayed(ctx, req, wire)
	}
	for waitedOut := 0; ; waitedOut++ {
		e, wait, again := c.once(ctx, req, waitedOut)
		e.Throttled, e.Source, e.Wire = waitedOut, SourceOf(ctx), wire
		if !again {
			return e
		}
		c.traffic.waitedOut()
		c.observe(&e)
		e.release()
		if err := c.sleep(ctx, Throttled, req, wait); err != nil {
			e = c.unsent(req, ErrCanceled, context.Cause(ctx))
			e.Throttled, e.Source, e.Wire = waitedOut+1, SourceOf(ctx), wire
			return e
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

// MaxThrottle returns how long an operation may get only 429 with a key.
func (c *Client) MaxThrottle() time.Duration { return c.opts.MaxThrottle }

// Traffic returns the totals so far.
func (c *Client) Traffic() Traffic { return c.traffic.snapshot() }

// Close closes idle connections. The client stays usable.
func (c *Client) Close() {
	if t, ok := c.opts.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// once sends the request once, when it is admitted. It reports whether to retry
// after a 429, and after how long.
func (c *Client) once(ctx context.Context, req Request, waitedOut int) (e Exchange, wait time.Duration, again bool) {
	if kind, cause := c.admit(ctx, req); kind != nil {
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
	switch e.Status {
	case 0:
		return e, 0, false
	case http.StatusTooManyRequests:
		return c.throttled(req, e, waitedOut)
	default:
		c.pauses.answered(req.pair(), e.Sent)
		return e, 0, false
	}
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

// unsent returns the exchange of a request that was not sent.
func (c *Client) unsent(req Request, kind, cause error) Exchange {
	return Exchange{Request: req, Err: c.fail(req, kind, cause)}
}
