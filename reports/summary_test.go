package reports_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

// failed returns a failed check of the catalogue's requirement.
func failed(requirement, operation, pointer, expected, actual string) reports.Check {
	r, ok := spec.FindRequirement(requirement)
	if !ok {
		panic(requirement)
	}
	return reports.Check{Requirement: requirement, Operation: operation, Group: string(r.Group), Level: string(r.Level), Outcome: reports.Fail,
		Violations: []reports.Violation{{Pointer: pointer, Expected: expected, Actual: actual}}, ViolationCount: 1}
}

func TestCauses(t *testing.T) {
	const (
		timestamp = "an ISO 8601 UTC timestamp with milliseconds"
		accepted  = "a refusal (4xx), neither served nor a server error"
		refusal   = `400 {"message":"no labels"}`
		row       = "01941f29-7c00-75a5-ad3c-4e22def4fc02"
	)
	cases := map[string]struct {
		checks []reports.Check
		want   [][]string // requirements of each cause
	}{
		"nothing failed": {[]reports.Check{{Requirement: "SERVED", Outcome: reports.Pass}}, nil},
		"a refused creation": {[]reports.Check{
			failed("STATUS-200", spec.CreatePlacementTest, "status", "200", refusal),
			failed("STATE-CREATE-RECIPIENTS_LABELS", spec.CreatePlacementTest, "status", "200", refusal),
			failed("REQUEST-OPTIONAL", spec.CreatePlacementTest, "status", "200", refusal),
		}, [][]string{{"REQUEST-OPTIONAL", "STATE-CREATE-RECIPIENTS_LABELS", "STATUS-200"}}},
		"a stub as the response to a deletion": {[]reports.Check{
			failed("SHAPE-SUBSEQUENCE-NAME-PRESENT", spec.DeleteSubsequence, "/name", "a string", "absent"),
			failed("SHAPE-SUBSEQUENCE-WORKSPACE-PRESENT", spec.DeleteSubsequence, "/workspace", "a string", "absent"),
			failed("STATE-DELETE-ANSWER", spec.DeleteSubsequence, "/name", `"a name"`, "absent"),
		}, [][]string{{"SHAPE-SUBSEQUENCE-NAME-PRESENT", "SHAPE-SUBSEQUENCE-WORKSPACE-PRESENT", "STATE-DELETE-ANSWER"}}},
		"a field that is missing in several views": {[]reports.Check{
			failed("SHAPE-INBOX_PLACEMENT_TEST-NAME-PRESENT", spec.ListPlacementTests, "/items/3/name", "a string", "absent"),
			failed("STATE-CREATE-NAME", spec.GetPlacementTest, "/name", `"a name"`, "absent"),
			failed("STATE-CREATE-NAME", spec.ListPlacementTests, "/items/0/name", `"a name"`, "absent"),
		}, [][]string{{"SHAPE-INBOX_PLACEMENT_TEST-NAME-PRESENT", "STATE-CREATE-NAME"}}},
		"a leaked row": {[]reports.Check{
			failed("FILTER-SEARCH-EXTRA", spec.ListLeadLists, "/items/0", "only rows that the query selects: search=x", `the row {"id":"`+row+`","name":"y"}`),
			failed("FILTER-SEARCH-EXTRA", spec.ListLeadLabels, "/items/0", "only rows that the query selects: search=x", `the row {"id":"0","name":"y"}`),
			failed("ISOLATION-LIST", spec.ListLeadLists, "/items/9", "a row of the key's workspace alone", "the row "+row+", which the second workspace shows too"),
		}, [][]string{{"ISOLATION-LIST", "FILTER-SEARCH-EXTRA"}}},
		"one form of timestamp everywhere": {[]reports.Check{
			failed("SHAPE-LEAD-TIMESTAMP_CREATED-VALUE", spec.MoveLead, "/timestamp_created", timestamp, `"2026-01-05T04:00:00Z"`),
			failed("SHAPE-CAMPAIGN-TIMESTAMP_UPDATED-VALUE", spec.AddCampaignVariables, "/timestamp_updated", timestamp, `"2025-11-30T23:59:07Z"`),
			failed("SHAPE-LEAD_LABEL-TIMESTAMP_CREATED-VALUE", spec.ListLeadLabels, "/items/1/timestamp_created", timestamp, `1767585600`),
		}, [][]string{{"SHAPE-LEAD-TIMESTAMP_CREATED-VALUE", "SHAPE-CAMPAIGN-TIMESTAMP_UPDATED-VALUE"}, {"SHAPE-LEAD_LABEL-TIMESTAMP_CREATED-VALUE"}}},
		"by rank, then the most common": {[]reports.Check{
			failed("SORT-DESC", spec.ListPlacementTests, "/items", "a", "b"),
			failed("PAGE-WALK-SEQUENCE", spec.ListLeadLists, "/items/1", "a", "b"),
			failed("PAGE-WALK-SEQUENCE", spec.ListLeadLabels, "/items/1", "a", "b"),
			failed("STATUS-200", spec.ListLeadLabels, "status", "200", "500 oops"),
			failed("SERVED", spec.MoveLead, "status", "a status", "404"),
			failed("SERVED", spec.MoveAccounts, "status", "a status", "405"),
			failed("SCOPE-EXACT", spec.ListLeadLabels, "status", "200", "403 no"),
		}, [][]string{{"SERVED"}, {"PAGE-WALK-SEQUENCE"}, {"SORT-DESC"}, {"STATUS-200"}, {"SCOPE-EXACT"}}},
		"without a violation": {[]reports.Check{{Requirement: "A", Operation: "b", Outcome: reports.Fail}}, [][]string{{"A"}}},
	}
	for name, tc := range cases {
		var got [][]string
		for _, cause := range summary.Causes(tc.checks) {
			var ids []string
			for _, group := range cause.Failures() {
				ids = append(ids, group.Requirement)
			}
			got = append(got, ids)
		}
		NewWithT(t).Expect(got).To(Equal(tc.want), name)
	}
}

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
	kept := summary.KeepExchanges(given)
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

func TestCoverageCountsWhatWasAssessed(t *testing.T) {
	g := NewWithT(t)
	checks := []reports.Check{
		{Operation: "leads.move", Outcome: reports.Pass}, {Operation: "leads.move", Outcome: reports.ExpectedFailure},
		{Operation: "lead-lists.list", Outcome: reports.Fail}, {Operation: "campaigns.list", Outcome: reports.NotAssessed},
		{Operation: "members.list", Outcome: reports.Error},
	}
	g.Expect(summary.CoverageOf(checks).String()).To(MatchRegexp(`^2 of 18 operations · 1 of [0-9],[0-9]{3} checks passed, 1 not assessed$`))
	g.Expect(summary.CoverageOf(nil).String()).To(MatchRegexp(`^0 of 18 operations · 0 of [0-9],[0-9]{3} checks passed, 0 not assessed$`))
}
