package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

func compareObservations(a, b reports.Observation) int {
	return cmp.Or(cmp.Compare(a.OpenPoint, b.OpenPoint), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Value, b.Value))
}

// Conclude sets the verdict of a run and its reasons. A violation outweighs
// trouble. Requirements that were not assessed do not fail a run, but a run that
// assessed nothing is inconclusive. stale holds the messages of Waive.
func Conclude(results *reports.Results, stale ...string) {
	count := map[reports.Outcome]int{}
	for _, c := range results.Checks {
		count[c.Outcome]++
	}
	results.Reasons, results.ExpectedFailures = []string{}, count[reports.ExpectedFailure]
	because := func(format string, args ...any) {
		results.Reasons = append(results.Reasons, fmt.Sprintf(format, args...))
	}
	if n := count[reports.Fail]; n > 0 {
		because("%d of %d checks failed", n, len(results.Checks))
	}
	results.StaleExpectations = stale
	results.Reasons = append(results.Reasons, stale...)
	if len(results.Reasons) > 0 {
		results.Verdict = reports.Failed
		return
	}
	if results.Run.Interrupted {
		because("the run was interrupted")
	}
	if n := count[reports.Error]; n > 0 {
		because("%d of %d checks ended in an error of the harness or of the connection to the target", n, len(results.Checks))
	}
	if n := len(results.Troubles); n > 0 && count[reports.Error] == 0 {
		because("errors outside the checks: %d (%s)", n, strings.Join(places(results.Troubles), ", "))
	}
	switch {
	case count[reports.Pass] > 0:
	case results.ExpectedFailures > 0:
		because("no check passed: what was assessed failed as expected")
	default:
		because("no requirement could be assessed")
	}
	if len(results.Reasons) > 0 {
		results.Verdict = reports.Inconclusive
		return
	}
	if n := results.ExpectedFailures; n > 0 {
		because("%d of %d checks failed as expected", n, len(results.Checks))
	}
	results.Verdict = reports.Passed
}

// places returns where troubles came from, each place once.
func places(troubles []reports.Trouble) (where []string) {
	for _, t := range troubles {
		if !slices.Contains(where, t.Where) {
			where = append(where, t.Where)
		}
	}
	return where
}

// Minimum is the coverage that a run needs to pass. The zero value needs none.
type Minimum struct {
	Whole    bool // every check must be assessed
	Assessed int  // number of checks that must be assessed
}

// Require fails a run that passed with too little coverage. Call it after Conclude.
func (m Minimum) Require(results *reports.Results) {
	if results.Verdict != reports.Passed {
		return
	}
	n := reports.Count(results.Checks)
	var short []string
	if m.Whole && n.NotAssessed > 0 {
		short = append(short, fmt.Sprintf("%d of %d checks were not assessed (fail_on: not-assessed)", n.NotAssessed, n.Total()))
	}
	if n.Assessed() < m.Assessed {
		short = append(short, fmt.Sprintf("only %d checks were assessed, want at least %d (min_assessed)", n.Assessed(), m.Assessed))
	}
	if len(short) > 0 {
		results.Verdict, results.Reasons = reports.Failed, append(short, results.Reasons...)
	}
}

// Compared enters what is worse than in the baseline of the run. It fails a run that
// passed. Call it after Require.
func Compared(results *reports.Results, regressions []string) {
	if len(regressions) == 0 {
		return
	}
	results.Regressions = regressions
	if results.Verdict != reports.Passed {
		results.Reasons = slices.Concat(results.Reasons, regressions)
		return
	}
	results.Verdict, results.Reasons = reports.Failed, slices.Concat(regressions, results.Reasons)
}

// Waiver is an expected failure that the target's owner has declared.
type Waiver struct {
	Requirement string
	Operation   string // empty for every operation
	reports.Waiver
}

// Waive marks the failures that entries expect, counts the flaky checks, and returns a message for each
// stale entry: expired, unknown to the catalogue, or no longer failing. Each
// message fails the run. Call it before Conclude.
func Waive(results *reports.Results, entries []Waiver, now time.Time) (stale []string) {
	for _, e := range entries {
		switch {
		case e.expired(now):
			stale = append(stale, fmt.Sprintf("expected failure %s: expired on %s (fix the target, or renew the entry's date and reason)", e.name(), e.Expires))
			continue
		case !e.known():
			stale = append(stale, fmt.Sprintf("expected failure %s: no such check (`outreach-conformance requirements` lists them)", e.name()))
			continue
		}
		for i := range results.Checks {
			if check := &results.Checks[i]; e.Covers(*check) && check.Outcome == reports.Fail {
				check.Outcome = reports.ExpectedFailure
				waiver := e.Waiver
				check.Waiver = &waiver
			}
		}
		if e.Flaky {
			countFlaky(results, e)
		}
		if e.Outlived(*results) {
			stale = append(stale, fmt.Sprintf("expected failure %s: no longer fails (remove the entry)", e.name()))
		}
	}
	return stale
}

// countFlaky adds the checks of a flaky entry to the count of the results.
func countFlaky(results *reports.Results, e Waiver) {
	var n reports.Flaky
	for _, c := range results.Checks {
		switch {
		case !e.Covers(c):
		case c.Outcome == reports.Pass:
			n.Passed++
		case c.Waiver != nil && *c.Waiver == e.Waiver:
			n.Failed++
		}
	}
	if n == (reports.Flaky{}) {
		return
	}
	if results.Flaky != nil {
		n.Passed, n.Failed = n.Passed+results.Flaky.Passed, n.Failed+results.Flaky.Failed
	}
	results.Flaky = &n
}

// Covers reports whether the entry applies to the check.
func (w Waiver) Covers(c reports.Check) bool {
	return c.Requirement == w.Requirement && (w.Operation == "" || c.Operation == w.Operation)
}

// Outlived reports whether the entry is unknown to the catalogue, or was assessed
// and no longer fails. A flaky check may pass.
func (w Waiver) Outlived(results reports.Results) bool {
	if !w.known() {
		return true
	}
	if w.Flaky {
		return false
	}
	holds := false
	for _, c := range results.Checks {
		if !w.Covers(c) {
			continue
		}
		switch c.Outcome {
		case reports.Fail, reports.ExpectedFailure:
			return false
		case reports.Pass:
			holds = true
		}
	}
	return holds
}

// known reports whether the catalogue has the pairs of the entry.
func (w Waiver) known() bool {
	r, ok := spec.FindRequirement(w.Requirement)
	return ok && (w.Operation == "" || slices.Contains(r.Operations, w.Operation))
}

// name returns the entry's requirement and operation for messages.
func (w Waiver) name() string {
	if w.Operation == "" {
		return w.Requirement
	}
	return w.Requirement + " on " + w.Operation
}

// expired reports whether the entry's last day (UTC) is over.
func (w Waiver) expired(now time.Time) bool {
	last, err := time.Parse(time.DateOnly, w.Expires)
	return err != nil || !now.UTC().Before(last.AddDate(0, 0, 1))
}
