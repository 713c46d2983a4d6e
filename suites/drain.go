package suites

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// drained is what came of driving a key over its limit.
type drained struct {
	promise *profile.RateLimit
	limited bool       // a 429 came
	slow    bool       // the responses take too long to send as many requests as the profile promises
	served  []period   // those of 200, in the order in which the requests were sent
	odd     []Response // the first refusals other than 429 of what was served before
	last    Response
}

// period is when a request was sent and when it was answered.
type period struct{ sent, answered time.Time }

// drainBatch is how many requests of a drain are in flight.
const drainBatch = 8

// drain sends the request in concurrent batches until one is answered 429, or
// the promise is broken, or the budget is spent. It goes on only if the first batch
// is served: a refused key shows nothing about a limit. It ends early if the target is
// too slow for its promised limit. An operation that did not reach the limit once is
// not sent again: it would show the same.
func drain(api *API, k Call) drained {
	unlimited := Once(api.Env, func() *atomic.Pointer[drained] { return &atomic.Pointer[drained]{} }, "unlimited", k.Operation.ID)
	if known := unlimited.Load(); known != nil {
		return *known
	}
	d := drainNow(api, k)
	if _, broken := d.breaksPromise(); len(d.served) > 0 && !d.limited && !broken && len(d.odd) == 0 {
		unlimited.Store(&d)
	}
	return d
}

func drainNow(api *API, k Call) drained {
	const maxOdd = 100
	d := drained{promise: api.Profile.RateLimit}
	k.Brief = true
	most, broken := d.promise.Budget, false
	if k.Operation.ID == spec.CreatePlacementTest { // each test must be deleted again
		most = min(most, d.tooMany()+drainBatch)
	}
	for sent := 0; sent < most && !d.limited && !broken && !d.slow; sent += drainBatch {
		batch := slices.Repeat([]Call{k}, min(drainBatch, most-sent))
		for i := range batch {
			if k.Operation.ID == spec.CreatePlacementTest { // a server may refuse the same name again
				batch[i] = k.WithField("name", api.Word())
			}
		}
		for _, r := range api.DoAll(batch...) {
			d.last = r
			switch {
			case r.Status == http.StatusTooManyRequests:
				d.limited = true
				observeRetryAfter(api, r)
			case r.Status == http.StatusOK:
				d.served = append(d.served, period{r.Sent, r.Sent.Add(r.Took)})
			case k.Operation.Unsafe() && RefusesRepetition(r.Status): // whether a change can be made again is open
			case len(d.served) > 0 && len(d.odd) < maxOdd:
				d.odd = append(d.odd, r)
			}
		}
		if len(d.served) == 0 {
			break
		}
		slices.SortFunc(d.served, func(a, b period) int { return a.sent.Compare(b.sent) })
		_, broken = d.breaksPromise()
		d.slow = d.tooSlow()
	}
	if d.limited {
		ObserveOn(api, k.Operation.ID, spec.OpenPointRateLimit, "a limit below the %d requests of the budget", d.promise.Budget)
	}
	return d
}

// observeRetryAfter observes how long a 429 asks the client to wait.
func observeRetryAfter(api *API, r Response) {
	if wait, has := r.Header["Retry-After"]; has {
		ObserveOn(api, r.Call.Operation.ID, spec.OpenPointRetryAfter, "Retry-After: %q", wait[0])
		return
	}
	ObserveOn(api, r.Call.Operation.ID, spec.OpenPointRetryAfter, "no Retry-After")
}

// judged judges that the key was answered 429, and by nothing else once it had been served. A
// limit that the budget does not reach proves nothing, unless the profile promises a lower one.
func (d drained) judged() (found Verdict) {
	within, broken := d.breaksPromise()
	switch {
	case broken:
		found.Add(Found(d.last, "status",
			fmt.Sprintf("429 beyond the promised %d requests per %s", d.promise.Requests, d.promise.Per),
			fmt.Sprintf("%d requests served within %s", d.tooMany(), within.Round(time.Millisecond))))
	case d.limited:
		found.Assessed++
	case len(d.odd) == 0:
		found.Missing = d.lacks()
	}
	for _, r := range d.odd {
		found.Add(Found(r, "status", "429, since the same request was served before", Readable(r)))
	}
	return found
}

// lacks says what would have shown a limit that was not met.
func (d drained) lacks() string {
	if len(d.served) == 0 {
		return fmt.Sprintf("a served request of the key %q, which rate_limit names (it is answered %d)", d.promise.Key, d.last.Status)
	}
	if d.slow {
		return fmt.Sprintf("responses quick enough to exceed %d requests per %s, %d at a time", d.promise.Requests, d.promise.Per, drainBatch)
	}
	return fmt.Sprintf("a rate limit that %d requests exceed (rate_limit.budget)", d.promise.Budget)
}

// tooMany is how many requests no limiter that keeps the promise serves within its
// period: more than twice as many, since two periods may meet, and one more for a
// server that rounds up.
func (d drained) tooMany() int { return 2*d.promise.Requests + 2 }

// breaksPromise looks for too many requests that were served within the
// promised period, and returns how long that took.
func (d drained) breaksPromise() (within time.Duration, broken bool) {
	n := d.tooMany()
	for i := 0; d.promise.Requests > 0 && i+n <= len(d.served); i++ {
		last := slices.MaxFunc(d.served[i:i+n], func(a, b period) int { return a.answered.Compare(b.answered) })
		if within := last.answered.Sub(d.served[i].sent); within < d.promise.Per {
			return within, true
		}
	}
	return 0, false
}

// tooSlow reports whether the requests were served at less than half the rate that
// the limit promises. Several batches decide, because one may meet a stall.
func (d drained) tooSlow() bool {
	const batches = 5
	if d.promise.Requests == 0 || len(d.served) < batches*drainBatch {
		return false
	}
	last := d.served[len(d.served)-batches*drainBatch:]
	took := last[len(last)-1].answered.Sub(last[0].sent)
	allowed := float64(d.promise.Requests) * took.Seconds() / d.promise.Per.Seconds()
	return 2*float64(len(last)) < allowed
}
