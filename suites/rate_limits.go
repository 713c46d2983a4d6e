package suites

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// rateLimits exceeds the rate limit of the key that the profile hands over for
// it, within the profile's request budget (sections Errors and Limits). Whoever
// drives the key to its limit must be alone with it.
func rateLimits() {
	for _, op := range spec.Rate429.Operations() {
		Describe(op.ID, func() {
			It("answers 429 beyond the rate limit", Requires(spec.Rate429), Requires(spec.ErrorBody(http.StatusTooManyRequests)...), Needs(LimitedRequest(op.ID)), OneAtATime("rate limit"), exceedTheLimit)
		})
	}
	Describe(spec.ListPlacementTests, func() {
		It("serves again once the limit's period has passed", Requires(spec.RateResumes), AlsoOn(otherOperations(spec.RateResumes, spec.ListPlacementTests)...),
			AlsoJudges(spec.RateNoEffect), Needs(limitedNeeds()...), OneAtATime("rate limit"), AroundTheOthers(), Expends(spec.ListPlacementTests, 1), resume)
	})
}

// otherOperations returns the operations of the requirement but one.
func otherOperations(id spec.ID, but string) []string {
	var operations []string
	for _, op := range id.Operations() {
		if op.ID != but {
			operations = append(operations, op.ID)
		}
	}
	return operations
}

// limited returns the key that may be driven to its limit, and its role.
func limited(api *API) (role string, key client.Key) {
	api.Take(LimitedKey)
	k, _ := api.Profile.LimitedKey()
	Lock(api)
	create := Call{Operation: spec.MustOperation(spec.CreatePlacementTest), Key: k.ForClient()}
	EndIf(api, api.Sandbox().LookBefore(api.Ctx, Change(api, create))) // later the list would have to wait for the limit
	return k.Workspace, k.ForClient()
}

// limitedRequest returns a valid call for the limited key that does not wait for
// its limit. What deletes names something that does not exist: the data must last.
func limitedRequest(api *API, operation string) Call {
	role, key := limited(api)
	build := (*API).RequestAs
	if spec.MustOperation(operation).Method == http.MethodDelete {
		build = HarmlessRequestAs
	}
	k := build(api, role, operation)
	k.Key = key
	if k.Operation.Answer == spec.Page {
		k = k.WithQuery("limit", "1") // so that the server has little to do but count
	}
	k.Provoked = true
	return WithoutRetry(k.MayBeRefused()) // the key need not have every scope
}

// exceedTheLimit sends the same valid request until a 429 comes. What changes
// something is first tried while lists have driven the key over its limit. It is
// repeated only if that shows nothing, repeating does no harm, and the target is not
// too slow for its limit.
func exceedTheLimit(api *API) {
	k := limitedRequest(api, api.Operation().ID)
	if k.Operation.Unsafe() {
		shown, lists := refusedBeyondLists(api, k)
		switch {
		case shown:
			return
		case lists.slow:
			api.For(spec.Rate429).Missing("%s", lists.lacks(api.Profile.RateLimit))
			return
		case !repeatable(api, k.Operation):
			api.For(spec.Rate429).Missing("a rate limit that counts this operation together with lists")
			return
		}
	}
	api.For(spec.Rate429).Judge(drain(api, k).verdict(api.Profile.RateLimit))
}

// repeatable reports whether the unsafe operation's request may be sent up to
// the limit: it leaves what one leaves, or so few tests that they are soon gone.
func repeatable(api *API, op spec.Operation) bool {
	switch op.ID {
	case spec.AddCampaignVariables, spec.MoveLead:
		return true
	case spec.CreatePlacementTest:
		promise := api.Profile.RateLimit
		return promise.Requests > 0 && promise.Requests < promise.Budget/4
	}
	return false
}

// drained is what came of driving a key over its limit.
type drained struct {
	limited bool       // a 429 came
	slow    bool       // the responses take too long to send as many requests as the profile promises
	served  []period   // those of 200, in the order in which the requests were sent
	odd     []Response // the first refusals other than 429 of what was served before
	last    Response
}

// period is when a request was sent and when it was answered.
type period struct{ sent, answered time.Time }

// verdict judges that the key was answered 429, and by nothing else once it had been served. A
// limit that the budget does not reach proves nothing, unless the profile promises a lower one.
func (d drained) verdict(promise *profile.RateLimit) (found Verdict) {
	within, broken := d.breaksPromise(promise)
	switch {
	case broken:
		found.Add(Found(d.last, "status",
			fmt.Sprintf("429 beyond the promised %d requests per %s", promise.Requests, promise.Per),
			fmt.Sprintf("%d requests served within %s", tooManyFor(promise), within.Round(time.Millisecond))))
	case d.limited:
		found.Assessed++
	case len(d.odd) == 0:
		found.Missing = d.lacks(promise)
	}
	for _, r := range d.odd {
		found.Add(Found(r, "status", "429, since the same request was served before", Readable(r)))
	}
	return found
}

// lacks says what would have shown a limit that was not met.
func (d drained) lacks(promise *profile.RateLimit) string {
	if len(d.served) == 0 {
		return fmt.Sprintf("a served request of the key %q, which rate_limit names (it is answered %d)", promise.Key, d.last.Status)
	}
	if d.slow {
		return fmt.Sprintf("responses quick enough to exceed %d requests per %s, %d at a time", promise.Requests, promise.Per, drainBatch)
	}
	return fmt.Sprintf("a rate limit that %d requests exceed (rate_limit.budget)", promise.Budget)
}

// tooManyFor is how many requests no limiter that keeps the promise serves
// within its period: more than twice as many, since two periods may meet, and
// one more for a server that rounds up.
func tooManyFor(promise *profile.RateLimit) int { return 2*promise.Requests + 2 }

// breaksPromise looks for too many requests that were served within the
// promised period, and returns how long that took.
func (d drained) breaksPromise(promise *profile.RateLimit) (within time.Duration, broken bool) {
	n := tooManyFor(promise)
	for i := 0; promise.Requests > 0 && i+n <= len(d.served); i++ {
		var end time.Time
		for _, r := range d.served[i : i+n] {
			if r.answered.After(end) {
				end = r.answered
			}
		}
		if within := end.Sub(d.served[i].sent); within < promise.Per {
			return within, true
		}
	}
	return 0, false
}

// drainBatch is how many requests of a drain are in flight.
const drainBatch = 8

// drain sends the request in concurrent batches until one is answered 429, or
// the promise is broken, or the budget is spent. It goes on only if the first batch
// is served: a refused key shows nothing about a limit. It ends early if the target is
// too slow for its promised limit. An operation that did not reach the limit once is
// not sent again: it would show the same.
func drain(api *API, k Call) drained {
	var all drained
	unlimited, _ := Remember(api.Env, func() (_ drained, unlimited bool) {
		all, unlimited = drainNow(api, k)
		return drained{slow: all.slow, served: all.served[:min(1, len(all.served))]}, unlimited
	}, "unlimited", k.Operation.ID)
	if all.last.Call.Operation.ID == "" { // another spec has sent it
		return unlimited
	}
	return all
}

// drainNow is drain for an operation that may have a limit. It reports whether it surely has
// none that the budget exceeds.
func drainNow(api *API, k Call) (d drained, unlimited bool) {
	const maxOdd = 100
	k.Brief = true
	broken := false
	promise := api.Profile.RateLimit
	most := promise.Budget
	if k.Operation.ID == spec.CreatePlacementTest { // each test must be deleted again
		most = min(most, tooManyFor(promise)+drainBatch)
	}
	for sent := 0; sent < most && !d.limited && !broken && !d.slow; sent += drainBatch {
		for _, r := range api.DoAll(slices.Repeat([]Call{k}, min(drainBatch, most-sent))...) {
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
		slices.SortFunc(d.served, func(a, b period) int { return a.sent.Compare(b.sent) })
		if _, broken = d.breaksPromise(promise); len(d.served) == 0 {
			break
		}
		d.slow = tooSlowFor(promise, d.served)
	}
	switch {
	case d.limited:
		ObserveOn(api, k.Operation.ID, spec.OpenPointRateLimit, "a limit below the %d requests of the budget", promise.Budget)
	case len(d.served) > 0 && !broken && len(d.odd) == 0:
		unlimited = true
	}
	return d, unlimited
}

// observeRetryAfter observes how long a 429 asks the client to wait.
func observeRetryAfter(api *API, r Response) {
	if wait, has := r.Header["Retry-After"]; has {
		ObserveOn(api, r.Call.Operation.ID, spec.OpenPointRetryAfter, "Retry-After: %q", wait[0])
		return
	}
	ObserveOn(api, r.Call.Operation.ID, spec.OpenPointRetryAfter, "no Retry-After")
}

// tooSlowFor reports whether the requests were served at less than half the rate that
// the limit promises. Several batches decide, because one may meet a stall.
func tooSlowFor(promise *profile.RateLimit, served []period) bool {
	const batches = 5
	if promise.Requests == 0 || len(served) < batches*drainBatch {
		return false
	}
	last := served[len(served)-batches*drainBatch:]
	took := last[len(last)-1].answered.Sub(last[0].sent)
	allowed := float64(promise.Requests) * took.Seconds() / promise.Per.Seconds()
	return 2*float64(len(last)) < allowed
}

// refusedBeyondLists sends the request while lists have driven the key over its
// limit. It reports whether that showed anything, and what came of the lists. It shows
// nothing if the server counts operations apart. The period may just have passed: hence
// the attempts. More are made if a tenth of the period passed before the request.
func refusedBeyondLists(api *API, k Call) (shown bool, lists drained) {
	const prompt = 3
	list := limitedRequest(api, anyList(api, spec.Probe()))
	moved := false
	for attempts, inTime := 0, 0; inTime < prompt && attempts < mostAttempts; attempts++ {
		if lists = drain(api, list); !lists.limited {
			return false, lists
		}
		r := api.Do(k)
		switch {
		case r.Status == http.StatusTooManyRequests:
			api.For(spec.Rate429).Assessed()
			return true, lists
		case !takenInstead(r) && moved:
			return false, lists // the account may not have arrived where the way back begins
		case !takenInstead(r):
			return refusedForLimit(api, r), lists
		}
		if late := r.Sent.Sub(lists.last.Sent); 10*late < cmp.Or(api.Profile.RateLimit.Per, time.Second) {
			inTime++
		}
		if k.Operation.ID == spec.MoveAccounts {
			k, moved = reversed(k), true
		}
	}
	return false, lists
}

// takenInstead reports whether the response is the one that the request gets
// below the limit. What the limited key deletes does not exist.
func takenInstead(r Response) bool {
	return r.Status == http.StatusOK || r.Status == http.StatusNotFound && r.Call.Operation.Method == http.MethodDelete
}

// refusedForLimit waits until the limit's period has passed and repeats a
// refused request. If it is then taken, its refusal should have been a 429.
func refusedForLimit(api *API, refused Response) bool {
	wait := limitedRequest(api, anyList(api, spec.Probe()))
	wait.NoRetry = false
	if !api.Do(wait).OK() || !takenInstead(api.Do(refused.Call)) {
		return false
	}
	api.For(spec.Rate429).Judge(Comparison(Found(refused, "status", "429, since the same request is taken once the limit's period has passed", Readable(refused))))
	return true
}

// anyList returns the id of the preferred list, or of another one that the target
// implements.
func anyList(api *API, preferred string) string {
	for _, op := range append([]spec.Operation{spec.MustOperation(preferred)}, spec.PageOrder.Operations()...) {
		if api.Serves(op.ID) {
			return op.ID
		}
	}
	api.NotAssessed("a list that the target implements")
	panic("unreachable")
}

// reversed returns the account move back.
func reversed(k Call) Call {
	const source, destination = "source_workspace_id", "destination_workspace_id"
	there := k.Members()
	return k.WithField(source, there[destination]).WithField(destination, there[source])
}
