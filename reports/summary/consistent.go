package summary

import (
	"errors"
	"fmt"
	"slices"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Consistent returns an error for each check that the catalogue of this release does not
// have, or that occurs twice, and for each count that differs from what it counts. Nobody
// should publish such results. jsonfile accepts those of other releases, for comparisons.
func Consistent(r reports.Results) error {
	var found []error
	unless := func(ok bool, format string, args ...any) {
		if !ok {
			found = append(found, errors.New(printable.Text(fmt.Sprintf(format, args...))))
		}
	}
	seen := map[spec.Pair]bool{}
	for i, c := range r.Checks {
		pair := spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
		unless(spec.Has(pair), "/checks/%d: there is no check %s on %s", i, c.Requirement, c.Operation)
		unless(!seen[pair], "/checks/%d: %s on %s occurs twice", i, c.Requirement, c.Operation)
		seen[pair] = true
	}
	n := reports.Count(r.Checks)
	unless(r.Verdict != reports.Passed || n.Fail == 0, "/verdict: %s, but %d checks failed", reports.Passed, n.Fail)
	unless(r.Verdict != reports.Passed || n.Pass > 0, "/verdict: %s, but no check passed", reports.Passed)
	sameCatalogue := n.Total() == len(spec.Pairs())
	unless(r.Levels == nil || !sameCatalogue || slices.Equal(r.Levels, Levels(r.Checks)), "/levels: not the levels of the checks")
	unless(r.ExpectedFailures == n.Expected, "/expected_failures: %d, but %d checks are expected failures", r.ExpectedFailures, n.Expected)
	unless(r.Flaky == nil || r.Flaky.Failed <= n.Expected && r.Flaky.Passed <= n.Pass, "/flaky: more than the checks")
	answered := 0
	for _, count := range r.Traffic.Statuses {
		answered += count
	}
	unless(answered <= r.Traffic.Requests, "/traffic/statuses: %d responses to %d requests", answered, r.Traffic.Requests)
	if left := len(found) - maxFindings; left > 0 {
		found = append(found[:maxFindings], fmt.Errorf("and %d more", left))
	}
	return errors.Join(found...)
}

// maxFindings is the maximum number of findings in one error.
const maxFindings = 10
