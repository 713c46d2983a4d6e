package suites

import (
	"cmp"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"

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
			It("answers 429 beyond the rate limit", Requires(spec.Rate429), Requires(spec.ErrorBody(http.StatusTooManyRequests)...),
				Needs(LimitedRequest(op.ID)), OneAtATime("rate limit"), func(api *API) {
					request := limitedRequest(api, op.ID)
					if op.Unsafe() {
						expectRefusedBeyondLists(api, request)
					} else {
						api.For(spec.Rate429).Judge(drain(api, request).judged())
					}
				})
		})
	}
	Describe(spec.ListPlacementTests, func() {
		It("serves again once the limit's period has passed", Requires(spec.RateResumes),
			AlsoOn(otherOperations(spec.RateResumes, spec.ListPlacementTests)...), AlsoJudges(spec.RateNoEffect),
			Needs(limitedNeeds()...), OneAtATime("rate limit"), AroundTheOthers(), Expends(spec.ListPlacementTests, 1), resume)
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

// expectRefusedBeyondLists sends a change once lists have driven the key over its limit, which
// belongs to the workspace and not to an operation. The limit's period may pass before the
// change is sent: hence the attempts. One that came late does not count. A change that is
// served all the same is repeated, if that does no harm, and so is one beside unlimited lists.
func expectRefusedBeyondLists(api *API, change Call) {
	const prompt = 3
	requirement := api.For(spec.Rate429)
	moved := false
	for attempts, inTime := 0, 0; inTime < prompt && attempts < mostAttempts; attempts++ {
		lists := drain(api, limitedList(api))
		if lists.slow {
			requirement.Missing("%s", lists.lacks())
			return
		}
		if !lists.limited {
			break
		}
		r := api.Do(change)
		switch {
		case r.Status == http.StatusTooManyRequests:
			requirement.Assessed()
			return
		case !takenInstead(r):
			if moved || !expectRefusedForLimit(api, r) { // the account may not have arrived where the way back begins
				requirement.Missing("a request that the target takes below the limit")
			}
			return
		}
		if late := r.Sent.Sub(lists.last.Sent); 10*late < cmp.Or(api.Profile.RateLimit.Per, time.Second) {
			inTime++
		}
		if change.Operation.ID == spec.MoveAccounts {
			change, moved = reversed(change), true
		}
	}
	if !repeatable(api, change.Operation.ID) {
		requirement.Missing("a rate limit that counts this operation together with lists")
		return
	}
	requirement.Judge(drain(api, change).judged())
}

// repeatable reports whether a change may be made up to the limit: it leaves what one leaves,
// or so few tests that they are soon gone.
func repeatable(api *API, operation string) bool {
	switch operation {
	case spec.AddCampaignVariables, spec.MoveLead:
		return true
	case spec.CreatePlacementTest:
		promise := api.Profile.RateLimit
		return promise.Requests > 0 && promise.Requests < promise.Budget/4
	}
	return false
}

// exceedByLists drives the key over its limit.
func exceedByLists(api *API) {
	if d := drain(api, limitedList(api)); !d.limited {
		api.NotAssessed("%s", d.lacks())
	}
}

// takenInstead reports whether the response is the one that the request gets
// below the limit. What the limited key deletes does not exist.
func takenInstead(r Response) bool {
	return r.Status == http.StatusOK || r.Status == http.StatusNotFound && r.Call.Operation.Method == http.MethodDelete
}

// expectRefusedForLimit waits until the limit's period has passed and repeats a refused
// request. If it is then taken, its refusal should have been a 429.
func expectRefusedForLimit(api *API, refused Response) (judged bool) {
	wait := limitedList(api)
	wait.NoRetry = false
	if !api.Do(wait).OK() || !takenInstead(api.Do(refused.Call)) {
		return false
	}
	api.For(spec.Rate429).Judge(Comparison(Found(refused, "status", "429, since the same request is taken once the limit's period has passed", Readable(refused))))
	return true
}

// reversed returns the account move back.
func reversed(k Call) Call {
	const source, destination = "source_workspace_id", "destination_workspace_id"
	there := k.Members()
	return k.WithField(source, there[destination]).WithField(destination, there[source])
}

// limited returns the key that may be driven to its limit, and its role.
func limited(api *API) (role string, key client.Key) {
	api.Take(LimitedKey)
	k, _ := api.Profile.LimitedKey()
	OnlyRun(api)
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

// limitedList returns a call that lists something with the limited key: any list that the target
// implements.
func limitedList(api *API) Call {
	for _, op := range append([]spec.Operation{spec.MustOperation(spec.Probe())}, spec.PageOrder.Operations()...) {
		if api.Serves(op.ID) {
			return limitedRequest(api, op.ID)
		}
	}
	api.NotAssessed("a list that the target implements")
	panic("unreachable")
}
