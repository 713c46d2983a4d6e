package runner

import (
	"slices"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/spec"
)

// CompareWith compares results with those of an earlier run, the baseline. Results that are worse
// do not pass, and results that have nothing in common with the baseline are inconclusive. So are
// those that lack only what keys could not be made for, as unminted says. The files are named as
// the user knows them.
func CompareWith(before reports.Results, baseline string, results *reports.Results, file string, by Selection, unminted []string) diff.Part {
	part := diff.Runs(baseline, by.chosen(before), file, *results)
	doubt := func(reasons []string) {
		results.Verdict, results.Reasons = reports.Inconclusive, slices.Concat(reasons, results.Reasons)
	}
	if len(part.LostCoverage) > 0 && len(part.NewlyFailing) == 0 && len(unminted) > 0 && results.Verdict == reports.Passed {
		doubt(unminted[:1])
	}
	judge.Compared(results, part.Regressions())
	if part.Outcome == diff.Inconclusive && results.Verdict == reports.Passed {
		doubt(part.Reasons)
	}
	part.New.Verdict = results.Verdict
	return part
}

// chosen returns the results without the checks that the filters leave out: the user knows
// that they are not assessed. Those that the target profile leaves out stay, because a change
// to the profile must not open a gate.
func (s Selection) chosen(before reports.Results) reports.Results {
	pairs, _ := s.Pairs() // Run has reported an error
	chosen := map[spec.Pair]bool{}
	for _, p := range pairs {
		chosen[p] = true
	}
	before.Checks = slices.DeleteFunc(slices.Clone(before.Checks), func(c reports.Check) bool {
		p := spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
		return spec.Has(p) && !chosen[p]
	})
	return before
}
