package suites

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// resume prepares changes below the limit and drives the key over it. Then it asks for the
// changes, which must not show afterwards, and for every list until each is served. The
// client waits as Retry-After says, or backs off. The other specs drive the key over its
// limit in between, so that a run waits for the end of the limit's period only once.
func resume(api *API) {
	changes := api.limitedChanges()
	operations := spec.RateResumes.Operations()
	missing := make([]string, len(operations))
	work := make([]func(), len(operations))
	for i, op := range operations { // asked before the limit is met
		work[i] = func() { missing[i] = api.attempt(func() { api.needServed(Call{Operation: op}) }) }
	}
	api.Together(work...)
	var served []string
	for i, op := range operations {
		if missing[i] != "" {
			api.ForOperation(spec.RateResumes, op.ID).NotAssessed("%s", missing[i])
			continue
		}
		served = append(served, op.ID)
	}
	list := api.limitedRequest(api.anyList(spec.ListPlacementTests))
	if d := api.drain(list); !d.limited {
		api.NotAssessed("%s", d.lacks(api.Profile.RateLimit))
	}
	for range mostAttempts {
		if api.sendBeyondLimit(changes, list) {
			break
		}
		for _, change := range changes {
			if change.wasServed() { // the limit's period had passed
				change.prepare(api)
			}
		}
		if !slices.ContainsFunc(changes, (*limitedChange).waits) || !api.drain(list).limited {
			break
		}
	}
	api.letOthersRun()
	again := make([]Response, len(served))
	ask := func(i int) {
		k := api.limitedRequest(served[i])
		k.noRetry = false
		k.brief = true
		again[i] = api.ask(k, k.request())
		api.record(again[i])
	}
	work = nil
	for i := range served {
		if i == 0 {
			ask(i) // waits for the end of the period
		} else {
			work = append(work, func() { ask(i) })
		}
	}
	api.Together(work...)
	for i, id := range served {
		r := again[i]
		requirement := api.ForOperation(spec.RateResumes, id)
		switch {
		case errors.Is(r.Err, client.ErrTooLate): // the server is honest about a long period
			longest, _ := api.Client.ThrottleLimits()
			requirement.NotAssessed("a rate limit whose Retry-After is at most %s (twice pace.patience)", longest)
		case r.Err != nil && !errors.Is(r.Err, client.ErrThrottled):
			api.stop(r)
		case r.Err != nil && !api.servesAnotherWorkspace(id): // for whatever reason, it is not this limit
			requirement.NotAssessed("responses other than 429")
		default:
			requirement.Expect(r).To(BeServedAgain())
		}
	}
	_ = api.attempt(api.awaitLaterChange) // if it does not show, the refused changes had as much time
	for _, change := range changes {
		change.judge(api)
	}
}

// servesAnotherWorkspace reports whether a key of another workspace than that of the
// limited key gets any response but 429. A run that has given the target up gets none. In a
// profile with one workspace, any other target counts as serving.
func (api *API) servesAnotherWorkspace(list string) (served bool) {
	another := dataset.Main
	if role, _ := api.limited(); role == another {
		another = dataset.Second
	}
	served = api.ctx.Err() == nil
	_ = api.attempt(func() {
		k := api.As(another, list).MayBeRefused().WithoutRetry()
		r := api.ask(k, k.request())
		api.record(r)
		served = r.Err == nil && r.Status != http.StatusTooManyRequests
	})
	return served
}

// mostAttempts is how often a change is sent that the limit did not refuse. On a busy
// machine the limit's period often passes between the lists that exceed it and the change.
const mostAttempts = 10

// limitedChange is a change that the rate limit must refuse, and whose effect a further
// request shows.
type limitedChange struct {
	operation string
	request   func(api *API, served bool) Call // a valid change; served tells that the one before took effect
	look      func(api *API, requirement Requirement, refused Response)
	spends    bool // a row that the profile lists: a run has few of them

	call     Call
	response Response
	sent     bool
	missing  string // why there is nothing to judge
}

// limitedChanges prepares the changes while the key is served.
func (api *API) limitedChanges() []*limitedChange {
	changes := []*limitedChange{
		{operation: spec.CreatePlacementTest, request: limitedCreation, look: expectNoneCreated},
		{operation: spec.DeletePlacementTest, request: limitedDeletion, look: expectKeptBeyondLimit},
		{operation: spec.DeleteSubsequence, request: limitedSubsequence, look: expectKeptBeyondLimit, spends: true},
		{operation: spec.MoveAccounts, request: limitedMove, look: expectAccountStayed},
	}
	for _, change := range changes {
		change.prepare(api)
	}
	return changes
}

// prepare makes the request of the change, or notes what is missing for it.
func (c *limitedChange) prepare(api *API) {
	served := c.wasServed()
	c.sent = false
	c.missing = api.attempt(func() { c.call = c.request(api, served).MayBeRefused().WithoutRetry() })
}

func (c *limitedChange) wasServed() bool { return c.sent && c.response.Status == http.StatusOK }

// waits reports whether the change is still to be sent.
func (c *limitedChange) waits() bool { return !c.sent && c.missing == "" }

// sendBeyondLimit sends the changes that were not sent yet, all at once: the limit's period
// may soon have passed. Those that spend a row follow, unless it has. It reports whether the
// limit still refuses the list afterwards: then it counts apart what was served meanwhile.
func (api *API) sendBeyondLimit(changes []*limitedChange, list Call) (limited bool) {
	for _, spends := range []bool{false, true} {
		var work []func()
		for _, change := range changes {
			if change.spends == spends && change.waits() {
				work = append(work, func() { // one that the profile does not permit keeps none of the others
					change.missing = api.attempt(func() { change.response = api.Do(change.call) })
					change.sent = change.missing == ""
				})
			}
		}
		api.Together(work...)
		if limited = api.Do(list).Status == http.StatusTooManyRequests; !limited {
			break
		}
	}
	return limited
}

// judge looks for the effect of a change that the limit refused.
func (c *limitedChange) judge(api *API) {
	requirement := api.ForOperation(spec.RateNoEffect, c.operation)
	if c.missing == "" && (!c.sent || c.response.Status != http.StatusTooManyRequests) {
		c.missing = "a rate limit that counts this operation together with lists"
	}
	if c.missing == "" {
		c.missing = api.attempt(func() { c.look(api, requirement, c.response) })
	}
	if c.missing != "" {
		requirement.NotAssessed("%s", c.missing)
	}
}

// limitedCall returns a call with the limited key that waits for its limit.
func (api *API) limitedCall(operation string) Call {
	role, key := api.limited()
	k := api.As(role, operation)
	k.key = key
	k.provoked = true
	return k.MayBeRefused() // the key need not have every scope
}

func limitedCreation(api *API, _ bool) Call { return api.limitedRequest(spec.CreatePlacementTest) }

// limitedDeletion creates the test that the request deletes.
func limitedDeletion(api *API, _ bool) Call {
	create := api.limitedRequest(spec.CreatePlacementTest)
	create.noRetry = false
	id := api.MustDo(create).ID()
	get := api.limitedCall(spec.GetPlacementTest).WithID(id)
	found := api.until("a created test in a get", get, Response.OK) // else the deletion would ask, and wait for the limit
	if !found.OK() {
		api.NotAssessed("%s from %s", found.shortfall(), spec.GetPlacementTest)
	}
	return api.limitedCall(spec.DeletePlacementTest).WithID(id)
}

// limitedSubsequence deletes a subsequence that may be deleted and that the list shows.
func limitedSubsequence(api *API, _ bool) Call {
	role, _ := api.limited()
	if role == dataset.Main {
		return api.limitedCall(spec.DeleteSubsequence).WithID(api.expendableSubsequence())
	}
	shown := api.ReadAll(api.limitedCall(spec.ListSubsequences)).Keys()
	for _, id := range api.Workspace(role).ExpendableSubsequences {
		if shown[paging.FoldID(id)] > 0 {
			return api.limitedCall(spec.DeleteSubsequence).WithID(id)
		}
	}
	api.NotAssessed("the entry workspaces.%s.expendable_subsequences (one that still exists)", role)
	panic("unreachable")
}

// limitedMove moves an account away, after it has moved it away and back. Other specs may
// move the accounts of the workspace admin at the same time.
func limitedMove(api *API, served bool) Call {
	role, _ := api.limited()
	if role == dataset.Admin || api.Workspace(role).ID == api.Workspace(dataset.Admin).ID {
		api.NotAssessed("a key for rate_limit of another workspace than %q, whose accounts other checks move", dataset.Admin)
	}
	source, destination := api.subWorkspaces(role)
	k := api.limitedCall(spec.MoveAccounts)
	away, back := k.WithBody(move(source, destination, source.Accounts[0])), k.WithBody(move(destination, source, source.Accounts[0]))
	if !served {
		api.moves(away)
	}
	api.moves(back)
	return away
}

// expectNoneCreated looks in the workspace of the limited key for the test that the
// limit refused.
func expectNoneCreated(api *API, requirement Requirement, refused Response) {
	list := api.limitedCall(spec.ListPlacementTests).WithQuery("sort_order", "desc").WithQuery("limit", strconv.Itoa(newest))
	page := api.Do(list)
	if lacks := page.shortfall(); lacks != "" {
		api.NotAssessed("%s from %s", lacks, list.Operation.ID) // RATE-RESUMES judges that
	}
	made := madeOf(refused, nil, rowsByKey(page))
	api.rollBack(refused.Call, made)
	requirement.Expect(refused).To(MakeNothing(made))
}

func expectKeptBeyondLimit(api *API, requirement Requirement, refused Response) {
	api.expectThere(requirement.Expect, refused.Call, api.limitedCall)
}

// expectAccountStayed moves the account once more from where it must have stayed. If it
// did not stay, it is moved back.
func expectAccountStayed(api *API, requirement Requirement, refused Response) {
	away := refused.Call
	away.noRetry = false
	requirement.Expect(api.untilMoved(away)).To(BeServed())
	api.moves(reversed(away))
}

// BeServedAgain matches a response to a request that was sent again until the
// limit's period had passed.
func BeServedAgain() types.GomegaMatcher {
	return &expectation[Response]{words: "serve the request once the limit's period has passed", judge: func(r Response) Verdict {
		switch {
		case errors.Is(r.Err, client.ErrThrottled):
			return Verdict{Assessed: 1, Findings: []Finding{{r, "status", "the request served once the period has passed",
				fmt.Sprintf("%d responses with 429, and no other", r.Throttled)}}}
		case r.Status != http.StatusOK:
			return Verdict{Assessed: 1, Findings: []Finding{{r, "status", "200", describe(r)}}}
		default:
			return Verdict{Assessed: 1}
		}
	}}
}
