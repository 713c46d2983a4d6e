package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/spec"
)

// workspaceGroupMembers judges listing the members of a workspace group. The
// rules for all lists say everything about it.
func workspaceGroupMembers() {
	Describe(spec.ListGroupMembers, func() {
		documentedShape(readEachWay)
	})
}
