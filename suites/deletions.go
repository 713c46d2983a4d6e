package suites

import (
	"context"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
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
			api.Expect(deleted).To(AgreeAtItsEnd(before))
		}
	})

	It("takes the resource, and only it, out of the list", Requires(spec.StateDeleteList, spec.StateDeleteOthers), Needs(Implemented(list)), Expends(spec.DeleteSubsequence, 1), func(api *API) {
		remove, others := deletionAmongOthers(api)
		rows := api.As(dataset.Main, list)
		shown := ListShowing(api, rows, append(others, remove.ID)...)
		before, listed := shown.Keys(), shown.ByKey()
		others = slices.DeleteFunc(others, func(id string) bool { return before[paging.FoldID(id)] == 0 })
		if len(others) == 0 || before[paging.FoldID(remove.ID)] == 0 {
			api.NotAssessed("the resources that the spec works with in %s", list)
		}
		queries := queriesThatShow(api, list, paging.RowOf(rows.Operation.Resource, listed[paging.FoldID(remove.ID)]), shown.Rows())
		found := make([]Walk, len(queries))
		each := func(read func(Call) Walk) {
			work := make([]func(), len(queries))
			for i, k := range queries {
				work[i] = func() { found[i] = read(k) }
			}
			api.Together(work...)
		}
		each(api.Read) // a server may cache what a search found
		api.Do(remove)
		after := ListWithout(api, rows, remove.ID)
		if !api.For(spec.StateDeleteList).Expect(after).To(NotShowRow(remove.ID, "the deleted")) {
			api.NotAssessed("a deletion that shows in %s", list)
		}
		each(func(k Call) Walk { return ListWithout(api, k, remove.ID) })
		for _, w := range found {
			api.For(spec.StateDeleteList).Expect(w).To(NotShowRow(remove.ID, "the deleted"))
		}
		// Other rows may be deleted by others meanwhile; nobody else deletes these.
		for _, id := range others {
			api.For(spec.StateDeleteOthers).Expect(after).To(ShowRow(id, "the other resource"))
		}
		if list == spec.ListPlacementTests { // only this spec touches the tests that it made
			api.For(spec.StateDeleteOthers).Expect(after).To(KeepTheOtherRows(changedRows(shown, after, others...)))
		}
		expectOthersKept(api, spec.StateDeleteOthers, shown, after, func() Walk {
			second := api.Request()
			api.Do(second)
			return ListWithout(api, rows, second.ID)
		})
	})

	if list == spec.ListPlacementTests {
		It("takes every kind of resource out of the list", Requires(spec.StateDeleteList), Needs(Implemented(list)), expectEveryKindDeleted)
	}

	It("answers 404 the second time", Requires(spec.StateDeleteAgain), Expends(spec.DeleteSubsequence, 1), func(api *API) {
		remove := api.Request()
		api.Do(remove)
		shows := func() bool {
			if api.Operation().ID == spec.DeletePlacementTest {
				get := api.As(dataset.Main, spec.GetPlacementTest).WithID(remove.ID)
				return UntilGone(api, "a deletion in a get", get).Status != http.StatusNotFound
			}
			return ListWithout(api, api.As(dataset.Main, list), remove.ID).Row(remove.ID) != nil
		}
		gone := api.Serves(list) && api.Serves(spec.GetPlacementTest) && !shows() // other requirements judge that
		again := UntilGone(api, "a deletion that is repeated", remove.Breaking(spec.StateDeleteAgain))
		if api.Expect(again).To(HaveStatus(http.StatusNotFound)) && gone {
			awaitLaterChange(api)
			api.Expect(again).To(RestoreNothing(shows()))
		}
	})
}

// RestoreNothing matches a refused deletion after which the deleted resource does not show.
func RestoreNothing(shows bool) types.GomegaMatcher {
	return &Expectation[Response]{Words: "restore nothing", Judge: func(r Response) Verdict {
		found := Verdict{Assessed: 1}
		if shows {
			found.Add(Found(r, "", "a resource that stays deleted", "the resource shows again after the refusal"))
		}
		return found
	}}
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
	var creations, removals []Call
	for _, field := range kindsOfTests {
		for _, v := range ValuesOf(api, field) {
			creations = append(creations, Creating(api, field, v))
		}
	}
	creations = append(creations, kindsTogether(api)...)
	for _, made := range api.DoAll(creations...) {
		if made.OK() {
			removals = append(removals, api.As(dataset.Main, spec.DeletePlacementTest).WithID(made.ID()))
		}
	}
	var made, ids []string
	for _, k := range removals {
		made = append(made, k.ID)
	}
	shown := ListShowing(api, api.As(dataset.Main, spec.ListPlacementTests), made...).Keys()
	for i, removed := range api.DoAll(removals...) {
		if removed.OK() && shown[paging.FoldID(removals[i].ID)] > 0 {
			ids = append(ids, removals[i].ID)
		}
	}
	if len(ids) == 0 {
		api.NotAssessed("created tests that %s shows and that can be deleted", spec.ListPlacementTests)
	}
	after := ListWithout(api, api.As(dataset.Main, spec.ListPlacementTests), ids...)
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
