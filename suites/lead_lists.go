package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// leadLists judges listing lead lists.
func leadLists() {
	Describe(spec.ListLeadLists, func() {
		documentedShape(readEachWay)
	})
}

var leadListFilters = []filter{
	searchBy("name"),
	exactly(spec.FilterEnrichmentMissing, spec.FilterEnrichmentExtra, profile.ParamHasEnrichmentTask, "has_enrichment_task"),
}
