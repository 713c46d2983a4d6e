package suites

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// sideEffects judges that no change removes a row of another list. All kinds of changes are
// made between two looks at the lists, which take most of the requests. Accounts are left
// out: one that does not come back would be missing where their moves are judged.
func sideEffects() {
	Describe(spec.CreatePlacementTest, func() {
		It("removes no row of another list, nor do other changes", Requires(spec.StateCreateDistinct), Expends(spec.CreatePlacementTest, 1),
			alsoJudges{spec.StateDeleteOthers}, alsoJudges{spec.LeadMoveSubsequence}, alsoJudges{spec.VariablesCampaign}, removesNoOtherRow)
	})
}

// removesNoOtherRow makes a change of each kind that the run judges. If a list has lost a row
// meanwhile, it finds out which kind removes rows.
func removesNoOtherRow(api *API) {
	lists := api.readableLists()
	before := api.lookAt(lists)
	changed := map[string]bool{}
	for _, p := range api.spec.Pairs {
		if api.selected(p) && !api.Profile.Stateless { // its lists are examples
			api.survive(func() {
				api.MustDo(api.RequestAs(dataset.Main, p.Operation))
				changed[p.Operation] = true
			})
		}
	}
	api.awaitLaterChange()
	after := api.lookAt(lists)
	api.looked = len(changed) > 0 && len(lists) > 0
	var suspects []Call // lists that have lost rows
	for i := range lists {
		if len(api.goneRows(before[i], after[i])) > 0 {
			suspects = append(suspects, lists[i])
		}
	}
	for _, p := range api.spec.Pairs {
		requirement := Requirement{api, p}
		requirement.mark() // other specs say whether it was put to the test
		if changed[p.Operation] && len(suspects) > 0 {
			api.survive(func() { api.expectNoneRemoved(requirement, suspects) })
		}
	}
}

// readableLists returns the lists of the main workspace that can be read whole.
func (api *API) readableLists() (lists []Call) {
	for _, op := range spec.Operations() {
		_, named := api.Profile.Parameter(op.ID, profile.ParamStartingAfter)
		if (op.Answer == spec.Page && named || op.Answer == spec.Array) && api.Serves(op.ID) && api.tooLong[op.ID] == "" {
			lists = append(lists, api.As(dataset.Main, op.ID))
		}
	}
	return lists
}

// lookAt reads the lists.
func (api *API) lookAt(lists []Call) []Walk {
	walks, work := make([]Walk, len(lists)), make([]func(), len(lists))
	for i, list := range lists {
		work[i] = func() { walks[i] = api.read(list) }
	}
	api.Together(work...)
	return walks
}

// alone runs the function while the run changes nothing else: a row that another change
// removes must not count. Requests that change something wait for its end.
func (api *API) alone(work func()) {
	api.changing.Lock()
	api.isAlone = true
	defer func() { api.isAlone = false; api.changing.Unlock() }()
	work()
}

// beside lets a request that changes something run beside others, and not while a spec is
// alone. The caller calls the function afterwards.
func (e *Env) beside(ctx context.Context) (over func()) {
	for !e.changing.TryRLock() {
		if client.Sleep(ctx, time.Millisecond) != nil {
			return func() {}
		}
	}
	return e.changing.RUnlock
}

// expectNoneRemoved makes changes of one kind, while the run changes nothing else. A row
// that is gone counts if each change removes one, and if the lists lose none without a change.
func (api *API) expectNoneRemoved(requirement Requirement, lists []Call) {
	const rounds = 2
	operation := requirement.pair.Operation
	lists = slices.DeleteFunc(slices.Clone(lists), func(k Call) bool { return k.Operation.Resource == spec.MustOperation(operation).Resource }) // other specs look at these
	var changes []Call
	for range rounds {
		changes = append(changes, api.RequestAs(dataset.Main, operation))
	}
	var found []Finding
	var last Walk
	api.alone(func() {
		shown := api.lookAt(lists)
		for _, change := range changes {
			from := time.Now()
			api.MustDo(change)
			before := shown
			shown = api.lookAt(lists)
			found = nil
			for i := range lists {
				if gone := api.goneRows(before[i], shown[i]); len(shown[i].Rows()) < len(before[i].Rows()) { // else it may be a log of bounded length
					found, last = append(found, gone...), shown[i]
				}
			}
			if len(found) == 0 || !api.staysSame(time.Since(from), lists...) {
				found = nil
				return
			}
		}
	})
	if len(found) > 0 {
		requirement.Expect(last).To(KeepTheOtherRows(found))
	}
}
