package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// campaigns judges adding variables. No operation shows the variables.
func campaigns() {
	Describe(spec.AddCampaignVariables, func() {
		It("answers with the campaign that was named", Requires(spec.VariablesCampaign), func(api *API) {
			request := api.Request()
			add := func(id string, variables ...string) Response {
				campaign := api.Do(request.WithID(id).WithField("variables", variables))
				api.Expect(campaign).To(HaveMember("id", EqualID(id)))
				return campaign
			}
			var halves [][]Response
			for _, half := range fromBothEnds(api.Workspace(dataset.Main).Campaigns) {
				var all []Response
				for _, id := range half {
					first, second := add(id, api.Word()), add(id, "firstName", "companyName", api.Word())
					for _, field := range []string{"name", "timestamp_created"} { // nobody else changes them
						api.Expect(second).To(HaveMember(field, EqualJSON(first.Row()[field])))
					}
					all = append(all, second)
				}
				halves = append(halves, all)
			}
			expectSameAgain(api, spec.VariablesCampaign, firstOfEach(halves), func(earlier Response, _ int) Call {
				return earlier.Call.WithField("variables", []string{api.Word()})
			})
		})

		documentedShape(func(api *API) {
			validForEach(api, api.Workspace(dataset.Main).Campaigns, api.Request().WithID)
		})
	})
}
