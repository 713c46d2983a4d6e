package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"
)

// customTagMappings judges listing the tags of accounts and campaigns.
func customTagMappings() {
	Describe(spec.ListTagMappings, func() {
		documentedShape(readEachWay)
	})
}
