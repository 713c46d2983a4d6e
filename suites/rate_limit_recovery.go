package suites

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// resume prepares changes below the limit and drives the key over it. Then it asks for the
// changes, which must not show afterwards, and for every list until each is served. The
// other specs drive the key over its limit in between, so that a run waits for the end of the
// limit's period only once.
func resume(api *API) {
	changes := limitedChanges(api)
	lists := servedLists(api) // asked before the limit is met
	exceedAndChange(api, changes)
	LetOthersRun(api)
	for _, r := range askAgain(api, lists) {
		judgeResumed(api, r)
	}
	_ = Attempt(api, func() { awaitLaterChange(api) }) // if it does not show, the refused changes had as much time
	for _, change := range changes {
		change.judge(api)
	}
}

// servedLists returns the operations of the requirement that the target serves.
func servedLists(api *API) (served []string) {
	operations := spec.RateResumes.Operations()
	missing := Each(api, operations, func(op spec.Operation) string {
		return Attempt(api, func() { NeedServed(api, Call{Operation: op}) })
	})
	for i, op := range operations {
		if missing[i] == "" {
			served = append(served, op.ID)
		} else {
			api.For(spec.RateResumes, op.ID).Missing("%s", missing[i])
		}
	}
	return served
}

// exceedAndChange drives the key over its limit and sends the changes. A change that is served
// is prepared and sent again: the limit's period had passed.
func exceedAndChange(api *API, changes []*limitedChange) {
	list := limitedList(api)
	exceedByLists(api)
	for range mostAttempts {
		if sendBeyondLimit(api, changes, list) {
			return
		}
		for _, change := range changes {
			if change.wasServed() {
				change.prepare(api)
			}
		}
		if !slices.ContainsFunc(changes, (*limitedChange).waits) || !drain(api, list).limited {
			return
		}
	}
}

// askAgain asks for the lists until each is served. The client waits as Retry-After says, or
// backs off.
func askAgain(api *API, lists []string) []Response {
	ask := func(list string) Response {
		k := limitedRequest(api, list)
		k.NoRetry = false
		k.Brief = true
		return TrySend(api, k)
	}
	if len(lists) == 0 {
		return nil
	}
	first := ask(lists[0]) // waits for the end of the period
	return append([]Response{first}, Each(api, lists[1:], ask)...)
}

// judgeResumed judges that a list is served again.
func judgeResumed(api *API, r Response) {
	operation := r.Call.Operation.ID
	requirement := api.For(spec.RateResumes, operation)
	switch {
	case errors.Is(r.Err, client.ErrTooLate): // the server is honest about a long period
		requirement.Missing("a rate limit whose Retry-After is at most %s (twice pace.patience)", api.Client.MaxThrottle())
	case r.Err != nil && !errors.Is(r.Err, client.ErrThrottled):
		Stop(api, r)
	case r.Err != nil && !servesAnotherWorkspace(api, operation): // for whatever reason, it is not this limit
		requirement.Missing("responses other than 429")
	default:
		requirement.Judge(servedAgain(r))
	}
}

// limitedNeeds returns what resume needs, apart for each change.
func limitedNeeds() []Need {
	role := func(p *profile.Profile) string { key, _ := p.LimitedKey(); return key.Workspace }
	by := func(needs func(role string) []Need) Need {
		return All(func(p *profile.Profile) []Need { return needs(role(p)) })
	}
	needs := []Need{
		LimitedKey.Of(spec.ListPlacementTests),
		by(func(role string) []Need { return []Need{KeyFor(role, spec.ListPlacementTests)} }),
		by(func(role string) []Need {
			return []Need{RequestOf(role, spec.CreatePlacementTest), Implemented(spec.ListPlacementTests)}
		}).On(spec.CreatePlacementTest),
		by(func(role string) []Need {
			return []Need{RequestOf(role, spec.CreatePlacementTest), Implemented(spec.GetPlacementTest), Operation(spec.DeletePlacementTest)}
		}).On(spec.DeletePlacementTest),
		by(func(role string) []Need {
			if role == dataset.Main {
				return []Need{RequestOf(role, spec.DeleteSubsequence)}
			}
			return []Need{List(role, spec.ListSubsequences), limitedExpendable(role), RequestOf(role, spec.DeleteSubsequence)}
		}).On(spec.DeleteSubsequence),
		by(func(role string) []Need {
			return []Need{SubWorkspaces(role), RequestOf(role, spec.MoveAccounts)}
		}).On(spec.MoveAccounts),
	}
	for _, op := range spec.RateResumes.Operations() {
		needs = append(needs, Implemented(op.ID).On(op.ID))
	}
	return needs
}

// limitedExpendable is the need for a subsequence that the limited key may delete.
func limitedExpendable(role string) Need {
	return Input(sandbox.LacksSubsequence(role), func(p *profile.Profile) bool { return len(p.Workspaces[role].ExpendableSubsequences) > 0 })
}

// servesAnotherWorkspace reports whether a key of another workspace than that of the
// limited key gets any response but 429. A run that has given the target up gets none. In a
// profile with one workspace, any other target counts as serving.
func servesAnotherWorkspace(api *API, list string) (served bool) {
	another := dataset.Main
	if role, _ := limited(api); role == another {
		another = dataset.Second
	}
	served = api.Ctx.Err() == nil
	_ = Attempt(api, func() {
		k := WithoutRetry(api.As(another, list).MayBeRefused())
		r := TrySend(api, k)
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
func limitedChanges(api *API) []*limitedChange {
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
	c.missing = Attempt(api, func() { c.call = WithoutRetry(c.request(api, served).MayBeRefused()) })
}

func (c *limitedChange) wasServed() bool { return c.sent && c.response.Status == http.StatusOK }

// waits reports whether the change is still to be sent.
func (c *limitedChange) waits() bool { return !c.sent && c.missing == "" }

// sendBeyondLimit sends the changes that were not sent yet, all at once: the limit's period
// may soon have passed. Those that spend a row follow, unless it has. It reports whether the
// limit still refuses the list afterwards: then it counts apart what was served meanwhile.
func sendBeyondLimit(api *API, changes []*limitedChange, list Call) (limited bool) {
	for _, spends := range []bool{false, true} {
		var work []func()
		for _, change := range changes {
			if change.spends == spends && change.waits() {
				work = append(work, func() { // one that the profile does not permit keeps none of the others
					change.missing = Attempt(api, func() { change.response = api.Do(change.call) })
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
	requirement := api.For(spec.RateNoEffect, c.operation)
	if c.missing == "" && (!c.sent || c.response.Status != http.StatusTooManyRequests) {
		c.missing = "a rate limit that counts this operation together with lists"
	}
	if c.missing == "" {
		c.missing = Attempt(api, func() { c.look(api, requirement, c.response) })
	}
	if c.missing != "" {
		requirement.Missing("%s", c.missing)
	}
}

// limitedCall returns a call with the limited key that waits for its limit.
func limitedCall(api *API, operation string) Call {
	role, key := limited(api)
	k := api.As(role, operation)
	k.Key = key
	k.Provoked = true
	return k.MayBeRefused() // the key need not have every scope
}

func limitedCreation(api *API, _ bool) Call { return limitedRequest(api, spec.CreatePlacementTest) }

// limitedDeletion creates the test that the request deletes.
func limitedDeletion(api *API, _ bool) Call {
	create := limitedRequest(api, spec.CreatePlacementTest)
	create.NoRetry = false
	id := api.Do(create).ID()
	get := limitedCall(api, spec.GetPlacementTest).WithID(id)
	found := Until(api, "a created test in a get", get, Response.OK) // else the deletion would ask, and wait for the limit
	if !found.OK() {
		api.NotAssessed("%s from %s", found.Shortfall(), spec.GetPlacementTest)
	}
	return limitedCall(api, spec.DeletePlacementTest).WithID(id)
}

// limitedSubsequence deletes a subsequence that may be deleted and that the list shows.
func limitedSubsequence(api *API, _ bool) Call {
	role, _ := limited(api)
	if role == dataset.Main {
		return limitedCall(api, spec.DeleteSubsequence).WithID(ExpendableSubsequence(api))
	}
	shown := api.Read(limitedCall(api, spec.ListSubsequences)).Keys()
	for _, id := range api.Workspace(role).ExpendableSubsequences {
		if shown[paging.FoldID(id)] > 0 {
			return limitedCall(api, spec.DeleteSubsequence).WithID(id)
		}
	}
	api.NotAssessed("%s", sandbox.LacksSubsequence(role))
	panic("unreachable")
}

// limitedMove moves an account away, after it has moved it away and back. Other specs may
// move the accounts of the workspace admin at the same time.
func limitedMove(api *API, served bool) Call {
	role, _ := limited(api)
	if role == dataset.Admin || api.Workspace(role).ID == api.Workspace(dataset.Admin).ID {
		api.NotAssessed("a key for rate_limit of another workspace than %q, whose accounts other checks move", dataset.Admin)
	}
	source, destination := TwoWorkspaces(api, role)
	k := limitedCall(api, spec.MoveAccounts)
	away, back := k.WithBody(Move(source, destination, source.Accounts[0])), k.WithBody(Move(destination, source, source.Accounts[0]))
	if !served {
		moves(api, away)
	}
	moves(api, back)
	return away
}

// expectNoneCreated looks in the workspace of the limited key for the test that the
// limit refused.
func expectNoneCreated(api *API, requirement Requirement, refused Response) {
	list := limitedCall(api, spec.ListPlacementTests).WithQuery("sort_order", "desc").WithQuery("limit", strconv.Itoa(newest))
	page := api.Do(list)
	if lacks := page.Shortfall(); lacks != "" {
		api.NotAssessed("%s from %s", lacks, list.Operation.ID) // RATE-RESUMES judges that
	}
	expectNoneMade(api, requirement, refused, rowsByKey(page))
}

func expectKeptBeyondLimit(api *API, requirement Requirement, refused Response) {
	expectThere(api, requirement, refused.Call, func(operation string) Call { return limitedCall(api, operation) })
}

// expectAccountStayed moves the account once more from where it must have stayed. If it
// did not stay, it is moved back.
func expectAccountStayed(api *API, requirement Requirement, refused Response) {
	away := refused.Call
	away.NoRetry = false
	requirement.Expect(untilMoved(api, away)).To(BeServed())
	moves(api, reversed(away))
}

// servedAgain judges the response to a request that was sent again until the limit's period had
// passed.
func servedAgain(r Response) Verdict {
	switch {
	case errors.Is(r.Err, client.ErrThrottled):
		return Comparison(Found(r, "status", "the request served once the period has passed",
			fmt.Sprintf("%d responses with 429, and no other", r.Throttled)))
	case r.Status != http.StatusOK:
		return Comparison(Found(r, "status", "200", Readable(r)))
	}
	return Comparison()
}
