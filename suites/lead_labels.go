package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"
)

// leadLabels judges listing the interest categories of leads.
func leadLabels() {
	Describe(spec.ListLeadLabels, func() {
		documentedShape(readEachWay)
	})
}
