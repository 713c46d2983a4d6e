package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/reports"
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

// Waive marks the failures that entries expect, counts the flaky checks, and returns a message for each
// stale entry: expired, unknown to the catalogue, or no longer failing. Each
// message fails the run. Call it before Conclude.
func Waive(results *reports.Results, entries []profile.ExpectedFailure, now time.Time) (stale []string) {
	for _, e := range entries {
		switch {
		case !now.Before(e.Expires.End()):
			stale = append(stale, fmt.Sprintf("expected failure %s: expired on %s (fix the target, or renew the entry's date and reason)", e.Name(), e.Expires))
			continue
		case !e.Known():
			stale = append(stale, fmt.Sprintf("expected failure %s: no such check (`outreach-conformance requirements` lists them)", e.Name()))
			continue
		}
		waiver := reports.Waiver{Reason: e.Reason, Link: e.Link, Expires: string(e.Expires), Flaky: e.Flaky}
		var n reports.Flaky
		for i := range results.Checks {
			check := &results.Checks[i]
			if !e.Covers(check.Requirement, check.Operation) {
				continue
			}
			if check.Outcome == reports.Fail {
				check.Outcome, check.Waiver = reports.ExpectedFailure, &waiver
			}
			switch {
			case check.Outcome == reports.Pass:
				n.Passed++
			case check.Waiver != nil && *check.Waiver == waiver:
				n.Failed++
			}
		}
		if e.Flaky && n != (reports.Flaky{}) {
			if before := results.Flaky; before != nil {
				n.Passed, n.Failed = n.Passed+before.Passed, n.Failed+before.Failed
			}
			results.Flaky = &n
		}
		if Outlived(e, *results) {
			stale = append(stale, fmt.Sprintf("expected failure %s: no longer fails (remove the entry)", e.Name()))
		}
	}
	return stale
}

// Outlived reports whether the entry is unknown to the catalogue, or was assessed
// and no longer fails. A flaky check may pass.
func Outlived(e profile.ExpectedFailure, results reports.Results) bool {
	if !e.Known() || e.Flaky {
		return !e.Known()
	}
	holds := false
	for _, c := range results.Checks {
		if !e.Covers(c.Requirement, c.Operation) {
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
