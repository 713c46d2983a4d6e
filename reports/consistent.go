package reports

import (
	"fmt"
	"slices"

	"outreach.example/conformance/reports/internal/strict"
	"outreach.example/conformance/spec"
)

// Consistent returns an error for each check that the catalogue of this release does not
// have, and for each count that differs from what it counts. Nobody should publish such
// results; Validate accepts those of other releases, for comparisons.
func (r Results) Consistent() error {
	var p strict.Problems
	for i, c := range r.Checks {
		p.Unless(spec.Has(spec.Pair{Requirement: c.Requirement, Operation: c.Operation}), fmt.Sprintf("/checks/%d", i), "there is no check %s on %s", c.Requirement, c.Operation)
	}
	n := Count(r.Checks)
	p.Unless(r.Verdict != Passed || n.Fail == 0, "/verdict", "%s, but %d checks failed", Passed, n.Fail)
	sameCatalogue := n.Total() == len(spec.Pairs())
	p.Unless(r.Levels == nil || !sameCatalogue || slices.Equal(r.Levels, Levels(r.Checks)), "/levels", "not the levels of the checks")
	if r.Flaky != nil {
		p.Unless(r.Flaky.Failed <= n.Expected && r.Flaky.Passed <= n.Pass, "/flaky", "more than the checks")
	}
	answered := 0
	for _, count := range r.Traffic.Statuses {
		answered += count
	}
	p.Unless(answered <= r.Traffic.Requests, "/traffic/statuses", "%d responses to %d requests", answered, r.Traffic.Requests)
	return p.Err()
}
