package suites

import (
	"context"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// deletions judges what deleting means for every resource that can be deleted:
// tests, which the run makes itself, and subsequences, which the profile hands
// it. It belongs in the container of the operation that deletes.
func deletions(list string) {
	It("answers with what it deleted", Requires(spec.StateDeleteAnswer), Needs(Implemented(list)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
		removals := []Call{api.Request()}
		if api.Operation().ID == spec.DeletePlacementTest {
			full := api.Do(WithAllOptional(api, api.RequestAs(dataset.Main, spec.CreatePlacementTest)))
			removals = append(removals, removals[0].WithID(full.ID()))
		}
		for _, remove := range removals {
			before, ok := ListShowing(api, api.As(dataset.Main, list), remove.ID).ByKey()[paging.FoldID(remove.ID)]
			if !ok {
				api.NotAssessed("the resource that is to be deleted in %s", list)
			}
			if referTo(api, remove) {
				remove = remove.Breaking(spec.StateDeleteAnswer)
			}
			deleted := api.Do(remove)
			if !deleted.OK() {
				return
			}
			api.Expect(deleted).To(HaveMember("id", EqualID(remove.ID)))
			api.Expect(deleted).To(AgreeWithRow(before, ChangesAtItsEnd...))
		}
	})

	It("takes the resource, and only it, out of the list", Requires(spec.StateDeleteList, spec.StateDeleteOthers), Needs(Implemented(list)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
		remove, others := deletionAmongOthers(api)
		whole := api.As(dataset.Main, list)
		before := ListShowing(api, whole, append(others, remove.ID)...)
		others = slices.DeleteFunc(others, func(id string) bool { return before.Row(id) == nil })
		if len(others) == 0 || before.Row(remove.ID) == nil {
			api.NotAssessed("the resources that the spec works with in %s", list)
		}
		queries := queriesThatShow(api, list, paging.RowOf(whole.Operation.Resource, before.Row(remove.ID)), before.Rows())
		Each(api, queries, api.Read) // a server may cache what a search found
		api.Do(remove)

		after := ListWithout(api, whole, remove.ID)
		if !api.For(spec.StateDeleteList).Expect(after).To(NotShowRow(remove.ID, "the deleted")) {
			api.NotAssessed("a deletion that shows in %s", list)
		}
		for _, found := range Each(api, queries, func(k Call) Walk { return ListWithout(api, k, remove.ID) }) {
			api.For(spec.StateDeleteList).Expect(found).To(NotShowRow(remove.ID, "the deleted"))
		}

		for _, id := range others { // nobody else deletes these
			api.For(spec.StateDeleteOthers).Expect(after).To(ShowRow(id, "the other resource"))
		}
		if list == spec.ListPlacementTests { // only this spec touches the tests that it made
			api.For(spec.StateDeleteOthers).Judge(Comparison(changedRows(before, after, others...)...))
		}
		expectOthersKept(api, spec.StateDeleteOthers, before, after, func() Walk {
			second := api.Request()
			api.Do(second)
			return ListWithout(api, whole, second.ID)
		})
	})

	if list == spec.ListPlacementTests {
		It("takes every kind of resource out of the list", Requires(spec.StateDeleteList), Needs(Implemented(list)), expectEveryKindDeleted)
	}

	It("answers 404 the second time", Requires(spec.StateDeleteAgain), Expends(spec.DeleteSubsequence, 1), func(api *API) {
		remove := api.Request()
		api.Do(remove)
		gone := api.Serves(list) && api.Serves(spec.GetPlacementTest) && !stillShows(api, remove) // other requirements judge that
		again := UntilGone(api, "a deletion that is repeated", remove.Breaking(spec.StateDeleteAgain))
		if api.Expect(again).To(HaveStatus(http.StatusNotFound)) && gone {
			awaitLaterChange(api)
			if stillShows(api, remove) {
				api.For(spec.StateDeleteAgain).Judge(Comparison(Found(again, "", "a resource that stays deleted", "the resource shows again after the refusal")))
			}
		}
	})
}

// stillShows reports whether a get, or else the list, goes on showing a deleted resource.
func stillShows(api *API, remove Call) bool {
	if get, ok := remove.Operation.Get(); ok {
		return UntilGone(api, "a deletion in a get", api.As(dataset.Main, get.ID).WithID(remove.ID)).Status != http.StatusNotFound
	}
	list, _ := remove.Operation.List()
	return ListWithout(api, api.As(dataset.Main, list.ID), remove.ID).Row(remove.ID) != nil
}

// referTo moves a lead to a subsequence that is to be deleted: nothing says that a
// subsequence must be empty. The lead leaves it at the end. referTo reports whether it moved.
func referTo(api *API, remove Call) bool {
	if remove.Operation.ID != spec.DeleteSubsequence || !api.Has(RequestOf(dataset.Main, spec.MoveLead)) || !api.Serves(spec.MoveLead) {
		return false
	}
	moving := api.RequestAs(dataset.Main, spec.MoveLead)
	if !api.Do(moving.WithField("subsequence_id", remove.ID).MayBeRefused()).OK() {
		return false
	}
	api.Cleanup(func(context.Context) { Survive(api, func() { api.Do(moving.MayBeRefused()) }) })
	return true
}

// kindsOfTests are fields by which a server may tell tests that it deletes from others.
var kindsOfTests = []string{"status", "type", "sending_method", "delivery_mode"}

// expectEveryKindDeleted deletes a test with each value of these fields.
func expectEveryKindDeleted(api *API) {
	creations := kindsTogether(api)
	for _, field := range kindsOfTests {
		for _, v := range ValuesOf(api, field) {
			creations = append(creations, Creating(api, field, v))
		}
	}
	var ids []string
	for _, made := range api.DoAll(creations...) {
		if made.OK() {
			ids = append(ids, made.ID())
		}
	}
	list := api.As(dataset.Main, spec.ListPlacementTests)
	shown := ListShowing(api, list, ids...)
	var removals []Call
	for _, id := range ids {
		removals = append(removals, api.As(dataset.Main, spec.DeletePlacementTest).WithID(id))
	}
	ids = nil
	for _, removed := range api.DoAll(removals...) {
		if id := removed.Call.ID; removed.OK() && shown.Row(id) != nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		api.NotAssessed("created tests that %s shows and that can be deleted", spec.ListPlacementTests)
	}
	after := ListWithout(api, list, ids...)
	for _, id := range ids {
		api.Expect(after).To(NotShowRow(id, "the deleted"))
	}
}

// kindsTogether returns creations in which each two of the fields have each pair of their
// values. An active test is one that the user sends: no test sends an email. A server may
// refuse one, because the specification does not say which values go together.
func kindsTogether(api *API) []Call {
	var calls []Call
	for _, kind := range [][4]int{ // in the order of kindsOfTests
		{1, 1, 2, 1}, {1, 2, 2, 2}, {2, 1, 2, 1}, {2, 2, 1, 2}, {3, 1, 1, 2}, {3, 2, 2, 1}, {2, 1, 1, 1},
	} {
		k := api.RequestAs(dataset.Main, spec.CreatePlacementTest).MayBeRefused()
		for i, field := range kindsOfTests {
			k = k.WithField(field, kind[i])
		}
		if kind[1] == 2 {
			k = Automated(api, k)
		}
		calls = append(calls, k)
	}
	return calls
}

// queriesThatShow returns requests for the list with each filter that may show the row, with
// each two of them together, and with each sort order: a list may be served from one store
// and a search from another.
func queriesThatShow(api *API, list string, row paging.Row, rows []paging.Row) []Call {
	plain := api.As(dataset.Main, list)
	var calls []Call
	var single []map[string]string
	for _, f := range oracle.Filters(list) {
		// A filter that leaves rows out may show the row if it has a value of another one.
		for _, u := range append(f.Uses([]paging.Row{row}, 1), f.Uses(rows, handful)...) {
			if requirement, in := u.Says(row); requirement != "" && !in {
				continue
			}
			k, ok := KnownFilter(api, plain, u.Query)
			if !ok {
				continue
			}
			calls = append(calls, k)
			for _, other := range single {
				if both, ok := KnownFilter(api, k, other); ok {
					calls = append(calls, both)
				}
			}
			single = append(single, u.Query)
			break
		}
	}
	if plain.Operation.Takes("sort_order") {
		calls = append(calls, plain.WithQuery("sort_order", "asc"), plain.WithQuery("sort_order", "desc"))
	}
	return calls
}

// deletionAmongOthers returns a deletion, and resources that nobody deletes
// while the spec runs, some of them beside the one that is deleted. One test is made of
// the same body as the deleted one.
func deletionAmongOthers(api *API) (remove Call, others []string) {
	if api.Operation().ID == spec.DeletePlacementTest {
		older, deleted := NewTest(api), NewTest(api)
		namesake, younger := api.Do(deleted.Call), NewTest(api)
		return api.As(dataset.Main, spec.DeletePlacementTest).WithID(deleted.ID()), []string{older.ID(), namesake.ID(), younger.ID()}
	}
	remove = api.Request()
	return remove, append(Neighbours(api, remove.ID), api.Workspace(dataset.Main).Subsequences...)
}
