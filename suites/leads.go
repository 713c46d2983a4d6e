package suites

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
)

// leads judges moving a lead to a subsequence. No operation reads a lead: the
// responses to the moves are all there is to see.
func leads() {
	Describe(spec.MoveLead, func() {
		It("answers with the lead that was named", Requires(spec.LeadMoveLead), func(api *API) {
			request, subsequences := api.Request(), api.Workspace(dataset.Main).Subsequences
			leads := fromBothEnds(api.Workspace(dataset.Main).Leads)
			all := make([]Response, len(leads))
			move := func(from, to int) {
				for i := from; i < to; i++ {
					all[i] = api.Do(request.WithField("id", leads[i]))
				}
			}
			half := len(leads) - len(leads)/2
			api.Together(func() { move(0, half) }, func() { move(half, len(leads)) })
			for i, moved := range all {
				api.Expect(moved).To(HaveMember("id", EqualID(leads[i])))
			}
			moved := atBothEnds(all)
			expectSameAgain(api, spec.LeadMoveLead, moved, func(i, round int) Call {
				to := []string{subsequences[len(subsequences)-1], subsequences[0]}[round]
				return moved[i].Call.WithField("subsequence_id", to)
			})
		})

		It("moves the lead to the subsequence that was named", Requires(spec.LeadMoveSubsequence), func(api *API) {
			request, w := api.Request(), api.Workspace(dataset.Main)
			to := w.Subsequences
			if len(to) > 1 {
				to = append(slices.Clone(to), to[0]) // and back to where the lead was
			}
			move := func(lead string) {
				for _, subsequence := range to {
					moved := api.Do(request.WithField("id", lead).WithField("subsequence_id", subsequence))
					api.Expect(moved).To(HaveMember("subsequence_id", EqualID(subsequence)))
				}
			}
			if !api.Serves(spec.ListSubsequences) {
				move(w.Leads[0])
				return
			}
			list := api.As(dataset.Main, spec.ListSubsequences)
			walkAfterMove := func(lead string) Walk {
				move(lead)
				awaitLaterChange(api)
				return api.Read(list)
			}
			before, lead := api.Read(list), 0
			expectOthersKept(api, spec.LeadMoveSubsequence, before, walkAfterMove(w.Leads[lead]), func() Walk {
				lead = len(w.Leads) - 1 - lead // a lead other than the last one that was moved
				return walkAfterMove(w.Leads[lead])
			})
		})

		documentedShape(func(api *API) {
			request := api.Request()
			validForEach(api, api.Workspace(dataset.Main).Leads, func(lead string) Call { return request.WithField("id", lead) })
		})
	})
}
