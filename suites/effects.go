package suites

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// effects judges that a refused request changes nothing. Tests, subsequences and the
// places of accounts can be read. No operation reads leads or the variables of a
// campaign.
func effects() {
	for _, op := range spec.AuthNoEffect.Operations() {
		Describe(op.ID, func() {
			It("changes nothing without valid authorization", Requires(spec.AuthNoEffect), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				api.expectNoEffect(func(k Call) []Call {
					return append([]Call{withoutHeader(k)[0], withUnknownKey(k)[0]}, api.withRevokedKey(k)...)
				})
			})
		})
	}
	for _, op := range spec.RequestNoEffect.Operations() {
		Describe(op.ID, func() {
			It("changes nothing if it refuses an invalid request", Requires(spec.RequestNoEffect), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				api.expectNoEffect(invalidForms)
				if op.ID == spec.DeletePlacementTest {
					api.expectNoDeletionByBody()
				}
			})
		})
	}
	for _, op := range spec.ScopeNoEffect.Operations() {
		Describe(op.ID, func() {
			It("changes nothing without permission", Requires(spec.ScopeNoEffect), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				var lacking []string
				for _, scope := range append([]string{""}, append(scopesOfOtherActions(op), scopesOfOtherResources(op)...)...) {
					if _, listed := api.Profile.ScopedKey(dataset.Main, scope); listed {
						lacking = append(lacking, scope)
					}
				}
				if len(lacking) == 0 {
					api.NotAssessed("a key of the workspace %q that lacks the scope", dataset.Main)
				}
				const most = 2
				keys := api.keysWithScopes(lacking[:min(most, len(lacking))]...)
				api.expectNoEffect(func(k Call) []Call {
					var calls []Call
					for _, key := range keys {
						calls = append(calls, k.WithKey(key).MustBeRefused())
					}
					return calls
				})
			})
		})
	}
}

// expectNoEffect sends requests that are valid but for their credentials, and looks for
// their effect. The spec ends if one is served: other requirements judge that.
func (api *API) expectNoEffect(without func(Call) []Call) {
	switch op := api.Operation(); op.ID {
	case spec.CreatePlacementTest:
		api.expectNothingCreated(without)
	case spec.MoveAccounts:
		source, destination := api.subWorkspaces(dataset.Admin)
		api.moveAround(source, destination, func(account string) bool {
			k := api.As(dataset.Admin, op.ID).WithBody(move(source, destination, account))
			api.refusedAll(without(k))
			// A server may serve a move with an unknown account, or move the accounts that it knows
			// and refuse the other one: the account may be here or there, but nowhere else.
			api.Do(k.WithField("emails", []string{account, api.Word() + "@example.com"}).MayBeRefused())
			api.awaitLaterChange()
			api.Do(k.WithBody(move(destination, source, account)).MayBeRefused())
			return true
		})
	default: // a deletion
		var remove Call
		if op.ID == spec.DeletePlacementTest {
			remove = api.As(dataset.Main, op.ID).WithID(api.shown(api.NewTest()).ID())
		} else {
			remove = api.Request()
		}
		api.refusedAll(without(remove))
		api.awaitLaterChange()
		api.expectThere(api.Expect, remove, api.asMain)
	}
}

func (api *API) asMain(operation string) Call { return api.As(dataset.Main, operation) }

// expectThere looks for the resource that a refused request asked to delete: in a get, or else
// in the list.
func (api *API) expectThere(expect func(any) Assertion, remove Call, as func(operation string) Call) {
	if get, ok := remove.Operation.Get(); ok {
		found := api.Do(as(get.ID).WithID(remove.id))
		if found.OK() && paging.FoldID(found.ID()) != paging.FoldID(remove.id) && !api.Profile.Stateless {
			api.NotAssessed("a response of %s that shows %s", get.ID, remove.id)
		}
		expect(found).To(BeServed())
		return
	}
	list, _ := remove.Operation.List()
	if expect(api.ReadAll(as(list.ID))).To(ShowRow(remove.id, "the subsequence")) {
		api.sandbox().GiveBack(remove.id)
	}
}

// awaitLaterChange creates and deletes a test, and waits until the list shows that: what an
// earlier request did would show then, too.
func (api *API) awaitLaterChange() {
	if api.Profile.Stateless || !api.Serves(spec.CreatePlacementTest) || !api.Serves(spec.DeletePlacementTest) || !api.Serves(spec.ListPlacementTests) {
		return
	}
	id := api.NewTest().ID()
	api.mustShow("a created test in the list", func() bool { return api.newestTests()[paging.FoldID(id)] != nil })
	api.MustDo(api.As(dataset.Main, spec.DeletePlacementTest).WithID(id))
	api.mustShow("a deletion in the list", func() bool { return api.newestTests()[paging.FoldID(id)] == nil })
}

// invalidForms returns the request with parts that no server may accept.
func invalidForms(k Call) []Call {
	if k.Operation.ID != spec.MoveAccounts {
		return []Call{k.WithID(k.id + "0").MustBeRefused().Breaking(spec.RequestPathID)}
	}
	accounts, _ := normalize(k.members()["emails"]).([]any)
	return []Call{
		k.WithField("emails", append(accounts, 7)).MustBeRefused().Breaking(spec.RequestInvalidAccountEmails),
		k.WithField("destination_workspace_id", "conformance").MustBeRefused().Breaking(spec.RequestInvalidDestinationWorkspaceID),
	}
}

// expectNoDeletionByBody asks to delete a test with a body, which a server may ignore or
// refuse.
func (api *API) expectNoDeletionByBody() {
	made := api.shown(api.NewTest())
	remove := api.As(dataset.Main, spec.DeletePlacementTest).WithID(made.ID()).WithRawBody(`{"conformance": true}`).MayBeRefused()
	if api.Do(remove).Status/100 == 4 {
		api.awaitLaterChange()
		api.Expect(api.Do(api.As(dataset.Main, spec.GetPlacementTest).WithID(made.ID()))).To(BeServed())
	}
}

// refusedAll sends the requests. The spec ends if one is served.
func (api *API) refusedAll(calls []Call) []Response {
	responses := api.DoAll(calls...)
	for _, r := range responses {
		if r.Status/100 == 2 {
			api.NotAssessed("a refusal (%s answers %d)", r.Call.Operation.ID, r.Status)
		}
	}
	return responses
}

// expectNothingCreated looks for tests that refused creations made. A test that is
// created afterwards must show first.
func (api *API) expectNothingCreated(without func(Call) []Call) {
	before := api.newestTests()
	var refused []Response
	for _, k := range without(api.Request()) {
		api.suspect(k, api.spec.Pairs[0])
		refused = append(refused, api.refusedAll([]Call{k})...)
	}
	after, listed := api.newestAfterAnother()
	if !listed {
		api.NotAssessed("a created test among the first %d of %s", newest, spec.ListPlacementTests)
	}
	for _, r := range refused {
		made := madeOf(r, before, after)
		api.rollBack(r.Call, made)
		api.Expect(r).To(MakeNothing(made))
	}
}

// newestAfterAnother creates a test and returns the newest tests once the list shows it: what
// came of an earlier request would show then, too.
func (api *API) newestAfterAnother() (after map[string]map[string]any, listed bool) {
	id := paging.FoldID(api.NewTest().ID())
	listed = api.eventually("a created test in the list", func() bool {
		after = api.newestTests()
		return after[id] != nil
	})
	return after, listed
}

// expectEffect looks for the effect of a request that was served, with the full key of
// the workspace.
func (api *API) expectEffect(served Response) {
	requirement := api.For(spec.ScopeEffect)
	if lacks := served.shortfall(); lacks != "" {
		requirement.NotAssessed("%s", lacks)
		return
	}
	switch served.Call.Operation.ID {
	case spec.CreatePlacementTest:
		found := api.find(served)
		if found.OK() && !isMade(served, found) && !api.Profile.Stateless {
			requirement.NotAssessed("a get that shows the test that was created")
			return
		}
		requirement.Expect(found).To(BeServed())
	default: // a deletion
		if get, ok := served.Call.Operation.Get(); ok {
			requirement.Expect(api.untilGone("a deletion in a get", api.asMain(get.ID).WithID(served.Call.id))).To(HaveStatus(http.StatusNotFound))
			return
		}
		list, _ := served.Call.Operation.List()
		requirement.Expect(api.listWithout(api.asMain(list.ID), served.Call.id)).To(NotShowRow(served.Call.id, "the deleted"))
	}
}
