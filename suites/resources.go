package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// resources judges what each list shows, and each get of a row that has no rules of its own.
func resources() {
	for _, op := range spec.Operations() {
		Describe(op.ID, func() {
			switch {
			case op.Answer == spec.Page:
				documentedShape(readEachWay, Cursor(op.ID).Optional())
			case op.Answer == spec.Array:
				documentedShape(readInEachWorkspace)
				It("shows each row once", Requires(spec.ListRowsOnce), showsEachRowOnce)
			case spec.Has(spec.StateGetList.On(op.ID)) && op.ID != spec.GetPlacementTest:
				documentedShape(getEachRow)
				It("shows a row as the list does", Requires(spec.StateGetList), Needs(HarmlessRequest(op.ID)), getLikeList)
			}
		})
	}
}

// readInEachWorkspace reads the list in each workspace: one may have no rows.
func readInEachWorkspace(api *API) {
	for _, role := range readingRoles(api) {
		api.Do(api.As(role, api.Operation().ID))
	}
}

// getEachRow gets some rows of the list, among them one with each field that any has.
func getEachRow(api *API) {
	get := api.As(dataset.Main, api.Operation().ID)
	list, _ := get.Operation.List()
	validForEach(api, sampleOf(list.Resource, Sample(api, api.As(dataset.Main, list.ID)).ByKey(), handful), get.WithID)
}

func showsEachRowOnce(api *API) {
	list := api.Walk(api.Request(), PagesOf(spec.MaxLimit))
	if !list.Complete() {
		api.NotAssessed("%s from %s", list.Last().Shortfall(), list.List.Operation.ID)
	}
	if len(list.Rows()) < 2 {
		api.NotAssessed("at least two rows in %s", list.List.Operation.ID)
	}
	api.Expect(list).To(ShowEveryRowOnce())
}
