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
// asks for a test, which must not exist afterwards: no other spec has to wait for that.
func resume(api *API) {
	create := api.refusedCreation()
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
	refused, missing := create()
	for range mostCreations {
		if refused.Status != http.StatusOK || !api.drain(api.limitedRequest(api.anyList(spec.ListPlacementTests))).limited {
			break
		}
		refused, missing = api.refusedCreation()() // the limit had recovered before
	}
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
}

// mostCreations is how often a creation is repeated that the limit did not refuse.
const mostCreations = 3

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
