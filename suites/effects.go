package suites

import (
	"fmt"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// effects judges that a refused request changes nothing. Tests, subsequences and the
// places of accounts can be read. No operation reads leads or the variables of a
// campaign.
func effects() {
	for _, op := range spec.AuthNoEffect.Operations() {
		Describe(op.ID, func() {
			It("changes nothing without valid authorization", Requires(spec.AuthNoEffect), Needs(effectShows(op)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				expectNoEffect(api, func(k Call) []Call {
					return append([]Call{WithoutHeader(k)[0], WithUnknownKey(k)[0]}, withRevokedKey(api, k)...)
				})
			})
		})
	}
	for _, op := range spec.RequestNoEffect.Operations() {
		Describe(op.ID, func() {
			It("changes nothing if it refuses an invalid request", Requires(spec.RequestNoEffect), Needs(effectShows(op)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				expectNoEffect(api, invalidForms)
				if op.ID == spec.DeletePlacementTest {
					expectNoDeletionByBody(api)
				}
			})
		})
	}
	for _, op := range spec.ScopeNoEffect.Operations() {
		Describe(op.ID, func() {
			It("changes nothing without permission", Requires(spec.ScopeNoEffect), Needs(effectShows(op), keyWithoutScope(op)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
				const most = 2
				api.Take(keyWithoutScope(op))
				keys := keysWithScopes(api.Profile, otherScopes(op)...)
				keys = keys[:min(most, len(keys))]
				for _, key := range keys {
					needKnown(api, key)
				}
				expectNoEffect(api, func(k Call) []Call {
					var calls []Call
					for i, key := range keys {
						breaks := spec.ScopeWrongAction
						if _, scopeless := api.Profile.ScopedKey(dataset.Main, ""); scopeless && i == 0 {
							breaks = spec.ScopeNone
						}
						calls = append(calls, k.WithKey(key).MustBeRefused(breaks))
					}
					return calls
				})
			})
		})
	}
}

// effectShows is the need for what shows the effect of the operation.
func effectShows(op spec.Operation) Need {
	if get, ok := op.Get(); ok && op.ID != spec.CreatePlacementTest {
		return Implemented(get.ID)
	}
	if list, ok := op.List(); ok {
		return Implemented(list.ID)
	}
	return Nothing
}

// otherScopes returns scopes that do not allow the operation; "" for none.
func otherScopes(op spec.Operation) []string {
	return slices.Concat([]string{""}, scopesOfOtherActions(op), scopesOfOtherResources(op))
}

// keyWithoutScope is the need for a key that may not make requests of the operation.
func keyWithoutScope(op spec.Operation) Need {
	return Input(fmt.Sprintf("a key of the workspace %q that lacks the scope", dataset.Main),
		func(p *profile.Profile) bool { return len(keysWithScopes(p, otherScopes(op)...)) > 0 })
}

// expectNoEffect sends requests that are valid but for their credentials, and looks for
// their effect. The spec ends if one is served: other requirements judge that.
func expectNoEffect(api *API, without func(Call) []Call) {
	switch op := api.Operation(); op.ID {
	case spec.CreatePlacementTest:
		expectNothingCreated(api, without)
	case spec.MoveAccounts:
		source, destination := TwoWorkspaces(api, dataset.Admin)
		moveAround(api, source, destination, func(account string) bool {
			k := api.As(dataset.Admin, op.ID).WithBody(Move(source, destination, account))
			refusedAll(api, without(k))
			// A server may serve a move with an unknown account, or move the accounts that it knows
			// and refuse the other one: the account may be here or there, but nowhere else.
			api.Do(k.WithField("emails", []string{account, api.Word() + "@example.com"}).MayBeRefused())
			awaitLaterChange(api)
			api.Do(k.WithBody(Move(destination, source, account)).MayBeRefused())
			return true
		})
	default: // a deletion
		var remove Call
		if op.ID == spec.DeletePlacementTest {
			remove = api.As(dataset.Main, op.ID).WithID(Shown(api, NewTest(api)).ID())
		} else {
			remove = api.Request()
		}
		refusedAll(api, without(remove))
		awaitLaterChange(api)
		expectThere(api, api.For(api.Requirement()), remove, asMain(api))
	}
}

func asMain(api *API) func(operation string) Call {
	return func(operation string) Call { return api.As(dataset.Main, operation) }
}

// expectThere looks for the resource that a refused request asked to delete: in a get, or else
// in the list.
func expectThere(api *API, requirement Requirement, remove Call, as func(operation string) Call) {
	if get, ok := remove.Operation.Get(); ok {
		found := api.Do(requirement.NamedBy(as(get.ID).WithID(remove.ID)))
		if found.OK() && paging.FoldID(found.ID()) != paging.FoldID(remove.ID) && !api.Profile.Stateless {
			api.NotAssessed("a response of %s that shows %s", get.ID, remove.ID)
		}
		requirement.Expect(found).To(BeServed())
		return
	}
	list, _ := remove.Operation.List()
	if requirement.Expect(api.Read(as(list.ID))).To(ShowRow(remove.ID, "the subsequence")) {
		api.Sandbox().GiveBack(remove.ID)
	}
}

// awaitLaterChange creates and deletes a test, and waits until the list shows that: what an
// earlier request did would show then, too.
func awaitLaterChange(api *API) {
	if api.Profile.Stateless || !api.Has(KeyFor(dataset.Main, spec.CreatePlacementTest)) || !api.Serves(spec.CreatePlacementTest) || !api.Serves(spec.DeletePlacementTest) || !api.Serves(spec.ListPlacementTests) {
		return
	}
	id, _ := mustListAnother(api)
	api.Do(api.As(dataset.Main, spec.DeletePlacementTest).WithID(id))
	MustShow(api, "a deletion in the list", func() bool { return newestTests(api)[paging.FoldID(id)] == nil })
}

// invalidForms returns the request with parts that no server may accept.
func invalidForms(k Call) []Call {
	if k.Operation.ID != spec.MoveAccounts {
		return []Call{k.WithID(k.ID + "0").MustBeRefused(spec.RequestPathID)}
	}
	accounts, _ := Normalize(k.Members()["emails"]).([]any)
	return []Call{
		k.WithField("emails", append(accounts, 7)).MustBeRefused(spec.RequestInvalidAccountEmails),
		k.WithField("destination_workspace_id", "conformance").MustBeRefused(spec.RequestInvalidDestinationWorkspaceID),
	}
}

// expectNoDeletionByBody asks to delete a test with a body, which a server may ignore or
// refuse.
func expectNoDeletionByBody(api *API) {
	made := Shown(api, NewTest(api))
	remove := api.As(dataset.Main, spec.DeletePlacementTest).WithID(made.ID()).WithBody(Raw(`{"conformance": true}`)).MayBeRefused()
	if api.Do(remove).Status/100 == 4 {
		awaitLaterChange(api)
		api.Do(api.As(dataset.Main, spec.GetPlacementTest).WithID(made.ID()).Breaking(spec.RequestNoEffect))
	}
}

// refusedAll sends the requests. The spec ends if one is served.
func refusedAll(api *API, calls []Call) []Response {
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
func expectNothingCreated(api *API, without func(Call) []Call) {
	var refused []Response
	for _, k := range without(api.Request()) {
		refused = append(refused, refusedAll(api, []Call{k})...)
	}
	_, after := mustListAnother(api)
	for _, r := range refused {
		expectNoneMade(api, api.For(api.Requirement()), r, after)
	}
}

// expectNoneMade expects that no test of the list was made of the refused body.
func expectNoneMade(api *API, requirement Requirement, refused Response, newest map[string]map[string]any) {
	if found := madeNothing(api, refused, newest); len(found.Findings) > 0 {
		requirement.Judge(found)
		return
	}
	requirement.Expect(refused).To(BeRefused())
}

// newestAfterAnother creates a test and returns the newest tests once the list shows it: what
// came of an earlier request would show then, too.
func newestAfterAnother(api *API) (id string, after map[string]map[string]any, listed bool) {
	id = NewTest(api).ID()
	listed = api.Eventually(func() bool {
		after = newestTests(api)
		return after[paging.FoldID(id)] != nil
	}).Should(gomega.BeTrue(), "a created test in the list")
	return id, after, listed
}

// mustListAnother is newestAfterAnother for a test that must show before the spec goes on.
func mustListAnother(api *API) (id string, after map[string]map[string]any) {
	id, after, listed := newestAfterAnother(api)
	if !listed {
		api.NotAssessed("a created test among the first %d of %s", newest, spec.ListPlacementTests)
	}
	return id, after
}

// effectShown is the need for what shows the effect of a served request: a get, or else a list.
func effectShown(op spec.Operation) Need {
	if get, ok := op.Get(); ok {
		return Implemented(get.ID)
	}
	return effectShows(op)
}

// expectEffect looks for the effect of a request that was served, with the full key of
// the workspace.
func expectEffect(api *API, served Response) {
	requirement := api.For(spec.ScopeEffect)
	if lacks := served.Shortfall(); lacks != "" {
		requirement.Missing("%s", lacks)
		return
	}
	switch served.Call.Operation.ID {
	case spec.CreatePlacementTest:
		found := Find(api, served)
		if found.OK() && !IsMade(served, found) && !api.Profile.Stateless {
			requirement.Missing("a get that shows the test that was created")
			return
		}
		requirement.Expect(found).To(BeServed())
	default: // a deletion
		if get, ok := served.Call.Operation.Get(); ok {
			requirement.Expect(UntilGone(api, "a deletion in a get", asMain(api)(get.ID).WithID(served.Call.ID).Breaking(spec.ScopeEffect))).To(HaveStatus(http.StatusNotFound))
			return
		}
		list, _ := served.Call.Operation.List()
		requirement.Expect(ListWithout(api, asMain(api)(list.ID), served.Call.ID)).To(NotShowRow(served.Call.ID, "the deleted"))
	}
}
