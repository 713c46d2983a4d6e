package suites

import (
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/spec"
)

// campaigns judges adding variables. The variables themselves are shown by no
// operation.
func campaigns() []Spec {
	op := spec.MustOperation(spec.AddCampaignVariables)
	return []Spec{{op.ID, "answers with the campaign that was named", on(op, "VARIABLES-CAMPAIGN"), func(c *check) {
		k := c.request(dataset.Main, op)
		for _, id := range c.workspace(dataset.Main).Campaigns {
			for _, variables := range [][]string{{c.word()}, {"firstName", "companyName", c.word()}} {
				a := c.must(k.withID(id).withBody(map[string]any{"variables": variables}))
				c.expectAt("VARIABLES-CAMPAIGN", a, "/id", a.text("id"), beID(id))
			}
		}
	}}}
}
