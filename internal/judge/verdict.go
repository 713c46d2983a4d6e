package judge

import (
	"cmp"
	"fmt"

	"outreach.example/conformance/reports"
)

func compareObservations(a, b reports.Observation) int {
	return cmp.Or(cmp.Compare(a.Silence, b.Silence), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Value, b.Value))
}

// Conclude draws the verdict of a run from its checks and troubles, with the
// reasons for anything but a pass. A violation outweighs trouble: it was seen.
// Requirements that were not assessed do not fail a run, but a run that
// assessed nothing cannot tell. stale are the entries on expected failures that
// do not hold any more (Waive).
func Conclude(results *reports.Results, stale ...string) {
	count := map[reports.Outcome]int{}
	for _, c := range results.Checks {
		count[c.Outcome]++
	}
	results.Reasons = []string{}
	because := func(format string, args ...any) {
		results.Reasons = append(results.Reasons, fmt.Sprintf(format, args...))
	}
	if n := count[reports.Fail]; n > 0 {
		because("%d of %d checks failed", n, len(results.Checks))
	}
	results.Reasons = append(results.Reasons, stale...)
	if len(results.Reasons) > 0 {
		results.Verdict = reports.DoesNotConform
		return
	}
	if results.Run.Interrupted {
		because("the run was interrupted")
	}
	if n := count[reports.Error]; n > 0 {
		because("%d of %d checks ended in trouble of the harness or of the way to the target", n, len(results.Checks))
	}
	if len(results.Troubles) > 0 && count[reports.Error] == 0 {
		because("trouble beside the checks: %d", len(results.Troubles))
	}
	if count[reports.Pass] == 0 {
		because("not one requirement could be assessed")
	}
	if len(results.Reasons) > 0 {
		results.Verdict = reports.CouldNotTell
		return
	}
	if n := count[reports.ExpectedFailure]; n > 0 {
		because("%d of %d checks failed as expected", n, len(results.Checks))
		results.Verdict = reports.ConformsExcept
		return
	}
	results.Verdict = reports.Conforms
}
