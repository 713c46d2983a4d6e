package suites

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// sideEffects judges that no change removes a row of another list. All kinds of changes are
// made between two looks at the lists, which take most of the requests. Accounts are left
// out: one that does not come back would be missing where their moves are judged.
func sideEffects() {
	Describe(spec.CreatePlacementTest, func() {
		It("removes no row of another list, nor do other changes", Requires(spec.StateCreateDistinct), OthersAssess{}, Expends(spec.CreatePlacementTest, 1),
			AlsoJudges(spec.StateDeleteOthers), AlsoJudges(spec.LeadMoveSubsequence), AlsoJudges(spec.VariablesCampaign), removesNoOtherRow)
	})
}

// removesNoOtherRow makes a change of each kind that the run judges. If a list has lost a row
// meanwhile, it finds out which kind removes rows.
func removesNoOtherRow(api *API) {
	lists := readableLists(api)
	before := lookAt(api, lists)
	changed := map[string]bool{}
	for _, p := range api.Spec.Pairs {
		if api.Judges(p) && !api.Profile.Stateless && api.Has(RequestOf(dataset.Main, p.Operation)) { // its lists are examples
			Survive(api, func() {
				api.Do(api.RequestAs(dataset.Main, p.Operation))
				changed[p.Operation] = true
			})
		}
	}
	awaitLaterChange(api)
	after := lookAt(api, lists)
	api.Looked = len(changed) > 0 && len(lists) > 0 // other specs say whether each requirement was put to the test
	if !api.Looked {
		api.NotAssessed("a change, and a list of the workspace %q that can be read whole", dataset.Main)
	}
	var suspects []Call // lists that have lost rows
	for i := range lists {
		if len(goneRows(api, before[i], after[i])) > 0 {
			suspects = append(suspects, lists[i])
		}
	}
	for _, p := range api.Spec.Pairs {
		requirement := api.For(spec.ID(p.Requirement), p.Operation)
		if changed[p.Operation] && len(suspects) > 0 {
			Survive(api, func() { expectNoneRemoved(api, requirement, suspects) })
		}
	}
}

// readableLists returns the lists of the main workspace that can be read whole.
func readableLists(api *API) (lists []Call) {
	for _, op := range spec.Operations() {
		if op.Answer != spec.One && api.Has(Cursor(op.ID)) && api.Serves(op.ID) && api.TooLong[op.ID] == "" {
			lists = append(lists, api.As(dataset.Main, op.ID))
		}
	}
	return lists
}

// lookAt reads the lists.
func lookAt(api *API, lists []Call) []Walk {
	return Each(api, lists, func(list Call) Walk { return api.Walk(list, PagesOf(spec.MaxLimit)) })
}

// expectNoneRemoved makes changes of one kind, while the run changes nothing else. A row
// that is gone counts if each change removes one, and if the lists lose none without a change.
func expectNoneRemoved(api *API, requirement Requirement, lists []Call) {
	const rounds = 2
	operation := requirement.Pair.Operation
	lists = slices.DeleteFunc(slices.Clone(lists), func(k Call) bool { return k.Operation.Resource == spec.MustOperation(operation).Resource }) // other specs look at these
	var changes []Call
	for range rounds {
		changes = append(changes, api.RequestAs(dataset.Main, operation))
	}
	var found []Finding
	Alone(api, func() {
		shown := lookAt(api, lists)
		for _, change := range changes {
			from := client.Now(api.Ctx)
			api.Do(change)
			before := shown
			shown = lookAt(api, lists)
			found = nil
			for i := range lists {
				if gone := goneRows(api, before[i], shown[i]); len(shown[i].Rows()) < len(before[i].Rows()) { // else it may be a log of bounded length
					found = append(found, gone...)
				}
			}
			if len(found) == 0 || !staysSame(api, client.Now(api.Ctx).Sub(from), lists...) {
				found = nil
				return
			}
		}
	})
	if len(found) > 0 {
		requirement.Judge(Comparison(found...))
	}
}
