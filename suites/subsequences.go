package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"
)

// subsequences judges listing and deleting campaign subsequences.
func subsequences() {
	Describe(spec.ListSubsequences, func() {
		documentedShape(readEachWay)
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
		It("does not move a lead to a deleted subsequence", Requires(spec.StateDeleteMove), func(api *API) {
			moving := api.Request()
			remove := api.RequestAs(dataset.Main, spec.DeleteSubsequence)
			api.MustDo(remove)
			moving = moving.WithField("subsequence_id", remove.id).MayBeRefused() // a deletion may take a moment to show
			refused := api.until("a deletion in a lead move", moving, func(r Response) bool { return r.Status/100 == 4 })
			api.Expect(refused).To(BeRefused())
		})
	})
}

var subsequenceFilters = []filter{
	searchBy("name"),
	exactly(spec.FilterParentMissing, spec.FilterParentExtra, profile.ParamParentCampaign, "parent_campaign"),
	excludedParent(),
}

// excludedParent excludes a campaign. The specification leaves open which of the
// others' subsequences are "reusable", so none of them is expected.
func excludedParent() filter {
	return filter{"excludes a campaign", []spec.ID{spec.FilterParentNotExtra}, func(rows []map[string]any) []probe {
		var probes []probe
		for _, campaign := range distinct(rows, "parent_campaign") {
			probes = append(probes, probe{map[string]string{profile.ParamParentCampaignNot: campaign}, func(row map[string]any) (spec.ID, bool) {
				if scalar(row["parent_campaign"]) == campaign {
					return spec.FilterParentNotExtra, false
				}
				return "", false
			}})
		}
		return probes
	}}
}
