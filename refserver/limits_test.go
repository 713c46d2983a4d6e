package refserver

import (
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"outreach.example/conformance/refserver/limiter"
)

// handClock is a clock that the test moves.
type handClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *handClock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *handClock) add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

func TestDefaultLimiter(t *testing.T) {
	clock := &handClock{now: time.Date(2031, 1, 1, 0, 0, 0, 250_000_000, time.UTC)}
	s := start(t, Options{Clock: clock.Now})
	for range LimitedRequests {
		s.want(200, s.do("limited", "GET", "/lead-lists", nil))
	}
	refused := s.do("limited", "GET", "/lead-labels", nil)
	s.fails(refused, 429)
	if got := refused.header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q, want the 750 ms rounded up", got)
	}
	s.want(200, s.do("main", "GET", "/lead-lists", nil))
	s.fails(s.do("", "GET", "/lead-lists", nil), 401)
	clock.add(749 * time.Millisecond)
	s.fails(s.do("limited", "GET", "/nothing", nil), 429)
	clock.add(time.Millisecond)
	s.want(200, s.do("limited", "GET", "/lead-lists", nil))
	for range LimitedRequests {
		s.do("limited", "GET", "/lead-lists", nil)
	}
	s.truthPost("/reset")
	s.want(200, s.do("limited", "GET", "/lead-lists", nil))
}

func TestLimiterScopesAndHeaders(t *testing.T) {
	for scope, shares := range map[string]struct{ key, operation, address bool }{
		"workspace": {true, true, true}, "key": {false, true, true}, "operation": {true, false, true}, "address": {true, true, false},
	} {
		t.Run(scope, func(t *testing.T) {
			config, err := limiter.Parse("fixed-window:1/1h,headers,no-retry-after,scope=" + scope)
			if err != nil {
				t.Fatal(err)
			}
			s := start(t, Options{Clock: fixedClock, Limiters: map[string]limiter.Config{AnyRole: config}})
			ask := func(key, path, address string) answer {
				r := httptest.NewRequest("GET", BasePath+path, nil)
				r.Header.Set("Authorization", "Bearer "+s.token(key))
				r.RemoteAddr = address
				return send(s.api, r)
			}
			first := s.want(200, ask("main", "/lead-lists", "127.0.0.1:1"))
			if h := first.header; h.Get("RateLimit-Limit") != "1" || h.Get("RateLimit-Remaining") != "0" || h.Get("RateLimit-Reset") != "3294" {
				t.Errorf("headers %v", h)
			}
			again := ask("main", "/lead-lists", "127.0.0.1:2")
			s.fails(again, 429)
			if got := again.header.Values("Retry-After"); got != nil {
				t.Errorf("Retry-After %q in spite of no-retry-after", got)
			}
			status := func(shared bool) int {
				if shared {
					return 429
				}
				return 200
			}
			s.want(status(shares.key), ask("main-2", "/lead-lists", "127.0.0.1:1"))
			s.want(status(shares.operation), ask("main", "/lead-labels", "127.0.0.1:1"))
			s.want(status(shares.address), ask("main", "/lead-lists", "127.0.0.2:1"))
			s.want(200, ask("second", "/lead-lists", "127.0.0.1:1"))
		})
	}
}
