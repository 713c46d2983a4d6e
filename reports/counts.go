package reports

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
