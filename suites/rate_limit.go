package suites

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
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
			c.claimRows()
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
	if op.Answer == spec.Page {
		k = k.with("limit", "1") // so that the target has little to do but count
	}
	return k.noWait()
}

// exceed sends the same valid request until a 429 comes. What changes something
// is first tried while lists have driven the key over its limit, and repeated
// only if that shows nothing and repeating does no harm.
func (c *check) exceed(op spec.Operation) {
	k := c.probing(op)
	if op.Unsafe() {
		if c.refusedBeyondLists(k) {
			return
		}
		if !c.repeatable(op) {
			c.missing("RATE-429", op.ID, "a rate limit that counts this operation together with lists")
			return
		}
	}
	d := c.drain(k)
	promise := c.Profile.RateLimit
	within, broken := d.breaksPromise(promise)
	switch {
	case broken:
		c.violate("RATE-429", d.last, "status", fmt.Sprintf("429 beyond the promised %d requests per %s", promise.Requests, promise.Per),
			fmt.Sprintf("%d requests served within %s", tooManyFor(promise), within.Round(time.Millisecond)))
	case d.limited:
		c.assess("RATE-429", op.ID)
	case len(d.odd) == 0:
		c.missing("RATE-429", op.ID, "a rate limit that %d requests exceed", promise.Budget)
	}
	for _, a := range d.odd {
		c.violate("RATE-429", a, "status", "429, since the same request was served before", describe(a))
	}
}

// repeatable reports whether the unsafe operation's request may be sent up to
// the limit: it leaves what one leaves, or so few tests that they are soon gone.
func (c *check) repeatable(op spec.Operation) bool {
	switch op.ID {
	case spec.AddCampaignVariables, spec.MoveLead:
		return true
	case spec.CreatePlacementTest:
		promise := c.Profile.RateLimit
		return promise.Requests > 0 && promise.Requests < promise.Budget/4
	}
	return false
}

// drained is what came of driving a key over its limit.
type drained struct {
	limited bool     // a 429 came
	served  []answer // those of 200, in the order in which the requests were sent
	odd     []answer // refusals other than 429 of what was served before
	last    answer   // the last of all
}

// tooManyFor is how many requests no limiter that keeps the promise serves
// within its period: more than twice as many, since two periods may meet, and
// one for those who round up.
func tooManyFor(promise *profile.RateLimit) int { return 2*promise.Requests + 2 }

// breaksPromise looks for too many requests that were served within the
// promised period, and returns how long that took.
func (d drained) breaksPromise(promise *profile.RateLimit) (within time.Duration, broken bool) {
	n := tooManyFor(promise)
	for i := 0; promise.Requests > 0 && i+n <= len(d.served); i++ {
		var end time.Time
		for _, a := range d.served[i : i+n] {
			if answered := a.Sent.Add(a.Took); answered.After(end) {
				end = answered
			}
		}
		if within := end.Sub(d.served[i].Sent); within < promise.Per {
			return within, true
		}
	}
	return 0, false
}

// drain sends the request in concurrent batches until one is answered 429, or
// the promise is broken, or the budget is spent.
func (c *check) drain(k call) drained {
	const batch = 8
	var d drained
	promise := c.Profile.RateLimit
	for sent, broken := 0, false; sent < promise.Budget && !d.limited && !broken; sent += batch {
		for _, a := range c.send(slices.Repeat([]call{k}, min(batch, promise.Budget-sent))...) {
			d.last = a
			switch {
			case a.Status == http.StatusTooManyRequests:
				d.limited = true
				c.observe(spec.SilenceRetryAfter, k.op.ID, "Retry-After: %q", a.Header.Get("Retry-After"))
			case a.Status == http.StatusOK:
				d.served = append(d.served, a)
			case len(d.served) > 0:
				d.odd = append(d.odd, a)
			}
		}
		slices.SortFunc(d.served, func(a, b answer) int { return a.Sent.Compare(b.Sent) })
		_, broken = d.breaksPromise(promise)
	}
	if d.limited {
		c.observe(spec.SilenceRateLimit, k.op.ID, "a limit below the %d requests of the budget", promise.Budget)
	}
	return d
}

// refusedBeyondLists sends the request while lists have driven the key over its
// limit, and reports whether that showed anything. The limit may count
// operations apart: then it shows nothing. Its period may just have passed:
// hence the attempts.
func (c *check) refusedBeyondLists(k call) bool {
	const attempts = 3
	list := c.probing(spec.MustOperation(spec.ListLeadLists))
	for range attempts {
		if d := c.drain(list); !d.limited {
			return false
		}
		a := c.one(k)
		switch {
		case a.Status == http.StatusTooManyRequests:
			c.assess("RATE-429", k.op.ID)
			return true
		case !takenInstead(a):
			return c.refusedForLimit(a)
		}
		if k.op.ID == spec.MoveAccounts {
			k = reversed(k)
		}
	}
	return false
}

// takenInstead reports whether the answer is the one that the request gets
// below the limit. What probing deletes does not exist.
func takenInstead(a answer) bool {
	return a.Status == http.StatusOK || a.Status == http.StatusNotFound && a.call.op.Method == http.MethodDelete
}

// refusedForLimit waits until the limit's period has passed and repeats a
// request that was refused. If it is then taken, its refusal stood in the place of a 429.
func (c *check) refusedForLimit(refused answer) bool {
	wait := c.probing(spec.MustOperation(spec.ListLeadLists))
	wait.noRetry = false
	if !c.one(wait).ok() || !takenInstead(c.one(refused.call)) {
		return false
	}
	c.violate("RATE-429", refused, "status", "429, since the same request is taken once the limit's period has passed", describe(refused))
	return true
}

// reversed is the account move back.
func reversed(k call) call {
	const source, destination = "source_workspace_id", "destination_workspace_id"
	there := k.object()
	return k.withField(source, there[destination]).withField(destination, there[source])
}

// resumes drives the key over its limit, then asks for every list until each
// is served; the client waits as Retry-After says, or backs off.
func (c *check) resumes() {
	list := c.probing(spec.MustOperation(spec.ListPlacementTests))
	if !c.drain(list).limited {
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
