package shape

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Shape does to requests what a Config says. Make one with New.
type Shape struct {
	config   Config
	latency  sequence
	failure  sequence
	start    func() time.Time // when the first request came
	requests atomic.Uint64

	queue sync.Mutex
	free  time.Duration // since the start: when the next request can be served
}

// New returns a Shape, or an error of c. Equal seeds deal out equally.
func New(c Config, seed uint64) (*Shape, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("shape: %w", err)
	}
	s := &Shape{config: c, start: sync.OnceValue(time.Now)}
	if len(c.Mix) > 0 {
		shares := make([]Share, len(c.Mix))
		for i, part := range c.Mix {
			shares[i] = part.Share
		}
		s.latency = newSequence(seed, shares...)
	}
	if c.Errors.Share > 0 {
		s.failure = newSequence(^seed, c.Errors.Share, Whole-c.Errors.Share)
	}
	return s, nil
}

// Middleware shapes the requests to next. All delay lies before next is called,
// so that whoever has the answer has waited all of it. A request whose client
// gives up is dropped, but has used up its place.
func (s *Shape) Middleware(next http.Handler) http.Handler {
	if s.config.String() == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := s.start()
		until, fails := s.plan(s.requests.Add(1)-1, time.Since(start))
		if !wait(r.Context(), time.Until(start.Add(until))) {
			return
		}
		if fails {
			s.fail(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// plan says until when the n-th request, which came at the given time since the
// start, is held, and whether it then fails.
func (s *Shape) plan(n uint64, arrival time.Duration) (until time.Duration, fails bool) {
	at := s.serve(s.awake(arrival))
	if len(s.config.Mix) > 0 {
		at += s.config.Mix[s.latency.of(n)].Latency
	}
	if d := s.config.Drift; d.Per > 0 {
		at += time.Duration(float64(d.Growth) * arrival.Seconds() / d.Per.Seconds())
	}
	return s.awake(at), s.config.Errors.Share > 0 && s.failure.of(n) == 0
}

// awake is the next moment, from t on, that lies outside a stall.
func (s *Shape) awake(t time.Duration) time.Duration {
	stall := s.config.Stall
	if stall.Every == 0 {
		return t
	}
	if left := stall.Every - t%stall.Every; left <= stall.For {
		return t + left
	}
	return t
}

// serve is when a request that came at t has been served by the capacity.
func (s *Shape) serve(t time.Duration) time.Duration {
	c := s.config.Capacity
	if c.Requests == 0 {
		return t
	}
	s.queue.Lock()
	defer s.queue.Unlock()
	s.free = s.awake(max(s.free, t)) + c.Per/time.Duration(c.Requests)
	return s.free
}

// wait returns false when the client has gone before d was over.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// fail answers as the service answers failures.
func (s *Shape) fail(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(s.config.Errors.Status)
	_, _ = fmt.Fprintf(w, `{"statusCode":%d,"error":%q,"message":"failure on demand"}`,
		s.config.Errors.Status, http.StatusText(s.config.Errors.Status))
}
