package reports

import (
	"fmt"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/spec"
)

// Counts is the number of checks by outcome.
type Counts struct {
	Pass, Fail, NotAssessed, Error, Expected int
}

// Count counts the outcomes of the checks.
func Count(checks []Check) Counts {
	var n Counts
	for _, c := range checks {
		switch c.Outcome {
		case Pass:
			n.Pass++
		case Fail:
			n.Fail++
		case NotAssessed:
			n.NotAssessed++
		case ExpectedFailure:
			n.Expected++
		default:
			// An unknown outcome must not vanish from the total.
			n.Error++
		}
	}
	return n
}

// Assessed returns the number of checks that passed or failed, as expected or not.
func (n Counts) Assessed() int { return n.Pass + n.Fail + n.Expected }

// Total returns the number of all checks.
func (n Counts) Total() int { return n.Assessed() + n.NotAssessed + n.Error }

// Coverage is the part of the catalogue that a run assessed.
type Coverage struct {
	Operations, AllOperations int // operations with an assessed check, and all of the specification
	Passed, AllChecks         int // passed checks, and all of the catalogue
	NotAssessed               int // checks that lacked an input
}

// CoverageOf returns the coverage of a run with these checks.
func CoverageOf(checks []Check) Coverage {
	operations := map[string]bool{}
	for _, c := range checks {
		if c.Outcome == Pass || c.Outcome == Fail || c.Outcome == ExpectedFailure {
			operations[c.Operation] = true
		}
	}
	n := Count(checks)
	return Coverage{
		Operations: len(operations), AllOperations: len(spec.Operations()),
		Passed: n.Pass, AllChecks: len(spec.Pairs()), NotAssessed: n.NotAssessed,
	}
}

// String returns the coverage in words, for example "6 of 18 operations · 591 of
// 1,800 checks passed, 95 not assessed". Scripts may rely on this form.
func (c Coverage) String() string {
	return fmt.Sprintf("%d of %d operations · %s of %s checks passed, %s not assessed", c.Operations, c.AllOperations,
		printable.Number(c.Passed), printable.Number(c.AllChecks), printable.Number(c.NotAssessed))
}

// interruptedExit is the exit code that a shell reports after SIGINT.
const interruptedExit = 130

// ExitCode returns the exit code of the process with these results: 130 for an
// interrupted run, otherwise the verdict's.
func (r Results) ExitCode() int {
	if r.Run.Interrupted {
		return interruptedExit
	}
	return r.Verdict.ExitCode()
}
