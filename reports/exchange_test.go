package reports_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
)

// Only the first example of each cause keeps its exchange.
func TestKeepExchanges(t *testing.T) {
	g := NewWithT(t)
	failed := func(requirement, actual string) reports.Check {
		v := func() reports.Violation {
			return reports.Violation{Pointer: "status", Expected: "200", Actual: actual, Exchange: &reports.Exchange{Request: reports.Head{Line: requirement}}}
		}
		return reports.Check{Requirement: requirement, Operation: "a.list", Group: "errors", Outcome: reports.Fail, Violations: []reports.Violation{v(), v()}}
	}
	waived := failed("D", "404")
	waived.Outcome = reports.ExpectedFailure
	given := reports.Results{Checks: []reports.Check{failed("A", "500"), failed("B", "500"), failed("C", "302"), waived}}
	kept := given
	kept = summary.KeepExchanges(kept)
	var lines []string
	for _, check := range kept.Checks {
		for _, v := range check.Violations {
			if v.Exchange != nil {
				lines = append(lines, v.Exchange.Request.Line)
			}
		}
	}
	g.Expect(lines).To(Equal([]string{"A", "C"}))
	g.Expect(kept.Checks[0].Violations[1].Exchange).To(BeNil())
	g.Expect(given.Checks[1].Violations[0].Exchange).NotTo(BeNil(), "the given results are not changed")
	_, v := summary.Causes(kept.Checks)[0].Example()
	g.Expect(v.Exchange).NotTo(BeNil())
}
