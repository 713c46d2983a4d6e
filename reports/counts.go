package reports

import (
	"fmt"

	"outreach.example/conformance/reports/internal/printable"
	"outreach.example/conformance/spec"
)

// Counts says how many checks had which outcome.
type Counts struct {
	Pass, Fail, NotAssessed, Error, Expected int
}

// Count adds up the outcomes of checks.
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
			// An outcome that is unknown here must not vanish from a sum.
			n.Error++
		}
	}
	return n
}

// Assessed is the number of checks that were answered, either way.
func (n Counts) Assessed() int { return n.Pass + n.Fail + n.Expected }

// Total is the number of all checks.
func (n Counts) Total() int { return n.Assessed() + n.NotAssessed + n.Error }

// Coverage is the part of the catalogue that a verdict rests on.
type Coverage struct {
	Operations, AllOperations int // those with an assessed check, of those in the specification
	Checks, AllChecks         int // requirement × operation
}

// CoverageOf returns the coverage of a run with these checks.
func CoverageOf(checks []Check) Coverage {
	operations := map[string]bool{}
	for _, c := range checks {
		if c.Outcome == Pass || c.Outcome == Fail || c.Outcome == ExpectedFailure {
			operations[c.Operation] = true
		}
	}
	return Coverage{
		Operations: len(operations), AllOperations: len(spec.Operations()),
		Checks: Count(checks).Assessed(), AllChecks: len(spec.Pairs()),
	}
}

// String returns the coverage in words, for example "6 of 18 operations, 591 of
// 1,782 checks".
func (c Coverage) String() string {
	return fmt.Sprintf("%d of %d operations, %s of %s checks", c.Operations, c.AllOperations, printable.Number(c.Checks), printable.Number(c.AllChecks))
}

// interruptedExit is what a shell reports for a process that SIGINT ended.
const interruptedExit = 130

// ExitCode is the exit code of the process that made the results: 130 for an
// interrupted run, otherwise the code of its verdict.
func (r Results) ExitCode() int {
	if r.Run.Interrupted {
		return interruptedExit
	}
	return r.Verdict.ExitCode()
}
