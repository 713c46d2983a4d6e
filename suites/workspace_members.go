package suites

import (
	. "github.com/onsi/ginkgo/v2"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// workspaceMembers judges listing the members of a workspace.
func workspaceMembers() {
	Describe(spec.ListMembers, func() {
		documentedShape(readEachWay)
	})
}

var memberFilters = []filter{
	searchMembers(),
	exactly(spec.FilterAcceptedMissing, spec.FilterAcceptedExtra, profile.ParamAccepted, "accepted"),
}

// searchMembers searches for email addresses and names that occur, and for a
// word that does not.
func searchMembers() filter {
	const missing, extra = spec.FilterSearchMemberMissing, spec.FilterSearchMemberExtra
	return filter{"searches by name and email", []spec.ID{missing, extra}, func(rows []map[string]any) []probe {
		terms := distinct(rows, "email")
		if len(rows) > 0 {
			if name, ok := rows[0]["name"].(map[string]any); ok {
				terms = append(terms, scalar(name["last"]))
			}
		}
		return searches(append(terms, absentWord), "email", missing, extra)
	}}
}
