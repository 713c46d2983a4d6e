package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"
)

// leadLists judges listing lead lists.
func leadLists() {
	Describe(spec.ListLeadLists, func() {
		documentedShape(readEachWay)
	})
}
