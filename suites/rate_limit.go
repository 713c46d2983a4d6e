package suites

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"outreach.example/conformance/client"
	"outreach.example/conformance/spec"
)

// rateLimits exceeds the rate limit of the key that the profile hands over for
// it, within the profile's request budget (Errors; Limits).
func rateLimits() []Spec {
	var specs []Spec
	for _, op := range bound("RATE-429") {
		pairs := slices.Concat(on(op, "RATE-429"), errorPairs(op, "429"))
		specs = append(specs, Spec{op.ID, "answers 429 beyond the rate limit", pairs, func(c *check) { c.exceed(op) }})
	}
	var resumes []spec.Pair
	for _, op := range bound("RATE-RESUMES") {
		resumes = append(resumes, on(op, "RATE-RESUMES")...)
	}
	return append(specs, Spec{spec.ListPlacementTests, "serves again once the limit's period has passed", resumes, func(c *check) { c.resumes() }})
}

// limited is the key that may be driven to its limit, and its role.
func (c *check) limited() (role string, key client.Key) {
	if c.Profile.RateLimit == nil {
		c.lack("rate_limit: a key that may be driven to its limit, and how many requests that may take")
	}
	for _, k := range c.Profile.Keys {
		if k.Name == c.Profile.RateLimit.Key {
			return k.Workspace, token(k)
		}
	}
	c.lack("the key %q, which rate_limit names", c.Profile.RateLimit.Key)
	panic("unreachable")
}

// probing returns a call for the limited key that is handed its 429. What
// deletes names something that does not exist: the data must last.
func (c *check) probing(op spec.Operation) call {
	role, key := c.limited()
	build := c.request
	if op.Method == http.MethodDelete {
		build = c.harmless
	}
	k := build(role, op)
	k.key = key
	return k.noWait()
}

// exceed sends the same valid request, or for an operation that changes
// something a list before it, until a 429 comes.
func (c *check) exceed(op spec.Operation) {
	k := c.probing(op)
	drain := k
	if op.Unsafe() {
		drain = c.probing(spec.MustOperation(spec.ListLeadLists))
	}
	budget := c.Profile.RateLimit.Budget
	start := time.Now()
	sent, limited := c.drain(drain, budget, op)
	took := time.Since(start)
	if op.Unsafe() && limited {
		limited = c.refusedToo(k)
	}
	promise := c.Profile.RateLimit
	switch {
	case limited:
	case promise.Requests > 0 && promise.Per > 0 && sent > 2*promise.Requests+1 && took < promise.Per:
		a := c.one(k)
		c.violate("RATE-429", a, "status", fmt.Sprintf("429 beyond the promised %d requests per %s", promise.Requests, promise.Per),
			fmt.Sprintf("%d requests served within %s", sent, took.Round(time.Millisecond)))
	default:
		c.missing("RATE-429", op.ID, "a rate limit that %d requests exceed", budget)
	}
}

// drain sends the request in concurrent batches until one is answered 429.
// Since the same request was served before, another refusal stands in a 429's place.
func (c *check) drain(k call, budget int, op spec.Operation) (sent int, limited bool) {
	const batch = 8
	served := false
	for sent < budget && !limited {
		calls := slices.Repeat([]call{k}, min(batch, budget-sent))
		sent += len(calls)
		for _, a := range c.send(calls...) {
			switch {
			case a.Status == http.StatusTooManyRequests:
				limited = true
				c.observe(spec.SilenceRetryAfter, k.op.ID, "Retry-After: %q", a.Header.Get("Retry-After"))
				if k.op.ID == op.ID {
					c.assess("RATE-429", op.ID)
				}
			case a.Status == http.StatusOK:
				served = true
			case served && k.op.ID == op.ID:
				c.violate("RATE-429", a, "status", "429, since the same request was served before", describe(a))
			}
		}
	}
	if limited {
		c.observe(spec.SilenceRateLimit, k.op.ID, "a limit below the %d requests of the budget", budget)
	}
	return sent, limited
}

// refusedToo sends an operation's own request while the key is over its limit.
// The limit may count operations apart, or its period may just have passed:
// then nothing is said.
func (c *check) refusedToo(k call) bool {
	a := c.one(k)
	switch {
	case a.Status == http.StatusTooManyRequests:
		c.assess("RATE-429", k.op.ID)
		return true
	case a.Status >= 500:
		c.violate("RATE-429", a, "status", "429, or the request served", describe(a))
		return true
	}
	return false
}

// resumes drives the key over its limit, then asks for every list until each
// is served; the client waits as Retry-After says, or backs off.
func (c *check) resumes() {
	list := c.probing(spec.MustOperation(spec.ListPlacementTests))
	if _, limited := c.drain(list, c.Profile.RateLimit.Budget, spec.Operation{}); !limited {
		c.lack("a rate limit that %d requests exceed", c.Profile.RateLimit.Budget)
	}
	for _, op := range bound("RATE-RESUMES") {
		k := c.probing(op)
		k.noRetry = false
		ex := c.Client.Do(c.ctx, k.request())
		a := answer{Exchange: ex, call: k}
		switch {
		case errors.Is(ex.Err, client.ErrThrottled):
			c.violate("RATE-RESUMES", a, "status", "the request served once the period has passed", fmt.Sprintf("%d answers of 429, and no other", ex.Throttled))
		case ex.Err != nil:
			c.stop(a)
		default:
			c.expect("RATE-RESUMES", a, haveStatus(http.StatusOK))
		}
	}
}
