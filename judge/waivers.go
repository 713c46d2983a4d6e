package judge

import (
	"fmt"
	"time"

	"outreach.example/conformance/reports"
)

// Waiver is an expected failure: an entry that the target's owner has made.
type Waiver struct {
	Requirement string
	Operation   string // empty for every operation
	reports.Waiver
}

// Waive turns the failures that entries expect into expected ones, and returns
// what is wrong with the entries: one that has expired, or that was judged and
// no longer fails. Either fails a run, so that entries do not outlive their
// reason. It belongs before Conclude.
func Waive(results *reports.Results, entries []Waiver, now time.Time) (stale []string) {
	for _, e := range entries {
		name := e.Requirement
		if e.Operation != "" {
			name += " on " + e.Operation
		}
		if e.expired(now) {
			stale = append(stale, fmt.Sprintf("the expected failure of %s expired on %s: mend the target, or give the entry a new date and reason", name, e.Expires))
			continue
		}
		failing, judged := 0, 0
		for i := range results.Checks {
			check := &results.Checks[i]
			if check.Requirement != e.Requirement || e.Operation != "" && check.Operation != e.Operation {
				continue
			}
			switch check.Outcome {
			case reports.Fail:
				check.Outcome = reports.ExpectedFailure
				waiver := e.Waiver
				check.Waiver = &waiver
				failing++
			case reports.ExpectedFailure:
				failing++
			case reports.Pass:
				judged++
			}
		}
		if failing == 0 && judged > 0 {
			stale = append(stale, fmt.Sprintf("the expected failure of %s no longer fails: take the entry out of the profile", name))
		}
	}
	return stale
}

// expired reports whether the entry's last day, in UTC, is over.
func (w Waiver) expired(now time.Time) bool {
	last, err := time.Parse(time.DateOnly, w.Expires)
	return err != nil || !now.UTC().Before(last.AddDate(0, 0, 1))
}
