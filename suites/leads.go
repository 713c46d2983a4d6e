package suites

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// leads judges moving a lead to a subsequence. No operation reads a lead: the
// responses to the moves are all there is to see.
func leads() {
	Describe(spec.MoveLead, func() {
		It("answers with the lead that was named", Requires(spec.LeadMoveLead), func(api *API) {
			request, to := api.Request(), api.Workspace(dataset.Main).Subsequences
			halves := Each(api, fromBothEnds(api.Workspace(dataset.Main).Leads), func(leads []string) (all []Response) {
				for _, lead := range leads {
					all = append(all, api.Do(request.WithField("id", lead)))
				}
				return all
			})
			for _, moved := range slices.Concat(halves...) {
				api.Expect(moved).To(HaveMember("id", EqualID(moved.Call.Members()["id"].(string))))
			}
			expectSameAgain(api, spec.LeadMoveLead, firstOfEach(halves), func(earlier Response, round int) Call {
				return earlier.Call.WithField("subsequence_id", []string{to[len(to)-1], to[0]}[round]) // there are two rounds
			})
		})

		It("moves the lead to the subsequence that was named", Requires(spec.LeadMoveSubsequence), func(api *API) {
			request, w := api.Request(), api.Workspace(dataset.Main) // the request needs a lead and a subsequence
			first, last := w.Leads[0], w.Leads[len(w.Leads)-1]
			if !api.Serves(spec.ListSubsequences) {
				moveLeadAround(api, request, first)
				return
			}
			list := api.As(dataset.Main, spec.ListSubsequences)
			listAfterMove := func(lead string) Walk {
				moveLeadAround(api, request, lead)
				awaitLaterChange(api)
				return api.Read(list)
			}
			before, after := api.Read(list), listAfterMove(first)
			// A move to where the lead is may be no change. So the two leads take turns.
			expectOthersKept(api, spec.LeadMoveSubsequence, before, after, func() Walk {
				first, last = last, first
				return listAfterMove(first)
			})
		})

		documentedShape(func(api *API) {
			request := api.Request()
			validForEach(api, api.Workspace(dataset.Main).Leads, func(lead string) Call { return request.WithField("id", lead) })
		})
	})
}

// moveLeadAround moves the lead to each subsequence, and back to the first one.
func moveLeadAround(api *API, request Call, lead string) {
	to := api.Workspace(dataset.Main).Subsequences
	if len(to) > 1 {
		to = append(slices.Clone(to), to[0])
	}
	for _, subsequence := range to {
		moved := api.Do(request.WithField("id", lead).WithField("subsequence_id", subsequence))
		api.Expect(moved).To(HaveMember("subsequence_id", EqualID(subsequence)))
	}
}
