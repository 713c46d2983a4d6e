package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// leadLabels judges listing the interest categories of leads.
func leadLabels() {
	Describe(spec.ListLeadLabels, func() {
		documentedShape(readEachWay)
	})
}

var leadLabelFilters = []filter{
	searchBy("label"),
	exactly(spec.FilterInterestMissing, spec.FilterInterestExtra, profile.ParamInterestStatus, "interest_status_label"),
}
