package reports

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
