package runner

import (
	"testing"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// What is no longer assessed because the mint command made no key does not fail the gate.
func TestBaselineWithoutMintedKeys(t *testing.T) {
	check := func(outcome reports.Outcome) reports.Check {
		return reports.Check{Requirement: "SCOPE-EXACT", Operation: spec.ListLeadLabels, Outcome: outcome}
	}
	before := reports.Results{Checks: []reports.Check{check(reports.Pass)}}
	for _, tc := range []struct {
		unminted []string
		is       reports.Outcome
		want     reports.Verdict
	}{
		{nil, reports.NotAssessed, reports.Failed},
		{[]string{"the mint command failed"}, reports.NotAssessed, reports.Inconclusive},
		{[]string{"the mint command failed"}, reports.Fail, reports.Failed},
		{[]string{"the mint command failed"}, reports.Pass, reports.Passed},
	} {
		results := reports.Results{Verdict: reports.Passed, Checks: []reports.Check{check(tc.is)}}
		CompareWith(before, "before", &results, "after", Selection{}, tc.unminted)
		if results.Verdict != tc.want || tc.want == reports.Inconclusive && results.Reasons[0] != tc.unminted[0] {
			t.Errorf("%v, %s: %s, %q", tc.unminted, tc.is, results.Verdict, results.Reasons)
		}
	}
}
