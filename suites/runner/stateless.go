package runner

import (
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// withoutState leaves the checks of state not assessed: what a stateless target shows says
// nothing about rows and changes.
func withoutState(checks []reports.Check) {
	for i, c := range checks {
		if r, known := spec.FindRequirement(c.Requirement); known && r.NeedsState() {
			checks[i] = reports.Check{Requirement: c.Requirement, Operation: c.Operation, Group: c.Group, Level: c.Level, Outcome: reports.NotAssessed,
				Missing: []string{"a target that keeps rows and changes (the target profile says stateless: true)"}}
		}
	}
}
