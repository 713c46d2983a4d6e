package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"
)

// resources judges what each list shows, and each get of a row that has no rules of its own.
func resources() {
	for _, op := range spec.Operations() {
		Describe(op.ID, func() {
			switch {
			case op.Answer == spec.Page:
				documentedShape(readEachWay)
			case op.Answer == spec.Array:
				documentedShape(readInEachWorkspace)
				It("shows each row once", Requires(spec.ListRowsOnce), showsEachRowOnce)
			case !op.Unsafe() && op.ID != spec.GetPlacementTest:
				documentedShape(readInEachWorkspace)
			}
		})
	}
}

// readInEachWorkspace sends the request some times, and once in each other workspace: one may
// have no rows.
func readInEachWorkspace(api *API) {
	for range 3 {
		api.Do(api.Request())
	}
	for _, role := range api.rolesThatRead() {
		api.attempt(func() { api.Do(api.RequestAs(role, api.Operation().ID)) })
	}
}

func showsEachRowOnce(api *API) {
	list := api.read(api.Request())
	if !list.Complete() {
		api.NotAssessed("%s from %s", list.Last().shortfall(), list.List.Operation.ID)
	}
	if len(list.Rows()) < 2 {
		api.NotAssessed("at least two rows in %s", list.List.Operation.ID)
	}
	api.Expect(list).To(ShowEveryRowOnce())
}
