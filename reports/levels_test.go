package reports_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

// checksOf returns checks of all requirements of the set on the operation.
func checksOf(set spec.Profile, operation string, outcome reports.Outcome) []reports.Check {
	var checks []reports.Check
	for _, r := range spec.Requirements() {
		if r.Profile == set && spec.Has(spec.Pair{Requirement: r.ID, Operation: operation}) {
			checks = append(checks, reports.Check{Requirement: r.ID, Operation: operation, Outcome: outcome})
		}
	}
	return checks
}

func TestLevels(t *testing.T) {
	g := NewWithT(t)
	level := func(set string, checks ...reports.Check) string {
		for _, l := range summary.Levels(checks) {
			if l.Set == set {
				return l.String()
			}
		}
		return "none"
	}
	scopes := checksOf(spec.ProfileScopes, spec.ListLeadLabels, reports.Pass)
	g.Expect(len(scopes)).To(BeNumerically(">", 10))
	g.Expect(level("scopes")).To(Equal("none"), "no operation was judged")
	g.Expect(level("scopes", scopes...)).To(Equal("scopes: conforms"))
	g.Expect(level("scopes", scopes[1:]...)).To(Equal("scopes: 19 of 20 assessed"), "what the run left out")
	g.Expect(level("shape", scopes...)).To(HavePrefix("shape: 0 of "), "a set that the run left out")
	g.Expect(level("admin", scopes...)).To(Equal("none"), "a set that does not apply to the operation")

	both := append(checksOf(spec.ProfileScopes, spec.ListLeadLists, reports.Pass), scopes...)
	both[0].Outcome = reports.NotAssessed
	g.Expect(level("scopes", both...)).To(Equal("scopes: 19 of 20 assessed"), "assessed on one of two operations")
	both[0].Outcome = reports.ExpectedFailure
	g.Expect(level("scopes", both...)).To(Equal("scopes: 1 of 20 failed"))
}
