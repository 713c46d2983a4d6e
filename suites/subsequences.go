package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// subsequences judges listing and deleting campaign subsequences.
func subsequences() {
	Describe(spec.ListSubsequences, func() {
		It("keeps a walk whole while rows are deleted", Requires(spec.PageRemove), Needs(RequestOf(dataset.Main, spec.DeleteSubsequence), Expendable(2)), Expends(spec.ListSubsequences, 2), func(api *API) {
			walkWhile(api, "", func() changing { return removeSubsequence(api) })
		})
	})

	Describe(spec.DeleteSubsequence, func() {
		deletions(spec.ListSubsequences)

		documentedShape(func(api *API) {
			for range sandbox.Richest { // what it deletes cannot be made again
				api.Do(api.Request())
			}
		})
	})

	Describe(spec.MoveLead, func() {
		It("does not move a lead to a deleted subsequence", Requires(spec.StateDeleteMove), Needs(RequestOf(dataset.Main, spec.DeleteSubsequence)), Expends(spec.MoveLead, 1), func(api *API) {
			moving := api.Request()
			remove := api.RequestAs(dataset.Main, spec.DeleteSubsequence)
			api.Do(remove)
			moving = moving.WithField("subsequence_id", remove.ID).MayBeRefused().Breaking(spec.StateDeleteMove) // a deletion may take a moment to show
			refused := Until(api, "a deletion in a lead move", moving, func(r Response) bool { return r.Status/100 == 4 })
			api.Expect(refused).To(BeRefused())
		})
	})
}
