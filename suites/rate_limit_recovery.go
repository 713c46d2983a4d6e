package suites

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// resume drives the key over its limit, then asks for every list until each is
// served. The client waits as Retry-After says, or backs off. Beyond the limit it also
// asks for a test, which must not exist afterwards, and deletes one, which must: no other
// spec has to wait for that.
func resume(api *API) {
	create, remove := api.refusedCreation(), api.refusedDeletion()
	var served []string
	for _, op := range spec.RateResumes.Operations() { // asked before the limit is met
		requirement := api.ForOperation(spec.RateResumes, op.ID)
		if missing := api.attempt(func() { api.needServed(Call{Operation: op}) }); missing != "" {
			requirement.NotAssessed("%s", missing)
			continue
		}
		served = append(served, op.ID)
	}
	if d := api.drain(api.limitedRequest(api.anyList(spec.ListPlacementTests))); !d.limited {
		api.NotAssessed("%s", d.lacks(api.Profile.RateLimit))
	}
	refused, missing := api.beyondTheLimit(create, api.refusedCreation)
	kept, unkept := api.beyondTheLimit(remove, api.refusedDeletion)
	for _, id := range served {
		k := api.limitedRequest(id)
		k.noRetry = false
		k.brief = true
		r := api.ask(k, k.request())
		api.record(r)
		requirement := api.ForOperation(spec.RateResumes, id)
		switch {
		case errors.Is(r.Err, client.ErrTooLate): // the server is honest about a long period
			longest, _ := api.Client.ThrottleLimits()
			requirement.NotAssessed("a rate limit whose Retry-After is at most %s (twice pace.patience)", longest)
		case r.Err != nil && !errors.Is(r.Err, client.ErrThrottled):
			api.stop(r)
		default:
			requirement.Expect(r).To(BeServedAgain())
		}
	}
	api.expectNoneCreated(refused, missing)
	api.expectNoneDeleted(kept, unkept)
}

// mostAttempts is how often a request is sent that the limit should refuse.
const mostAttempts = 4

// beyondTheLimit sends what was prepared as soon as the key is over its limit. If the limit
// has recovered before, it prepares another request.
func (api *API) beyondTheLimit(send func() (Response, string), prepare func() func() (Response, string)) (refused Response, missing string) {
	missing = "a rate limit that lists exceed again"
	for attempt := range mostAttempts {
		if attempt > 0 {
			send = prepare()
		}
		if !api.drain(api.limitedRequest(api.anyList(spec.ListPlacementTests))).limited {
			break
		}
		if refused, missing = send(); refused.Status != http.StatusOK {
			break
		}
	}
	return refused, missing
}

// refusedCreation prepares a creation with the limited key. The function that it returns
// sends it, and says what is missing if it was not refused for the limit.
func (api *API) refusedCreation() func() (refused Response, missing string) {
	var k Call
	unprepared := api.attempt(func() { k = api.limitedRequest(spec.CreatePlacementTest) })
	return func() (refused Response, missing string) {
		if missing = unprepared; missing == "" {
			missing = api.attempt(func() { refused = api.Do(k) })
		}
		if missing == "" && refused.Status != http.StatusTooManyRequests {
			missing = "a rate limit that counts this operation together with lists"
		}
		return refused, missing
	}
}

// refusedDeletion makes a test with the limited key. The function that it returns deletes
// the test, and says what is missing if that was not refused for the limit.
func (api *API) refusedDeletion() func() (refused Response, missing string) {
	var remove Call
	unprepared := api.attempt(func() {
		create := api.limitedRequest(spec.CreatePlacementTest)
		create.noRetry = false // the key may be over its limit
		made := api.Do(create)
		if lacks := made.shortfall(); lacks != "" {
			api.NotAssessed("%s", lacks)
		}
		remove = api.limitedRequest(spec.DeletePlacementTest).WithID(made.ID())
		api.need(api.sandbox().Permit(api.ctx, api.change(remove))) // later the proof of whose test it is would wait for the limit
	})
	return func() (refused Response, missing string) {
		if missing = unprepared; missing == "" {
			missing = api.attempt(func() { refused = api.Do(remove) })
		}
		if missing == "" && refused.Status != http.StatusTooManyRequests {
			missing = "a rate limit that counts this operation together with lists"
		}
		return refused, missing
	}
}

// expectNoneDeleted looks for the test whose deletion the limit refused.
func (api *API) expectNoneDeleted(refused Response, missing string) {
	requirement := api.ForOperation(spec.RateNoEffect, spec.DeletePlacementTest)
	if missing != "" {
		requirement.NotAssessed("%s", missing)
		return
	}
	get := api.limitedRequest(spec.GetPlacementTest).WithID(refused.Call.id).MayGet(http.StatusNotFound)
	get.noRetry = false
	found := api.until("a created test in a get", get, Response.OK)
	if found.Err != nil || found.Status != http.StatusOK && found.Status != http.StatusNotFound {
		requirement.NotAssessed("a get with the limited key")
		return
	}
	requirement.Expect(found).To(HaveStatusBecause(http.StatusOK, "200 and the test, whose deletion the limit had refused"))
}

// expectNoneCreated looks in the workspace of the limited key for the test that the
// limit refused.
func (api *API) expectNoneCreated(refused Response, missing string) {
	requirement := api.ForOperation(spec.RateNoEffect, spec.CreatePlacementTest)
	var made []map[string]any
	if missing == "" {
		missing = api.attempt(func() {
			list := api.limitedRequest(spec.ListPlacementTests).WithQuery("sort_order", "desc").WithQuery("limit", strconv.Itoa(newest))
			list.noRetry = false
			page := api.Do(list)
			if lacks := page.shortfall(); lacks != "" {
				api.NotAssessed("%s from %s", lacks, list.Operation.ID) // RATE-RESUMES judges that
			}
			made = madeOf(refused, nil, rowsByKey(page))
		})
	}
	switch {
	case missing != "":
		requirement.NotAssessed("%s", missing)
	case len(made) == 0:
		requirement.Assessed()
	default:
		api.rollBack(refused.Call, made)
		requirement.Expect(refused).To(MakeNothing(made))
	}
}

// BeServedAgain matches a response to a request that was sent again until the
// limit's period had passed.
func BeServedAgain() types.GomegaMatcher {
	return &expectation[Response]{words: "serve the request once the limit's period has passed", judge: func(r Response) Verdict {
		switch {
		case errors.Is(r.Err, client.ErrThrottled):
			return Verdict{Assessed: 1, Findings: []Finding{{r, "status", "the request served once the period has passed",
				fmt.Sprintf("%d answers of 429, and no other", r.Throttled)}}}
		case r.Status != http.StatusOK:
			return Verdict{Assessed: 1, Findings: []Finding{{r, "status", "200", describe(r)}}}
		default:
			return Verdict{Assessed: 1}
		}
	}}
}
