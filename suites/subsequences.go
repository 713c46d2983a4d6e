package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"
)

// subsequences judges listing and deleting campaign subsequences.
func subsequences() {
	Describe(spec.ListSubsequences, func() {
		It("keeps a walk whole while rows are deleted", Requires(spec.PageRemove), Expends(spec.ListSubsequences, 2), func(api *API) {
			api.walkWhile("", api.removeSubsequence)
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
		It("does not move a lead to a deleted subsequence", Requires(spec.StateDeleteMove), Expends(spec.MoveLead, 1), func(api *API) {
			moving := api.Request()
			remove := api.RequestAs(dataset.Main, spec.DeleteSubsequence)
			api.MustDo(remove)
			moving = moving.WithField("subsequence_id", remove.id).MayBeRefused() // a deletion may take a moment to show
			refused := api.until("a deletion in a lead move", moving, func(r Response) bool { return r.Status/100 == 4 })
			api.Expect(refused).To(BeRefused())
		})
	})
}
