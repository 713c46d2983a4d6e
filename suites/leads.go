package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// leads judges moving a lead to a subsequence. No operation reads a lead: the
// responses to the moves are all there is to see.
func leads() {
	Describe(spec.MoveLead, func() {
		It("answers with the lead that was named", Requires(spec.LeadMoveLead), func(api *API) {
			request := api.Request()
			for _, lead := range api.Workspace(dataset.Main).Leads {
				moved := api.MustDo(request.WithField("id", lead))
				api.Expect(moved).To(HaveField("id", EqualID(lead)))
			}
		})

		It("moves the lead to the subsequence that was named", Requires(spec.LeadMoveSubsequence), func(api *API) {
			request := api.Request()
			for _, subsequence := range api.Workspace(dataset.Main).Subsequences {
				moved := api.MustDo(request.WithField("subsequence_id", subsequence))
				api.Expect(moved).To(HaveField("subsequence_id", EqualID(subsequence)))
			}
		})

		documentedShape(func(api *API) {
			request := api.Request()
			api.validForEach(api.Workspace(dataset.Main).Leads, func(lead string) Call { return request.WithField("id", lead) })
		})
	})
}
