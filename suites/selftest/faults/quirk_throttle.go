package faults

import (
	"net/http"
	"sync"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// throttleQuirks answer 429 without a stated limit. Requests without a valid
// key still get 401.
func throttleQuirks() []Quirk {
	throttle := func(id, allowed, doc string, refuses func(served int) (refuse bool, retryAfter string)) Quirk {
		return Quirk{ID: "throttle/" + id, Allowed: allowed, Doc: doc, Touches: []string{"throttle"}, Apply: func(a *Target) Middleware { return a.throttled(refuses) }}
	}
	return []Quirk{
		throttle("now-and-then", spec.SilenceRateLimit, "answers 429 occasionally", func(n int) (bool, string) { return n%700 == 350, "" }),
		throttle("in-a-row", spec.SilenceRateLimit, "answers 429 twice to the same request occasionally", func(n int) (bool, string) { return n%1500 == 700 || n%1500 == 701, "" }),
		throttle("retry-after", spec.SilenceRetryAfter, "answers 429 with a Retry-After of one second", func(n int) (bool, string) { return n == 1000, "1" }),
		throttle("odd-retry-after", spec.SilenceRetryAfter, "answers 429 occasionally with a meaningless Retry-After", func(n int) (bool, string) {
			return n%700 == 350, []string{"0", "soon", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", "0.5"}[n/700%5]
		}),
		{ID: "throttle/low-limit", Allowed: spec.SilenceRateLimit, Doc: "pauses each workspace briefly after 800 requests", Touches: []string{"throttle"}, Apply: func(a *Target) Middleware { return a.pausing() }},
	}
}

// isValidKey reports whether the request has an active key of the profile.
func (a *Target) isValidKey(r Request) (profile.Key, bool) {
	key, ok := a.keyOf(r)
	return key, ok && key.State != profile.KeyRevoked
}

func overLimit(retryAfter string) Response {
	answer := refusal(http.StatusTooManyRequests)
	if retryAfter != "" {
		answer.Header.Set("Retry-After", retryAfter)
	}
	return answer
}

// throttled refuses requests by their sequence number.
func (a *Target) throttled(refuses func(n int) (refuse bool, retryAfter string)) Middleware {
	return func(next Handler) Handler {
		var count tally
		return func(r Request) (Response, error) {
			if _, ok := a.isValidKey(r); ok {
				if refuse, retryAfter := refuses(count.next("")); refuse {
					return overLimit(retryAfter), nil
				}
			}
			return next(r)
		}
	}
}

// pausing refuses all requests of a workspace for a while after each share of
// requests.
func (a *Target) pausing() Middleware {
	const share, pause = 800, 20 * time.Millisecond
	return func(next Handler) Handler {
		var mu sync.Mutex
		served, until := map[string]int{}, map[string]time.Time{}
		return func(r Request) (Response, error) {
			key, ok := a.isValidKey(r)
			if !ok {
				return next(r)
			}
			mu.Lock()
			served[key.Workspace]++
			if served[key.Workspace]%share == 0 {
				until[key.Workspace] = time.Now().Add(pause)
			}
			refuse := time.Now().Before(until[key.Workspace])
			mu.Unlock()
			if refuse {
				return overLimit(""), nil
			}
			return next(r)
		}
	}
}
