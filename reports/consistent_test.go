package reports_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

func TestConsistent(t *testing.T) {
	results := func() reports.Results {
		r := reports.Results{Verdict: reports.Passed, Traffic: reports.Traffic{Requests: 2, Statuses: map[string]int{"200": 1, "none": 1}}}
		for _, pair := range spec.Pairs() {
			r.Checks = append(r.Checks, reports.Check{Requirement: pair.Requirement, Operation: pair.Operation, Outcome: reports.Pass})
		}
		r.Levels = summary.Levels(r.Checks)
		return r
	}
	NewWithT(t).Expect(summary.Consistent(results())).To(Succeed())
	for says, change := range map[string]func(*reports.Results){
		"/checks/1: there is no check STATUS-2000 on":  func(r *reports.Results) { r.Checks[1].Requirement = "STATUS-2000" },
		"/verdict: pass, but 1 checks failed":          func(r *reports.Results) { r.Checks[0].Outcome, r.Levels = reports.Fail, nil },
		"/levels":                                      func(r *reports.Results) { r.Levels[0].Assessed++ },
		"/flaky":                                       func(r *reports.Results) { r.Flaky = &reports.Flaky{Failed: 1} },
		"/traffic/statuses: 3 responses to 2 requests": func(r *reports.Results) { r.Traffic.Statuses["404"] = 1 },
	} {
		r := results()
		change(&r)
		NewWithT(t).Expect(summary.Consistent(r)).To(MatchError(ContainSubstring(says)))
	}
}
