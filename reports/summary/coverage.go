package summary

import (
	"fmt"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Coverage is the part of the catalogue that a run assessed.
type Coverage struct {
	Operations, AllOperations int // operations with an assessed check, and all of the specification
	Passed, AllChecks         int // passed checks, and all of the catalogue
	NotAssessed               int // checks that lacked an input
}

// CoverageOf returns the coverage of a run with these checks.
func CoverageOf(checks []reports.Check) Coverage {
	operations := map[string]bool{}
	for _, c := range checks {
		if c.Outcome == reports.Pass || c.Outcome == reports.Fail || c.Outcome == reports.ExpectedFailure {
			operations[c.Operation] = true
		}
	}
	n := reports.Count(checks)
	return Coverage{
		Operations: len(operations), AllOperations: len(spec.Operations()),
		Passed: n.Pass, AllChecks: len(spec.Pairs()), NotAssessed: n.NotAssessed,
	}
}

// String returns the coverage in words, for example "6 of 18 operations · 591 of
// 1,923 checks passed, 95 not assessed". Scripts may rely on this form.
func (c Coverage) String() string {
	return fmt.Sprintf("%d of %d operations · %s of %s checks passed, %s not assessed", c.Operations, c.AllOperations,
		printable.Number(c.Passed), printable.Number(c.AllChecks), printable.Number(c.NotAssessed))
}

// LooksStateless reports whether the failures look like those of a mock that answers with
// examples: its shapes conform, it finds every unknown id, and other checks of state fail.
func LooksStateless(checks []reports.Check) bool {
	unknown, others := 0, 0
	for _, c := range checks {
		r, known := spec.FindRequirement(c.Requirement)
		switch {
		case !known || c.Outcome == reports.NotAssessed:
		case r.Profile == spec.ProfileShape && c.Outcome == reports.Fail, c.Requirement == string(spec.NotFound) && c.Outcome == reports.Pass:
			return false
		case c.Outcome != reports.Fail || !r.NeedsState():
		case c.Requirement == string(spec.NotFound):
			unknown++
		default:
			others++
		}
	}
	return unknown > 0 && others > 0
}
