package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"
)

// workspaceMembers judges listing the members of a workspace.
func workspaceMembers() {
	Describe(spec.ListMembers, func() {
		documentedShape(readEachWay)
	})
}
