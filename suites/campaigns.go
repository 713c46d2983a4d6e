package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
)

// campaigns judges adding variables. No operation shows the variables.
func campaigns() {
	Describe(spec.AddCampaignVariables, func() {
		It("answers with the campaign that was named", Requires(spec.VariablesCampaign), func(api *API) {
			request := api.Request()
			var all []Response
			for _, id := range fromBothEnds(api.Workspace(dataset.Main).Campaigns) {
				var before map[string]any
				for i, variables := range [][]string{{api.Word()}, {"firstName", "companyName", api.Word()}} {
					campaign := api.Do(request.WithID(id).WithBody(map[string]any{"variables": variables}))
					api.Expect(campaign).To(HaveMember("id", EqualID(id)))
					if i > 0 { // nobody else renames a campaign of the profile, and nobody creates it again
						for _, field := range []string{"name", "timestamp_created"} {
							api.Expect(campaign).To(HaveMember(field, EqualJSON(before[field])))
						}
					}
					before = campaign.Row()
					if i > 0 {
						all = append(all, campaign)
					}
				}
			}
			shown := atBothEnds(all)
			expectSameAgain(api, spec.VariablesCampaign, shown, func(i, _ int) Call {
				return shown[i].Call.WithBody(map[string]any{"variables": []string{api.Word()}})
			})
		})

		documentedShape(func(api *API) {
			validForEach(api, api.Workspace(dataset.Main).Campaigns, api.Request().WithID)
		})
	})
}
